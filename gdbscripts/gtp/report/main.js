// SPDX-License-Identifier: GPL-2.0-only
// Builds the page once the browser has read all of it.

function histograms(section, run) {
  const kept = run.raw.aggregations.filter((one) => one.kind === "hist" ||
    one.kind === "lhist").flatMap(histogramCards);
  const space = el("div", {});
  section.append(space);
  space.append(...cards(kept));
  if (!kept.length && !run.latency)
    section.append(empty("No histogram was kept, and no frame has a latency. ",
      code("gtp hist $latency by current->comm at vfs_read"),
      " makes one of each task; ", code("collect $latency"), " has it in each frame."));
  return (rows) => {
    const all = run.latency ? [...latencyCards(run, rows), ...kept] : kept;
    if (run.latency)
      space.replaceChildren(...(all.length ? cards(all) : [empty("No frame that the filter leaves has a latency.")]));
  };
}

function tops(section, run, onTerm) {
  const others = run.raw.aggregations.filter((one) => one.kind !== "hist" && one.kind !== "lhist");
  const by = run.n ? new FramesBy(run, onTerm) : null;
  section.append(el("div", {class: "cards tables"}, by ? by.node : null, others.map(aggregationCard)));
  if (!by && !others.length)
    section.append(empty("There is nothing to count: the run has no frame and no aggregation. ",
      code("gtp count by current->comm at vfs_read"), " makes one."));
  return (rows) => by && by.only(rows);
}

function navigation() {
  const sections = [...document.querySelectorAll("main > section")];
  byId("nav").append(el("ul", {}, sections.map((section) => el("li", {},
    el("a", {href: `#${section.id}`}, section.querySelector("h2").textContent)))));
}

/* Return the reason why the page has no frames. */
function without({raw}) {
  const {unasked} = raw.frames;
  return unasked ? `None of the run's ${plural(unasked, "frame", "frames")} was asked for.` :
    "The run has no frame: its tracepoints were not hit, or they only aggregate.";
}

function start() {
  const run = new Run(JSON.parse(byId("data").textContent));
  Theme.start();
  navigation();
  summary(byId("summary"), run);
  let frames = null;
  let timeline = null;
  const toFrames = (term) => {
    frames.add(term);
    byId("frames").scrollIntoView();
    frames.input.focus({preventScroll: true});
  };
  if (run.n && run.time)
    timeline = new Timeline(byId("timeline"), run, (i, focus) => frames.choose(i, focus),
      () => frames.viewChanged(timeline.view));
  else
    byId("timeline").append(empty(run.n ? "The frames have no time: collect $clock, and there is a timeline." :
      without(run)));
  const fromRows = [histograms(byId("histograms"), run), tops(byId("tops"), run, toFrames)];
  if (!run.raw.flames)
    byId("flames").append(empty("No aggregation has the kernel's stacks as a key, and no frame has one. ",
      code("gtp count by $kstack at kmem_cache_alloc"),
      " has hits by their stacks, ", code("collect $kstack"), " has one in each frame."));
  if (!run.n) {
    byId("frames").append(empty(without(run)));
    return;
  }
  frames = new Frames(byId("frames"), run, (rows) => {
    fromRows.forEach((update) => update(rows));
    if (timeline)
      timeline.only(rows);
  }, (i) => timeline && timeline.select(i, true));
  if (timeline)
    frames.viewChanged(timeline.view);
}

start();
document.documentElement.setAttribute("data-ready", "");
