// SPDX-License-Identifier: GPL-2.0-only
// Light and dark, by the system's setting or by the page's switch, and the colours as text, for canvases.

"use strict";

const SERIES = 8;

const Theme = {
  listeners: [],

  /* Return the stored setting; store VALUE first if given. A page from a file may have no storage. */
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

  /* Set the theme. "auto" follows the system. */
  set(value) {
    this.now = value;
    const dark = value === "auto" ? this.system.matches : value === "dark";
    document.documentElement.setAttribute("data-theme", dark ? "dark" : "light");
    this.listeners.forEach((listener) => listener());
  },

  /* Set up the page's switch, once the page has it. */
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

  /* Return the present values of the custom properties in style.css. */
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
