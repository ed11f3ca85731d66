// The page without a network: it shows the entries that this device keeps. The file app.js has the
// database and the marks.
"use strict";

(() => {
  const { hasWorker, act, answer, of, owner, keep, show, showWaiting } = globalThis.device;

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
    await showWaiting(who);
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
      if (!item.classList.contains("read")) press(item, "open");
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

  showOffline().catch(() => null);
  // Browsers also say so when only the device has a network.
  // A network that has just come back often needs a moment.
  const look = (tries) => fetch("/healthz", { cache: "no-store" })
    .then((reply) => { if (reply.ok) location.reload(); })
    .catch(() => { if (tries > 0) setTimeout(() => look(tries - 1), 2000); });
  addEventListener("online", () => look(10));
})();
