"use strict";
// Column headers become buttons; without this script the tables are plain.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const rising = head.getAttribute("aria-sort") !== "ascending";
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", rising ? "ascending" : "descending");
      const key = (row) => row.cells[column].dataset.sort;
      const order = (a, b) => {
        if (a === b) return 0;
        if (a === "" || b === "") return a === "" ? 1 : -1; // nothing comes last, either way
        const number = a - b;
        return (Number.isNaN(number) ? a.localeCompare(b) : number) * (rising ? 1 : -1);
      };
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort((a, b) => order(key(a), key(b))));
    });
  });
}
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
stops();
addEventListener("resize", stops);
// A link to a folded section opens it.
const unfold = () => {
  const found = location.hash && document.getElementById(location.hash.slice(1));
  const folded = found && found.querySelector(":scope > details");
  if (folded) { folded.open = true; found.scrollIntoView(); }
};
unfold();
addEventListener("hashchange", unfold);
// What was folded is laid out only when it opens.
for (const folded of document.querySelectorAll("details")) folded.addEventListener("toggle", stops);
