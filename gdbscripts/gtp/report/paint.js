// SPDX-License-Identifier: GPL-2.0-only
// Draws on the timeline's canvas. Frames that fall on the same pixel become one mark, so a drawing has at most as many
// marks as pixels.

const AXIS = 24;
const SHADES = 6;

class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.colours = Theme.colours();
  }

  /* Give the canvas a size, in the pixels of this screen. */
  resize(width, height) {
    const dense = window.devicePixelRatio || 1;
    this.width = width;
    this.height = height;
    this.canvas.width = Math.round(width * dense);
    this.canvas.height = Math.round(height * dense);
    this.canvas.style.setProperty("width", `${width}px`);
    this.canvas.style.setProperty("height", `${height}px`);
    this.context.setTransform(dense, 0, 0, dense, 0, 0);
    this.context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    this.context.textBaseline = "middle";
  }

  series(place) {
    return this.colours.series[place % SERIES];
  }

  clear() {
    this.context.clearRect(0, 0, this.width, this.height);
  }

  /* Draw a text. If it is wider than MOST pixels, cut it and add an ellipsis. */
  text(text, x, y, most, colour) {
    const {context} = this;
    let shown = text;
    if (context.measureText(shown).width > most) {
      let keep = Math.floor(text.length * most / context.measureText(text).width);
      while (keep > 0 && context.measureText(text.slice(0, keep) + "…").width > most)
        keep--;
      shown = keep > 0 ? text.slice(0, keep) + "…" : "";
    }
    context.fillStyle = colour;
    context.fillText(shown, x, y);
  }

  /* Draw the vertical lines at the axis's marks, behind all frames. */
  raster(view, left) {
    this.context.fillStyle = this.colours.line;
    for (const ns of view.marks((this.width - left) / 110).marks)
      this.context.fillRect(Math.round(left + (ns - view.from) / view.size * (this.width - left)), AXIS, 1,
        this.height);
  }

  axis(view, left) {
    const {context, colours} = this;
    const {step, marks} = view.marks((this.width - left) / 110);
    const x = (ns) => left + (ns - view.from) / view.size * (this.width - left);
    context.fillStyle = colours.ground;
    context.fillRect(0, 0, this.width, AXIS);
    for (const ns of marks) {
      context.fillStyle = colours.line;
      context.fillRect(Math.round(x(ns)), 0, 1, AXIS);
      this.text(View.markText(ns, step), x(ns) + 5, AXIS / 2, this.width - x(ns) - 5, colours.muted);
    }
    context.fillStyle = colours.line;
    context.fillRect(0, AXIS - 1, this.width, 1);
  }

  /* Draw moments. Columns of pixels are stronger if they have more frames, in the colour of the first frame's place. */
  ticks(run, ticks, view, left, y) {
    const width = this.width - left;
    const scale = width / view.size;
    let k = lowerBound(ticks.length, (j) => run.time[ticks[j]], view.from);
    while (k < ticks.length && run.time[ticks[k]] <= view.to) {
      const pixel = Math.floor((run.time[ticks[k]] - view.from) * scale);
      const first = k;
      const next = view.from + (pixel + 1) / scale;
      while (k < ticks.length && run.time[ticks[k]] < next && k - first < 4096)
        k++;
      k = Math.max(k, first + 1);
      this.context.globalAlpha = 0.6 + 0.4 * Math.min(1, Math.ceil(Math.log2(k - first + 1)) / SHADES);
      this.context.fillStyle = this.series(run.place[ticks[first]]);
      this.context.fillRect(left + pixel, y, 2, TICK_HEIGHT);
    }
    this.context.globalAlpha = 1;
  }

  /* Draw calls from their beginning to their end. Calls on the same pixel are drawn as one. */
  lane(run, lane, view, left, y) {
    const scale = (this.width - left) / view.size;
    const first = Math.max(0, lowerBound(lane.length, (j) => run.begin(lane[j]), view.from) - 1);
    let drawn = -1;
    for (let k = first; k < lane.length; k++) {
      const i = lane[k];
      const begin = (run.begin(i) - view.from) * scale;
      const end = (run.time[i] - view.from) * scale;
      if (begin > this.width - left)
        break;
      if (end < 0 || end <= drawn)
        continue;
      const x0 = Math.max(0, Math.floor(begin), drawn);
      drawn = Math.max(Math.round(end), x0 + 1);
      this.slice(run, i, left + x0, drawn - x0, y);
    }
  }

  slice(run, i, x, width, y) {
    const {context, colours} = this;
    const shown = Math.min(width, this.width - x);
    context.fillStyle = this.series(run.place[i]);
    context.fillRect(x, y, width > 4 ? shown - 1 : shown, LANE_HEIGHT - 2);
    if (shown > 46)
      this.text(`${run.places[run.place[i]].name} ${duration(run.latency[i])}`, x + 4, y + LANE_HEIGHT / 2 - 0.5,
        shown - 8, colours.onSeries);
  }

  /* Draw a border around the selected frame. */
  selected(run, i, view, left, y, isCall) {
    const scale = (this.width - left) / view.size;
    const begin = left + (run.begin(i) - view.from) * scale;
    const end = left + (run.time[i] - view.from) * scale;
    if (end < left || begin > this.width)
      return;
    const x0 = Math.max(left, begin) - 2;
    this.context.strokeStyle = this.colours.text;
    this.context.lineWidth = 2;
    this.context.strokeRect(x0, y - 1, Math.max(5, Math.min(end, this.width) - x0 + 2),
      (isCall ? LANE_HEIGHT : TICK_HEIGHT) + 1);
  }
}
