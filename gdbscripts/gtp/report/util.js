// SPDX-License-Identifier: GPL-2.0-only
// What all parts of the page use: elements, numbers for people, searches in sorted arrays.

/* An element. Texts become text nodes, so that nothing of the run's data is ever read as HTML. */
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

/* Numbers have 53 bits in a browser: larger ones are texts in the data, and BigInts from here on. */
const exact = (x) => typeof x === "string" ? BigInt(x) : x;

const isNumber = (n) => typeof n === "number" || typeof n === "bigint";

/* 1,234,567; a number that is none stays as it is. */
const count = (n) => isNumber(n) ? grouped.format(n) : String(n);

/* A quotient of BigInts, of which the second is above 0; a half is rounded to an even number, as gtp show does. */
function divided(a, b) {
  const whole = a / b - (a % b < 0n ? 1n : 0n);
  const twice = 2n * (a - whole * b);
  return twice > b || twice === b && whole % 2n !== 0n ? whole + 1n : whole;
}

/* The average of n numbers, from their sum. */
const average = (sum, n) => typeof sum === "bigint" ? divided(sum, BigInt(n)) : sum / n;

const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;

const UNITS_OF_TIME = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];

/* Nanoseconds in the unit that leaves one to three digits in front of the point; three digits that count. */
function duration(ns) {
  if (ns === 0)
    return "0" + NARROW_SPACE + "ns";
  const [unit, size] = UNITS_OF_TIME.find(([, s]) => Math.abs(ns) >= s) || UNITS_OF_TIME[3];
  const value = ns / size;
  const whole = Math.abs(value);
  const digits = unit === "ns" || whole >= 99.95 ? 0 : whole >= 9.995 ? 1 : 2;
  return (whole >= 999.5 ? count(Math.round(value)) : value.toFixed(digits)) + NARROW_SPACE + unit;
}

/* Nanoseconds behind the run's first frame as seconds with all nine digits, in groups. */
function seconds(ns) {
  const whole = Math.floor(Math.abs(ns) / 1e9);
  const rest = String(Math.round(Math.abs(ns) - whole * 1e9)).padStart(9, "0");
  return `${ns < 0 ? "-" : ""}${whole}.${rest.slice(0, 3)}${NARROW_SPACE}${rest.slice(3, 6)}${NARROW_SPACE}${rest.slice(6)}`;
}

/* A power of two with its letter: 4K. */
function binary(n) {
  let unit = 0;
  let value = n;
  while (Math.abs(value) >= 1024 && value % 1024 === 0 && unit < 6) {
    value /= 1024;
    unit++;
  }
  return value + ["", "K", "M", "G", "T", "P", "E"][unit];
}

/* A value with its unit: nanoseconds, or a plain number. */
const withUnit = (n, unit) => unit === "ns" && isNumber(n) ? duration(Number(n)) :
  typeof n === "number" && !Number.isInteger(n) ? n.toFixed(n < 10 ? 2 : 1) : count(n);

/* A share with two digits that count: 42%, 4.2%, <0.1%. */
function percent(part, whole) {
  const share = whole ? 100 * part / whole : 0;
  if (share > 0 && share < 0.05)
    return "<0.1%";
  return share >= 9.95 || share === 0 ? `${Math.round(share)}%` : `${share.toFixed(1)}%`;
}

/* The first index in [0, n) for which at(index) >= value; n if there is none. */
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
