"use strict";
// Heads of short tables become buttons that sort them; the order outlives a refresh of its part of the page.
(() => {
  const orders = new Map();
  const compare = (a, b, sign) => {
    if (a === b) return 0;
    if (a === "" || b === "") return a === "" ? 1 : -1; // nothing comes last, either way
    const number = a - b;
    return (Number.isNaN(number) ? a.localeCompare(b) : number) * sign;
  };
  const sort = (table, column, rising) => {
    [...table.tHead.rows[0].cells].forEach((head, k) => {
      head.setAttribute("aria-sort", k !== column ? "none" : rising ? "ascending" : "descending");
    });
    const body = table.tBodies[0];
    const key = (row) => row.cells[column].dataset.sort;
    body.append(...[...body.rows].sort((a, b) => compare(key(a), key(b), rising ? 1 : -1)));
  };
  const makeSortable = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    const name = table.dataset.name;
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.id = `sort-${name}-${column}`;
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const rising = head.getAttribute("aria-sort") !== "ascending";
        orders.set(name, [heads[column].textContent, rising]);
        sort(table, column, rising);
      });
    });
    const [word, rising] = orders.get(name) ?? [];
    const column = heads.findIndex((head) => head.textContent === word);
    if (column >= 0) sort(table, column, rising);
    table.dataset.ready = "";
  };
  // Only what really scrolls is a stop for the keyboard, and says so.
  const stops = () => {
    for (const box of document.querySelectorAll(".scroll")) {
      box.removeAttribute("data-wide"); // a table that scrolls anyway is not squeezed, so measure the squeezed one
      const wide = box.scrollWidth > box.clientWidth + 1;
      box.toggleAttribute("data-wide", wide);
      if (wide) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  const prepare = () => {
    document.querySelectorAll("table.sortable:not([data-ready])").forEach(makeSortable);
    stops();
  };
  prepare();
  // A refresh must not take the reader's place away: the focus, and how far a table was scrolled.
  let focus = "";
  let scrolled = [];
  document.body.addEventListener("htmx:beforeSwap", () => {
    focus = document.activeElement ? document.activeElement.id : "";
    scrolled = [...document.querySelectorAll(".scroll[id]")].map((box) => [box.id, box.scrollLeft]);
  });
  document.body.addEventListener("htmx:afterSettle", () => {
    prepare();
    for (const [id, left] of scrolled) {
      const box = document.getElementById(id);
      if (box && left) box.scrollLeft = left;
    }
    const lost = !document.activeElement || document.activeElement === document.body;
    if (focus && lost) document.getElementById(focus)?.focus({ preventScroll: true });
  });
  // Figures come as wide as the window: one drawing each, so that they are there soon.
  document.body.addEventListener("htmx:configRequest", (event) => {
    if (window.innerWidth < 560) event.detail.parameters.narrow = "1";
  });
  addEventListener("resize", stops);
})();
