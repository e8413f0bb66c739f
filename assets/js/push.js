// Switches messages on in this browser. Without this file the list of browsers
// is shown and each can be switched off; only switching on needs a script.
// Loaded by app.js on the page that has the list.

let section, button, said;
const ADDRESS = "/perfil/push/aparelhos";

const say = (text) => {
  said.textContent = text;
};

const ourKey = () => {
  const text = atob(section.dataset.key.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
};

// The digest by which the page names this browser's row.
const markOf = async (subscription) => {
  const bytes = new TextEncoder().encode(subscription.endpoint);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).slice(0, 16);
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
};

// Who switched what on here, so that nobody's choice is made for another, and
// what was switched off from elsewhere stays off.
const remembered = () => {
  try {
    return JSON.parse(localStorage.getItem("push")) ?? {};
  } catch {
    return {};
  }
};

const remember = (mark) => {
  try {
    localStorage.setItem("push", JSON.stringify({ person: section.dataset.person, mark }));
  } catch {
    // Without storage a browser that changes has to be switched on again.
  }
};

const isBoundTo = (subscription, key) => {
  const bound = subscription.options?.applicationServerKey;
  if (!bound) return true;
  const bytes = new Uint8Array(bound);
  return bytes.length === key.length && bytes.every((byte, index) => byte === key[index]);
};

const subscribe = async (registration) => {
  const key = ourKey();
  const present = await registration.pushManager.getSubscription();
  if (present && isBoundTo(present, key)) return present;
  await present?.unsubscribe();
  return registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
};

// Tells the platform how this browser is reached; gives the status of its answer.
const tell = async (subscription) => {
  const { endpoint, keys } = subscription.toJSON();
  const answer = await fetch(ADDRESS, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify({ endpoint, keys }),
  });
  if (answer.ok) remember(await markOf(subscription));
  return answer.status;
};

const wasTaken = (status) => status === 200 || status === 201;

const register = async () => {
  await navigator.serviceWorker.register("/sw.js", { scope: "/", updateViaCache: "none" });
  return navigator.serviceWorker.ready;
};

// A push service that is out of reach lets browsers wait for ever.
const within = (seconds, promise) =>
  Promise.race([promise, new Promise((_, fail) => setTimeout(fail, seconds * 1000))]);

const switchOn = async () => {
  button.disabled = true;
  try {
    if ((await Notification.requestPermission()) !== "granted") {
      return say("O navegador bloqueia os avisos deste site. Permita-os nas configurações do site e tente de novo.");
    }
    say("Ligando…");
    const subscription = await within(30, register().then(subscribe));
    const status = await tell(subscription);
    if (wasTaken(status)) return location.assign("/perfil/avisos");
    await subscription.unsubscribe();
    if (status === 422) say("A plataforma não conhece o serviço de avisos deste navegador. Tente em outro navegador.");
    else say("Não foi possível ligar agora. Recarregue a página e tente de novo.");
  } catch {
    say("O serviço de avisos deste navegador não respondeu. Tente de novo mais tarde ou em outro navegador.");
  } finally {
    button.disabled = false;
  }
};

// Marks the row of this browser, and ends the subscription along with it.
const showAsHere = (row, subscription) => {
  row.querySelector("strong").append(" (este)");
  const form = row.querySelector("form");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await subscription.unsubscribe().catch(() => false);
    form.submit();
  });
  say("Este navegador está ligado. Para ligar outro, abra esta página nele.");
};

const look = async () => {
  const registration = await navigator.serviceWorker.getRegistration("/");
  const present = await registration?.pushManager.getSubscription();
  if (present) {
    const mark = await markOf(present);
    const row = section.querySelector(`[data-mark="${mark}"]`);
    if (row && isBoundTo(present, ourKey())) {
      remember(mark);
      return showAsHere(row, present);
    }
  }
  const before = remembered();
  const isOurs = before.person === section.dataset.person && Notification.permission === "granted";
  const hasChanged = present && (!isBoundTo(present, ourKey()) || before.mark !== (await markOf(present)));
  if (isOurs && hasChanged && wasTaken(await tell(await subscribe(registration)))) return location.reload();
  say("Este navegador ainda não está ligado.");
  button.hidden = false;
  button.addEventListener("click", switchOn);
};

// Begins on the section of the page that lists the browsers.
export const start = (found) => {
  section = found;
  button = section.querySelector("[data-push-on]");
  said = section.querySelector("[data-push-said]");
  if ("serviceWorker" in navigator && "PushManager" in window && "Notification" in window) {
    if (Notification.permission === "denied") {
      say("O navegador bloqueia os avisos deste site. Permita-os nas configurações do site e recarregue a página.");
    } else {
      look().catch(() => say("Este navegador não consegue mostrar avisos agora."));
    }
  } else if (/iPhone|iPad/.test(navigator.userAgent)) {
    say("No iPhone e no iPad, adicione antes a plataforma à Tela de Início (Compartilhar) e abra-a por lá.");
  } else {
    say("Este navegador não mostra avisos. Abra a página em outro.");
  }
};
