// SPDX-License-Identifier: GPL-2.0-only
// The section with the frames: the filter, the table, and the details of one frame.

class Frames {
  constructor(section, run, onRows, onChoose) {
    this.run = run;
    this.onRows = onRows;
    this.filter = new Filter(run);
    this.inView = null;
    this.grid = new Grid("Frames", (i) => {
      this.show(i);
      onChoose(i);
    });
    this.grid.space.id = "frame";
    this.detail = el("aside", {class: "detail", "aria-label": "Selected frame", "aria-live": "polite"});
    this.said = el("p", {class: "said", id: "frames-said", role: "status"});
    section.append(this.bar(), this.said, el("div", {class: "split"}, this.grid.body, this.detail),
      el("p", {class: "hint"}, "In the table: arrow keys, Page Up, Page Down, Home and End move, ",
        "Enter shows all of a frame. A frame's value is a button: it filters by it."));
    this.show(null);
    this.apply();
  }

  bar() {
    const example = this.run.latency ? "latency > 1ms" : this.run.task ? "comm = sh" : "a word";
    this.input = el("input", {type: "search", id: "filter", autocomplete: "off", spellcheck: "false",
      enterkeyhint: "search", placeholder: `Filter, as ${example}`, "aria-label": "Filter the frames",
      "aria-describedby": "frames-said filter-help"});
    this.input.addEventListener("input", () => {
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.apply(), this.run.n > 20000 ? 150 : 0);
    });
    this.place = el("select", {id: "place", "aria-label": "Place", onchange: () => this.apply()},
      el("option", {value: ""}, "All places"),
      this.run.places.map((place, i) => el("option", {value: String(i)}, place.name)));
    this.viewed = el("input", {type: "checkbox", id: "viewed", onchange: () => this.apply()});
    return el("div", {class: "bar"}, this.input, this.run.places.length > 1 ? this.place : null,
      this.run.time ? el("label", {class: "check"}, this.viewed, "only what the timeline shows") : null,
      el("button", {type: "button", onclick: () => this.reset()}, "Clear"),
      el("details", {class: "help", id: "filter-help"}, el("summary", {}, "How to filter"),
        Frames.help(this.filter.names)));
  }

  static help(names) {
    const rows = [
      ["dd", "has the word anywhere: place, task, values, stack"],
      ["!dd", "does not"],
      ["comm = dd", "is exactly this; !=, too"],
      ["place ~ read", "has this in it"],
      ["latency > 1.5ms", "numbers with ns, us, ms, s, K, M, G; <, <=, >=, =, too"],
      ['comm = "kworker/0:1" cpu = 2', "all of several terms; quotes where there are blanks"],
    ];
    return [el("dl", {class: "terms"}, rows.map(([term, text]) => [el("dt", {}, code(term)), el("dd", {}, text)])),
      el("p", {}, "Columns: ", names.slice().sort().join(", "))];
  }

  reset() {
    this.input.value = "";
    this.place.value = "";
    this.viewed.checked = false;
    this.apply();
    this.input.focus();
  }

  /* Add a term to the filter, after a click on a value, unless the filter has it. */
  add(term) {
    const now = this.input.value.trim();
    if (!` ${now} `.includes(` ${term} `))
      this.input.value = now ? `${now} ${term}` : term;
    this.apply();
  }

  /* Return the frames that match the filter's terms and are of the chosen place. */
  rows() {
    const {run} = this;
    let rows = this.filter.rows(this.input.value);
    const place = this.place.value === "" ? null : Number(this.place.value);
    if (place !== null)
      rows = rows.filter((i) => run.place[i] === place);
    return rows;
  }

  apply() {
    try {
      this.left = this.rows();
    } catch (error) {
      if (!(error instanceof FilterError))
        throw error;
      this.input.setAttribute("aria-invalid", "true");
      this.said.className = "said wrong";
      this.said.textContent = `Not understood: ${error.message}.`;
      return;
    }
    this.input.removeAttribute("aria-invalid");
    this.said.className = "said";
    this.onRows(this.left);
    this.fill();
  }

  /* Fill the table with the frames that match the filter: all of them, or those that the timeline shows. */
  fill() {
    const {run, left} = this;
    const view = this.viewed.checked && this.view;
    const rows = view ? left.filter((i) => run.time[i] >= view.from && run.begin(i) <= view.to) : left;
    const shown = `${this.place.value}`;
    if (this.columnsOf !== shown) {
      this.columnsOf = shown;
      this.grid.setColumns(this.columns());
    }
    this.grid.setRows(rows);
    this.said.textContent = rows.length === run.n ? `${plural(run.n, "frame", "frames")}` :
      `${count(rows.length)} of ${plural(run.n, "frame", "frames")}`;
    if (run.total > run.n)
      this.said.textContent += `; the run has ${count(run.total)}, and gtp report --limit N takes more of them`;
  }

  viewChanged(view) {
    this.view = view;
    if (this.viewed.checked)
      this.fill();
  }

  /* Return the leading columns and the place's own columns. If several places are shown, one column has their values. */
  columns() {
    const {run} = this;
    const chosen = this.place.value === "" ? run.places : [run.places[Number(this.place.value)]];
    const only = chosen.length === 1 ? chosen[0] : null;
    const named = run.task && run.tasks.some(([, comm]) => comm);
    return [
      Frames.number("frame", "frame", Math.max(7, String(run.n).length + 4), (i) => run.index[i], String),
      run.time && Frames.number("time", "time, s", 18, (i) => run.hasTime(i) ? run.time[i] : null, seconds),
      run.cpu && Frames.number("cpu", "cpu", 6, (i) => run.cpu[i] === NONE ? null : run.cpu[i], String),
      run.task && Frames.number("pid", "pid", 9, (i) => run.pid(i), String),
      named && {name: "comm", title: "task", width: 18, text: (i) => run.comm(i) || "",
        key: (i) => run.comm(i) || Infinity},
      !only && {name: "place", title: "place", width: this.widest(), text: placeOf, key: placeOf},
      run.latency && {down: true,
        ...Frames.number("latency", "latency", 11, (i) => run.hasLatency(i) ? run.latency[i] : null, duration)},
      ...(only ? this.own(only) : this.together()),
    ].filter(Boolean);

    function placeOf(i) {
      return run.places[run.place[i]].name;
    }
  }

  /* Return a column of numbers. of(row) is null for a row without a number. */
  static number(name, title, width, of, text) {
    return {name, title, width, right: true, text: (i) => of(i) === null ? "" : text(of(i)),
      key: (i) => of(i) === null ? Infinity : of(i)};
  }

  widest() {
    return clamp(this.run.places.reduce((most, place) => Math.max(most, place.name.length), 0) + 3, 10, 34);
  }

  own(place) {
    const row = (i) => this.run.rowOf[i];
    return place.columns.map((column) => {
      const longest = column.shown ? 30 : column.numbers ? 26 :
        column.texts ? column.texts.reduce((most, text) => Math.max(most, text.length), 0) : 13;
      return {name: column.name, title: column.name, right: !column.isText(), down: !column.isText(),
        width: clamp(Math.max(longest, column.name.length) + 4, 8, 44),
        text: (i) => column.text(row(i)), key: (i) => column.key(row(i))};
    });
  }

  together() {
    const short = (name) => name.replace(/^.*->/, "");
    const text = (i) => this.run.values(i).map(([name, value]) => `${short(name)}=${value}`).join("  ");
    return this.run.places.some((place) => place.columns.length) ?
      [{name: "values", title: "values", width: 110, text, key: text}] : [];
  }

  /* Show the details of a frame. Its values are buttons that add a term to the filter. */
  show(i) {
    if (i === null) {
      this.detail.replaceChildren(empty("Choose a frame, here or in the timeline, to see all that it has."));
      return;
    }
    const {run} = this;
    const terms = [["place", run.places[run.place[i]].name]];
    if (run.task && run.task[i] !== NONE)
      terms.push(["pid", run.pid(i) === null ? "" : String(run.pid(i))], ["comm", run.comm(i) || ""]);
    if (run.cpu && run.cpu[i] !== NONE)
      terms.push(["cpu", String(run.cpu[i])]);
    const said = terms.filter(([, value]) => value !== "");
    const facts = said.map(([name, value]) => this.fact(name, value, termText(name, value)));
    const plain = run.hasTime(i) ? [["time", `${seconds(run.time[i])} s`], ["$clock", `${run.clock(i)} s`]] : [];
    if (run.hasLatency(i))
      plain.push(["latency", `${duration(run.latency[i])} (${count(run.latency[i])} ns)`]);
    const stack = run.stackNames(i);
    this.detail.replaceChildren(el("h3", {}, `Frame ${count(run.index[i])}`),
      el("dl", {class: "facts"}, facts, plain.map(([name, value]) => this.fact(name, value)),
        run.values(i).map(([name, value]) => this.fact(name, value === "" ? "not in this frame" : value,
          value === "" ? null : this.valueTerm(i, name, value)))),
      ...(stack.length ? [el("h4", {}, "Stack, the innermost first"),
        el("ol", {class: "stack"}, stack.map((name) => el("li", {}, name)))] : []));
  }

  /* Return the filter's term for a value. It has the plain number, not the text that is shown. */
  valueTerm(i, name, value) {
    const column = this.run.places[this.run.place[i]].columns.find((each) => each.name === name);
    return termText(name, column.isText() ? value.replace(/^"(.*)"$/s, "$1") : String(column.value(this.run.rowOf[i])));
  }

  fact(name, value, term) {
    const button = term && el("button", {type: "button", class: "value", title: `Filter: ${term}`,
      onclick: () => this.add(term)}, value);
    return [el("dt", {}, name), el("dd", {}, button || value)];
  }

  /* Show the frame that was selected in the timeline. */
  choose(i, focus) {
    this.show(i);
    if (this.grid.find(i) && focus) {
      this.grid.body.scrollIntoView({block: "nearest"});
      this.grid.body.focus();
    }
  }
}
