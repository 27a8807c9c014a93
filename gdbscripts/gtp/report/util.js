// SPDX-License-Identifier: GPL-2.0-only
// Functions that all parts of the page use: for elements, formatted numbers, and searches in sorted arrays.

/* Return a new element. Texts become text nodes, so that the run's data is never parsed as HTML. */
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false)
      continue;
    if (name.startsWith("on"))
      node.addEventListener(name.slice(2), value);
    else if (name === "style")
      Object.entries(value).forEach(([key, text]) => node.style.setProperty(key, text));
    else
      node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

const byId = (id) => document.getElementById(id);

const NARROW_SPACE = "\u202f";
const grouped = new Intl.NumberFormat("en-US", {maximumFractionDigits: 0});

/* Numbers in a browser have 53 bits. Larger ones are texts in the page's data; return those as BigInts. */
const exact = (x) => typeof x === "string" ? BigInt(x) : x;

const isNumber = (n) => typeof n === "number" || typeof n === "bigint";

/* Return a number as text such as 1,234,567. Other values become plain text. */
const count = (n) => isNumber(n) ? grouped.format(n) : String(n);

/* Divide BigInts; B is above 0. A half is rounded to the even number, as gtp show does. */
function divided(a, b) {
  const whole = a / b - (a % b < 0n ? 1n : 0n);
  const twice = 2n * (a - whole * b);
  return twice > b || twice === b && whole % 2n !== 0n ? whole + 1n : whole;
}

/* Return the average of n numbers with this sum. */
const average = (sum, n) => typeof sum === "bigint" ? divided(sum, BigInt(n)) : sum / n;

const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;

const UNITS_OF_TIME = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];

/* Return nanoseconds with three significant digits, in a unit that leaves one to three digits before the point. */
function duration(ns) {
  if (ns === 0)
    return "0" + NARROW_SPACE + "ns";
  const [unit, size] = UNITS_OF_TIME.find(([, s]) => Math.abs(ns) >= s) || UNITS_OF_TIME[3];
  const value = ns / size;
  const whole = Math.abs(value);
  const digits = unit === "ns" || whole >= 99.95 ? 0 : whole >= 9.995 ? 1 : 2;
  return (whole >= 999.5 ? count(Math.round(value)) : value.toFixed(digits)) + NARROW_SPACE + unit;
}

/* Return nanoseconds after the run's first frame as seconds, with all nine decimals in groups. */
function seconds(ns) {
  const whole = Math.floor(Math.abs(ns) / 1e9);
  const rest = String(Math.round(Math.abs(ns) - whole * 1e9)).padStart(9, "0");
  return `${ns < 0 ? "-" : ""}${whole}.${rest.slice(0, 3)}${NARROW_SPACE}${rest.slice(3, 6)}${NARROW_SPACE}${rest.slice(6)}`;
}

/* Return a power of two with its unit, such as 4K. */
function binary(n) {
  let unit = 0;
  let value = n;
  while (Math.abs(value) >= 1024 && value % 1024 === 0 && unit < 6) {
    value /= 1024;
    unit++;
  }
  return value + ["", "K", "M", "G", "T", "P", "E"][unit];
}

/* Return a value as text with its unit: as a duration if the unit is ns, else as a plain number. */
const withUnit = (n, unit) => unit === "ns" && isNumber(n) ? duration(Number(n)) :
  typeof n === "number" && !Number.isInteger(n) ? n.toFixed(n < 10 ? 2 : 1) : count(n);

/* Return a share with two significant digits: 42%, 4.2%, <0.1%. */
function percent(part, whole) {
  const share = whole ? 100 * part / whole : 0;
  if (share > 0 && share < 0.05)
    return "<0.1%";
  return share >= 9.95 || share === 0 ? `${Math.round(share)}%` : `${share.toFixed(1)}%`;
}

/* Return the first index in [0, n) for which at(index) >= value, or n if there is none. */
function lowerBound(n, at, value) {
  let low = 0;
  let high = n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(middle) < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

const empty = (...text) => el("p", {class: "empty"}, ...text);

const code = (text) => el("code", {}, text);
