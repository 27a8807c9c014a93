// SPDX-License-Identifier: GPL-2.0-only
// Mouse, pen and fingers on the timeline: drag moves, two fingers and the wheel zoom, a click selects.

const CLICK = 4; // how many pixels the pointer may move during a click

class Pointers {
  constructor(timeline) {
    this.timeline = timeline;
    this.down = new Map();
    this.moved = 0;
    const {scroller, overview} = timeline;
    scroller.addEventListener("pointerdown", (event) => this.press(event));
    scroller.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"])
      scroller.addEventListener(name, (event) => this.release(event));
    scroller.addEventListener("pointerleave", () => timeline.hover(NONE));
    scroller.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
    overview.addEventListener("pointerdown", (event) => this.chooseFrom(event));
    overview.addEventListener("pointermove", (event) => this.chooseTo(event));
    overview.addEventListener("pointerup", (event) => this.chosen(event));
  }

  place(event) {
    const box = this.timeline.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  press(event) {
    if (event.pointerType === "mouse" && event.button !== 0)
      return;
    this.down.set(event.pointerId, event.clientX);
    this.moved = 0;
  }

  move(event) {
    const {timeline} = this;
    const before = this.down.get(event.pointerId);
    if (before === undefined) {
      const [x, y] = this.place(event);
      timeline.hover(timeline.at(x, y), x, y);
      return;
    }
    const spread = this.spread();
    this.down.set(event.pointerId, event.clientX);
    this.moved += Math.abs(event.clientX - before);
    if (this.moved <= CLICK)
      return;
    timeline.scroller.setPointerCapture(event.pointerId);
    timeline.hover(NONE);
    const perPixel = timeline.view.size / (timeline.painter.width - timeline.left);
    if (spread)
      timeline.changed(() => timeline.view.zoom(spread / Math.max(this.spread(), 1)));
    else
      timeline.changed(() => timeline.view.move((before - event.clientX) * perPixel));
  }

  /* Return the distance between two fingers, or 0 if there is only one. */
  spread() {
    const [a, b] = [...this.down.values()];
    return b === undefined ? 0 : Math.abs(a - b);
  }

  release(event) {
    const {timeline} = this;
    const clicked = this.down.delete(event.pointerId) && event.type === "pointerup" && this.moved <= CLICK;
    if (!clicked)
      return;
    const found = timeline.at(...this.place(event));
    timeline.select(found, false);
    if (found !== NONE)
      timeline.onSelect(found, false);
  }

  wheel(event) {
    if (!event.ctrlKey && !event.metaKey)
      return;
    const {timeline} = this;
    const [x] = this.place(event);
    timeline.changed(() => timeline.view.zoom(Math.exp(event.deltaY * 0.002),
      timeline.timeAt(Math.max(x, timeline.left))));
    event.preventDefault();
  }

  overviewTime(event) {
    const box = this.timeline.overview.getBoundingClientRect();
    const {first, last} = this.timeline.view;
    return first + clamp((event.clientX - box.left) / box.width, 0, 1) * (last - first);
  }

  chooseFrom(event) {
    this.from = this.overviewTime(event);
    this.fromX = event.clientX;
    this.timeline.overview.setPointerCapture(event.pointerId);
  }

  chooseTo(event) {
    if (this.from === undefined || Math.abs(event.clientX - this.fromX) <= CLICK)
      return;
    const to = this.overviewTime(event);
    this.timeline.changed(() => this.timeline.view.set(Math.min(this.from, to), Math.max(this.from, to)));
  }

  /* After a click on the overview, move the visible part to this place. */
  chosen(event) {
    const {view} = this.timeline;
    if (this.from !== undefined && Math.abs(event.clientX - this.fromX) <= CLICK)
      this.timeline.changed(() => view.set(this.from - view.size / 2, this.from + view.size / 2));
    this.from = undefined;
  }
}
