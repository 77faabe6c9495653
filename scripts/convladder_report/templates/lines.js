// Sorts a table by the column whose heading is clicked; the last column is the order of the source.
"use strict";
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const heads = [...table.querySelectorAll(":scope > thead th")];
  const body = table.tBodies[0];
  const sort = (column, head) => {
    const falls = head.getAttribute("aria-sort") !== "descending" && column < heads.length - 2;
    for (const one of heads) one.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falls ? "descending" : "ascending");
    const value = row => Number(row.cells[column].dataset.value);
    const rows = [...body.rows].sort((a, b) => falls ? value(b) - value(a) : value(a) - value(b));
    body.append(...rows);
  };
  heads.forEach((head, column) => {
    head.tabIndex = 0;
    head.addEventListener("click", () => sort(column, head));
    head.addEventListener("keydown", event => { if (event.key === "Enter") sort(column, head); });
  });
}
