// SPDX-License-Identifier: GPL-2.0-only
// The run's data: the columns of the page's JSON as typed arrays, and queries on them.

const NONE = -1;

/* A column of values: numbers, or indices into a sorted list of texts. Indices sort in the same way as the texts. */
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

  /* Return the text of a cell, or "" if the frame does not have the value. */
  text(row) {
    if (!this.has(row))
      return "";
    const value = this.value(row);
    const shown = this.shown && this.shown[String(value)];
    return shown ? shown : isNumber(value) ? withUnit(value, this.unit) : value;
  }

  /* Return the value of a frame that has one: a number, a BigInt or a text. */
  value(row) {
    const value = this.values[row];
    return this.numbers ? this.numbers[value] : this.texts ? this.texts[value] : value;
  }

  isText() {
    return this.texts !== null && this.numbers === null;
  }

  /* Return the sort key of a row. Rows without a value come last. */
  key(row) {
    const value = this.values[row];
    return this.has(row) ? value : Infinity;
  }
}

/* All frames: an array each of place, time, cpu, task, latency and stack. time is in ns after the first frame; time and
   latency are NaN for a frame without one. */
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

  /* Return the times. The page has their differences, because most of these are short numbers. */
  static sums(differences) {
    const times = new Float64Array(differences.length);
    let now = 0;
    differences.forEach((difference, i) => {
      now += difference === null ? 0 : difference;
      times[i] = difference === null ? NaN : now;
    });
    return times;
  }

  /* Return for each frame its row in the columns of its place. */
  rows() {
    const next = new Uint32Array(this.places.length);
    return Uint32Array.from(this.place, (place) => next[place]++);
  }

  /* Return the first and the last time of the run in ns. A call begins before its frame's time, by its latency. */
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

  /* Return the frames that have a time, sorted by time. */
  byTime(rows) {
    return Array.from(rows).filter((i) => this.hasTime(i)).sort((a, b) => this.time[a] - this.time[b] || a - b);
  }

  /* Return $clock as gtp table shows it. The page's own times begin with the first frame. */
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

  /* Return a task's name and number in one line. */
  static taskText([pid, comm]) {
    return pid === null ? comm : comm === null || comm === "" ? String(pid) : `${comm} ${pid}`;
  }

  /* Return the functions of a frame's stack, the innermost first. */
  stackNames(i) {
    if (!this.stack || this.stack[i] === NONE)
      return [];
    return this.stacks[this.stack[i]].map((name) => this.names[name]);
  }

  /* Return [name, text] of all values in the columns of the frame's place. */
  values(i) {
    const row = this.rowOf[i];
    return this.places[this.place[i]].columns.map((column) => [column.name, column.text(row)]);
  }
}
