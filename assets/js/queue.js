// Questions answered one after the other by keyboard, without leaving the page.
// Without this file each card's form does the same, with a page between two.
// Loaded by app.js on pages with a queue.

const LONGEST = 2000;
// So few cards left, and the next ones are fetched.
const FEW = 5;
// A hold lasts a minute and a half; it is renewed this often while somebody types.
const RENEW_MS = 30000;
const LOOK_MS = 10000;
// Answers that are on their way at a time, and pages that are looked through.
const MOST_FLYING = 4;
const MOST_PAGES = 10;

let queue, list, done, said, replies, waits;
const seen = new Set();
const held = new Map();
let flying = 0;
let posting = 0;
const waiting = [];
let fetching = false;
let isAll = false;

const say = (text) => (said.textContent = text);
const cards = () => [...list.querySelectorAll("article")].filter((card) => !card.parentElement.hidden && fieldOf(card));
const fieldOf = (card) => card.querySelector("textarea");
const cardOf = (element) => element.closest("article");
const idOf = (card) => card.parentElement.dataset.card;
const words = (value) => [...value].length;

// ------------------------------------------------------------------- the way

const enter = (card) => {
  const field = fieldOf(card);
  field.focus({ preventScroll: true });
  card.scrollIntoView({ block: "nearest" });
};

const step = (card, by) => {
  const all = cards();
  const next = all[all.indexOf(card) + by];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
};

// Where the cursor goes when a card leaves: the one behind it, else the last.
const after = (card) => {
  const all = cards();
  const at = all.indexOf(card);
  return all[at + 1] ?? all[at - 1];
};

const skip = (card) => {
  const next = after(card);
  list.append(card.parentElement);
  (next ?? card).focus();
  say("Pulada: ela volta no fim.");
};

const finish = () => {
  if (flying || !isAll || list.firstElementChild) return;
  done.hidden = false;
  for (const part of document.querySelectorAll(".queue-hint, .paging")) part.hidden = true;
  if (document.activeElement === document.body) done.focus();
  say("Tudo respondido.");
};

// ------------------------------------------------------------------ counting

const numberOf = (element) => Number(element.textContent.replaceAll(".", ""));
const add = (selector, by) => {
  for (const element of document.querySelectorAll(selector)) {
    element.textContent = Math.max(0, numberOf(element) + by).toLocaleString("pt-BR");
  }
};

const countLetters = (card) => {
  const letters = words(fieldOf(card).value);
  const counter = card.querySelector("[data-length]");
  counter.textContent = letters ? `${letters.toLocaleString("pt-BR")} de 2.000` : "Até 2.000 letras";
  counter.classList.toggle("bad", letters > LONGEST);
};

// ------------------------------------------------------------------- sending

const complain = (card, message, mayLeave) => {
  card.querySelector(".notice")?.remove();
  const field = fieldOf(card);
  let fault = card.querySelector(".fault");
  if (!fault) {
    fault = document.createElement("p");
    fault.className = "fault";
    fault.id = `${field.id}-erro`;
    field.after(fault);
  }
  fault.textContent = message;
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", fault.id);
  if (mayLeave && !card.querySelector("[data-leave]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button bare";
    button.dataset.leave = "";
    button.textContent = "Tirar da fila";
    card.querySelector(".qa-send").append(button);
  }
  say(message);
};

const quiet = (card) => {
  card.querySelector(".fault")?.remove();
  card.querySelector(".notice")?.remove();
  const field = fieldOf(card);
  field.removeAttribute("aria-invalid");
  field.removeAttribute("aria-describedby");
};

const post = async (form) => {
  if (posting >= MOST_FLYING) await new Promise((free) => waiting.push(free));
  posting += 1;
  try {
    return await posted(form);
  } finally {
    posting -= 1;
    waiting.shift()?.();
  }
};

const posted = async (form) => {
  const body = Object.fromEntries(new FormData(form));
  // What makes a form of the browser count once; programs send no such field.
  delete body.envio;
  const headers = { "Content-Type": "application/json", Accept: "application/json" };
  const answer = await fetch(form.action, { method: "POST", headers, body: JSON.stringify(body), keepalive: true });
  const told = await answer.json().catch(() => ({}));
  return { status: answer.status, message: told.message };
};

const wordsFor = ({ status, message }) => {
  if (status === 401) return "Sua sessão terminou: entre de novo em outra aba e responda daqui.";
  if (status === 404) return "Esta pergunta não está mais na fila.";
  return message ?? "Não deu para enviar agora. Tente de novo.";
};

const send = async (card) => {
  const field = fieldOf(card);
  const letters = words(field.value.trim());
  if (letters === 0 || letters > LONGEST) {
    complain(card, "Escreva a resposta, com até 2.000 letras.");
    enter(card);
    return;
  }
  quiet(card);
  // The next card has the cursor while this one is on its way.
  const next = after(card);
  const item = card.parentElement;
  item.hidden = true;
  flying += 1;
  if (next) enter(next);
  else done.focus();
  more();
  let result;
  try {
    result = await post(card.querySelector("form"));
  } catch {
    result = { status: 0, message: "Sem conexão: nada foi confirmado. Tente de novo." };
  }
  flying -= 1;
  if (result.status === 200) {
    item.remove();
    for (const paging of document.querySelectorAll(".paging")) paging.hidden = true;
    add("[data-left], [data-left-in=pendente]", -1);
    add("[data-left-in=respondida]", 1);
    const left = document.querySelector("[data-left]");
    say(left ? `Resposta enviada. Faltam ${left.textContent}.` : "Resposta enviada.");
  } else {
    item.hidden = false;
    const isOver = result.status === 404 || result.status === 409;
    complain(card, `Não enviada. ${wordsFor(result)}`, isOver);
    if (cards().length === 1) enter(card);
  }
  finish();
};

const leave = (card) => {
  const next = after(card);
  card.parentElement.remove();
  add("[data-left], [data-left-in=pendente]", -1);
  if (next) enter(next);
  more();
  finish();
};

// -------------------------------------------------------------- what follows

// What is answered leaves the list, so that the next ones come nearer: the first
// page with cards that were not here yet has them.
const more = async (isAsked = false) => {
  if (fetching || isAll || (!isAsked && cards().length >= FEW)) return false;
  let isAnswered = false;
  fetching = true;
  try {
    for (let page = 1; page <= MOST_PAGES && !isAll; page += 1) {
      const address = new URL(location.href);
      address.searchParams.set("pagina", page);
      const answer = await fetch(address, { headers: { Accept: "text/html" } });
      if (!answer.ok) return false;
      const there = new DOMParser().parseFromString(await answer.text(), "text/html");
      const items = [...there.querySelectorAll("[data-cards] > li")];
      if (isAsked) recount(there);
      const fresh = items.filter((item) => !seen.has(item.dataset.card));
      for (const item of fresh) {
        item.querySelector("[autofocus]")?.removeAttribute("autofocus");
        list.append(document.adoptNode(item));
        ready(item.querySelector("article"));
      }
      isAll = !there.querySelector(".paging a[rel=next]");
      if (fresh.length) break;
    }
    isAnswered = true;
  } catch {
    // Nobody answered: asked again with the next answer.
  } finally {
    fetching = false;
  }
  if (list.contains(document.activeElement)) return isAnswered;
  const [first] = cards();
  if (first && (document.activeElement === document.body || document.activeElement === done)) enter(first);
  finish();
  return isAnswered;
};

const recount = (there) => {
  for (const selector of ["[data-left]", "[data-left-in=pendente]"]) {
    const [here, now] = [document.querySelector(selector), there.querySelector(selector)];
    if (here && now) here.textContent = now.textContent;
  }
};

// The line above the list says that questions came: they are fetched to its end,
// so that nothing typed is lost and nothing moves.
const fetchNew = async (event) => {
  if (!waits || fetching || event.ctrlKey || event.metaKey || !event.target.closest?.("#novidades a")) return;
  event.preventDefault();
  const wasAll = isAll;
  isAll = false;
  done.hidden = true;
  for (const part of document.querySelectorAll(".queue-hint")) part.hidden = false;
  if (await more(true)) {
    document.dispatchEvent(new CustomEvent("novidades-vistas"));
    const [first] = cards();
    if (first && document.activeElement === document.body) enter(first);
    say("As perguntas novas estão no fim da fila.");
  } else {
    isAll = wasAll;
    finish();
    say("Não deu para buscar agora. Tente de novo.");
  }
};

// ------------------------------------------------------------- saved replies

// What is not known leaves no blank behind it: "Olá, {comprador}!" is "Olá!". Of a
// buyer the marketplace tells a nickname only, which greets nobody.
const filled = (card, text) => {
  const { anuncio, preco, estoque, loja } = card.dataset;
  const values = { anuncio, preco, estoque, loja };
  return text.replace(/,?[ ]?\{(comprador|anuncio|preco|estoque|loja)\}/g, (whole, name) =>
    values[name] ? whole.replace(`{${name}}`, () => values[name]) : "",
  );
};

const insert = (card, number) => {
  const reply = replies[number];
  if (!reply) return;
  const field = fieldOf(card);
  const text = filled(card, reply.text);
  field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
  field.dispatchEvent(new Event("input", { bubbles: true }));
  if (card.contains(document.activeElement)) enter(card);
};

const offer = (card) => {
  const place = card.querySelector("[data-choose]");
  if (!place || place.firstChild || replies.length === 0) return;
  const select = document.createElement("select");
  select.className = "input";
  select.setAttribute("aria-label", "Inserir resposta salva");
  select.add(new Option("Resposta salva…", ""));
  replies.forEach(({ title }, at) => select.add(new Option(at < 9 ? `${at + 1}. ${title}` : title, at)));
  select.addEventListener("change", () => {
    if (select.value !== "") insert(card, Number(select.value));
    select.value = "";
  });
  place.append(select);
};

// ---------------------------------------------------------- who is answering

const showHold = (card, name) => {
  const line = card.querySelector("[data-hold]");
  if (!line) return;
  line.hidden = !name;
  const text = name ? `${name} está respondendo` : "";
  const place = line.querySelector("span");
  if (place.textContent !== text) place.textContent = text;
};

const hold = async (card) => {
  if (!("shared" in queue.dataset) || performance.now() - (held.get(card) ?? -RENEW_MS) < RENEW_MS) return;
  held.set(card, performance.now());
  try {
    const address = `${queue.dataset.base}/${idOf(card)}/assumir`;
    const headers = { "Content-Type": "application/json", Accept: "application/json" };
    const answer = await fetch(address, { method: "POST", headers, body: "{}" });
    if (!answer.ok) return;
    const { com } = await answer.json();
    showHold(card, com);
    if (com) say(`${com} está respondendo a esta pergunta.`);
  } catch {
    // It only tells others.
  }
};

const lookWhoAnswers = async () => {
  if (document.hidden) return;
  try {
    const answer = await fetch(`${queue.dataset.base}/atendendo`, { headers: { Accept: "application/json" } });
    if (!answer.ok) return;
    const { atendendo } = await answer.json();
    const names = new Map(atendendo.map(({ question_id, nome }) => [question_id, nome]));
    for (const card of cards()) showHold(card, names.get(idOf(card)));
  } catch {
    // Another time.
  }
};

// ---------------------------------------------------------------------- keys

const inField = (event, card) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(card);
  else if (event.key === "Escape") card.focus();
  else return false;
  return true;
};

const onCard = (event, card) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const key = event.key.toLowerCase();
  if (key === "j") step(card, 1);
  else if (key === "k") step(card, -1);
  else if (key === "s") skip(card);
  else if (key === "enter") enter(card);
  else if (key === "?") document.getElementById("teclas").showPopover();
  else return false;
  return true;
};

const press = (event) => {
  const card = cardOf(event.target);
  if (!card || !fieldOf(card) || event.isComposing) return;
  const digit = event.altKey && !event.ctrlKey && /^Digit([1-9])$/.exec(event.code)?.[1];
  let taken = false;
  if (digit) {
    insert(card, Number(digit) - 1);
    taken = true;
  } else if (event.target === fieldOf(card)) taken = inField(event, card);
  else if (event.target === card) taken = onCard(event, card);
  if (taken) event.preventDefault();
};

const ready = (card) => {
  seen.add(idOf(card));
  if (fieldOf(card)) countLetters(card);
};

export const start = (section) => {
  queue = section;
  list = queue.querySelector("[data-cards]");
  done = queue.querySelector("[data-done]");
  said = queue.querySelector("[data-say]");
  const kept = [...queue.querySelectorAll("[data-replies] > li")];
  replies = kept.map((item) => ({ title: item.dataset.title, text: item.textContent }));
  // Where answered ones are shown too, pages stay pages.
  waits = [...list.querySelectorAll("article")].every(fieldOf);
  isAll = !waits || !document.querySelector(".paging a[rel=next]");
  list.querySelectorAll("article").forEach(ready);
  // Before the forms' own listeners: nothing of theirs is to happen.
  list.addEventListener(
    "submit",
    (event) => {
      event.preventDefault();
      event.stopPropagation();
      send(cardOf(event.target));
    },
    true,
  );
  list.addEventListener("click", (event) => event.target.closest("[data-leave]") && leave(cardOf(event.target)));
  list.addEventListener("keydown", press);
  list.addEventListener("focusin", (event) => {
    const card = cardOf(event.target);
    if (card && fieldOf(card)) offer(card);
  });
  list.addEventListener("input", (event) => {
    const card = cardOf(event.target);
    if (event.target !== fieldOf(card)) return;
    countLetters(card);
    hold(card);
  });
  // Nothing typed is lost by a slip.
  addEventListener("beforeunload", (event) => {
    const isTyped = cards().some((card) => fieldOf(card).value !== fieldOf(card).defaultValue);
    if (flying || isTyped) event.preventDefault();
  });
  document.addEventListener("click", fetchNew);
  if ("shared" in queue.dataset) setInterval(lookWhoAnswers, LOOK_MS);
  const focused = list.contains(document.activeElement) && cardOf(document.activeElement);
  if (focused && fieldOf(focused)) offer(focused);
  queue.dataset.ready = "";
  more();
};
