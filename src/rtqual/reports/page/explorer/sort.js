/* SPDX-License-Identifier: MIT */
/* Tables sort by the buttons in their headings: rising, falling, as they were. Figures sort by their value
   (data-value, in the base unit), other cells by their text; what has no figure comes last. */

const live = document.createElement("p");
live.className = "unseen";
live.setAttribute("role", "status");
document.body.append(live);

/* For screen readers; the page says it too. */
function announce(text) {
  live.textContent = text;
}

const NEXT = { none: "ascending", ascending: "descending", descending: "none" };

function sortable(table) {
  const body = table.tBodies[0];
  const unsorted = [...body.rows];
  if (unsorted.length < 2 || !body.querySelector("[data-value]")) return;
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const title = heading.textContent.trim();
    if (!title) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const order = NEXT[heading.getAttribute("aria-sort") ?? "none"];
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      if (order !== "none") heading.setAttribute("aria-sort", order);
      body.append(...sorted(unsorted, column, order));
      announce(order === "none" ? "Rows as they were" : `Sorted by ${title}, ${order}`);
    });
  });
}

function sorted(rows, column, order) {
  if (order === "none") return rows;
  const sign = order === "ascending" ? 1 : -1;
  const keyed = rows.map((row) => ({ row, ...keyOf(row.cells[column]) }));
  const units = [...new Set(keyed.map((one) => one.unit))];
  keyed.sort((a, b) => {
    if (a.value === null || b.value === null) {
      if (a.value !== b.value) return a.value === null ? 1 : -1;
      return sign * a.text.localeCompare(b.text, "en", { numeric: true });
    }
    if (a.unit !== b.unit) return units.indexOf(a.unit) - units.indexOf(b.unit);
    return a.value === b.value ? 0 : sign * (a.value < b.value ? -1 : 1);
  });
  return keyed.map((one) => one.row);
}

function keyOf(cell) {
  const { value, unit = "" } = cell.dataset;
  const said = [...cell.childNodes].filter((node) => !node.matches?.(".detail, sup"));
  return { value: value === undefined ? null : Number(value), unit, text: said.map((node) => node.textContent).join("").trim() };
}

document.querySelectorAll("figure.table table").forEach(sortable);
