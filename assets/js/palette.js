// Finds pages, things and acts by keyboard from everywhere, and says the keys. The
// address that answers is the search page of the menu, which works without this file.
// Loaded by app.js when it is first wanted.

const RECENT = "recentes";
const MOST_RECENT = 6;

let dialog, field, list, said, address, last, later, answered;

// What was chosen of late in this menu. The page that signs in forgets it (app.js).
const recent = () => {
  try {
    const known = JSON.parse(localStorage.getItem(RECENT) ?? "[]");
    return known.filter((one) => typeof one.endereco === "string" && one.menu === address);
  } catch {
    return [];
  }
};

const remember = (one) => {
  try {
    const others = recent().filter(({ endereco }) => endereco !== one.endereco);
    localStorage.setItem(RECENT, JSON.stringify([{ ...one, menu: address }, ...others].slice(0, MOST_RECENT)));
  } catch {
    // Without storage nothing is remembered.
  }
};

const options = () => [...list.querySelectorAll("[role=option]")];

const choose = (index) => {
  const all = options();
  const at = all.length ? (index + all.length) % all.length : -1;
  all.forEach((one, place) => one.setAttribute("aria-selected", String(place === at)));
  if (at < 0) return field.removeAttribute("aria-activedescendant");
  field.setAttribute("aria-activedescendant", all[at].id);
  all[at].scrollIntoView({ block: "nearest" });
};

const at = () => options().findIndex((one) => one.getAttribute("aria-selected") === "true");

const go = (one) => {
  if (!one) return;
  const { endereco, texto, detalhe } = one.dataset;
  remember({ texto, detalhe, endereco });
  // Who comes back finds the page, not this.
  dialog.close();
  location.assign(endereco);
};

const show = (groups) => {
  list.replaceChildren();
  let number = 0;
  for (const { grupo, itens } of groups) {
    if (itens.length === 0) continue;
    const part = document.createElement("div");
    part.setAttribute("role", "group");
    part.setAttribute("aria-label", grupo);
    const title = document.createElement("p");
    title.className = "menu-label";
    title.setAttribute("aria-hidden", "true"); // The group's label says it.
    title.textContent = grupo;
    part.append(title);
    for (const { texto, detalhe, endereco } of itens) {
      const one = document.createElement("div");
      one.id = `achado-${(number += 1)}`;
      one.setAttribute("role", "option");
      Object.assign(one.dataset, { texto, detalhe: detalhe ?? "", endereco });
      const name = document.createElement("span");
      name.textContent = texto;
      const about = document.createElement("span");
      about.className = "fine";
      about.textContent = detalhe ?? "";
      one.append(name, about);
      part.append(one);
    }
    list.append(part);
  }
  choose(0);
  field.setAttribute("aria-expanded", String(number > 0));
  said.textContent = number ? "" : "Nada com esse texto.";
};

const look = async () => {
  const text = field.value.trim();
  clearTimeout(later);
  last?.abort();
  last = new AbortController();
  try {
    const answer = await fetch(`${address}?${new URLSearchParams({ q: text })}`, { headers: { Accept: "application/json" }, signal: last.signal });
    if (!answer.ok) throw new Error(String(answer.status));
    const { grupos } = await answer.json();
    const known = text ? [] : recent();
    show([{ grupo: "Recentes", itens: known }, ...grupos]);
    answered = text;
  } catch (error) {
    if (error.name !== "AbortError") said.textContent = "A busca não respondeu. Tente de novo.";
  }
};

// Enter means what was typed, also when its answer is still to come.
const enter = async () => {
  if (answered !== field.value.trim()) await look();
  if (dialog.open && answered === field.value.trim()) go(options()[at()]);
};

const make = () => {
  dialog = document.createElement("dialog");
  dialog.className = "palette";
  dialog.setAttribute("aria-label", "Busca em todo o painel");
  field = document.createElement("input");
  Object.assign(field, { type: "search", className: "input", placeholder: "Página, pessoa, venda, pedido ou produto", maxLength: 100, autocomplete: "off" });
  field.setAttribute("role", "combobox");
  field.setAttribute("aria-label", "Buscar");
  field.setAttribute("aria-expanded", "false");
  field.setAttribute("aria-controls", "achados");
  list = document.createElement("div");
  list.id = "achados";
  list.className = "found";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Resultados");
  said = document.createElement("p");
  said.className = "fine said";
  said.setAttribute("role", "status");
  dialog.append(field, list, said);
  document.body.append(dialog);
  field.addEventListener("input", () => {
    clearTimeout(later);
    later = setTimeout(look, 120);
  });
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) choose(at() + step);
    else if (event.key === "Enter" && !event.isComposing) enter();
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", (event) => go(event.target.closest("[role=option]")));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
};

export const open = (where) => {
  address = where;
  if (!dialog) make();
  if (dialog.open) return dialog.close();
  field.value = "";
  answered = undefined;
  list.replaceChildren();
  dialog.showModal();
  field.focus();
  look();
};

const KEYS = [
  ["Ctrl K", "busca em todo o painel"],
  ["/", "busca da lista"],
  ["?", "esta ajuda"],
  ["Esc", "fecha o que está aberto"],
];

export const keys = () => {
  const help = document.createElement("dialog");
  help.className = "palette keys";
  help.setAttribute("aria-label", "Teclas");
  const lines = document.createElement("dl");
  for (const [key, what] of KEYS) {
    const name = document.createElement("dt");
    const shown = document.createElement("kbd");
    shown.textContent = key;
    name.append(shown);
    const about = document.createElement("dd");
    about.textContent = what;
    lines.append(name, about);
  }
  const close = document.createElement("button");
  Object.assign(close, { type: "button", className: "button small", textContent: "Fechar" });
  close.addEventListener("click", () => help.close());
  help.append(lines, close);
  help.addEventListener("close", () => help.remove());
  document.body.append(help);
  help.showModal();
};
