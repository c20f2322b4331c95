"use strict";
// Keeps progress up to date from server-sent events; parts that cost more to make are asked for again now and then.
(() => {
  const address = document.body.dataset.events;
  if (!address || !window.EventSource) return;
  const pause = 5000;
  const announced = new Map();
  let asked = 0;
  let waiting = 0;
  let first = true;

  const say = (text) => {
    const box = document.getElementById("trouble");
    box.textContent = text;
    box.hidden = text === "";
  };

  const announce = (box, news) => {
    // spoken at every tenth of the way and at every change of state, not at every task
    const step = `${news.state} ${Math.floor((10 * news.value) / news.max)}`;
    const before = announced.get(news.key);
    announced.set(news.key, step);
    if (before === undefined || before === step) return;
    const name = box.querySelector("progress").getAttribute("aria-label");
    document.getElementById("announce").textContent = `${name}: ${news.words.state}, ${news.words.share}.`;
  };

  const apply = (news) => {
    const boxes = document.querySelectorAll(`[data-study="${CSS.escape(news.key)}"]`);
    for (const box of boxes) {
      box.dataset.state = news.state;
      const bar = box.querySelector("progress");
      bar.max = news.max;
      bar.value = news.value;
      bar.textContent = news.words.share;
      for (const part of box.querySelectorAll("[data-part]")) {
        const text = news.words[part.dataset.part];
        if (text !== undefined && part.textContent !== text) part.textContent = text;
      }
      announce(box, news);
    }
    return boxes.length > 0;
  };

  const refresh = (element) => {
    if (!element || !window.htmx) return;
    const left = asked + pause - Date.now();
    clearTimeout(waiting);
    if (left > 0) {
      waiting = setTimeout(() => refresh(document.getElementById(element.id)), left);
    } else if (!document.hidden) {
      asked = Date.now();
      window.htmx.trigger(element, "refresh");
    }
  };

  const source = new EventSource(address);
  source.addEventListener("progress", (message) => {
    const { studies, gone } = JSON.parse(message.data);
    const unknown = studies.filter((news) => !apply(news)).length;
    const list = document.getElementById("studies");
    const live = document.getElementById("live");
    if (list && (first ? studies.length !== Number(list.dataset.total) : unknown || gone.length)) refresh(list);
    if (live && studies.some((news) => String(news.value) + news.state !== live.dataset.stamp)) refresh(live);
    first = false;
    say(live && gone.length ? "This study is no longer in the store." : "");
  });
  source.addEventListener("trouble", (message) => say(JSON.parse(message.data)));
  source.addEventListener("error", () => {
    if (source.readyState !== EventSource.OPEN) say("The connection to the dashboard is lost; trying again.");
  });
  source.addEventListener("open", () => { first = true; say(""); });
  addEventListener("pagehide", () => source.close());
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) refresh(document.getElementById("live"));
  });
})();
