// Shows what the platform sends while none of its pages is open. It keeps
// nothing and answers no requests, so pages are never older than the server's.

const read = (event) => {
  try {
    return event.data.json();
  } catch {
    return {}; // A push without a text still has to show something.
  }
};

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

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
