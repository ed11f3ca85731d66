// Improves the pages: keys, entries that open in place, marks without reloading, live previews.
// Every action is also a form or a link that works without this script. It loads nothing from other
// sites.
"use strict";

const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// --- Marks: sends the buttons of a list without reloading.

const SINGLE = ["read", "unread", "star", "unstar"];

// Returns what a button does, as marks of single entries.
const marksOf = (button) => {
  if (SINGLE.includes(button.name)) return [button.name, Number(button.value)];
  const list = items();
  const down = list.slice(0, list.indexOf(button.closest("li")) + 1);
  return ["read", ...down.map((item) => Number(item.dataset.entry))];
};

const mark = async (button) => {
  const form = button.form;
  const body = new URLSearchParams(new FormData(form));
  body.append(button.name, button.value);
  body.append("part", "1");
  const parts = marksOf(button);
  // Marks that wait on this device are older, so they go first. This one waits with them if they
  // cannot be sent.
  let state = await (globalThis.sendMarks?.() ?? "sent");
  if (state === "sent") {
    const answer = await fetch(form.action, { method: "POST", body, redirect: "manual" }).catch(() => null);
    if (answer?.status === 204) return;
    // A redirect to the login page means that the mark was not made.
    if (answer?.type === "opaqueredirect") state = "login";
    else if (answer && answer.status < 500) throw new Error(`the mark was not made: ${answer.status}`);
  }
  const isKept = await globalThis.keepMarks?.(...parts);
  if (!isKept || state === "login") throw new Error("the mark was not made yet");
};

const setRead = (item, read) => {
  item.classList.toggle("read", read);
  const button = one("button.mark", item);
  if (!button) return;
  button.name = read ? "unread" : "read";
  button.setAttribute("aria-label", read ? "Mark unread" : "Mark read");
};

const setStar = (item, starred) => {
  item.classList.toggle("starred", starred);
  const button = one("button.star", item);
  button.name = starred ? "unstar" : "star";
  button.setAttribute("aria-label", starred ? "Remove star" : "Star");
};

const pressed = async (button) => {
  const item = button.closest("[data-entry]");
  const name = button.name;
  try {
    await mark(button);
  } catch {
    // Send the form instead. The next page says what is wrong, such as an expired session.
    button.form.requestSubmit(button);
    return;
  }
  if (name === "read" || name === "unread") setRead(item, name === "read");
  if (name === "star" || name === "unstar") setStar(item, name === "star");
  if (name === "above") {
    for (const other of items()) {
      setRead(other, true);
      if (other === item) break;
    }
  }
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("#lines button[form=marks]");
  if (!button) return;
  event.preventDefault();
  pressed(button);
});

// --- The list: the current entry and the open entries.

const items = () => all("#lines > li");
let here = null;

const goTo = (item) => {
  if (!item) return;
  here?.classList.remove("here");
  here = item;
  here.classList.add("here");
  one("h2 a", here).focus({ preventScroll: true });
  const top = one("h2", here).getBoundingClientRect().top;
  // Do not scroll if the entry is in view already.
  if (top < 0 || top > innerHeight - 80) {
    here.scrollIntoView({ block: one(".article", here) ? "start" : "nearest" });
  }
};

const step = (by) => {
  const list = items();
  if (!list.length) {
    // On the page of a single entry, go to the page of the next one.
    one(by > 0 ? ".single a[rel=next]" : ".single a[rel=prev]")?.click();
    return;
  }
  const at = list.indexOf(here) + by;
  if (at >= list.length) one(".pages a[rel=next]")?.focus();
  else goTo(list[Math.max(at, 0)]);
};

const toggle = async (item, toTop = false) => {
  const open = one(".article", item);
  if (open) {
    open.remove();
    item.classList.remove("open");
    return;
  }
  const href = one("h2 a", item).href;
  const part = new URL(href);
  part.searchParams.set("part", "1");
  // An older mark of this entry must not win over its opening.
  const state = await (globalThis.sendMarks?.() ?? "sent");
  const answer = await fetch(part).catch(() => null);
  if (!answer?.ok || answer.redirected) {
    location.href = href;
    return;
  }
  if (state !== "sent") globalThis.keepMarks?.("open", Number(item.dataset.entry));
  const holder = document.createElement("template");
  holder.innerHTML = await answer.text();
  const article = one("article", holder.content);
  if (one(".article", item)) return;
  one(".acts", item).after(article);
  item.classList.add("open");
  setRead(item, true);
  goTo(item);
  if (toTop) item.scrollIntoView({ block: "start" });
};

document.addEventListener("click", (event) => {
  const link = event.target.closest("#lines h2 a");
  // With a modifier key the browser opens a new tab or window.
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const item = link.closest("li");
  goTo(item);
  toggle(item);
});

// --- Keys.

const places = { r: "/", f: "/feeds", q: "/queries", b: "/budget", l: "/lab", h: "/health", a: "/account" };
let awaitsPlace = false;

const keys = {
  j: () => step(1),
  k: () => step(-1),
  o: () => here && toggle(here, true),
  v: () => one(".original", here ?? one(".single") ?? document.createElement("p"))?.click(),
  m: () => one("button.mark", here ?? one(".single") ?? undefined)?.click(),
  s: () => one("button.star", here ?? one(".single") ?? undefined)?.click(),
  u: () => here && one("button.above", here)?.click(),
  A: () => one("#all")?.click(),
  z: () => one("#undo")?.click(),
  n: () => one("#fresh a")?.click(),
  "/": () => one("input[type=search]")?.focus(),
  "?": () => one("#keys")?.showModal(),
  g: () => {
    awaitsPlace = true;
    setTimeout(() => { awaitsPlace = false; }, 1500);
  },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const writes = event.target.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=range])");
  if (writes) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (one("dialog[open]")) return;
  if (awaitsPlace && places[event.key]) {
    event.preventDefault();
    location.href = places[event.key];
    return;
  }
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

// --- New entries: the server sends the number of entries since the list was shown. The list does not
// move while somebody reads. A hidden tab keeps no connection open.

const stream = one("#stream");
let news = null;

const tell = (event) => {
  const said = JSON.parse(event.data);
  const unread = one("#unread");
  if (unread) unread.textContent = said.unread;
  if (!said.new) return;
  const href = stream.dataset.list ? `/?${stream.dataset.list}` : "/";
  // An empty list can be reloaded at once.
  if (!items().length && !one("#fresh a")) location.replace(href);
  const link = document.createElement("a");
  link.href = href;
  link.textContent = said.new;
  one("#fresh").replaceChildren(link);
};

const watch = () => {
  news?.close();
  news = null;
  if (!stream || !one("#fresh") || document.hidden) return;
  const list = stream.dataset.list;
  news = new EventSource(`/news?${list ? `${list}&` : ""}since=${stream.dataset.since}`);
  news.addEventListener("message", tell);
};

document.addEventListener("visibilitychange", watch);
addEventListener("pagehide", () => news?.close());
watch();

// --- The time zone of the browser: a cookie, because the server writes the times.

const zone = document.documentElement.dataset.zone;
const local = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
const cookie = `tidings_zone=${local}`;
const hasCookie = () => document.cookie.split("; ").includes(cookie);
if (zone && zone !== local && /^[\w+/-]+$/.test(local) && !hasCookie()) {
  document.cookie = `${cookie}; path=/; max-age=31536000; samesite=lax`;
  // Without cookies the page stays as it is.
  if (hasCookie()) location.reload();
}

// --- The preview of a query, updated while a person types.

for (const form of all("form[data-preview]")) {
  const shown = one(form.dataset.preview);
  let waits = 0;
  let asked = 0;
  const renew = async () => {
    const number = ++asked;
    const body = new URLSearchParams(new FormData(form));
    body.append("part", "1");
    const answer = await fetch(form.dataset.previewAt ?? "/queries/preview", { method: "POST", body }).catch(() => null);
    if (!answer?.ok || answer.redirected || number !== asked) return;
    shown.innerHTML = await answer.text();
  };
  form.addEventListener("input", () => {
    clearTimeout(waits);
    waits = setTimeout(renew, 400);
  });
}

// --- The slider between more polls and less delay: each position is one row of the table.

for (const slider of all("input[data-rows]")) {
  const rows = all(`${slider.dataset.rows} tbody tr`);
  const says = one(`#${slider.getAttribute("aria-describedby")}`);
  const rule = one("input[name=budget]");
  const show = () => {
    const row = rows[slider.value];
    rows.forEach((other) => other.classList.toggle("here", other === row));
    says.textContent = row.dataset.words;
    slider.setAttribute("aria-valuetext", row.dataset.words);
  };
  slider.addEventListener("input", () => {
    show();
    if (rule && rows[slider.value].dataset.rule) rule.value = rows[slider.value].dataset.rule;
  });
  slider.closest("[hidden]")?.removeAttribute("hidden");
  show();
}

// --- Loads the feeds of a tag when it is opened. Without the script a link leads to them.
document.addEventListener("toggle", async (event) => {
  const link = event.target.open && event.target.querySelector("a[data-fold]");
  if (!link) return;
  const answer = await fetch(link.dataset.fold).catch(() => null);
  if (!answer?.ok || answer.redirected) return;
  const fold = document.createElement("template");
  fold.innerHTML = await answer.text();
  link.closest("p")?.replaceWith(fold.content);
}, true);

// --- Whole texts: while one is on its way, the page looks again. It stops after a minute.

const looks = { n: 0 };
const lookAgain = async () => {
  const waiting = one(".single .whole[data-waiting]");
  if (!waiting || ++looks.n > 30) return;
  const part = new URL(location.href);
  part.searchParams.set("part", "1");
  const answer = await fetch(part).catch(() => null);
  if (!answer?.ok || answer.redirected) return;
  const holder = document.createElement("template");
  holder.innerHTML = await answer.text();
  if (one(".whole[data-waiting]", holder.content)) setTimeout(lookAgain, 2000);
  else location.reload();
};
if (one(".single .whole[data-waiting]")) setTimeout(lookAgain, 1500);

// --- Positions in recordings, which other devices see. A browser may lose what a page sends while
// somebody leaves it. So each position waits on the device until the server has answered. The next
// page sends it again.

const WAITING = "tidings-position ";
// A browser may forbid it.
const device = (() => {
  try {
    return localStorage;
  } catch {
    return null;
  }
})();
const waiting = (key) => JSON.parse(device?.getItem(key) ?? "null");
const formOf = ({ enclosure, seconds, duration, at }) => {
  const body = new URLSearchParams({ form_key: document.documentElement.dataset.key ?? "", enclosure, seconds, at });
  if (Number.isFinite(duration)) body.set("duration", duration);
  return body;
};
const sendPosition = (key) => {
  const position = waiting(key);
  if (position?.account !== document.documentElement.dataset.account) {
    device?.removeItem(key);
    return;
  }
  const request = { method: "POST", body: formOf(position), redirect: "manual", keepalive: true };
  fetch(`/play/${position.entry}/position`, request).then((answer) => {
    const isTaken = answer.ok || answer.status === 404 || answer.status === 422;
    if (isTaken && waiting(key)?.at === position.at) device.removeItem(key);
  }).catch(() => null);
};
if (document.documentElement.dataset.account !== undefined) {
  Object.keys(device ?? {}).filter((key) => key.startsWith(WAITING)).forEach(sendPosition);
}

// --- Sharing: the dialog of the phone, and a button that copies the link.

document.addEventListener("toggle", (event) => {
  const share = event.target.closest?.("details.share");
  if (!share) return;
  const show = (name, works) => { one(`[data-share=${name}]`, share).hidden = !works; };
  show("dialog", Boolean(navigator.share));
  show("copy", Boolean(navigator.clipboard));
}, true);

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-share]");
  if (!button) return;
  const { link, title } = button.closest("[data-link]").dataset;
  if (button.dataset.share === "dialog") {
    // A person who closes the dialog has not asked for a message.
    navigator.share({ title, url: link }).catch(() => null);
    return;
  }
  const copied = await navigator.clipboard.writeText(link).then(() => true, () => false);
  button.textContent = copied ? "Copied" : "Could not copy";
});

// --- Lists in an own order, of tags or feeds: drag an item, or move it with Alt and an arrow key.
for (const list of all("ol[data-order]")) {
  let dragged = null;
  const send = async () => {
    const body = new URLSearchParams({ form_key: list.dataset.formKey, part: "1" });
    all("li[data-item]", list).forEach((item) => body.append("item", item.dataset.item));
    const answer = await fetch(list.dataset.order, { method: "POST", body, redirect: "manual" }).catch(() => null);
    if (answer?.status !== 204) location.reload();
  };
  const move = (item, other, after) => {
    if (!item || !other || item === other) return;
    if (after) other.after(item);
    else other.before(item);
  };
  for (const item of all("li[data-item]", list)) {
    item.draggable = true;
    item.addEventListener("dragstart", () => { dragged = item; });
    item.addEventListener("dragend", () => { dragged = null; send(); });
    item.addEventListener("dragover", (event) => {
      event.preventDefault();
      const box = item.getBoundingClientRect();
      move(dragged, item, event.clientY > box.top + box.height / 2);
    });
    item.addEventListener("keydown", (event) => {
      const down = event.key === "ArrowDown";
      if (!event.altKey || (!down && event.key !== "ArrowUp")) return;
      event.preventDefault();
      const focused = document.activeElement;
      move(item, down ? item.nextElementSibling : item.previousElementSibling, down);
      focused.focus();
      send();
    });
  }
}
