// SPDX-License-Identifier: GPL-2.0-only
// Top tables: the aggregations by their keys, and the frames by one of their values.

/* Return the value by which an entry is sorted. */
function entryValue(kind, entry) {
  if (kind === "count")
    return entry.count;
  const sum = exact(entry.summary[0]);
  return entry.summary.length === 1 || sum === null ? sum : average(sum, entry.count);
}

/* Return the number by which a key is sorted, or its text. */
const keyOrder = (key) => key.number ? exact(key.order) : key.order;

function aggregationColumns(one) {
  const {unit} = one;
  const value = (entry) => entryValue(one.kind, entry);
  const keys = one.keys.map((title, k) => ({title, text: (entry) => entry.keys[k].text,
    key: (entry) => keyOrder(entry.keys[k])}));
  const number = (title, of) => ({title, right: true, key: of,
    text: (entry) => of(entry) === null ? "?" : withUnit(of(entry), unit)});
  const counted = {title: "n", right: true, text: (entry) => count(entry.count), key: (entry) => entry.count};
  if (one.kind === "stats")
    return [...keys, counted, number("avg", value), number("min", (entry) => exact(entry.summary[1])),
      number("max", (entry) => exact(entry.summary[2]))];
  const main = one.kind === "count" ? {...counted, title: "count"} : number(one.kind, value);
  const size = (entry) => Number(value(entry)); // shares need no more than 53 bits
  const total = one.entries.reduce((sum, entry) => sum + size(entry), 0);
  const most = one.entries.reduce((a, entry) => Math.max(a, size(entry)), 0);
  const adds = one.kind === "count" || one.kind === "sum";
  const below = one.entries.some((entry) => value(entry) < 0);
  const share = {title: adds ? "share" : "of the largest", right: true,
    bar: (entry) => most > 0 ? size(entry) / most : 0,
    text: (entry) => adds && total > 0 && !below ? percent(size(entry), total) : "", key: value};
  return [...keys, main, ...(one.kind === "count" ? [] : [counted]), ...(one.entries.length > 1 ? [share] : [])];
}

function aggregationCard(one) {
  const columns = aggregationColumns(one);
  const by = one.keys.length;
  const notes = one.noroom ? el("p", {class: "note"},
    `${count(one.noroom)} more found no room for their keys: monitor aggregate-keys N, before tstart`) : null;
  return el("article", {class: "card"}, el("h3", {}, one.title), el("p", {class: "figures"}, code("$" + one.name)),
    notes,
    one.entries.length ? new SmallTable(one.title, columns, one.entries, [by, one.kind !== "min"], null).node :
      empty("Nothing was counted."));
}

/* Return the ways to group frames. name: the filter's name. of: a function that returns the key of frame i. column: true
   if the keys are values of a column, in which a string may have quotes around it. */
function groupings(run) {
  const found = [];
  if (run.task && run.tasks.some(([, comm]) => comm))
    found.push({name: "comm", title: "task", of: (i) => run.comm(i)});
  if (run.task)
    found.push({name: "pid", title: "pid", of: (i) => run.pid(i)});
  if (run.cpu)
    found.push({name: "cpu", title: "cpu", of: (i) => run.cpu[i] === NONE ? null : run.cpu[i]});
  found.push({name: "place", title: "place", of: (i) => run.places[run.place[i]].name});
  const names = new Set(run.places.flatMap((place) => place.columns.map((column) => column.name)));
  for (const name of names) {
    const columns = run.places.map((place) => place.columns.find((column) => column.name === name));
    found.push({name, title: name, column: true, of: (i) => {
      const column = columns[run.place[i]];
      const row = run.rowOf[i];
      if (!column || !column.has(row))
        return null;
      return column.value(row);
    }});
  }
  return found;
}

/* Return {key, n, sum, most} for each key that these frames have. */
function sumsBy(run, rows, of) {
  const found = new Map();
  for (const i of rows) {
    const key = of(i);
    if (key === null)
      continue;
    let entry = found.get(key);
    if (!entry)
      found.set(key, entry = {key, n: 0, calls: 0, sum: 0, most: 0});
    entry.n++;
    if (run.hasLatency(i)) {
      entry.calls++;
      entry.sum += run.latency[i];
      entry.most = Math.max(entry.most, run.latency[i]);
    }
  }
  return [...found.values()];
}

/* A table of the frames by a key that the user chooses. A click on a key filters the frames. */
class FramesBy {
  constructor(run, onTerm) {
    this.run = run;
    this.onTerm = onTerm;
    this.rows = run.place.keys();
    this.all = groupings(run);
    this.select = el("select", {id: "by", "aria-label": "Frames by", onchange: () => this.draw()},
      this.all.map(({title}, k) => el("option", {value: String(k)}, title)));
    this.said = el("p", {class: "figures"});
    this.space = el("div", {});
    this.node = el("article", {class: "card"}, el("h3", {}, "Frames by ", this.select), this.said, this.space);
  }

  only(rows) {
    this.rows = rows;
    this.draw();
  }

  draw() {
    const {run} = this;
    const by = this.all[Number(this.select.value)];
    const entries = sumsBy(run, this.rows, by.of);
    const total = entries.reduce((sum, entry) => sum + entry.n, 0);
    const most = entries.reduce((a, entry) => Math.max(a, entry.n), 0);
    const ns = (title, of) => ({title, right: true, text: (entry) => entry.calls ? duration(of(entry)) : "",
      key: (entry) => entry.calls ? of(entry) : Infinity});
    const columns = [
      {title: by.title, text: (entry) => String(entry.key), key: (entry) => entry.key},
      {title: "frames", right: true, text: (entry) => count(entry.n), key: (entry) => entry.n},
      {title: "share", right: true, bar: (entry) => entry.n / most, text: (entry) => percent(entry.n, total),
        key: (entry) => entry.n},
    ];
    if (run.latency)
      columns.push(ns("avg", (entry) => entry.sum / entry.calls), ns("max", (entry) => entry.most),
        ns("sum", (entry) => entry.sum));
    this.said.textContent = `${plural(entries.length, "key", "keys")}, ` +
      `${plural(total, "frame", "frames")} of those that the filter leaves`;
    const plain = (text) => by.column ? text.replace(/^"(.*)"$/s, "$1") : text;
    const table = new SmallTable(`Frames by ${by.title}`, columns, entries, [1, true], (entry) =>
      this.onTerm(termText(by.name, plain(String(entry.key)))));
    this.space.replaceChildren(entries.length ? table.node : empty("No frame has it."));
  }
}
