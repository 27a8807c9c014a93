// SPDX-License-Identifier: GPL-2.0-only
// The run at the top of the page: the figures that matter, what was traced, and what is missing.

function figure(name, value, note) {
  return el("div", {class: "figure"}, el("dt", {}, name), el("dd", {}, el("strong", {}, value), note ?
    el("span", {}, note) : null));
}

function figures(run) {
  const {raw} = run;
  const found = [figure("Frames", count(run.total), run.total > run.n ? `${count(run.n)} of them are in this page` :
    null)];
  if (raw.hits !== null)
    found.push(figure("Hits", count(raw.hits), raw.hits <= run.total ? null :
      raw.frames.unasked ? "of all frames, here or not" : "some leave no frame"));
  if (run.n && run.time)
    found.push(figure("From first to last", duration(length(run)), rate(run)));
  if (run.cpu)
    found.push(figure("CPUs", count(new Set(run.cpu.filter((cpu) => cpu !== NONE)).size)));
  if (run.task)
    found.push(figure("Tasks", count(tasksOf(run))));
  if (raw.missing !== null)
    found.push(figure("Missing", count(raw.missing), raw.missed.length ? "see below" : "every hit was handled"));
  return el("dl", {class: "figurelist"}, found);
}

/* Return the number of tasks. A renamed task counts once, and so do all idle tasks, since their number is 0. */
function tasksOf(run) {
  const tasks = new Set();
  for (let i = 0; i < run.n; i++) {
    if (run.task[i] !== NONE)
      tasks.add(run.pid(i) === null ? run.comm(i) : run.pid(i));
  }
  return tasks.size;
}

/* Return the time from the first frame to the last one. */
function length(run) {
  return run.time.reduce((most, time) => Number.isNaN(time) ? most : Math.max(most, time), 0);
}

function rate(run) {
  const span = length(run);
  return run.n > 1 && span > 0 ? `${count(Math.round((run.n - 1) / span * 1e9))} frames a second` : null;
}

function placesTable(run) {
  const frames = new Uint32Array(run.places.length);
  run.place.forEach((place) => frames[place]++);
  const rows = run.places.map((place, k) => ({...place, k, frames: frames[k]}));
  const most = frames.reduce((a, b) => Math.max(a, b), 1);
  const columns = [
    {title: "tracepoint", right: true, text: (row) => row.number === null ? "" : String(row.number),
      key: (row) => row.number},
    {title: "place", text: (row) => row.name, key: (row) => row.name},
    {title: "frames", right: true, text: (row) => count(row.frames), key: (row) => row.frames},
    {title: "share", right: true, bar: (row) => row.frames / most, text: (row) => percent(row.frames, run.n),
      key: (row) => row.frames},
    {title: "collects", text: (row) => row.columns.map((column) => column.name).join(", "),
      key: (row) => row.columns.length},
  ];
  if (rows.some((row) => row.hits !== null && row.hits !== undefined))
    columns.splice(2, 0, {title: "hits", right: true, text: (row) => row.hits === null ? "" : count(row.hits),
      key: (row) => row.hits});
  return new SmallTable("What was traced", columns, rows, [0, false], null).node;
}

function summary(section, run) {
  const {raw} = run;
  byId("subtitle").textContent = [raw.source, raw.made].filter(Boolean).join(" · ");
  section.append(figures(run));
  if (raw.missed.length)
    section.append(el("div", {class: "missed", role: "note"}, el("h3", {}, "What is missing"),
      el("ul", {}, raw.missed.map((text) => el("li", {}, text)))));
  section.append(el("div", {class: "split summary"},
    el("div", {}, el("h3", {}, "What was traced"), run.places.length ? placesTable(run) :
      empty("No tracepoint left a frame.")),
    el("div", {}, el("h3", {}, "How it went"), el("dl", {class: "facts"},
      raw.facts.map(([name, text]) => [el("dt", {}, name), el("dd", {}, text)])))));
}
