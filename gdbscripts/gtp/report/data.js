// SPDX-License-Identifier: GPL-2.0-only
// The run's data: the columns of the page's JSON as typed arrays, and what is asked of them.

const NONE = -1;

/* A column of values: numbers, or codes of a dictionary that is sorted, so that codes sort as texts do. */
class Column {
  constructor(name, raw, unit) {
    this.name = name;
    this.unit = unit || null;
    this.texts = raw.d || null;
    this.numbers = raw.big ? raw.d.map(BigInt) : null;
    this.shown = raw.t || null;
    if (this.texts)
      this.values = Int32Array.from(raw.c);
    else
      this.values = Float64Array.from(raw.n, (value) => value === null ? NaN : value);
  }

  has(row) {
    return this.texts ? this.values[row] !== NONE : !Number.isNaN(this.values[row]);
  }

  /* What the cell says; "" where the frame does not have it. */
  text(row) {
    if (!this.has(row))
      return "";
    const value = this.value(row);
    const shown = this.shown && this.shown[String(value)];
    return shown ? shown : isNumber(value) ? withUnit(value, this.unit) : value;
  }

  /* The value of a frame that has it: a number, a BigInt or a text. */
  value(row) {
    const value = this.values[row];
    return this.numbers ? this.numbers[value] : this.texts ? this.texts[value] : value;
  }

  isText() {
    return this.texts !== null && this.numbers === null;
  }

  /* What sorts it; what is not there comes last. */
  key(row) {
    const value = this.values[row];
    return this.has(row) ? value : Infinity;
  }
}

/* All frames. time is NaN where a frame has none. place, time (ns behind the first), cpu, task, latency (ns, NaN:
   none), stack: an array each; at(row): the place. */
class Run {
  constructor(raw) {
    const frames = raw.frames;
    this.raw = raw;
    this.n = frames.place.length;
    this.total = frames.total;
    this.places = raw.places.map((place) => ({...place, columns: place.fields.map(
      (field, i) => new Column(field.name, place.columns[i], field.unit))}));
    this.place = Uint16Array.from(frames.place);
    this.index = frames.index ? Float64Array.from(frames.index) : Float64Array.from(frames.place.keys());
    this.time = frames.time ? Run.sums(frames.time) : null;
    this.cpu = frames.cpu ? Int32Array.from(frames.cpu, (x) => x === null ? NONE : x) : null;
    this.task = frames.task ? Int32Array.from(frames.task, (x) => x === null ? NONE : x) : null;
    this.latency = frames.latency ? Float64Array.from(frames.latency, (x) => x === null ? NaN : x) : null;
    this.stack = frames.stack ? Int32Array.from(frames.stack, (x) => x === null ? NONE : x) : null;
    this.tasks = raw.tasks;
    this.names = raw.names;
    this.stacks = raw.stacks;
    this.rowOf = this.rows();
  }

  /* Times come as differences: most of them are short numbers. */
  static sums(differences) {
    const times = new Float64Array(differences.length);
    let now = 0;
    differences.forEach((difference, i) => {
      now += difference === null ? 0 : difference;
      times[i] = difference === null ? NaN : now;
    });
    return times;
  }

  /* The frame's row in the columns of its place. */
  rows() {
    const next = new Uint32Array(this.places.length);
    return Uint32Array.from(this.place, (place) => next[place]++);
  }

  /* The whole run in ns: from the first beginning of a call that was reported to the last frame. */
  span() {
    let first = 0;
    let last = 1;
    for (let i = 0; i < this.n; i++) {
      if (this.hasTime(i)) {
        first = Math.min(first, this.begin(i));
        last = Math.max(last, this.time[i]);
      }
    }
    return [first, last];
  }

  hasTime(i) {
    return this.time !== null && !Number.isNaN(this.time[i]);
  }

  /* Frames that have a time, by it. */
  byTime(rows) {
    return Array.from(rows).filter((i) => this.hasTime(i)).sort((a, b) => this.time[a] - this.time[b] || a - b);
  }

  /* What $clock was, as gtp table has it; the page's own times begin with the first frame. */
  clock(i) {
    const ns = BigInt(this.raw.frames.start) + BigInt(this.time[i]);
    return `${ns / 1000000000n}.${String(ns % 1000000000n).padStart(9, "0")}`;
  }

  hasLatency(i) {
    return this.latency !== null && !Number.isNaN(this.latency[i]);
  }

  begin(i) {
    return this.hasLatency(i) ? this.time[i] - this.latency[i] : this.time[i];
  }

  pid(i) {
    return this.task && this.task[i] !== NONE ? this.tasks[this.task[i]][0] : null;
  }

  comm(i) {
    return this.task && this.task[i] !== NONE ? this.tasks[this.task[i]][1] : null;
  }

  /* A task in one line. */
  static taskText([pid, comm]) {
    return pid === null ? comm : comm === null || comm === "" ? String(pid) : `${comm} ${pid}`;
  }

  /* The functions of a frame's stack, the innermost first. */
  stackNames(i) {
    if (!this.stack || this.stack[i] === NONE)
      return [];
    return this.stacks[this.stack[i]].map((name) => this.names[name]);
  }

  /* [name, text] of all values that only frames of this place have. */
  values(i) {
    const row = this.rowOf[i];
    return this.places[this.place[i]].columns.map((column) => [column.name, column.text(row)]);
  }
}
