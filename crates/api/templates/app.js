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
  const RETRY_AFTER = 60 * 1000;
  // A server that does not answer must not block the next attempt.
  const SEND_MAX = 20 * 1000;

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

  const marks = () => act(["marks"], "readonly", (store) => answer(store("marks").getAll()));

  // Marks that were not sent yet are nowhere else, so the browser should not delete them. Chromium
  // and Safari decide by themselves; Firefox asks the person.
  const persist = () => navigator.storage?.persist?.().catch(() => false);

  // Keeps marks of one kind on this device. Returns false if the device cannot.
  const keep = async (name, ...entries) => {
    const who = isOffline ? await owner() : account;
    if (!hasWorker || who === "") return false;
    await act(["marks"], "readwrite", (store) =>
      entries.forEach((entry) => store("marks").add({ account: who, name, entry })));
    persist();
    send();
    return true;
  };

  const owner = () => act(["facts"], "readonly", (store) => answer(store("facts").get("owner")))
    .then((who) => who ?? "");

  // Sends all marks of this account. Returns "sent" if none waits any more, "login" if the session
  // has ended, or else "later". It tries again after a minute.
  let sending = Promise.resolve();
  let retry = 0;
  const send = () => {
    if (account === "") return Promise.resolve("later");
    sending = sending.then(() => inTurn(sendNow)).catch(() => "later").then((said) => {
      clearTimeout(retry);
      if (said === "later") retry = setTimeout(send, RETRY_AFTER);
      return said;
    });
    return sending;
  };

  // Two windows must not send the same marks: those of the slower one would arrive after newer ones.
  const inTurn = (work) => (navigator.locks ? navigator.locks.request("tidings-marks", work) : work());

  const sendNow = async () => {
    const refused = await act(["facts"], "readonly", (store) => answer(store("facts").get("refused")));
    // The first account takes over the marks from the time without accounts.
    const isOwn = (mark) => mark.account === account || (mark.account === "0" && refused !== account);
    const own = (await marks()).filter(isOwn);
    if (!own.length) return "sent";
    if (!navigator.onLine) return "later";
    const who = own[0].account;
    const part = own.filter((mark) => mark.account === who).slice(0, 500);
    const body = new URLSearchParams({ form_key: root.dataset.key ?? "", account: who });
    part.forEach((mark) => body.append("mark", `${mark.name} ${mark.entry}`));
    const signal = AbortSignal.timeout(SEND_MAX);
    const sent = await fetch("/offline/marks", { method: "POST", body, redirect: "manual", signal });
    if (sent.type === "opaqueredirect") return "login";
    if (sent.status === 409 && who !== account) {
      await act(["facts"], "readwrite", (store) => store("facts").put(account, "refused"));
    } else if (sent.status === 204) {
      await act(["marks"], "readwrite", (store) => part.forEach((mark) => store("marks").delete(mark.number)));
    } else {
      return "later";
    }
    return sendNow();
  };

  // Shows a mark on the line of its entry.
  const show = (item, name) => {
    if (name === "star" || name === "unstar") {
      item.classList.toggle("starred", name === "star");
      const button = item.querySelector("button.star");
      button.name = name === "star" ? "unstar" : "star";
      button.setAttribute("aria-label", name === "star" ? "Remove star" : "Star");
    } else {
      item.classList.toggle("read", name !== "unread");
      const button = item.querySelector("button.mark");
      button.name = name === "unread" ? "read" : "unread";
      button.setAttribute("aria-label", name === "unread" ? "Mark read" : "Mark unread");
    }
  };

  const showWaiting = async (who) => {
    for (const mark of (await marks()).filter((one) => one.account === who)) {
      const item = document.querySelector(`#lines > li[data-entry="${mark.entry}"]`);
      if (item) show(item, mark.name);
    }
  };

  // A form with marks is newer than the marks that wait, so these go first. Without a network, its
  // mark waits too.
  const SINGLE = ["read", "unread", "star", "unstar"];
  let going = null;
  const submitInOrder = async (form, button) => {
    const limit = new Promise((done) => { setTimeout(done, SEND_MAX); });
    await Promise.race([send(), limit]);
    if (!navigator.onLine && SINGLE.includes(button?.name) && await keep(button.name, Number(button.value))) {
      location.href = form.elements.back?.value ?? location.href;
      return;
    }
    going = form;
    form.requestSubmit(button);
  };

  const watchForms = () => document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || !form.getAttribute("action")?.startsWith("/marks")) return;
    if (going === form) {
      going = null;
      return;
    }
    event.preventDefault();
    submitInOrder(form, event.submitter);
  });

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
  const forget = () => {
    const positions = Object.keys(localStorage).filter((key) => key.startsWith("tidings-position "));
    positions.forEach((key) => localStorage.removeItem(key));
    return act(["entries", "facts"], "readwrite", (store) => {
      store("entries").clear();
      store("facts").clear();
    });
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
      .then(forget).catch(() => null).then(() => logout.submit());
  });

  globalThis.keepMarks = keep;
  globalThis.sendMarks = send;
  if (isOffline) {
    globalThis.device = { hasWorker, act, answer, of, owner, keep, show, showWaiting };
    return;
  }
  if (!hasWorker) return;
  if (account === "") {
    if (location.pathname === "/login") forget().catch(() => null);
    return;
  }
  navigator.serviceWorker.register("/service-worker.js").catch(() => null);
  if (matchMedia("(display-mode: standalone)").matches) persist();
  watchForms();
  showWaiting(account).catch(() => null).then(send);
  // The list comes first; the copies for later wait a moment.
  const start = () => sync().catch(() => null);
  // Another person was here before.
  owner().then((who) => (who !== "" && who !== account ? forget() : null)).catch(() => null);
  addEventListener("online", start);
  setTimeout(start, 1000);
})();
