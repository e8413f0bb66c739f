// Small behaviours for pages made on the server. Every page works without this file.

const root = document.documentElement;
const isEnglish = root.lang === "en";

// The chosen theme comes first: the page waits for this file before it is painted.
const storedTheme = () => {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null; // Storage is switched off: the system's theme stays.
  }
};

const applyTheme = (theme) => {
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  else delete root.dataset.theme;
  // The browser's own bars follow the page: light first, then dark.
  const [light, dark] = document.querySelectorAll("meta[name=theme-color]");
  if (!dark) return;
  light.media = theme === "light" ? "all" : theme === "dark" ? "not all" : "(prefers-color-scheme: light)";
  dark.media = theme === "dark" ? "all" : theme === "light" ? "not all" : "(prefers-color-scheme: dark)";
};

applyTheme(storedTheme());

// The server's present, moved on by the time since this page arrived, so that
// a wrong clock on the reader's machine says nothing false.
const arrivedAt = Number(root.dataset.now);
const now = () => arrivedAt + Math.floor(performance.now() / 1000);

const relative = (seconds) => {
  if (seconds < 60) return "agora";
  if (seconds < 3600) return `há ${Math.floor(seconds / 60)} min`;
  return `há ${Math.floor(seconds / 3600)} h`;
};

// Whether a key means what the page makes of it: nothing is being typed, and no
// dialog is open.
const isFree = (event) =>
  !event.defaultPrevented && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest("input, textarea, select, [contenteditable], dialog");

// ------------------------------------------------------------------ typed text
// What was typed stays in this tab until it was sent, whatever becomes of the page.

const DRAFT = "rascunho ";
const SENT = "enviado ";
const TOKEN = "token da API";
const LONGEST_DRAFT = 20000;

const stored = (begin) => {
  try {
    return Object.keys(sessionStorage).filter((key) => key.startsWith(begin));
  } catch {
    return [];
  }
};

const keep = (key, text) => {
  try {
    if (text === undefined) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, text);
  } catch {
    // Without storage, or when it is full, the text is only on the page.
  }
};

const kept = (key) => {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
};

const draftOf = (field) => {
  const typed = field.matches?.("textarea, input:not([type]), input[type=text]") && field.form;
  // Secrets are never kept, nor what filters a list.
  const isKept = typed && field.name && field.form.method === "post" && !field.form.querySelector("[type=password]") && field.autocomplete !== "off";
  return isKept && `${DRAFT}${location.pathname} ${new URL(field.form.action).pathname} ${field.id || field.name}`;
};

const keepDrafts = () => {
  // Whoever comes back to the form at once saw no answer: it is a draft again.
  const [visit] = performance.getEntriesByType("navigation");
  const hadNoAnswer = document.querySelector("[data-offline]") || visit?.type !== "navigate";
  for (const key of stored(SENT)) {
    if (hadNoAnswer) keep(DRAFT + key.slice(SENT.length), sessionStorage.getItem(key));
    keep(key);
  }
  // Whoever signs in may be somebody else.
  if (location.pathname === "/entrar") {
    stored(DRAFT).forEach((key) => keep(key));
    keep(TOKEN);
    try {
      localStorage.removeItem("recentes"); // What the palette found.
    } catch {
      // Without storage nothing was kept.
    }
  }
  document.addEventListener("input", ({ target }) => {
    const key = draftOf(target);
    if (key) keep(key, target.value === target.defaultValue || target.value.length > LONGEST_DRAFT ? undefined : target.value);
  });
  document.addEventListener("submit", ({ target, defaultPrevented }) => {
    for (const field of target.elements) {
      const key = draftOf(field);
      const text = key && sessionStorage.getItem(key);
      if (!text) continue;
      if (!defaultPrevented) keep(SENT + key.slice(DRAFT.length), text);
      keep(key);
    }
  });
};

const restoreDrafts = (tree) => {
  if (stored(DRAFT).length === 0) return;
  for (const field of tree.querySelectorAll("form textarea, form input")) {
    const key = draftOf(field);
    const text = key && sessionStorage.getItem(key);
    // What the server gave back after a refusal is newer.
    if (!text || field.value !== field.defaultValue || field.getAttribute("aria-invalid")) continue;
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    const note = document.createElement("p");
    note.className = "help";
    note.setAttribute("role", "status");
    note.textContent = "Recuperamos o que você tinha digitado. ";
    const drop = document.createElement("button");
    Object.assign(drop, { type: "button", className: "link", textContent: "Descartar" });
    drop.addEventListener("click", () => {
      field.value = field.defaultValue;
      keep(key);
      note.remove();
      field.focus();
    });
    note.append(drop);
    field.after(note);
  }
};

const behaviours = {
  // Opens the browser's own dialog, which also makes a PDF.
  print: (button) => {
    button.hidden = false;
    button.addEventListener("click", () => window.print());
  },

  // Three buttons: as the system, light, dark.
  themes: (group) => {
    const show = () => {
      const theme = storedTheme() ?? "auto";
      for (const button of group.querySelectorAll("button")) {
        button.setAttribute("aria-pressed", String(button.value === theme));
      }
    };
    group.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      try {
        if (button.value === "auto") localStorage.removeItem("theme");
        else localStorage.setItem("theme", button.value);
      } catch {
        // Without storage the choice lasts for this page.
      }
      applyTheme(button.value);
      show();
    });
    group.hidden = false;
    show();
  },

  // Keeps "há 5 min" true while the page stays open; after a day the date stands.
  relative: (time) => {
    const at = Number(time.dataset.relative);
    const show = () => {
      const seconds = now() - at;
      if (seconds >= 0 && seconds < 86400) time.textContent = relative(seconds);
    };
    setInterval(show, 30000);
  },

  // Copies the text of the element that the attribute names.
  copy: (button) => {
    button.hidden = false;
    const label = button.textContent;
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(source.textContent.trim());
        button.textContent = isEnglish ? "Copied" : "Copiado";
      } catch {
        getSelection().selectAllChildren(source);
        button.textContent = isEnglish ? "Selected" : "Selecionado";
      }
      setTimeout(() => (button.textContent = label), 2000);
    });
  },

  // The page of who has no connection: the address it stands for, once more.
  again: (button) => {
    button.hidden = false;
    button.addEventListener("click", () => location.reload());
    addEventListener("online", () => location.reload());
  },

  // Shows or hides what was typed into a password field.
  reveal: (button) => {
    button.hidden = false;
    const input = document.getElementById(button.dataset.reveal);
    button.addEventListener("click", () => {
      const shown = input.type === "password";
      input.type = shown ? "text" : "password";
      button.textContent = shown ? "Ocultar" : "Mostrar";
      button.setAttribute("aria-pressed", String(shown));
    });
  },

  // Tells while it is typed that an address may be out of a mail server's reach.
  accents: (input) => {
    const note = document.createElement("p");
    note.className = "help";
    note.setAttribute("role", "status");
    input.after(note);
    const show = () => {
      const plain = /^[\x00-\x7f]*$/.test(input.value.split("@")[0]);
      note.textContent = plain ? "" : input.dataset.accents;
      note.hidden = note.textContent === "";
    };
    input.addEventListener("input", show);
    show();
  },

  // A photo that is too large is made smaller before it is sent.
  shrink: (input) => {
    input.addEventListener("change", async () => {
      const file = input.files[0];
      if (!file || file.size <= Number(input.dataset.shrink)) return;
      try {
        const picture = await createImageBitmap(file);
        const scale = Math.min(1, 1024 / Math.max(picture.width, picture.height));
        const canvas = document.createElement("canvas");
        canvas.width = Math.round(picture.width * scale);
        canvas.height = Math.round(picture.height * scale);
        canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
        const blob = await new Promise((done) => canvas.toBlob(done, "image/jpeg", 0.85));
        const smaller = new DataTransfer();
        smaller.items.add(new File([blob], "foto.jpg", { type: blob.type }));
        input.files = smaller.files;
      } catch {
        // It is sent as it is, and the server says what is wrong with it.
      }
    });
  },

  // A second press while the first is on its way sends nothing.
  once: (form) => {
    let sent = false;
    const button = () => form.querySelector("button:not([type=button])");
    form.addEventListener("submit", (event) => {
      if (sent) event.preventDefault();
      sent = true;
      button()?.setAttribute("aria-disabled", "true");
    });
    // The browser may bring the page back as it was left: what is sent from it
    // then is meant anew.
    addEventListener("pageshow", (event) => {
      sent = false;
      button()?.removeAttribute("aria-disabled");
      const own = event.persisted && form.elements.namedItem("envio");
      if (own) own.value = [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(16).padStart(8, "0")).join("");
    });
  },

  // The button of a list waits until something is ticked.
  ticks: (form) => {
    const button = form.querySelector("button");
    if (!button) return;
    const show = () => (button.disabled = !form.querySelector(":checked"));
    form.addEventListener("change", show);
    // The browser may bring the page back with its ticks.
    addEventListener("pageshow", show);
    show();
  },

  // The bar of a list says how many rows are ticked, and what they are worth.
  bulk: (bar) => {
    const form = document.getElementById(bar.dataset.bulk);
    const [said, all] = ["[data-bulk-count]", "[data-bulk-all]"].map((part) => bar.querySelector(part));
    const money = new Intl.NumberFormat("pt-BR", { style: "currency", currency: "BRL" });
    const boxes = () => [...form.elements].filter((one) => one.name === "ids");
    const show = () => {
      const ticked = boxes().filter((one) => one.checked);
      const own = ticked.reduce((sum, one) => sum + Number(one.dataset.amount ?? 0), 0);
      const sum = all?.checked ? all.dataset.bulkSum : own && money.format(own / 100);
      const number = all?.checked ? all.dataset.bulkAll : String(ticked.length);
      const words = number === "0" ? "Nada marcado" : number === "1" ? "1 marcado" : `${number} marcados`;
      said.textContent = sum ? `${words} · ${sum}` : words;
      bar.dataset.ticked = number;
      for (const button of bar.querySelectorAll("button")) button.disabled = number === "0";
    };
    document.addEventListener("change", ({ target }) => {
      if (target.form !== form) return;
      // All of the filter are also those of the page, and no longer all once one is left out.
      if (target === all) for (const one of boxes()) one.checked = all.checked;
      else if (all && target.name === "ids" && !target.checked) all.checked = false;
      show();
    });
    addEventListener("pageshow", show);
    show();
  },

  // What was just done can be taken back for as long as its notice says so.
  undo: (form) => {
    setTimeout(() => form.contains(document.activeElement) || form.remove(), 10000);
  },

  // Whoever comes back from the file that this opened beside the page sees
  // what has become of the list.
  beside: (opener) => {
    let opened = false;
    const open = () => (opened = true);
    opener.addEventListener("submit", open);
    if (opener.matches("a")) opener.addEventListener("click", open);
    document.addEventListener("visibilitychange", () => {
      if (opened && !document.hidden) location.reload();
    });
  },

  // In a low window the present place of a long menu is in sight.
  places: (groups) => {
    const here = groups.querySelector("[aria-current]");
    if (!here) return;
    const below = here.getBoundingClientRect().bottom - groups.getBoundingClientRect().bottom;
    if (below > -24) groups.scrollTop += below + 24;
  },

  // What is chosen in a line that moves sideways is in sight.
  strip: (line) => {
    const chosen = line.querySelector("[aria-current]");
    if (!chosen) return;
    const beyond = chosen.getBoundingClientRect().right - line.getBoundingClientRect().right;
    if (beyond > -24) line.scrollLeft += beyond + 48;
  },

  // A menu closes on Escape, on a press outside and when focus leaves it.
  menu: (menu) => {
    const close = () => (menu.open = false);
    document.addEventListener("click", (event) => menu.contains(event.target) || close());
    menu.addEventListener("focusout", (event) => {
      if (event.relatedTarget && !menu.contains(event.relatedTarget)) close();
    });
    menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !menu.open) return;
      close();
      menu.querySelector("summary").focus();
    });
  },

  // Loads a video's player in the place of its button, once it is wanted.
  player: (figure) => {
    const link = figure.querySelector("a");
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const frame = document.createElement("iframe");
      frame.title = figure.dataset.title;
      frame.allow = "autoplay; encrypted-media; fullscreen; picture-in-picture";
      // Players refuse to play where they are not told who embeds them.
      frame.referrerPolicy = "strict-origin-when-cross-origin";
      frame.src = figure.dataset.player;
      figure.replaceChildren(frame);
      frame.focus();
    });
  },

  // While something is under way, what says how far it is follows it: the page is
  // asked for again after so many seconds, for as long as it says so. What holds
  // the focus stays as it is.
  follow: (section) => {
    const later = (seconds) => setTimeout(() => (document.hidden ? onceSeen() : look(seconds)), seconds * 1000);
    const onceSeen = () => document.addEventListener("visibilitychange", () => look(2), { once: true });
    const look = async (seconds) => {
      try {
        const answer = await fetch(location.pathname, { headers: { Accept: "text/html" } });
        const page = new DOMParser().parseFromString(answer.ok ? await answer.text() : "", "text/html");
        for (const part of section.querySelectorAll("[data-part]")) {
          const fresh = page.getElementById(part.id);
          if (!fresh || fresh.isEqualNode(part) || part.contains(document.activeElement)) continue;
          part.replaceWith(fresh);
          startWithin(fresh);
        }
        if (answer.ok) seconds = Number(page.querySelector("[data-follow]")?.dataset.follow);
      } catch {
        // Nobody answered: another time.
      }
      if (seconds) later(seconds);
    };
    later(Number(section.dataset.follow));
  },

  // Who opens what a notification tells of has read it. A link stays a link, so
  // that nothing is marked by whatever looks at links ahead of people.
  reads: (link) => {
    const tell = ({ type, button }) => {
      if (type === "auxclick" && button !== 1) return;
      const body = new URLSearchParams({ ids: link.dataset.id });
      fetch(link.dataset.reads, { method: "POST", body, keepalive: true, redirect: "manual" }).catch(() => {});
      const item = link.closest("li");
      item.classList.remove("unread");
      item.querySelectorAll("form, .sr-only").forEach((one) => one.remove());
    };
    link.addEventListener("click", tell);
    link.addEventListener("auxclick", tell);
  },

  // The numbers of the menu, and what comes to an open list: a script of its own, on
  // every page with a menu.
  live: (nav) => {
    import(nav.dataset.live).then(({ start }) => start(nav)).catch(() => {});
    navigator.serviceWorker?.register("/sw.js").catch(() => {});
  },

  // The search over everything, and the keys: a script of its own, once it is wanted.
  palette: (link) => {
    const load = (name) => import(link.dataset.palette).then((palette) => palette[name](link.pathname)).catch(() => location.assign(link.href));
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      document.getElementById("menu")?.matches(":popover-open") && document.getElementById("menu").hidePopover();
      load("open");
    });
    document.addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k") {
        event.preventDefault();
        load("open");
      } else if (event.key === "?" && isFree(event) && !document.getElementById("teclas")) {
        event.preventDefault();
        load("keys");
      }
    });
  },

  // The stroke leads to the search of the list.
  find: (input) => {
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || !isFree(event)) return;
      event.preventDefault();
      input.focus();
      input.select();
    });
  },

  // Messages to this browser: a script of its own, on the one page about them.
  push: (section) => import(section.dataset.push).then(({ start }) => start(section)),

  // Questions to be answered: a script of its own, on the pages that have them.
  queue: (section) => import(section.dataset.queue).then(({ start }) => start(section)),

  // Asks for a token, which the other forms of the page use. It is no part of any
  // form, and stays in this tab until the tab is closed or the token forgotten.
  token: (section) => {
    section.querySelector("[data-without]").hidden = true;
    section.querySelector("[data-with]").hidden = false;
    const [field, forget] = section.querySelectorAll("input, button");
    field.value = kept(TOKEN) ?? "";
    const show = () => (forget.hidden = field.value === "");
    field.addEventListener("input", () => {
      keep(TOKEN, field.value.trim() || undefined);
      show();
    });
    forget.addEventListener("click", () => {
      field.value = "";
      keep(TOKEN);
      show();
      field.focus();
    });
    show();
  },

  // What stood on this page has a page of its own: its former address leads there.
  moved: (list) => {
    const row = [...list.children].find((one) => `#${one.id}` === location.hash);
    if (row) location.replace(row.querySelector("a").href);
  },

  // Makes a call of the Partner API with the reader's own token and shows its
  // answer, as text. It goes to our own origin and nowhere else.
  try: (form) => {
    form.hidden = false;
    const [shown, said, text] = ["figure", "[role=status]", "pre code"].map((part) => form.querySelector(part));
    const tell = (status, answer) => {
      said.textContent = status;
      text.textContent = answer;
      text.parentElement.hidden = answer === "";
      shown.hidden = false;
    };
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const token = document.getElementById("token").value.trim();
      if (!token) {
        document.getElementById("token").focus();
        return tell(form.dataset.try, "");
      }
      let path = form.getAttribute("action");
      const query = new URLSearchParams();
      for (const [name, value] of new FormData(form)) {
        const place = `{${name}}`;
        if (path.includes(place)) path = path.replace(place, encodeURIComponent(value || "0"));
        else if (value !== "") query.set(name, value);
      }
      if (query.size) path += `?${query}`;
      const began = performance.now();
      try {
        const headers = { Authorization: `Bearer ${token}`, Accept: "application/json" };
        const answer = await fetch(path, { headers, credentials: "omit", cache: "no-store", redirect: "error" });
        let body = await answer.text();
        if (answer.headers.get("content-type")?.startsWith("application/json")) body = JSON.stringify(JSON.parse(body), null, 2);
        const lines = [...answer.headers].map(([name, value]) => `${name}: ${value}`);
        tell(`${answer.status} · ${Math.round(performance.now() - began)} ms`, [`GET ${path}`, "", body, "", ...lines].join("\n"));
      } catch {
        tell(form.dataset.silent, "");
      }
    });
  },

  // Reads a bar's value out while the pointer or the arrow keys stand on it.
  chart: (figure) => {
    const output = figure.querySelector("output");
    const plot = figure.querySelector("svg");
    const bars = [...figure.querySelectorAll("g[data-value]")];
    const resting = output.textContent;
    let at = -1;
    const show = (index) => {
      at = index;
      bars.forEach((bar, i) => bar.classList.toggle("on", i === index));
      output.textContent = bars[index]?.dataset.value ?? resting;
    };
    plot.setAttribute("tabindex", "0");
    plot.addEventListener("pointerover", (event) => show(bars.indexOf(event.target.closest("g[data-value]"))));
    plot.addEventListener("pointerleave", () => show(-1));
    plot.addEventListener("focus", () => at < 0 && show(bars.length - 1));
    plot.addEventListener("blur", () => show(-1));
    plot.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      show(Math.min(bars.length - 1, Math.max(0, at + step)));
    });
  },
};

const startWithin = (tree) => {
  for (const [name, start] of Object.entries(behaviours)) {
    tree.querySelectorAll(`[data-${name}]`).forEach(start);
  }
  restoreDrafts(tree);
};

keepDrafts();

startWithin(document);
