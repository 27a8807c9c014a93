// SPDX-License-Identifier: GPL-2.0-only
// The timeline's tracks: which frames belong to which track, the lanes of calls, and the positions of all of these.

const LANES = 8;

/* One track. ticks: frames that are moments, sorted by time. lanes: frames that are calls, one after the other in each
   lane. */
class Track {
  constructor(label, key) {
    this.label = label;
    this.key = key;
    this.n = 0;
    this.ticks = [];
    this.lanes = [];
    this.calls = [];
  }

  add(run, i) {
    this.n++;
    (run.hasLatency(i) ? this.calls : this.ticks).push(i);
  }

  /* Put overlapping calls into different lanes, the outer calls first. Calls without a free lane go into the last. */
  settle(run) {
    const sorted = this.calls.sort((a, b) => run.begin(a) - run.begin(b) || run.time[b] - run.time[a]);
    const ends = [];
    for (const i of sorted) {
      let lane = ends.findIndex((end) => end <= run.begin(i));
      if (lane < 0)
        lane = Math.min(ends.length, LANES - 1);
      (this.lanes[lane] = this.lanes[lane] || []).push(i);
      ends[lane] = Math.max(ends[lane] || 0, run.time[i]);
    }
    this.calls = [];
    return this;
  }
}

const GROUPINGS = {
  cpu: {title: "CPU", of: (run, i) => run.cpu[i], has: (run) => run.cpu !== null,
    label: (run, key) => key === NONE ? "no CPU" : `CPU ${key}`},
  task: {title: "Task", of: (run, i) => run.task[i], has: (run) => run.task !== null,
    label: (run, key) => key === NONE ? "no task" : Run.taskText(run.tasks[key])},
  place: {title: "Place", of: (run, i) => run.place[i], has: () => true,
    label: (run, key) => run.places[key].name},
};

/* Return the tracks of a grouping: CPUs and places in their own order, tasks with the most frames first. */
function tracksBy(run, grouping, rows) {
  const {of, label} = GROUPINGS[grouping];
  const found = new Map();
  for (const i of rows) {
    const key = of(run, i);
    if (!found.has(key))
      found.set(key, new Track(label(run, key), key));
    found.get(key).add(run, i);
  }
  const all = [...found.values()].map((track) => track.settle(run));
  return all.sort(grouping === "task" ? (a, b) => b.n - a.n : (a, b) => a.key - b.key);
}

/* The positions of a track's parts, in pixels below its top. */
const TICK_HEIGHT = 12;
const LANE_HEIGHT = 15;
const TRACK_GAP = 8;

function trackHeight(track) {
  return (track.ticks.length ? TICK_HEIGHT + 2 : 0) + track.lanes.length * LANE_HEIGHT + TRACK_GAP;
}

/* Return the frame at a time and a height inside a track, or within a few pixels of this point, else NONE. */
function frameAt(run, track, time, y, slack) {
  const ticks = track.ticks.length ? TICK_HEIGHT + 2 : 0;
  if (y < ticks)
    return nearestTick(run, track.ticks, time, slack);
  const lane = track.lanes[Math.floor((y - ticks - 1) / LANE_HEIGHT)];
  if (!lane)
    return NONE;
  const behind = lowerBound(lane.length, (k) => run.begin(lane[k]), time + slack);
  for (let k = behind - 1; k >= Math.max(0, behind - 50); k--) {
    if (run.time[lane[k]] >= time - slack)
      return lane[k];
  }
  return NONE;
}

function nearestTick(run, ticks, time, slack) {
  const behind = lowerBound(ticks.length, (k) => run.time[ticks[k]], time);
  const near = [ticks[behind - 1], ticks[behind]].filter((i) => i !== undefined &&
    Math.abs(run.time[i] - time) <= slack);
  near.sort((a, b) => Math.abs(run.time[a] - time) - Math.abs(run.time[b] - time));
  return near.length ? near[0] : NONE;
}
