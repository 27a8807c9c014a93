// SPDX-License-Identifier: GPL-2.0-only
// The part of the run's time that the timeline shows: its limits in ns, which are inside the run, and its marks.

const CLOSEST = 200; // the shortest visible part, in ns

class View {
  constructor([first, last]) {
    this.first = first;
    this.last = last + (last - first) * 0.005;
    this.all();
  }

  all() {
    this.from = this.first;
    this.to = this.last;
  }

  get size() {
    return this.to - this.from;
  }

  isAll() {
    return this.from <= this.first && this.to >= this.last;
  }

  set(from, to) {
    const size = clamp(to - from, Math.min(CLOSEST, this.last - this.first), this.last - this.first);
    this.from = clamp(from, this.first, this.last - size);
    this.to = this.from + size;
  }

  /* Zoom. A FACTOR below 1 shows a shorter part. The time AT stays where it is on the screen. */
  zoom(factor, at) {
    const fixed = at === undefined ? (this.from + this.to) / 2 : at;
    const size = clamp(this.size * factor, CLOSEST, this.last - this.first);
    const share = (fixed - this.from) / this.size;
    this.set(fixed - share * size, fixed + (1 - share) * size);
  }

  move(ns) {
    const by = clamp(ns, this.first - this.from, this.last - this.to);
    this.from += by;
    this.to += by;
  }

  /* Make a time visible. If it was not, put it in the middle. */
  show(begin, end) {
    if (begin >= this.from && end <= this.to)
      return;
    const size = Math.max(this.size, (end - begin) * 1.5);
    this.set((begin + end) / 2 - size / 2, (begin + end) / 2 + size / 2);
  }

  /* Return round times for marks, about as many as there is room for. */
  marks(most) {
    const rough = this.size / Math.max(most, 1);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
    const found = [];
    for (let k = Math.ceil(this.from / step); k * step <= this.to; k++)
      found.push(k * step);
    return {step, marks: found};
  }

  /* Return a mark's text, with enough digits to distinguish it from the next mark. */
  static markText(ns, step) {
    const digits = clamp(9 - Math.floor(Math.log10(step) + 1e-9), 0, 9);
    return (Math.abs(ns) < step / 2 ? 0 : ns / 1e9).toFixed(digits) + NARROW_SPACE + "s";
  }
}
