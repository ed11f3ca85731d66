// The page as an app: entries that can be read without a network, marks that wait for one,
// swipes, and notifications. Everything else works without this file.
"use strict";

(() => {
  const root = document.documentElement;
  // The number of the account whose page this is; empty on pages that everybody may see.
  const account = root.dataset.account ?? "";
  const isOffline = root.dataset.offline !== undefined;
  const hasWorker = "serviceWorker" in navigator && "indexedDB" in window;
  const SYNC_EVERY = 5 * 60 * 1000;

  // --- The database: one for the device, with rows of each account under its number.

  const open = () => new Promise((done, failed) => {
    const asked = indexedDB.open("tidings", 1);
    asked.onupgradeneeded = () => {
      asked.result.createObjectStore("entries", { keyPath: ["account", "id"] });
      asked.result.createObjectStore("marks", { keyPath: "number", autoIncrement: true });
      asked.result.createObjectStore("facts");
    };
    asked.onsuccess = () => done(asked.result);
    asked.onerror = () => failed(asked.error);
  });

  const act = async (stores, mode, work) => {
    const db = await open();
    try {
      const change = db.transaction(stores, mode);
      const finished = new Promise((done, failed) => {
        change.oncomplete = () => done();
        change.onerror = change.onabort = () => failed(change.error);
      });
      const result = await work((name) => change.objectStore(name));
      await finished;
      return result;
    } finally {
      db.close();
    }
  };

  const answer = (asked) => new Promise((done, failed) => {
    asked.onsuccess = () => done(asked.result);
    asked.onerror = () => failed(asked.error);
  });

  const of = (who) => IDBKeyRange.bound([who, 0], [who, Infinity]);

  // --- Marks that wait for the network. They are sent in their order, and deleted only after the
  // server has taken them.

  // Keeps a mark on this device. Returns false if the device cannot.
  const keep = async (name, entry) => {
    const who = isOffline ? await owner() : account;
    if (!hasWorker || who === "") return false;
    await act(["marks"], "readwrite", (store) => answer(store("marks").add({ account: who, name, entry })));
    await send().catch(() => null);
    return true;
  };

  const owner = () => act(["facts"], "readonly", (store) => answer(store("facts").get("owner")))
    .then((who) => who ?? "");

  let sending = Promise.resolve();
  const send = () => {
    sending = sending.catch(() => null).then(sendNow);
    return sending;
  };

  const sendNow = async () => {
    if (account === "" || !navigator.onLine) return;
    const all = await act(["marks"], "readonly", (store) => answer(store("marks").getAll()));
    const own = all.filter((mark) => mark.account === account).slice(0, 500);
    if (!own.length) return;
    const body = new URLSearchParams({ form_key: root.dataset.key ?? "", account });
    own.forEach((mark) => body.append("mark", `${mark.name} ${mark.entry}`));
    const sent = await fetch("/offline/marks", { method: "POST", body, redirect: "manual" });
    if (sent.status !== 204) return;
    await act(["marks"], "readwrite", (store) => own.forEach((mark) => store("marks").delete(mark.number)));
    if (all.length > own.length) await sendNow();
  };

  // --- The newest unread entries, for reading without a network.

  const fetchEntries = async () => {
    const kept = [];
    let from = "";
    // Each answer has a part of the list; the server ends it after 500 entries.
    for (let part = 0; part < 100; part += 1) {
      const reply = await fetch(`/offline/entries?from=${from}`, { redirect: "manual" });
      if (!reply.ok) return;
      const said = await reply.json();
      if (said.account !== account) return;
      kept.push(...said.entries);
      from = said.next;
      if (!from) break;
    }
    await act(["entries", "facts", "marks"], "readwrite", async (store) => {
      // Entries of another account never stay on this device.
      store("entries").clear();
      kept.forEach((entry) => store("entries").put({ ...entry, account }));
      store("facts").put(account, "owner");
      store("facts").put(Date.now(), "synced");
    });
  };

  const sync = async () => {
    await send();
    if (navigator.connection?.saveData) return;
    const synced = await act(["facts"], "readonly", (store) =>
      Promise.all([answer(store("facts").get("synced")), answer(store("facts").get("owner"))]));
    if (synced[1] === account && Date.now() - (synced[0] ?? 0) < SYNC_EVERY) return;
    await fetchEntries();
  };

  // Deletes what was kept for reading. Marks that were not sent stay until their owner is back.
  const forget = () => act(["entries", "facts"], "readwrite", (store) => {
    store("entries").clear();
    store("facts").clear();
  });

  // --- The page without a network.

  const element = (name, attributes, ...children) => {
    const made = document.createElement(name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    made.append(...children);
    return made;
  };

  const line = (entry) => {
    const link = element("a", { href: `/entry/${entry.id}` }, entry.title);
    const button = (kind, name, label) =>
      element("button", { class: kind, name, value: entry.id, "aria-label": label, type: "button" });
    return element(
      "li", { class: "line-item", "data-entry": entry.id, id: `e${entry.id}` },
      element("h2", { dir: "auto" }, link),
      element("p", { class: "meta" }, element("bdi", {}, entry.feed), " ", entry.published),
      element("p", { class: "acts" }, button("star", "star", "Star"), button("mark", "read", "Mark read")),
    );
  };

  const showOffline = async () => {
    const list = document.querySelector("#lines");
    const says = document.querySelector("#offline-says");
    if (!hasWorker) return;
    const who = await owner();
    const entries = who === "" ? [] : await act(["entries"], "readonly", (store) =>
      answer(store("entries").getAll(of(who))));
    entries.sort((a, b) => b.at - a.at || b.id - a.id);
    says.textContent = entries.length
      ? `There is no connection. You can read these ${entries.length} entries; your marks are sent later.`
      : "There is no connection, and no entries are stored on this device.";
    list.replaceChildren(...entries.map(line));
    const waiting = await act(["marks"], "readonly", (store) => answer(store("marks").getAll()));
    const show = (item, name) => {
      if (name === "read" || name === "unread") {
        item.classList.toggle("read", name === "read");
        item.querySelector("button.mark").name = name === "read" ? "unread" : "read";
      } else {
        item.classList.toggle("starred", name === "star");
        item.querySelector("button.star").name = name === "star" ? "unstar" : "star";
      }
    };
    for (const mark of waiting.filter((one) => one.account === who)) {
      const item = list.querySelector(`li[data-entry="${mark.entry}"]`);
      if (item) show(item, mark.name);
    }
    const texts = new Map(entries.map((entry) => [String(entry.id), entry]));
    const toggle = (item) => {
      const shown = item.querySelector(".article");
      if (shown) {
        shown.remove();
        return;
      }
      const entry = texts.get(item.dataset.entry);
      const prose = element("div", { class: "prose", dir: "auto" });
      // The server has sanitised it, and the policy of the page forbids scripts in it.
      prose.innerHTML = entry.html || "<p>The feed has no text for this entry.</p>";
      const article = element("article", { class: "article" }, prose);
      if (entry.link) {
        article.append(element("p", {}, element("a", { href: entry.link, rel: "noopener noreferrer nofollow", target: "_blank", class: "original" }, "Original")));
      }
      item.append(article);
      if (!item.classList.contains("read")) press(item, "read");
    };
    const press = async (item, name) => {
      if (await keep(name, Number(item.dataset.entry))) show(item, name);
    };
    list.addEventListener("click", (event) => {
      const item = event.target.closest("li");
      const button = event.target.closest("button");
      if (button) press(item, button.name);
      else if (event.target.closest("h2 a")) {
        event.preventDefault();
        toggle(item);
      }
    });
    const wanted = location.pathname.match(/^\/entry\/(\d+)$/);
    const item = wanted && list.querySelector(`li[data-entry="${wanted[1]}"]`);
    if (item) {
      toggle(item);
      item.scrollIntoView();
    }
  };

  // --- Swipes: to the right marks read or unread, to the left stars.

  const SWIPE_MIN = 80;
  let swipe = null;
  addEventListener("touchstart", (event) => {
    const item = event.target.closest?.("#lines > li");
    const touch = event.touches[0];
    swipe = item && event.touches.length === 1 ? { item, x: touch.clientX, y: touch.clientY } : null;
  }, { passive: true });
  addEventListener("touchend", (event) => {
    if (!swipe) return;
    const { item, x, y } = swipe;
    swipe = null;
    const touch = event.changedTouches[0];
    const [dx, dy] = [touch.clientX - x, touch.clientY - y];
    if (Math.abs(dx) < SWIPE_MIN || Math.abs(dx) < 2 * Math.abs(dy)) return;
    item.querySelector(dx > 0 ? "button.mark" : "button.star")?.click();
  }, { passive: true });
  addEventListener("touchcancel", () => { swipe = null; }, { passive: true });

  // --- Notifications: the buttons on the page of the account.

  const bytes = (text) => Uint8Array.from(
    atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));

  const subscribe = async (section) => {
    const says = section.querySelector("[role=status]");
    const form = section.querySelector("form[data-subscribe]");
    if (await Notification.requestPermission() !== "granted") {
      says.textContent = "Your browser does not allow notifications of this site.";
      return;
    }
    try {
      const worker = await navigator.serviceWorker.ready;
      const key = bytes(section.dataset.push);
      const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
      const { endpoint, keys } = made.toJSON();
      form.elements.endpoint.value = endpoint;
      form.elements.p256dh.value = keys.p256dh;
      form.elements.auth.value = keys.auth;
      form.submit();
    } catch (error) {
      says.textContent = `The browser could not subscribe: ${error.message}`;
    }
  };

  const section = document.querySelector("section[data-push]");
  if (section && hasWorker && "PushManager" in window) {
    section.querySelector("form[data-subscribe]").hidden = false;
    section.querySelector("form[data-subscribe]").addEventListener("submit", (event) => {
      event.preventDefault();
      subscribe(section);
    });
  }

  // --- The start. Pages that everybody may see keep nothing.

  const logout = document.querySelector('form[action="/logout"]');
  logout?.addEventListener("submit", (event) => {
    if (!hasWorker) return;
    event.preventDefault();
    // Marks go first, then everything that was kept for reading.
    Promise.race([send(), new Promise((done) => { setTimeout(done, 5000); })])
      .catch(() => null).then(forget).catch(() => null).then(() => logout.submit());
  });

  globalThis.keepMark = keep;
  if (isOffline) {
    showOffline().catch(() => null);
    // Browsers also say so when only the device has a network.
    addEventListener("online", () => fetch("/healthz", { cache: "no-store" })
      .then((reply) => { if (reply.ok) location.reload(); }).catch(() => null));
    return;
  }
  if (!hasWorker) return;
  if (account === "") {
    if (location.pathname === "/login") forget().catch(() => null);
    return;
  }
  navigator.serviceWorker.register("/service-worker.js").catch(() => null);
  // The list comes first; the copies for later wait a moment.
  const start = () => sync().catch(() => null);
  // Another person was here before.
  owner().then((who) => (who !== "" && who !== account ? forget() : null)).catch(() => null);
  addEventListener("online", start);
  setTimeout(start, 1000);
})();
