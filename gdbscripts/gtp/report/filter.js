// SPDX-License-Identifier: GPL-2.0-only
// The filter of the frames: parses text such as `latency > 1ms comm = dd !idle` into a function that tests a frame.

const OPERATORS = ["<=", ">=", "!=", "==", "=", "<", ">", "~"];
const FACTORS = {ns: 1, us: 1e3, "µs": 1e3, "μs": 1e3, ms: 1e6, s: 1e9, K: 1024, M: 1024 ** 2, G: 1024 ** 3};

class FilterError extends Error {}

/* Parse a number such as 0x1f, 4K or 1.5ms; NaN for other text. With TIME, a number without a unit is in seconds. */
function numberOf(text, time) {
  const found = /^([-+]?(?:0x[0-9a-f]+|\d+(?:\.\d*)?|\.\d+))\s*(ns|us|µs|μs|ms|s|[KMG])?$/i.exec(text);
  if (!found)
    return NaN;
  const unit = found[2] && (FACTORS[found[2]] || FACTORS[found[2].toLowerCase()] || FACTORS[found[2].toUpperCase()]);
  return Number(found[1]) * (unit || (time ? 1e9 : 1));
}

/* Parse a term's value, which is a word, or a text in quotes with "" for a quote. Return [value, the text after it]. */
function wordOf(text) {
  const found = /^"((?:[^"]|"")*)"|^(\S+)/.exec(text);
  return found ? [found[1] !== undefined ? found[1].replaceAll('""', '"') : found[2], text.slice(found[0].length)] : ["", ""];
}

/* Return an integer's text as a BigInt, null for other text. After an address its symbol may follow. */
function integerOf(text) {
  const found = /^([-+]?)(0x[0-9a-f]+|\d+)(?: <.*>)?$/i.exec(text);
  return found && (found[1] === "-" ? -BigInt(found[2]) : BigInt(found[2]));
}

/* Parse the terms of a filter: {not, name, operator, value}. A term without a name searches everywhere. NAMES are the
   names of the columns. */
function termsOf(text, names) {
  const found = [];
  let rest = text.trim();
  while (rest) {
    const not = rest[0] === "!";
    rest = not ? rest.slice(1).trim() : rest;
    const name = names.find((each) => rest.toLowerCase().startsWith(each.toLowerCase()) &&
      OPERATORS.some((operator) => rest.slice(each.length).trim().startsWith(operator)));
    let operator = null;
    if (name) {
      rest = rest.slice(name.length).trim();
      operator = OPERATORS.find((each) => rest.startsWith(each));
      rest = rest.slice(operator.length).trim();
    }
    const [value, behind] = wordOf(rest);
    if (name && !value && rest[0] !== '"')
      throw new FilterError(`nothing stands behind ${name} ${operator}`);
    const unknown = !name && /^([\w$.]+)\s*(<=|>=|!=|==|=|<|>|~)/.exec(rest);
    if (unknown)
      throw new FilterError(`no column is called ${unknown[1]}; there are ${names.slice().sort().join(", ")}`);
    if (value || name)
      found.push({not, name: name || null, operator, value});
    rest = behind.trim();
  }
  return found;
}

const COMPARE = {
  "=": (a, b) => a === b, "==": (a, b) => a === b, "!=": (a, b) => a !== b,
  "<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b,
};

/* Return a function that tests a text. < and > compare as numbers if VALUE is a number. */
function textTest(operator, value) {
  const low = value.toLowerCase();
  if (operator === "~")
    return (text) => text.toLowerCase().includes(low);
  const number = numberOf(value);
  if (operator === "=" || operator === "==" || operator === "!=" || Number.isNaN(number))
    return (text) => COMPARE[operator](text, value);
  const whole = integerOf(value);
  return (text) => {
    const own = integerOf(text);
    return own === null ? COMPARE[operator](Number(text), number) : COMPARE[operator](own, whole === null ? number : whole);
  };
}

function numberTest(name, operator, value, time) {
  if (operator === "~")
    return (n) => String(n).includes(value);
  const wanted = numberOf(value, time);
  if (Number.isNaN(wanted))
    throw new FilterError(`${name} is a number, and ${value} is none`);
  return (n) => COMPARE[operator](n, wanted);
}

/* Return a function that tests a BigInt. VALUE is compared as a BigInt if it is an integer, else as a number. */
function bigTest(name, operator, value) {
  const whole = integerOf(value);
  const number = numberOf(value);
  if (operator === "~" || whole === null && !Number.isInteger(number))
    return numberTest(name, operator, value, false);
  const wanted = whole === null ? BigInt(number) : whole;
  return (n) => COMPARE[operator](n, wanted);
}

/* The filter for a run's frames. */
class Filter {
  constructor(run) {
    this.run = run;
    const fields = new Set(run.places.flatMap((place) => place.columns.map((column) => column.name)));
    this.front = this.fixed();
    this.names = [...new Set([...Object.keys(this.front), ...fields])].sort((a, b) => b.length - a.length);
  }

  /* Return the columns that frames of all places may have. number: the column has numbers. time: a number without a
     unit is in seconds. of: the value of frame i, or null. any: true if any frame has a value. */
  fixed() {
    const {run} = this;
    const all = {
      frame: {number: true, of: (i) => run.index[i]},
      time: {number: true, time: true, of: (i) => run.hasTime(i) ? run.time[i] : null, any: run.time !== null},
      cpu: {number: true, of: (i) => run.cpu[i] === NONE ? null : run.cpu[i], any: run.cpu !== null},
      pid: {number: true, of: (i) => run.pid(i), any: run.task !== null},
      comm: {of: (i) => run.comm(i), any: run.task !== null},
      place: {of: (i) => run.places[run.place[i]].name},
      latency: {number: true, of: (i) => run.hasLatency(i) ? run.latency[i] : null, any: run.latency !== null},
    };
    return Object.fromEntries(Object.entries(all).filter(([, column]) => column.any !== false));
  }

  /* Return the rows that match the filter TEXT, in their order. Throw FilterError if TEXT is wrong. */
  rows(text) {
    const tests = termsOf(text, this.names).map((term) => this.test(term));
    const found = new Uint32Array(this.run.n);
    let n = 0;
    for (let i = 0; i < this.run.n; i++) {
      if (tests.every((test) => test(i)))
        found[n++] = i;
    }
    return found.subarray(0, n);
  }

  test(term) {
    const holds = term.name === null ? this.anywhere(term.value) : this.named(term);
    return term.not ? (i) => !holds(i) : holds;
  }

  named({name, operator, value}) {
    const fixed = Object.hasOwn(this.front, name) ? this.front[name] : null; // a column may be called constructor
    if (fixed) {
      const test = fixed.number ? numberTest(name, operator, value, fixed.time) : textTest(operator, value);
      return (i) => fixed.of(i) !== null && test(fixed.of(i));
    }
    const {run} = this;
    const tests = run.places.map((place) => {
      const column = place.columns.find((each) => each.name === name);
      return column ? Filter.ofColumn(column, operator, value) : () => false;
    });
    return (i) => tests[run.place[i]](run.rowOf[i]);
  }

  /* Return a function that tests a row of a column. Each different text of the column is tested only once. */
  static ofColumn(column, operator, value) {
    if (column.numbers) {
      const held = column.numbers.map(bigTest(column.name, operator, value));
      return (row) => column.has(row) && held[column.values[row]];
    }
    if (!column.texts) {
      const test = numberTest(column.name, operator, value, false);
      return (row) => column.has(row) && test(column.values[row]);
    }
    const test = textTest(operator, value);
    const plain = (text) => text.replace(/^"(.*)"$/s, "$1");
    const held = column.texts.map((text) => test(plain(text)) || test(text) && operator !== "!=");
    return (row) => column.has(row) && held[column.values[row]];
  }

  /* Return a function that tests whether a word is anywhere in a frame. */
  anywhere(value) {
    const {run} = this;
    const has = (text) => String(text).toLowerCase().includes(value.toLowerCase());
    const places = run.places.map((place) => has(place.name));
    const tasks = run.tasks.map(([pid, comm]) => has(comm || "") || String(pid) === value);
    const names = run.names.map(has);
    const stacks = run.stacks.map((stack) => stack.some((name) => names[name]));
    const columns = run.places.map((place) => place.columns.map((column) => column.isText() ?
      Filter.ofColumn(column, "~", value) : (row) => column.has(row) && String(column.value(row)) === value));
    return (i) => places[run.place[i]] || run.task && run.task[i] !== NONE && tasks[run.task[i]] ||
      run.stack && run.stack[i] !== NONE && stacks[run.stack[i]] ||
      columns[run.place[i]].some((holds) => holds(run.rowOf[i]));
  }
}

/* Return the term that a click on a value adds. The value is in quotes if necessary. */
const termText = (name, value) => `${name} = ${/^[^\s"!]+$/.test(value) ? value : `"${value.replaceAll('"', '""')}"`}`;
