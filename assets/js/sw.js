// Shows what the platform sends while none of its pages is open, and says so when
// there is no connection. It keeps that one page and what it is made of, and nothing
// else, so pages are never older than the server's.

const OFFLINE = "/sem-conexao";
const KEPT = "sem-conexao-1";

const read = (event) => {
  try {
    return event.data.json();
  } catch {
    return {}; // A push without a text still has to show something.
  }
};

const keepOffline = async () => {
  const page = await fetch(OFFLINE, { credentials: "omit", headers: { Accept: "text/html" } });
  if (!page.ok) return;
  const kept = await caches.open(KEPT);
  const parts = (await page.clone().text()).match(/\/assets\/[\w./-]+/g) ?? [];
  await kept.addAll([...new Set(parts)]);
  await kept.put(OFFLINE, page);
};

self.addEventListener("install", (event) => {
  self.skipWaiting();
  // Without that page the rest still works.
  event.waitUntil(keepOffline().catch(() => {}));
});

self.addEventListener("activate", (event) => {
  const begin = async () => {
    for (const name of await caches.keys()) if (name !== KEPT) await caches.delete(name);
    await self.registration.navigationPreload?.enable();
    await self.clients.claim();
  };
  event.waitUntil(begin());
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  // The browser's own request is used, which says where it came from; forms are
  // never sent from here.
  if (request.mode === "navigate" && request.method === "GET" && self.registration.navigationPreload) {
    const visit = async () => {
      try {
        return (await event.preloadResponse) ?? (await fetch(request));
      } catch {
        return (await caches.match(OFFLINE)) ?? Response.error();
      }
    };
    event.respondWith(visit());
  } else if (new URL(request.url).pathname.startsWith("/assets/")) {
    event.respondWith(fetch(request).catch(async () => (await caches.match(request)) ?? Response.error()));
  }
});

self.addEventListener("push", (event) => {
  const { title, body, url, tag, icon } = read(event);
  const options = { body, icon, data: { url } };
  // A newer message about the same takes the place of the older, and is heard.
  if (tag) Object.assign(options, { tag, renotify: true });
  event.waitUntil(self.registration.showNotification(title || "Novo aviso", options));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.url));
});

// Goes to a page of the platform, in the window where it is open already.
const open = async (wanted) => {
  let target = new URL(wanted || "/", self.location.origin);
  if (target.origin !== self.location.origin) target = new URL("/", self.location.origin);
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const there = windows.find((one) => one.url === target.href);
  return there ? there.focus() : self.clients.openWindow(target.href);
};

// The browser's push service gave it another address.
self.addEventListener("pushsubscriptionchange", (event) => {
  const renew = async () => {
    const options = event.oldSubscription?.options;
    const fresh = event.newSubscription ?? (options && (await self.registration.pushManager.subscribe(options)));
    if (!fresh) return;
    const { endpoint, keys } = fresh.toJSON();
    // Signed out, it is refused: the page tells of it at the next visit.
    await fetch("/perfil/push/aparelhos", {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify({ endpoint, keys }),
    });
  };
  event.waitUntil(renew());
});
