"use strict";
// A click on a column's head sorts its table by it, a second one the other way round. Empty cells stay last.
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const numeric = head.classList.contains("number");
    const value = row => {
      const text = row.cells[column].dataset.value ?? row.cells[column].textContent;
      return text === "" ? null : numeric ? Number(text) : text;
    };
    const order = (a, b) => numeric ? a - b : a.localeCompare(b, "en", {numeric: true});
    const rows = [...table.tBodies[0].rows].map(row => [value(row), row]);
    rows.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) : down ? order(b, a) : order(a, b));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  }));
}
