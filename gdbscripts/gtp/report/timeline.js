// SPDX-License-Identifier: GPL-2.0-only
// The timeline: an overview of the whole run, and below it the tracks of the visible part.

const OVERVIEW = 36;
const HIGHEST = 440;
const KEYS_HELP = "+ and − zoom, arrow keys move, 0 shows all, n and p select the next and the previous frame, " +
  "Enter finds it in the table";

class Timeline {
  constructor(section, run, onSelect, onView) {
    this.run = run;
    this.onSelect = onSelect;
    this.onView = onView;
    this.view = new View(run.span());
    this.rows = run.byTime(run.place.keys());
    this.selected = NONE;
    this.grouping = ["cpu", "task", "place"].find((name) => GROUPINGS[name].has(run));
    this.build(section);
    this.group(this.grouping);
    new ResizeObserver(() => this.resize()).observe(this.scroller);
    Theme.listeners.push(() => this.recolour());
  }

  build(section) {
    this.overview = el("canvas", {class: "overview", "aria-hidden": "true"});
    this.canvas = el("canvas", {});
    this.spacer = el("div", {class: "spacer"}, this.canvas);
    this.scroller = el("div", {class: "tracks", tabindex: "0", role: "application",
      "aria-label": `Timeline. ${KEYS_HELP}.`,
      "aria-describedby": "timeline-said", onscroll: () => this.draw()}, this.spacer);
    this.tip = el("div", {class: "tip", hidden: true});
    this.said = el("p", {class: "said", id: "timeline-said", role: "status"});
    const zoomed = (factor) => () => this.changed(() => this.view.zoom(factor));
    this.buttons = el("div", {class: "buttons"},
      el("button", {type: "button", "aria-label": "Zoom in", title: "Zoom in (+)", onclick: zoomed(1 / 2)}, "+"),
      el("button", {type: "button", "aria-label": "Zoom out", title: "Zoom out (−)", onclick: zoomed(2)}, "−"),
      el("button", {type: "button", title: "Show the whole run (0)",
        onclick: () => this.changed(() => this.view.all())}, "All"));
    section.append(el("div", {class: "bar"}, this.choice(), this.legend(), this.buttons), this.overview,
      el("div", {class: "stage"}, this.scroller, this.tip), this.said,
      el("p", {class: "hint"}, "Drag moves; Ctrl and the wheel, or two fingers, zoom; a drag in the overview ",
        "chooses a part. In the tracks: ", KEYS_HELP, "."));
    this.painter = new Painter(this.canvas);
    this.small = new Painter(this.overview);
    new Pointers(this);
    this.scroller.addEventListener("keydown", (event) => this.key(event));
  }

  /* Return the control that chooses how frames are grouped into tracks. */
  choice() {
    const names = Object.keys(GROUPINGS).filter((name) => GROUPINGS[name].has(this.run));
    return el("fieldset", {class: "switch", id: "grouping"}, el("legend", {class: "unseen"}, "Tracks by"),
      names.map((name) => el("label", {}, el("input", {type: "radio", name: "grouping", value: name,
        checked: name === this.grouping, onchange: () => this.group(name)}), el("span", {}, GROUPINGS[name].title))));
  }

  legend() {
    const shown = this.run.places.slice(0, 2 * SERIES);
    return el("ul", {class: "legend"}, shown.map((place, i) => el("li", {},
      el("span", {class: `dot series-${i % SERIES}`, "aria-hidden": "true"}), place.name)),
    this.run.places.length > shown.length ? el("li", {}, `and ${this.run.places.length - shown.length} more`) : null);
  }

  group(name) {
    this.grouping = name;
    this.tracks = tracksBy(this.run, name, this.rows);
    let y = AXIS + 4;
    this.tops = this.tracks.map((track) => {
      const top = y;
      y += trackHeight(track);
      return top;
    });
    this.full = y;
    this.resize();
  }

  /* Show only these frames, which match the table's filter. */
  only(rows) {
    this.rows = this.run.byTime(rows);
    this.group(this.grouping);
  }

  resize() {
    const width = this.scroller.clientWidth;
    if (!width)
      return;
    const height = Math.min(this.full, HIGHEST);
    this.scroller.style.setProperty("height", `${height}px`);
    this.spacer.style.setProperty("height", `${this.full}px`);
    this.left = width < 600 ? 84 : 150;
    this.painter.resize(this.scroller.clientWidth, height);
    this.small.resize(this.scroller.clientWidth, OVERVIEW);
    this.draw();
  }

  recolour() {
    this.painter.colours = Theme.colours();
    this.small.colours = Theme.colours();
    this.draw();
  }

  changed(change) {
    change();
    this.draw();
    this.onView();
  }

  draw() {
    if (this.pending)
      return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.paint();
      this.paintOverview();
      this.say();
    });
  }

  paint() {
    const {painter, run, view, left} = this;
    const from = this.scroller.scrollTop;
    painter.clear();
    painter.raster(view, left);
    this.tracks.forEach((track, t) => {
      const y = this.tops[t] - from;
      if (y < painter.height && y + trackHeight(track) > 0)
        this.paintTrack(track, y);
    });
    painter.axis(view, left);
    this.tracks.forEach((track, t) => {
      const y = this.tops[t] - from;
      if (y < painter.height && y > AXIS - trackHeight(track))
        this.paintLabel(track, Math.max(y, AXIS + 2), y + trackHeight(track));
    });
    if (!this.tracks.length)
      painter.text("no frame is left by the filter", left + 8, AXIS + 12, painter.width, painter.colours.muted);
    painter.context.fillStyle = painter.colours.line;
    painter.context.fillRect(left - 1, 0, 1, painter.height);
  }

  paintTrack(track, top) {
    const {painter, run, view, left} = this;
    let y = top;
    if (track.ticks.length) {
      painter.ticks(run, track.ticks, view, left, y);
      y += TICK_HEIGHT + 2;
    }
    track.lanes.forEach((lane, k) => painter.lane(run, lane, view, left, y + k * LANE_HEIGHT));
    if (this.selected === NONE || GROUPINGS[this.grouping].of(run, this.selected) !== track.key)
      return;
    const lane = track.lanes.findIndex((each) => each.includes(this.selected));
    painter.selected(run, this.selected, view, left, lane < 0 ? top : y + lane * LANE_HEIGHT, lane >= 0);
  }

  paintLabel(track, y, end) {
    const {painter, left} = this;
    painter.context.fillStyle = painter.colours.ground;
    painter.context.fillRect(0, y, left - 1, end - y);
    painter.text(track.label, 4, y + 6, left - 12, painter.colours.text);
    if (end - y > 28)
      painter.text(left < 100 ? count(track.n) : plural(track.n, "frame", "frames"), 4, y + 20, left - 12,
        painter.colours.muted);
  }

  /* Draw the overview: the number of frames at each pixel of the whole run, and the visible part. */
  paintOverview() {
    const {small, run, view} = this;
    const {context, colours, width} = small;
    const bins = new Uint32Array(Math.ceil(width / 2));
    const scale = bins.length / (view.last - view.first);
    for (const i of this.rows)
      bins[clamp(Math.floor((run.time[i] - view.first) * scale), 0, bins.length - 1)]++;
    const most = bins.reduce((a, b) => Math.max(a, b), 1);
    small.clear();
    context.fillStyle = colours.muted;
    bins.forEach((n, k) => {
      const height = n ? Math.max(2, (OVERVIEW - 4) * Math.sqrt(n / most)) : 0;
      context.fillRect(2 * k, OVERVIEW - height, 1.5, height);
    });
    const x = (ns) => (ns - view.first) / (view.last - view.first) * width;
    context.fillStyle = colours.accent;
    context.globalAlpha = 0.16;
    context.fillRect(x(view.from), 0, Math.max(2, x(view.to) - x(view.from)), OVERVIEW);
    context.globalAlpha = 1;
    context.fillRect(x(view.from), OVERVIEW - 2, Math.max(2, x(view.to) - x(view.from)), 2);
  }

  /* Return the number of visible rows. */
  inView() {
    const at = (k) => this.run.time[this.rows[k]];
    return lowerBound(this.rows.length, at, this.view.to) - lowerBound(this.rows.length, at, this.view.from);
  }

  say() {
    const {view, run} = this;
    const text = `${duration(view.size)} in sight, from ${View.markText(view.from, view.size / 100)}: ` +
      `${plural(this.inView(), "frame", "frames")} of ${count(this.rows.length)}`;
    const chosen = this.selected === NONE ? "" :
      `. Selected: frame ${count(run.index[this.selected])}, ${this.describe(this.selected)}`;
    if (this.said.textContent !== text + chosen)
      this.said.textContent = text + chosen;
  }

  describe(i) {
    const {run} = this;
    const parts = [run.places[run.place[i]].name];
    if (run.hasLatency(i))
      parts.push(duration(run.latency[i]));
    if (run.task && run.task[i] !== NONE)
      parts.push(Run.taskText(run.tasks[run.task[i]]));
    if (run.cpu && run.cpu[i] !== NONE)
      parts.push(`CPU ${run.cpu[i]}`);
    return parts.join(", ");
  }

  /* Return the frame at a point of the canvas. */
  at(x, y) {
    if (x < this.left || y < AXIS)
      return NONE;
    const inside = y + this.scroller.scrollTop;
    const t = this.tops.findIndex((top, k) => inside >= top && inside < top + trackHeight(this.tracks[k]));
    const scale = this.view.size / (this.painter.width - this.left);
    return t < 0 ? NONE : frameAt(this.run, this.tracks[t], this.timeAt(x), inside - this.tops[t], 4 * scale);
  }

  timeAt(x) {
    return this.view.from + (x - this.left) / (this.painter.width - this.left) * this.view.size;
  }

  select(i, show) {
    this.selected = i;
    if (i !== NONE && show) {
      this.view.show(this.run.begin(i), this.run.time[i]);
      this.uncover(i);
      this.onView();
    }
    this.draw();
  }

  /* Scroll to the track of a frame. */
  uncover(i) {
    const t = this.tracks.findIndex((track) => track.key === GROUPINGS[this.grouping].of(this.run, i));
    const top = this.tops[t] - AXIS - 4;
    const room = this.painter.height - AXIS - trackHeight(this.tracks[t] || new Track());
    if (t >= 0 && (top < this.scroller.scrollTop || top > this.scroller.scrollTop + room))
      this.scroller.scrollTop = top;
  }

  hover(i, x, y) {
    this.tip.hidden = i === NONE;
    if (i === NONE)
      return;
    const {run} = this;
    this.tip.replaceChildren(el("strong", {}, this.describe(i)),
      el("span", {}, `frame ${count(run.index[i])} at ${seconds(run.time[i])} s`),
      ...run.values(i).slice(0, 6).map(([name, text]) => el("span", {}, `${name} = ${text}`)));
    const room = this.painter.width - this.tip.offsetWidth - 8;
    this.tip.style.setProperty("left", `${clamp(x + 12, 0, Math.max(0, room))}px`);
    this.tip.style.setProperty("top", `${y + 16}px`);
  }

  /* Select the next or previous one of the shown frames, or the first visible one if none is selected. */
  step(by) {
    const {rows, run} = this;
    if (!rows.length)
      return;
    const first = lowerBound(rows.length, (k) => run.time[rows[k]], this.view.from);
    const now = rows.indexOf(this.selected);
    const next = clamp(now === NONE ? first : now + by, 0, rows.length - 1);
    this.select(rows[next], true);
    this.onSelect(rows[next], false);
  }

  key(event) {
    const {view} = this;
    const actions = {
      "+": () => view.zoom(1 / 2), "=": () => view.zoom(1 / 2), "-": () => view.zoom(2), "0": () => view.all(),
      Home: () => view.move(-Infinity), End: () => view.move(Infinity),
      ArrowLeft: () => view.move(-view.size / 8), ArrowRight: () => view.move(view.size / 8),
    };
    if (event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (actions[event.key])
      this.changed(actions[event.key]);
    else if (event.key === "n" || event.key === "p")
      this.step(event.key === "n" ? 1 : -1);
    else if (event.key === "Enter" && this.selected !== NONE)
      this.onSelect(this.selected, true);
    else
      return;
    event.preventDefault();
  }
}
