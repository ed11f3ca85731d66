// Shows the page for reading without a network, and notifications. It keeps only files that are
// the same for everybody; the entries of a person are in the database of the page.
"use strict";

const FILES = [/* files */];
const CACHE = "tidings-/* version */";

addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)).then(() => skipWaiting()));
});

addEventListener("activate", (event) => {
  const old = (names) => names.filter((name) => name.startsWith("tidings-") && name !== CACHE);
  event.waitUntil(caches.keys()
    .then((names) => Promise.all(old(names).map((name) => caches.delete(name))))
    .then(() => clients.claim()));
});

addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  const url = new URL(request.url);
  if (url.origin !== location.origin) return;
  if (request.mode === "navigate") {
    event.respondWith(fetch(request).catch(() => caches.match("/offline")));
  } else if (FILES.includes(url.pathname + url.search)) {
    event.respondWith(caches.match(request).then((kept) => kept ?? fetch(request)));
  }
});

addEventListener("push", (event) => {
  let said = {};
  try {
    said = event.data.json();
  } catch {
    // A message that cannot be read still must be shown: the browser promised it to the person.
  }
  event.waitUntil(registration.showNotification(said.title ?? "New entries", {
    body: said.body ?? "", tag: said.tag ?? "", icon: "/icons/app/192.png", data: { url: said.url ?? "/" },
  }));
});

addEventListener("notificationclick", (event) => {
  event.notification.close();
  const url = new URL(event.notification.data?.url ?? "/", location.origin);
  if (url.origin !== location.origin) return;
  event.waitUntil(clients.matchAll({ type: "window" }).then((windows) => {
    const there = windows.find((one) => "navigate" in one);
    return there ? there.focus().then((one) => one.navigate(url)) : clients.openWindow(url);
  }));
});
