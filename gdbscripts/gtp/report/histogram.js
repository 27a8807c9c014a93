// SPDX-License-Identifier: GPL-2.0-only
// Histograms of aggregations and of the frames' latencies, with buckets that are powers of two or equal steps.

const FIRST_CARDS = 9;

/* Return [first, end) of a bucket, by the module's number for it, as BigInts. null means no limit. */
function bucketRange(bucket, bounds) {
  if (bounds === null) {
    if (bucket < 2)
      return bucket === 0 ? [null, 0n] : [0n, 1n];
    return [1n << BigInt(bucket - 2), 1n << BigInt(bucket - 1)];
  }
  const [first, last, step] = bounds.map(BigInt);
  const begin = first + BigInt(bucket - 1) * step;
  if (bucket === 0)
    return [null, first];
  return begin >= last ? [last, null] : [begin, begin + step < last ? begin + step : last];
}

function bucketLabel([begin, end], bounds, unit) {
  const text = (n) => unit === "ns" ? duration(Number(n)) : bounds === null ? binary(Number(n)) : count(n);
  if (begin === null)
    return `below ${text(end)}`;
  if (end === null)
    return `from ${text(begin)}`;
  return end === begin + 1n ? text(begin) : `${text(begin)} – ${text(end)}`;
}

/* Return the value below which SHARE percent of all values are, assuming that they are spread evenly within a bucket,
   as gtp show does. LEAST and GREATEST are BigInts. */
function percentile(share, buckets, bounds, least, greatest) {
  const wanted = BigInt(share) * BigInt(buckets.reduce((sum, [, n]) => sum + n, 0));
  let seen = 0n;
  for (const [bucket, k] of buckets) {
    const n = 100n * BigInt(k);
    if (seen + n >= wanted) {
      const [begin, end] = bucketRange(bucket, bounds);
      const low = begin === null || begin < least ? least : begin;
      const high = end === null || end - 1n > greatest ? greatest : end - 1n;
      const found = low + divided((high - low) * (wanted - seen), n);
      return found < least ? least : found > greatest ? greatest : found;
    }
    seen += n;
  }
  return greatest;
}

/* Return the card of a histogram. buckets: sorted [[number, n], ...]. summary: [sum, min, max]. values: all values,
   sorted, if they are known. */
function histogramCard({heading, sub, buckets, bounds, unit, n, summary, values}) {
  const [sum, least, greatest] = summary.map(exact);
  const value = (x) => withUnit(x, unit);
  const at = (p) => values ? values[Math.max(Math.ceil(p * n / 100), 1) - 1] :
    percentile(p, buckets, bounds, BigInt(least), BigInt(greatest));
  const quantile = (p) => [`p${p}`, value(at(p))];
  const numbers = [["n", count(n)], ["avg", sum === null ? "?" : value(average(sum, n))], ["min", value(least)],
    ...[50, 90, 99].map(quantile), ["max", value(greatest)]];
  const most = buckets.reduce((a, [, k]) => Math.max(a, k), 1);
  const titles = ["range", "bar", "count", "share"];
  const known = new Map(buckets);
  const rows = [];
  for (let b = buckets.length ? buckets[0][0] : 0; buckets.length && b <= buckets[buckets.length - 1][0]; b++) {
    const k = known.get(b) || 0;
    rows.push(el("tr", {}, el("th", {scope: "row"}, bucketLabel(bucketRange(b, bounds), bounds, unit)),
      el("td", {class: "share"}, bar(k / most)), el("td", {class: "right"}, k ? count(k) : ""),
        el("td", {class: "right dim"}, k ? percent(k, n) : "")));
  }
  return el("article", {class: "card histogram"}, el("h3", {}, heading), sub ? el("p", {class: "figures"}, sub) : null,
    el("dl", {class: "numbers"}, numbers.map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text)))),
    el("div", {class: "wide"}, el("table", {class: "buckets"},
      el("caption", {class: "unseen"}, `${heading}: how many values in each range`),
      el("thead", {class: "unseen"}, el("tr", {}, titles.map((text) => el("th", {scope: "col"}, text)))),
      el("tbody", {}, rows))));
}

/* Return the cards of one aggregation, the keys with the most values first. */
function histogramCards(one) {
  const entries = one.entries.slice().sort((a, b) => b.count - a.count);
  return entries.map((entry) => histogramCard({
    heading: entry.keys.length ? entry.keys.map((key, k) => `${one.keys[k]} ${key.text}`).join(", ") : one.title,
    sub: entry.keys.length ? one.title : null,
    buckets: entry.buckets, bounds: one.bounds, unit: one.unit, n: entry.count, summary: entry.summary}));
}

/* Return a card for each place, with a histogram of its frames' latencies by powers of two. */
function latencyCards(run, rows) {
  const of = run.places.map(() => ({buckets: new Map(), values: [], sum: 0}));
  for (const i of rows) {
    if (!run.hasLatency(i))
      continue;
    const ns = run.latency[i];
    const entry = of[run.place[i]];
    const bucket = ns < 1 ? 1 : Math.floor(Math.log2(ns)) + 2;
    entry.buckets.set(bucket, (entry.buckets.get(bucket) || 0) + 1);
    entry.values.push(ns);
    entry.sum += ns;
  }
  return of.map((entry, place) => entry.values.length ? latencyCard(run.places[place].name, entry) : null).filter(Boolean);
}

function latencyCard(name, {buckets, values, sum}) {
  const sorted = Float64Array.from(values).sort();
  return histogramCard({heading: `Latency of ${name}`,
    sub: `${plural(sorted.length, "frame", "frames")} of those that the filter leaves`,
    buckets: [...buckets].sort((a, b) => a[0] - b[0]), bounds: null, unit: "ns", n: sorted.length,
    summary: [sum, sorted[0], sorted[sorted.length - 1]], values: sorted});
}

/* Return the first cards, and a button that shows the others. */
function cards(all) {
  const space = el("div", {class: "cards"}, all.slice(0, FIRST_CARDS));
  if (all.length <= FIRST_CARDS)
    return [space];
  const more = el("button", {type: "button", class: "more", onclick: () => {
    space.append(...all.slice(FIRST_CARDS));
    more.remove();
  }}, `All ${count(all.length)} histograms`);
  return [space, more];
}
