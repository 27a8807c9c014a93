// SPDX-License-Identifier: GPL-2.0-only
// A table of any number of rows, of which only the visible ones are in the document.

const ROW = 24;
const TALLEST = 8e6; // in pixels; the limits of different browsers are between 16 and 33 million pixels
const BEYOND = 6; // rows in the document above and below the visible ones

/* columns: {name, title, width (characters), right, text(row), key(row)}; rows: numbers. */
class Grid {
  constructor(label, onChoose) {
    this.onChoose = onChoose;
    this.rows = [];
    this.columns = [];
    this.sorted = null;
    this.current = 0;
    this.nodes = [];
    this.head = el("div", {class: "row head", role: "row", "aria-rowindex": "1"});
    this.space = el("div", {class: "space", role: "rowgroup"});
    this.body = el("div", {class: "grid", role: "grid", tabindex: "0", "aria-label": label,
      onscroll: () => this.draw()},
      el("div", {role: "rowgroup", class: "headgroup"}, this.head), this.space);
    this.body.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("focus", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.body);
  }

  setColumns(columns) {
    this.columns = columns;
    if (this.sorted && !columns.some((column) => column.name === this.sorted.name))
      this.sorted = null;
    this.body.style.setProperty("--columns", columns.map((column, i) => i === columns.length - 1 ?
      `minmax(${column.width}ch, 1fr)` : `${column.width}ch`).join(" "));
    this.body.setAttribute("aria-colcount", columns.length);
    this.head.replaceChildren(...columns.map((column) => this.title(column)));
    this.nodes.forEach((node) => node.remove());
    this.nodes = [];
  }

  title(column) {
    const sorted = this.sorted && this.sorted.name === column.name;
    return el("div", {role: "columnheader", class: column.right ? "right" : null,
      "aria-sort": sorted ? (this.sorted.down ? "descending" : "ascending") : "none"},
    el("button", {type: "button", "data-column": column.name, title: `Sort by ${column.title}`,
      onclick: () => this.sort(column.name)},
    el("span", {}, column.title), el("span", {class: "arrow", "aria-hidden": "true"}, sorted ?
      (this.sorted.down ? "▼" : "▲") : "")));
  }

  /* Sort by a column: first upwards (downwards if column.down), then the other way, then in the frames' order. */
  sort(name) {
    const column = this.columns.find((each) => each.name === name);
    const first = Boolean(column.down);
    const now = this.sorted && this.sorted.name === name ? this.sorted : null;
    this.sorted = !now ? {name, down: first} : now.down === first ? {name, down: !first} : null;
    this.head.replaceChildren(...this.columns.map((each) => this.title(each)));
    this.head.querySelector(`[data-column="${CSS.escape(name)}"]`).focus();
    this.order();
  }

  setRows(rows) {
    this.unsorted = rows;
    this.order();
  }

  /* Sort the rows. Rows without a value come last in both directions. Equal rows keep their order. */
  order() {
    this.rows = this.unsorted;
    const column = this.sorted && this.columns.find((each) => each.name === this.sorted.name);
    if (column) {
      const keys = new Map();
      for (const row of this.unsorted)
        keys.set(row, column.key(row));
      const sign = this.sorted.down ? -1 : 1;
      this.rows = Array.from(this.unsorted).sort((a, b) => Grid.compare(keys.get(a), keys.get(b), sign) || a - b);
    }
    this.current = 0;
    this.body.scrollTop = 0;
    this.body.setAttribute("aria-rowcount", this.rows.length + 1);
    this.space.style.setProperty("height", `${Math.min(this.rows.length * ROW, TALLEST)}px`);
    this.draw();
  }

  static compare(a, b, sign) {
    if (a === b)
      return 0;
    if (a === Infinity || b === Infinity)
      return a === Infinity ? 1 : -1;
    return a < b ? -sign : sign;
  }

  /* Return the first visible row and the number of visible rows. If the table is too tall for a browser, scale it. */
  window() {
    const height = this.body.clientHeight - this.head.offsetHeight;
    const fit = Math.ceil(height / ROW);
    const tall = this.rows.length * ROW;
    const at = tall <= TALLEST ? this.body.scrollTop / ROW :
      this.body.scrollTop / Math.max(1, TALLEST - height) * Math.max(0, this.rows.length - fit);
    return [Math.floor(at), fit, tall <= TALLEST ? null : this.body.scrollTop - (at % 1) * ROW];
  }

  draw() {
    const [top, fit, offset] = this.window();
    const first = Math.max(0, top - BEYOND);
    const last = Math.min(this.rows.length, top + fit + BEYOND);
    while (this.nodes.length < last - first)
      this.nodes.push(this.space.appendChild(this.node()));
    this.nodes.forEach((node, k) => {
      const at = first + k;
      node.hidden = at >= last;
      if (node.hidden)
        return;
      node.style.setProperty("transform", `translateY(${offset === null ? at * ROW : offset + (at - top) * ROW}px)`);
      this.fill(node, at);
    });
    if (this.current >= first && this.current < last)
      this.body.setAttribute("aria-activedescendant", `${this.space.id || "row"}-${this.current}`);
    else
      this.body.removeAttribute("aria-activedescendant");
  }

  node() {
    const cells = this.columns.map((column) => el("div", {role: "gridcell", class: column.right ? "right" : null}));
    const node = el("div", {class: "row", role: "row"}, cells);
    node.addEventListener("click", () => this.choose(Number(node.dataset.at)));
    return node;
  }

  fill(node, at) {
    const row = this.rows[at];
    node.dataset.at = at;
    node.id = `${this.space.id || "row"}-${at}`;
    node.setAttribute("aria-rowindex", at + 2);
    node.setAttribute("aria-selected", String(at === this.current && row === this.chosen));
    node.classList.toggle("current", at === this.current);
    if (node.dataset.row === String(row) && node.drawn === this.columns)
      return;
    node.dataset.row = row;
    node.drawn = this.columns;
    this.columns.forEach((column, k) => {
      const text = column.text(row);
      node.children[k].textContent = text;
      node.children[k].title = text.length > column.width - 2 ? text : "";
    });
  }

  choose(at) {
    this.go(at);
    this.chosen = this.rows[at];
    this.draw();
    this.onChoose(this.chosen);
  }

  /* Make a row the current one, and scroll to it. */
  go(at) {
    this.current = clamp(at, 0, Math.max(0, this.rows.length - 1));
    const [top, fit] = this.window();
    if (this.current < top || this.current >= top + fit - 1) {
      const beside = Math.abs(this.current - top) <= 1 || Math.abs(this.current - top - fit) <= 1;
      const wanted = Math.max(0, !beside ? this.current - Math.floor(fit / 2) : this.current < top ? this.current :
        this.current - fit + 2);
      const tall = this.rows.length * ROW;
      this.body.scrollTop = tall <= TALLEST ? wanted * ROW :
        wanted / Math.max(1, this.rows.length - fit) * (TALLEST - (this.body.clientHeight - this.head.offsetHeight));
    }
    this.draw();
  }

  /* Go to the row of a frame. Return true if the table has it. */
  find(row) {
    const at = this.rows.indexOf(row);
    if (at >= 0) {
      this.chosen = row;
      this.go(at);
    }
    return at >= 0;
  }

  key(event) {
    if (event.target !== this.body || event.ctrlKey || event.metaKey || event.altKey)
      return;
    const page = Math.max(1, this.window()[1] - 2);
    const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity};
    if (event.key in steps)
      this.go(this.current + steps[event.key]);
    else if (event.key === "Enter" && this.rows.length)
      this.choose(this.current);
    else
      return;
    event.preventDefault();
  }
}
