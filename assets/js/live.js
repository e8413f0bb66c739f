// What changes while a page is open: the numbers of the menu, and a line above a list
// to which rows came. Nothing else moves. Loaded by app.js on pages with a menu.
//
// Browsers open few connections to one place, so one visible page listens for all
// pages of this browser: the one that holds a lock. It tells the others. Decision panel-13.

const QUIET_MS = 60 * 1000; // A page hidden for so long stops listening.
const UNTOUCHED_MS = 2 * 60 * 60 * 1000; // And one that nobody touches.
const MOST_TRIES = 5;

let nav, source, last, again, release, waiting, rest, resting;
let follows = false;
let tries = 0;
let seen = {};

// ------------------------------------------------------------- what is shown

const shown = (number) => (number > 999 ? "999+" : String(number));

const count = (menu) => {
  for (const one of document.querySelectorAll("[data-count]")) {
    const number = one.dataset.count.trim().split(" ").reduce((sum, href) => sum + (menu[href] ?? 0), 0);
    one.hidden = number === 0;
    one.textContent = number ? shown(number) : "";
  }
};

const tell = (came) => {
  const here = location.pathname;
  const news = [];
  for (const [href, [number, one, several]] of Object.entries(came)) {
    // A number that falls is a new beginning.
    if (!(href in seen) || number < seen[href]) seen[href] = number;
    const more = number - seen[href];
    const isHere = href === here || (here === nav.dataset.home && !href.endsWith("/avisos"));
    if (more > 0 && isHere) news.push(`${shown(more)} ${more === 1 ? one : several}`);
  }
  const line = document.getElementById("novidades");
  const words = news.join(" · ");
  // Numbers come often; the line is said, and its link made, once.
  if (line.textContent === words) return;
  if (!words) return line.replaceChildren();
  const link = document.createElement("a");
  // What is new stands on the first page of the same list.
  const address = new URL(location.href);
  address.searchParams.delete("pagina");
  address.hash = "";
  link.href = address.pathname + address.search;
  link.textContent = words;
  line.replaceChildren(link);
};

const show = (numbers) => {
  last = numbers;
  count(numbers.menu);
  tell(numbers.came);
};

// -------------------------------------------------------------- the connection

const others = "BroadcastChannel" in window ? new BroadcastChannel("ao-vivo") : undefined;

const connect = () => {
  source = new EventSource(`${nav.dataset.home}/ao-vivo`);
  source.addEventListener("message", (event) => {
    tries = 0;
    const numbers = JSON.parse(event.data);
    show(numbers);
    others?.postMessage({ home: nav.dataset.home, numbers });
  });
  source.addEventListener("error", () => {
    source.close();
    tries += 1;
    // Refused, or nobody answers: the page goes on as it would without this, until it is
    // touched again. Another page may listen in its place.
    if (tries > MOST_TRIES) return stop();
    again = setTimeout(connect, Math.min(60, 2 ** tries) * 1000 * (0.5 + Math.random() / 2));
  });
};

const listen = () => new Promise((done) => ((release = done), connect()));

const follow = () => {
  if (follows || document.hidden) return;
  follows = true;
  tries = 0;
  if (!navigator.locks) return void listen();
  waiting = new AbortController();
  navigator.locks.request(`ao-vivo ${nav.dataset.home}`, { signal: waiting.signal }, () => (follows ? listen() : undefined)).catch(() => {});
  others?.postMessage({ home: nav.dataset.home });
};

const stop = () => {
  follows = false;
  waiting?.abort();
  clearTimeout(again);
  source?.close();
  release?.();
  source = release = undefined;
};

const touched = () => {
  clearTimeout(resting);
  resting = setTimeout(stop, UNTOUCHED_MS);
  follow();
};

export const start = (menu) => {
  nav = menu;
  seen = JSON.parse(nav.dataset.came || "{}");
  const line = document.createElement("div");
  line.id = "novidades";
  line.className = "fresh";
  line.setAttribute("role", "status");
  document.body.append(line);
  others?.addEventListener("message", ({ data }) => {
    if (data.home !== nav.dataset.home) return;
    if (data.numbers) show(data.numbers);
    else if (source && last) others.postMessage({ home: nav.dataset.home, numbers: last });
  });
  // A queue has fetched what came, without a new page.
  document.addEventListener("novidades-vistas", () => {
    const came = last?.came[location.pathname];
    if (came) [seen[location.pathname]] = came;
    line.replaceChildren();
  });
  document.addEventListener("visibilitychange", () => {
    clearTimeout(rest);
    if (document.hidden) rest = setTimeout(stop, QUIET_MS);
    else follow();
  });
  addEventListener("pagehide", stop);
  addEventListener("pageshow", (event) => event.persisted && follow());
  for (const sign of ["pointerdown", "keydown"]) addEventListener(sign, touched, { passive: true });
  touched();
};
