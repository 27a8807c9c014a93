// SPDX-License-Identifier: GPL-2.0-only
// Light and dark: as the system has it, or as the switch says; and the colours that canvases need as text.

"use strict";

const SERIES = 8;

const Theme = {
  listeners: [],

  /* A page from a file may have no storage. */
  kept(value) {
    try {
      if (value !== undefined)
        localStorage.setItem("gtp-report-theme", value);
      return localStorage.getItem("gtp-report-theme") || "auto";
    } catch {
      return "auto";
    }
  },

  system: matchMedia("(prefers-color-scheme: dark)"),

  /* "auto" is what the system says. */
  set(value) {
    this.now = value;
    const dark = value === "auto" ? this.system.matches : value === "dark";
    document.documentElement.setAttribute("data-theme", dark ? "dark" : "light");
    this.listeners.forEach((listener) => listener());
  },

  /* The switch, when it is there. */
  start() {
    for (const radio of document.querySelectorAll("#theme input")) {
      radio.checked = radio.value === this.now;
      radio.addEventListener("change", () => {
        this.kept(radio.value);
        this.set(radio.value);
      });
    }
    this.system.addEventListener("change", () => this.set(this.now));
  },

  /* The custom properties of style.css as they are now. */
  colours() {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(name).trim();
    return {
      ground: get("--panel"), text: get("--text"), muted: get("--muted"), line: get("--line"), accent: get("--accent"),
      onSeries: get("--on-series"), series: Array.from({length: SERIES}, (_, i) => get(`--series-${i}`)),
    };
  },
};

Theme.set(Theme.kept());
