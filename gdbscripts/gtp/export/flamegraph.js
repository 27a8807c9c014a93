// SPDX-License-Identifier: GPL-2.0-only
// The script of a flame graph: zoom, search, keyboard. flamegraph.py puts it after the picture and its data.
//
// A view is a range of weights. The functions in this range are drawn, and their callers over the whole width.
// Siblings are sorted, the widest first. Siblings that are too narrow to be seen are drawn as blocks of several
// siblings: a click on a block makes the block's range the view.
(function (svg) {
"use strict";

const SVG = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
const SIDE = 8;      // pixels left and right of the picture
const NARROW = 1.5;  // boxes with fewer pixels are drawn as blocks
const BLOCK = 40;    // the approximate maximum width of a block, in pixels
const ROW = matchMedia("(pointer: coarse)").matches ? 28 : 20;
const UNITS = {ns: [1000, "ns", "µs", "ms", "s"], bytes: [1024, "bytes", "KiB", "MiB", "GiB", "TiB"]};

const data = JSON.parse(svg.querySelector(".data").textContent);
const alone = document.documentElement === svg;
const count = data.nodes.length / 3;
const depth = new Int32Array(count), name = new Int32Array(count), parent = new Int32Array(count);
const weight = new Float64Array(count), start = new Float64Array(count);
const next = new Int32Array(count);  // for each node, the first later node that is not below it
const total = data.nodes[2];

let view = {from: 0, to: total, node: 0, depth: 0};
let drawn = [];            // the boxes of the picture, each caller before its callees
let matching = null;       // for each node: 1 if it matches, 2 if only a callee does; null without a search
let char = 7.23;           // the width of a character, in pixels
let head, frames, tip, input, matched, out, now;

function readNodes() {
	const open = [], filled = new Float64Array(count);
	for (let i = 0; i < count; i++) {
		[depth[i], name[i], weight[i]] = data.nodes.slice(3 * i, 3 * i + 3);
		while (open.length > depth[i])
			next[open.pop()] = i;
		parent[i] = open.length ? open[open.length - 1] : -1;
		if (parent[i] >= 0) {
			start[i] = filled[parent[i]];
			filled[parent[i]] += weight[i];
		}
		filled[i] = start[i];
		open.push(i);
	}
	while (open.length)
		next[open.pop()] = count;
}

// Words ----------------------------------------------------------------------------------------

function amount(n) {
	const [base, ...units] = UNITS[data.unit] || [0, data.unit];
	let i = 0, value = n;
	while (base && value >= base && i + 1 < units.length) {
		value /= base;
		i++;
	}
	const places = i ? 3 - Math.min(3, String(Math.floor(value)).length) : 0;
	const digits = value.toLocaleString("en-US", {maximumFractionDigits: places});
	const unit = n === 1 && ["hits", "bytes"].includes(units[i]) ? units[i].slice(0, -1) : units[i];
	return (digits + " " + unit).trim();
}

function percent(n, of) {
	const value = of ? 100 * n / of : 0;
	return value.toFixed(value === 0 || value >= 10 ? 1 : 2) + " %";
}

function nameOf(box) {
	const text = data.names[name[box.node]];
	return box.many > 1 ? `${box.many} narrow ones, ${text} the widest` : text;
}

// Return the description of a box, as two lines.
function about(box) {
	let text = `${amount(box.weight)}, ${percent(box.weight, total)} of all`;
	if (view.node && depth[box.node] > depth[view.node])
		text += `, ${percent(box.weight, weight[view.node])} of ${data.names[name[view.node]]}`;
	return [nameOf(box), text];
}

// Layout ---------------------------------------------------------------------------------------

// Return the view's boxes: {node, many, from, to, weight}. A box has MANY siblings, starting with NODE.
function layout(scale) {
	const found = [];
	for (let i = 0; i < count;) {
		const end = start[i] + weight[i];
		if (i && (end <= view.from || start[i] >= view.to)) {
			i = next[i];
		} else if (weight[i] * scale >= NARROW || !i) {
			found.push({node: i, many: 1, from: start[i], to: end, weight: weight[i]});
			i++;
		} else {
			i = blocks(found, i, scale);
		}
	}
	return found;
}

// Add blocks for the narrow siblings, starting with node I. Return the first node after them.
function blocks(found, i, scale) {
	const stop = next[parent[i]];
	let block = null;
	for (; i < stop && start[i] < view.to; i = next[i]) {
		if (!block || (block.weight + weight[i]) * scale > BLOCK) {
			block = {node: i, many: 0, from: start[i], to: start[i], weight: 0};
			found.push(block);
		}
		block.many++;
		block.weight += weight[i];
		block.to += weight[i];
	}
	return stop;
}

function isFound(box) {
	if (!matching)
		return false;
	if (box.many === 1)
		return matching[box.node] === 1 || matching[box.node] === 2 && box.hides;
	for (let i = box.node, n = 0; n < box.many; i = next[i], n++)
		if (matching[i])
			return true;
	return false;
}

// Drawing --------------------------------------------------------------------------------------

function element(space, kind, where, attributes, text) {
	const made = document.createElementNS(space, kind);
	for (const [key, value] of Object.entries(attributes))
		made.setAttribute(key, value);
	if (text !== undefined)
		made.textContent = text;
	if (where)
		where.appendChild(made);
	return made;
}

function shortened(text, pixels) {
	const room = Math.floor((pixels - 8) / char);
	if (text.length <= room)
		return text;
	return room < 3 ? "" : text.slice(0, room - 1) + "…";
}

function classOf(box) {
	return ["f", box.many > 1 ? "k10" : "k" + data.classes[name[box.node]], box.width > 4 ? "wide" : "",
		box.depth < view.depth ? "up" : "", isFound(box) ? "found" : ""].filter(Boolean).join(" ");
}

function frame(box, index) {
	const words = about(box);
	const made = element(SVG, "g", null, {class: classOf(box), tabindex: -1, role: "button", "data-box": index,
		"data-node": box.node, "data-weight": box.weight, "aria-label": words.join(": ")});
	element(SVG, "rect", made, {x: box.x, y: box.y, width: box.width, height: ROW, rx: box.width > 8 ? 2 : 0});
	const text = shortened(box.many > 1 ? "+" + box.many : data.names[name[box.node]], box.width);
	if (text)
		element(SVG, "text", made, {x: box.x + 5, y: box.y + ROW / 2 + 4}, text);
	box.frame = made;
	return made;
}

// Return the available width for the picture, in pixels; 0 while the picture is hidden.
function room() {
	return svg.getBoundingClientRect().width;
}

function draw() {
	const width = Math.max(120, room() - 2 * SIDE), scale = width / (view.to - view.from || 1);
	drawn = layout(scale);
	const open = new Set(drawn.map(box => parent[box.node]));
	for (const box of drawn) {
		const left = Math.max(box.from, view.from), right = Math.min(box.to, view.to);
		box.depth = depth[box.node];
		box.x = SIDE + (left - view.from) * scale;
		box.width = (right - left) * scale;
		box.y = box.depth * ROW;
		box.hides = !open.has(box.node);
	}
	const all = document.createDocumentFragment();
	drawn.forEach((box, index) => all.append(frame(box, index)));
	frames.replaceChildren(all);
	drawn[0].frame.setAttribute("tabindex", 0);
	place();
}

// Lay out the text above the picture, and set the height. Both depend on the width.
function place() {
	const width = Math.max(120, room() - 2 * SIDE);
	head.setAttribute("width", width);
	const high = Math.ceil(head.firstChild.getBoundingClientRect().height) || 0;
	head.setAttribute("height", high);
	frames.setAttribute("transform", `translate(0 ${high})`);
	const rows = drawn.reduce((most, box) => Math.max(most, box.depth + 1), 1);
	svg.setAttribute("height", high + rows * ROW + 2 * SIDE);
}

// Show above the picture which function the view is zoomed to.
function tell() {
	const whole = view.node === 0 && view.depth === 0;
	out.disabled = whole;
	now.classList.toggle("hint", whole);
	if (whole)
		now.textContent = "Choose a function to zoom in, one above it to zoom out. Keys: Tab, arrows, Enter, Escape.";
	else
		now.textContent = about(view.box).join(": ");
}

function zoom(box) {
	view = {from: box.from, to: box.to, depth: depth[box.node], box: box};
	view.node = box.many > 1 ? parent[box.node] : box.node;
	hide();
	tell();
	draw();
}

// Zoom to a box, and keep the keyboard's focus on it.
function enter(box) {
	zoom(box);
	focus(drawn.find(one => one.depth === view.depth) || drawn[0], true);
}

function whole() {
	zoom({node: 0, many: 1, from: 0, to: total, weight: total});
}

// The tooltip of a frame -----------------------------------------------------------------------

function lines(text, room) {
	const found = [];
	for (let at = 0; at < text.length; at += room)
		found.push(text.slice(at, at + room));
	return found;
}

// Show the tooltip of a box near (x, y), but inside the picture.
function show(box, x, y) {
	const width = Math.max(120, room()), most = Math.max(10, Math.floor((width - 40) / char));
	const rows = about(box).flatMap(text => lines(text, most));
	const wide = Math.max(...rows.map(row => row.length)) * char + 16, high = rows.length * 17 + 10;
	const left = Math.max(2, Math.min(x, width - wide - 2));
	if (y + high > svg.getAttribute("height"))
		y -= high + ROW + 12;
	tip.replaceChildren();
	element(SVG, "rect", tip, {x: left, y: y, width: wide, height: high, rx: 4});
	rows.forEach((row, i) => element(SVG, "text", tip, {x: left + 8, y: y + 18 + 17 * i}, row));
}

function hide() {
	tip.replaceChildren();
}

function boxOf(target) {
	const made = target.closest && target.closest(".f");
	return made && frames.contains(made) ? drawn[+made.getAttribute("data-box")] : null;
}

function top() {
	return head.getBoundingClientRect().height;
}

function focus(box, stay = false) {
	for (const one of frames.querySelectorAll("[tabindex='0']"))
		one.setAttribute("tabindex", -1);
	box.frame.setAttribute("tabindex", 0);
	box.frame.focus({preventScroll: stay});
}

// Search ---------------------------------------------------------------------------------------

// Return TEXT as a regular expression. If it is not valid as one, match it literally.
function pattern(text) {
	try {
		return new RegExp(text, "i");
	} catch (error) {
		return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
	}
}

// Mark the matches. A match below another match is counted only once.
function search(text) {
	svg.classList.toggle("searching", text !== "");
	matching = null;
	let sum = 0;
	if (text) {
		const wanted = pattern(text), named = data.names.map(one => wanted.test(one)), found = new Uint8Array(count);
		for (let i = 1, behind = 0; i < count; i++) {
			if (!named[name[i]])
				continue;
			found[i] = 1;
			for (let up = parent[i]; up >= 0 && !found[up]; up = parent[up])
				found[up] = 2;
			if (i >= behind) {
				sum += weight[i];
				behind = next[i];
			}
		}
		matching = found;
	}
	matched.textContent = text ? "matched " + percent(sum, total) : "";
	for (const box of drawn)
		box.frame.setAttribute("class", classOf(box));
	place();
}

// Events ---------------------------------------------------------------------------------------

function neighbour(box, key) {
	const row = drawn.filter(one => one.depth === box.depth), at = row.indexOf(box);
	if (key === "ArrowLeft" || key === "ArrowRight")
		return row[at + (key === "ArrowLeft" ? -1 : 1)];
	if (key === "ArrowUp")
		return drawn.find(one => one.node === parent[box.node]);
	if (key === "ArrowDown")
		return drawn.find(one => parent[one.node] === box.node && box.many === 1);
	return key === "Home" ? drawn[0] : undefined;
}

function onFrameKey(event) {
	const box = boxOf(event.target);
	if (!box || event.ctrlKey || event.altKey || event.metaKey)
		return;
	if (event.key === "Enter" || event.key === " ") {
		event.preventDefault();
		enter(box);
	} else if (["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home"].includes(event.key)) {
		event.preventDefault();
		const other = neighbour(box, event.key);
		if (other)
			focus(other);
	}
}

function onKey(event) {
	if (event.key === "/" && event.target !== input && !event.ctrlKey && !event.altKey && !event.metaKey) {
		event.preventDefault();
		input.focus();
	} else if (event.key === "Escape" && (input.value || event.target === input)) {
		input.value = "";
		search("");
		if (event.target === input)
			focus(drawn[0]);
	} else if (event.key === "Escape" && !out.disabled) {
		whole();
		focus(drawn[0]);
	}
}

function listen() {
	frames.addEventListener("click", event => boxOf(event.target) && enter(boxOf(event.target)));
	frames.addEventListener("keydown", onFrameKey);
	frames.addEventListener("pointermove", event => {
		const box = boxOf(event.target), at = svg.getBoundingClientRect();
		if (box && event.pointerType !== "touch")
			show(box, event.clientX - at.left + 12, event.clientY - at.top + 18);
	});
	frames.addEventListener("pointerleave", hide);
	frames.addEventListener("focusin", event => {
		const box = boxOf(event.target);
		if (box && box.frame.matches(":focus-visible"))
			show(box, box.x, top() + box.y + ROW + 3);
	});
	frames.addEventListener("focusout", hide);
	input.addEventListener("input", () => search(input.value));
	out.addEventListener("click", whole);
	// If the picture is a part of a page, do not handle keys that are pressed elsewhere in the page.
	(alone ? window : svg).addEventListener("keydown", onKey);
	let was = room();
	new ResizeObserver(() => {
		if (room() !== was && room()) {
			was = room();
			draw();
		}
	}).observe(svg);
}

// Building -------------------------------------------------------------------------------------

function buildHead() {
	const box = element(HTML, "div", head, {class: "head"});
	element(HTML, "div", box, {class: "name"}, data.title);
	element(HTML, "div", box, {class: "total"}, data.total);
	for (const note of data.notes)
		element(HTML, "div", box, {class: "note"}, note);
	const bar = element(HTML, "div", box, {class: "bar"});
	input = element(HTML, "input", bar, {type: "search", class: "search", "aria-label": "search functions",
		placeholder: "Search functions  ( / )", autocomplete: "off", spellcheck: "false"});
	out = element(HTML, "button", bar, {type: "button", class: "out"}, "Zoom out");
	matched = element(HTML, "output", bar, {class: "matched"});
	now = element(HTML, "div", box, {class: "now hint", "aria-live": "polite"});
	const legend = element(HTML, "div", box, {class: "legend"});
	for (const [title, slot] of data.legend) {
		const one = element(HTML, "span", legend, {});
		element(HTML, "i", one, {style: `background: var(--f${slot})`});
		one.append(title);
	}
}

function build() {
	// Remove the still picture, which is for programs that run no scripts.
	for (const one of svg.querySelectorAll(".still"))
		one.remove();
	svg.removeAttribute("viewBox");
	svg.setAttribute("width", "100%");
	if (alone)
		element(HTML, "meta", svg, {name: "viewport", content: "width=device-width, initial-scale=1"});
	head = element(SVG, "foreignObject", svg, {x: SIDE, y: 0, width: 100, height: 100});
	// With a tabindex of -1, the Tab key does not stop at the group, although the group listens for the focus.
	frames = element(SVG, "g", svg, {class: "frames", role: "group", "aria-label": data.title, tabindex: -1});
	tip = element(SVG, "g", svg, {class: "tip", "aria-hidden": "true"});
	buildHead();
	const probe = element(SVG, "text", frames, {}, "m".repeat(100));
	char = probe.getComputedTextLength() / 100 || char;
	readNodes();
	tell();
	draw();
	listen();
}

build();
})(document.currentScript.closest("svg"));
