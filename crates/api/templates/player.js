// The player of recordings: speed, steps of 30 seconds, chapters, and the position. Only the page
// that plays loads this file, after script.js, whose functions it uses.
"use strict";

const player = one(".play audio, .play video");
if (player) {
  const acts = one(".player-acts");
  acts.hidden = false;
  const { entry, enclosure } = player.dataset;
  const key = `${WAITING}${entry} ${enclosure}`;
  let kept = Math.floor(waiting(key)?.seconds ?? Number(player.dataset.position));
  const jump = (seconds) => {
    if (player.readyState > 0) player.currentTime = seconds;
    else player.addEventListener("loadedmetadata", () => { player.currentTime = seconds; }, { once: true });
  };
  if (kept > 0) {
    const minutes = `${Math.floor(kept / 60)}:${String(kept % 60).padStart(2, "0")}`;
    one("[data-kept]").textContent = `continues at ${minutes}`;
    jump(kept);
  }
  const keep = (isLeaving) => {
    const seconds = player.currentTime;
    if (!seconds || Math.abs(seconds - kept) < 1) return;
    kept = seconds;
    const { account } = document.documentElement.dataset;
    const position = { account, entry, enclosure, seconds, duration: player.duration, at: Date.now() };
    device?.setItem(key, JSON.stringify(position));
    if (isLeaving || !device) navigator.sendBeacon(`/play/${entry}/position`, formOf(position));
    else sendPosition(key);
  };
  setInterval(() => { if (!player.paused) keep(false); }, 15000);
  player.addEventListener("pause", () => keep(false));
  player.addEventListener("ended", () => keep(false));
  addEventListener("pagehide", () => keep(true));
  const speed = one("[data-speed]");
  speed.addEventListener("change", () => {
    player.defaultPlaybackRate = Number(speed.value);
    player.playbackRate = Number(speed.value);
  });
  document.addEventListener("click", (event) => {
    const skip = event.target.closest("[data-skip]");
    if (skip) player.currentTime = Math.max(0, player.currentTime + Number(skip.dataset.skip));
    const chapter = event.target.closest(".chapters [data-start]");
    if (!chapter) return;
    event.preventDefault();
    jump(Number(chapter.dataset.start));
    player.play().catch(() => null);
  });
  player.addEventListener("timeupdate", () => {
    let current = null;
    for (const chapter of all(".chapters a[data-start]")) {
      chapter.removeAttribute("aria-current");
      if (Number(chapter.dataset.start) <= player.currentTime) current = chapter;
    }
    current?.setAttribute("aria-current", "true");
  });
  // Chapters in a file of their own: we fetch them, the publisher does not see who listens.
  const listed = one("[data-spoken=chapters] a");
  listed?.addEventListener("click", async (event) => {
    event.preventDefault();
    const answer = await fetch(listed.href).catch(() => null);
    if (!answer?.ok || answer.redirected) { location.href = listed.href; return; }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const list = page.querySelector(".chapters");
    for (const item of all("li", list)) {
      const link = document.createElement("a");
      link.href = "#";
      link.dataset.start = one("time", item)?.dataset.start ?? 0;
      link.append(...item.childNodes);
      item.append(link);
    }
    listed.closest("p").replaceWith(list);
  });
}
