// Tables sort by a column of numbers when its header is pressed.

function sortable() {
  for (const table of document.querySelectorAll(".k-sheet table")) {
    for (const header of table.querySelectorAll("thead th[data-number]")) {
      const button = element("button", { type: "button", class: "sort" }, ...header.childNodes);
      header.replaceChildren(button);
      button.addEventListener("click", () => sortBy(table, header));
    }
  }
}

function sortBy(table, header) {
  const falling = header.getAttribute("aria-sort") !== "descending";
  for (const other of table.querySelectorAll("thead th")) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", falling ? "descending" : "ascending");
  const value = (row) => {
    const found = row.cells[header.cellIndex]?.dataset.sort;
    return found === undefined ? -Infinity : Number(found) * (falling ? 1 : -1);
  };
  const body = table.tBodies[0];
  body.append(...[...body.rows].sort((one, other) => value(other) - value(one)));
}
