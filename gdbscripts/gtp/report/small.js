// SPDX-License-Identifier: GPL-2.0-only
// Small tables: a click on a title sorts, bars show each row's share, and a button shows the rows after the first
// FIRST_ROWS ones.

const FIRST_ROWS = 12;

class SmallTable {
  /* columns: {title, right, text(row), key(row), bar}. rows: of any type. onRow(row): handles a click, or null. */
  constructor(caption, columns, rows, sorted, onRow) {
    this.columns = columns;
    this.rows = rows;
    this.onRow = onRow;
    this.sorted = sorted;
    this.all = false;
    this.head = el("tr", {});
    this.body = el("tbody", {});
    this.more = el("button", {type: "button", class: "more", onclick: () => this.showAll()});
    this.node = el("div", {class: "small"}, el("div", {class: "wide"},
      el("table", {}, el("caption", {class: "unseen"}, caption), el("thead", {}, this.head), this.body)), this.more);
    this.draw();
  }

  showAll() {
    this.all = !this.all;
    this.draw();
  }

  sort(k) {
    this.sorted = this.sorted[0] === k ? [k, !this.sorted[1]] : [k, Boolean(this.columns[k].right)];
    this.draw();
    this.head.children[k].querySelector("button").focus();
  }

  draw() {
    const [by, down] = this.sorted;
    const {key} = this.columns[by];
    const sorted = this.rows.slice().sort((a, b) => Grid.compare(key(a), key(b), down ? -1 : 1));
    const shown = this.all ? sorted : sorted.slice(0, FIRST_ROWS);
    this.head.replaceChildren(...this.columns.map((column, k) => el("th",
      {scope: "col", class: column.right ? "right" : null,
      "aria-sort": k === by ? (down ? "descending" : "ascending") : "none"},
    el("button", {type: "button", onclick: () => this.sort(k)}, column.title,
      el("span", {class: "arrow", "aria-hidden": "true"}, k === by ? (down ? "▼" : "▲") : "")))));
    this.body.replaceChildren(...shown.map((row) => el("tr", {},
      this.columns.map((column, k) => this.cell(column, row, k)))));
    this.more.hidden = sorted.length <= FIRST_ROWS;
    this.more.textContent = this.all ? `The first ${FIRST_ROWS}` : `All ${count(sorted.length)}`;
  }

  cell(column, row, k) {
    if (column.bar)
      return el("td", {class: "share"}, bar(column.bar(row)), el("span", {}, column.text(row)));
    const text = column.text(row);
    const inside = k === 0 && this.onRow ? el("button", {type: "button", class: "value",
      title: "Filter the frames by this",
      onclick: () => this.onRow(row)}, text) : text;
    return el("td", {class: column.right ? "right" : text.length <= 24 ? "text short" : "text"}, inside);
  }
}

/* Return a bar for a share between 0 and 1. */
function bar(share) {
  const filled = el("span", {class: "filled"});
  filled.style.setProperty("width", `${(100 * clamp(share, 0, 1)).toFixed(2)}%`);
  return el("span", {class: "barline", "aria-hidden": "true"}, filled);
}
