# SPDX-License-Identifier: GPL-2.0-only
# Tests the page of gtp report in a browser, with 100,000 made-up frames. The tests compute the expected numbers themselves.
import csv
import fractions
import json
import math
import os
import random
import re
import subprocess
import sys

import browser
import sample
import tap
from tap import check, equal, test

FRAMES, SEED = 100000, 3
READY = "document.documentElement.hasAttribute('data-ready')"
# The rows that the page draws, from top to bottom.
ROWS = ("Array.from(document.querySelectorAll('.space .row')).filter(row => !row.hidden)"
        ".sort((a, b) => a.dataset.at - b.dataset.at)")
# For each element with text of its own, the contrast of the text with its background.
CONTRAST = """(() => {
    const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
    const light = (c) => c.slice(0, 3).map((x) => x / 255)
        .map((x) => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)
        .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
    const ground = (node) => {
        for (; node; node = node.parentElement) {
            const colour = rgb(getComputedStyle(node).backgroundColor);
            if (colour.length < 4 || colour[3] === 1) return colour;
        }
        return [255, 255, 255];
    };
    const found = [];
    for (const node of document.querySelectorAll("body *")) {
        const own = Array.from(node.childNodes).some((child) => child.nodeType === 3 && child.textContent.trim());
        if (!own || node.closest("svg, script, style, noscript") || !node.getClientRects().length) continue;
        const a = light(rgb(getComputedStyle(node).color)), b = light(ground(node));
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        found.push([ratio, node.tagName + "." + node.className + ": " + node.textContent.slice(0, 30)]);
    }
    return found.sort((x, y) => x[0] - y[0]);
})()"""


def write(name, data):
    path = "build/page/%s.html" % name
    with open(path, "w", encoding="utf-8") as file:
        file.write(sample.page.page(data))
    return path


def opened(title, places, events, **more):
    """Return the page of a run with these frames, open in the browser. MORE replaces parts of the page's data."""
    data = sample.pack.frames(places, events, None)
    data.update({"title": title, "made": "now", "source": "x.tf", "hits": 0, "missing": None, "flames": [], "missed": [], "facts": [],
                 "aggregations": [], **more})
    page = chromium.open(write(title, data))
    page.until(READY)
    return page


class Big:
    """The page with many frames, which is made and opened once, and its events."""
    page = events = path = data = None


def big():
    if Big.page is None:
        Big.events = sample.events(FRAMES, random.Random(SEED))
        Big.data = sample.sample(FRAMES, SEED)
        Big.path = write("report", Big.data)
        Big.page = chromium.open(Big.path, width=1440, height=1000)
        Big.page.until(READY)
    Big.page.front()
    Big.page.click("#frames .bar button")
    return Big.page


def filtered(page, text):
    """Type a filter into the page. Return the number of frames that the page then reports."""
    page.click("#frames .bar button")
    page.click("#filter")
    page.type(text)
    page.until("document.querySelector('.grid').getAttribute('aria-rowcount') !== null && "
               "document.getElementById('filter').value === %s" % json.dumps(text))
    return settled(page)


def settled(page):
    """Wait until the page has applied the filter that was typed. Return the number of frames that it leaves."""
    page.run("new Promise(done => setTimeout(done, 400))")
    return int(re.match(r"([\d,]+)", page.text("#frames-said")).group(1).replace(",", ""))


def cells(page, row=0):
    """Return the texts of the cells in a visible row of the table."""
    return page.run("Array.from(%s[%d].children, cell => cell.textContent)" % (ROWS, row))


def column(page, name):
    """Return the texts of a column, for the drawn rows of the table from top to bottom."""
    at = page.all(".row.head button", "one.dataset.column").index(name)
    return page.run("%s.map(row => row.children[%d].textContent)" % (ROWS, at))


def choose_place(page, i):
    page.run("(() => { const one = document.querySelector('#place'); one.value = '%d'; "
             "one.dispatchEvent(new Event('change')); })()" % i)


def counted(number):
    return "{:,}".format(number)


def duration(ns):
    """Return a duration from a microsecond to less than a second as the page shows it."""
    value, unit = (ns / 1e6, "ms") if ns >= 10**6 else (ns / 1e3, "µs")
    return "%.*f\u202f%s" % (0 if value >= 99.95 else 1 if value >= 9.995 else 2, value, unit)


def reads():
    return [event for event in Big.events if event.place.name == "vfs_read"]


@test("nothing is loaded, no error: the file is the whole page")
def whole():
    page = big()
    equal(page.problems, [])
    equal([address.rpartition("/")[2] for address in page.requests], ["report.html"])


@test("the figures are those of the data: frames, CPUs, tasks, time, what is missing")
def figures():
    page = big()
    found = dict(page.all(".figure", "[one.querySelector('dt').textContent, one.querySelector('strong').textContent]"))
    span = Big.events[-1].time_ns - Big.events[0].time_ns
    equal(found["Frames"], counted(FRAMES))
    equal(found["CPUs"], str(len({event.cpu for event in Big.events})))
    equal(found["Tasks"], str(len({event.pid for event in Big.events})))
    equal(found["From first to last"], "%.2f\u202fs" % (span / 1e9))
    equal(found["Missing"], "213")
    check("201 hits came inside of other hits" in page.text(".missed"), page.text(".missed"))


@test("the filter leaves as many of 100,000 frames as a count of the data")
def filters():
    page = big()
    wanted = {
        "latency > 1ms": lambda e: (e.latency_ns or 0) > 10**6,
        "latency < 2us": lambda e: e.latency_ns is not None and e.latency_ns < 2000,
        "latency != 5": lambda e: e.latency_ns is not None,
        "comm = dd": lambda e: e.comm == "dd",
        "!sshd place ~ switch": lambda e: "switch" in e.place.name and "sshd" not in [e.comm, *e.values],
        "count >= 64K": lambda e: e.place.name == "vfs_read" and e.values[0] >= 65536,
        "$ret < 0 cpu = 2": lambda e: e.place.name == "vfs_read" and e.values[2] < 0 and e.cpu == 2,
        'file->f_path.dentry->d_name.name = "access.log"': lambda e: e.values[1:2] == ["access.log"],
        "load_elf_binary": lambda e: e.stack == 3,
        "time < 1ms": lambda e: e.time_ns - Big.events[0].time_ns < 10**6,
    }
    for text, holds in wanted.items():
        equal(filtered(page, text), sum(map(bool, map(holds, Big.events))), text)
    check(filtered(page, "nothing-has-this") == 0, "a frame is left")


@test("a filter without meaning gets a message, and the frames stay")
def refused():
    page = big()
    page.click("#filter")
    page.type("nosuch > 3")
    page.until("document.getElementById('filter').getAttribute('aria-invalid') === 'true'")
    check("no column is called nosuch" in page.text("#frames-said"), page.text("#frames-said"))
    page.click("#frames .bar button")
    equal(page.text("#frames-said"), counted(FRAMES) + " frames")


@test("sorting: clicks on a title reverse the rows, then restore their order; missing values come last")
def sorting():
    page = big()
    names = sorted((event.latency_ns for event in reads()), reverse=True)
    page.click("[data-column=latency]")
    first = [int(text) for text in column(page, "frame")[:5]]
    equal([Big.events[index].latency_ns for index in first], names[:5])
    equal(page.all("[data-column=latency]", "one.parentNode.getAttribute('aria-sort')"), ["descending"])
    page.click("[data-column=latency]")
    first = [int(text) for text in column(page, "frame")[:5]]
    equal([Big.events[index].latency_ns for index in first], names[:-6:-1])
    page.key("Enter")  # the focus is now on the column's title
    equal(column(page, "frame")[:3], ["0", "1", "2"])


@test("keys in the table: to the end of 100,000 rows and back; few rows are in the document; Enter shows all of a frame")
def keys():
    page = big()
    page.run("document.querySelector('.grid').focus()")
    page.key("End")
    equal(column(page, "frame")[-1], str(FRAMES - 1))
    check(page.run("document.querySelectorAll('.space .row').length") < 100, "all rows are in the document")
    page.key("Home")
    page.key("ArrowDown")
    page.key("Enter")
    facts = page.text(".detail")
    event = Big.events[1]
    check("Frame 1" in facts and str(event.pid) in facts and event.comm in facts, facts)
    equal(page.run("document.querySelector('.grid [aria-selected=true]').getAttribute('aria-rowindex')"), "3")
    current = page.run("document.querySelector('.grid').getAttribute('aria-activedescendant')")
    equal(page.all("#" + current, "one.dataset.at"), ["1"])


@test("a value of a frame is a button that filters by it; the place has columns of its own")
def values():
    page = big()
    choose_place(page, 0)
    equal(settled(page), len(reads()))
    titles = page.all(".row.head button", "one.dataset.column")
    equal(titles[-3:], ["count", "file->f_path.dentry->d_name.name", "$ret"])
    first = reads()[0]
    equal(cells(page)[-3:], [counted(first.values[0]), first.values[1], counted(first.values[2])])
    page.click(".space .row")
    page.click(".detail button.value[title^='Filter: comm']")
    equal(settled(page), sum(event.comm == first.comm for event in reads()))


@test("the timeline by keys: zoom, move, all; the table then shows the visible frames")
def timeline():
    page = big()
    page.run("document.querySelector('.tracks').focus()")

    def in_sight():
        page.frames()
        return int(re.search(r": ([\d,]+) frames? of", page.text("#timeline-said")).group(1).replace(",", ""))
    equal(in_sight(), FRAMES)
    for _ in range(6):
        page.key("+")
    some = in_sight()
    check(0 < some < FRAMES / 10, "%d frames after zooming" % some)
    page.click("#viewed")
    times = [float(text.replace("\u202f", "")) for text in column(page, "time")]
    begin = float(re.search(r"from ([\d.]+)", page.text("#timeline-said")).group(1))
    check(times[0] >= begin - 0.01, "%s is in front of %s" % (times[0], begin))
    # The table may have a few more frames, because calls may end after the selected time.
    check(some <= settled(page) <= some + 50, "the table has other frames than the timeline")
    page.run("document.querySelector('.tracks').focus()")
    page.key("ArrowRight")
    check(in_sight() != some or page.text("#timeline-said"), "nothing has moved")
    page.key("0")
    equal(in_sight(), FRAMES)
    chosen = []
    for _ in range(2):
        page.key("n")
        page.frames()
        chosen.append(re.search("Selected: frame ([0-9,]+),", page.text("#timeline-said")).group(1).replace(",", ""))
    equal(int(chosen[1]), int(chosen[0]) + 1)
    equal(page.text(".detail h3").replace(",", ""), "Frame " + chosen[1])
    equal(page.problems, [])


@test("the timeline by mouse: a click selects the call under it, the wheel zooms, tracks by task and by place")
def mouse():
    page = big()
    draws = page.run("""(() => { const c = document.querySelector('.tracks canvas'), d = c.getContext('2d');
        const data = d.getImageData(200, 30, c.width - 200, c.height - 30).data;
        for (let i = 3, n = 0; i < data.length; i += 4) if (data[i]) return true; return false; })()""")
    check(draws, "the canvas is empty")
    for name, label in (("task", "Task"), ("place", "Place"), ("cpu", "CPU")):
        page.click("#grouping label:has([value=%s])" % name)
        check(page.run("document.querySelector('#grouping [value=%s]').checked" % name), label)
    x, y = page.place(".tracks")
    page.ask("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-3000, modifiers=2)
    page.frames()
    said = page.text("#timeline-said")
    check("in sight" in said and (counted(FRAMES) + " frames of") not in said, said)
    page.click("#timeline .buttons button:last-child")
    equal(page.problems, [])


@test("counts by task are those of the data; a click on a task filters by it")
def tops():
    page = big()
    rows = page.run("Array.from(document.querySelectorAll('#tops .card:first-child tbody tr'), "
                    "row => [row.children[0].textContent, row.children[1].textContent])")
    counts = {}
    for event in Big.events:
        counts[event.comm] = counts.get(event.comm, 0) + 1
    equal(sorted((name, int(n.replace(",", ""))) for name, n in rows), sorted(counts.items()))
    page.click("#tops .card:first-child tbody tr:first-child button")
    equal(settled(page), max(counts.values()))


@test("histograms: the buckets of an aggregation, and those of the frames' latencies, which add up")
def histograms():
    page = big()
    cards = page.all("#histograms .card", "[one.querySelector('h3').textContent, Array.from(one.querySelectorAll("
                     "'tbody tr'), row => [row.children[0].textContent, row.children[2].textContent])]")
    found = {title: [(label, int(n.replace(",", "") or 0)) for label, n in rows] for title, rows in cards}
    own = found["Latency of vfs_read"]
    equal(sum(n for _, n in own), len(reads()))
    equal(dict(own)["1.02\u202fµs – 2.05\u202fµs"], sum(1024 <= event.latency_ns < 2048 for event in reads()))
    exact = sorted(event.latency_ns for event in reads())
    shown = dict(page.all("#histograms .card:first-child .numbers div", "[one.children[0].textContent, one.children[1].textContent]"))
    for share in (50, 90, 99):
        equal(shown["p%d" % share], duration(exact[math.ceil(share * len(exact) / 100) - 1]), "p%d" % share)
    one = next(each for each in Big.data["aggregations"] if each["kind"] == "lhist")
    equal([n for _, n in found[one["title"]]], [n for _, n in one["entries"][0]["buckets"]])
    equal(found[one["title"]][1][0], "100 – 104")


@test("strings that are HTML are text, everywhere; the page's policy runs no injected script")
def hostile():
    page = big()
    equal(page.run("[document.querySelectorAll('img').length, document.querySelectorAll('script').length]"), [0, 5])
    check(sample.HOSTILE in page.text("#flames .name"), page.text("#flames .name"))
    equal(filtered(page, "d_name.name"), 0)
    equal(filtered(page, 'file->f_path.dentry->d_name.name = "%s"' % sample.HOSTILE),
          sum(event.values[1] == sample.HOSTILE for event in reads()))
    with open(Big.path, encoding="utf-8") as file:
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', file.read(), re.S).group(1)
    check(sample.HOSTILE in json.dumps(json.loads(data)), "the string is not whole")
    check("<" not in data, "the data has a tag")
    other = chromium.open(Big.path)
    other.until(READY)
    other.run("document.body.insertAdjacentHTML('beforeend', '<img src=\"data:,\" onerror=\"window.ran = 1\">')")
    other.run("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = 2'}))")
    other.run("new Promise(done => setTimeout(done, 200))")
    equal(other.run("window.ran === undefined"), True)
    check(any("Content Security Policy" in text for text in other.problems), other.problems)


@test("light and dark: as in the system, or as the switch says; every text has a contrast of 4.5 or more")
def themes():
    for dark in (False, True):
        page = chromium.open(write("small", sample.sample(2000, SEED)), width=1440, height=1000, dark=dark)
        page.until(READY)
        for choice in ("auto", "light", "dark"):
            page.click("#theme label:has([value=%s])" % choice)
            now = page.run("document.documentElement.dataset.theme")
            equal(now, choice if choice != "auto" else "dark" if dark else "light")
            page.click("#frames .bar button")
            page.click(".space .row")
            worst = page.run(CONTRAST)
            check(len(worst) > 300 and worst[0][0] >= 4.5, "%s: %s" % (now, worst[:5]))
        page.screenshot("build/page/report-dark.png")
        page.click("#theme label:has([value=auto])")
        equal(page.problems, [])


@test("colours of the timeline: text on them has a contrast of 4.5 or more")
def series():
    page = chromium.open("build/page/small.html")
    page.until(READY)

    def light(colour):
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        parts = [x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    for choice in ("light", "dark"):
        page.click("#theme label:has([value=%s])" % choice)
        got = page.run("['on-series', 'panel', ...Array.from({length: 8}, (_, i) => 'series-' + i)].map(name => "
                       "getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim())")
        text, panel, *colours = map(light, got)
        for name, colour in zip(got[2:], colours):
            for other, least in ((text, 4.5), (panel, 3)):
                ratio = (max(colour, other) + 0.05) / (min(colour, other) + 0.05)
                check(ratio >= least, "%s in %s: %.2f" % (name, choice, ratio))


@test("each control has a name and a role for screen readers; Tab reaches it")
def accessible():
    page = big()
    page.ask("Accessibility.enable")
    nodes = page.ask("Accessibility.getFullAXTree")["nodes"]
    kinds = {"button", "link", "textbox", "searchbox", "combobox", "radio", "checkbox", "grid", "application",
             "columnheader"}
    named = {}
    for node in nodes:
        role = node.get("role", {}).get("value")
        if role in kinds and not node.get("ignored"):
            check(node.get("name", {}).get("value"), "a %s has no name" % role)
            named.setdefault(role, []).append(node["name"]["value"])
    check({"button", "link", "searchbox", "radio", "grid", "application"} <= set(named), sorted(named))
    check("Frames" in named["grid"], named["grid"])
    page.run("document.activeElement.blur(), scrollTo(0, 0)")
    seen = []
    for _ in range(120):
        page.key("Tab")
        seen.append(page.run("document.activeElement.id || document.activeElement.getAttribute('class')"))
    check({"tracks", "filter", "grid", "viewed"} <= set(seen), seen)


@test("on a phone nothing is wider than the screen; a finger opens a frame and zooms")
def phone():
    page = chromium.open("build/page/small.html", width=390, height=844, touch=True)
    page.until(READY)
    equal(page.run("document.documentElement.scrollWidth"), 390)
    page.tap(".space .row:nth-child(3) > :nth-child(2)")
    page.until("document.querySelector('.detail h3') !== null")
    before = page.text("#timeline-said")
    page.tap("#timeline .buttons button")
    check(page.text("#timeline-said") != before, before)
    small = page.all("button:not(.value):not(th button):not(.row.head button):not(.gtp-flame button), select",
                     "one.getClientRects().length ? one.getBoundingClientRect().height : 99")
    check(min(small) >= 40, small)
    page.run("scrollTo(0, 0)")
    page.screenshot("build/page/report-phone.png")
    equal(page.problems, [])


@test("a run without frames, times, tasks or aggregations says so")
def nothing():
    page = opened("nothing", [], [], facts=[["ended", "stopped by tstop"]])
    texts = page.all(".empty")
    for words in ("No tracepoint left a frame", "The run has no frame", "No histogram was kept",
                  "There is nothing to count", "No aggregation has the kernel's stacks"):
        check(any(words in text for text in texts), (words, texts))
    place = sample.Place(1, "bare", [sample.Column("x")])
    events = [sample.Event(i, place, None, values=[i * 2**60]) for i in range(3)]
    page = opened("bare", [place], events, facts=[["ended", "stopped by tstop"]])
    check("The frames have no time" in page.text("#timeline"), page.text("#timeline"))
    equal(column(page, "x"), ["0", "1,152,921,504,606,846,976", "2,305,843,009,213,693,952"])
    equal(page.problems, [])


NAMES = ('a "b" c', '""', 'x"', '!"', "a \\", "plain")
POINTER = 0xffff888012345678


def press(page, what):
    """Click the element that the script WHAT finds, and return the number of frames that the filter then leaves."""
    page.run("%s.click()" % what)
    left = settled(page)
    page.click("#frames .bar button")
    return left


@test("a click on a name with quotes and blanks filters by exactly that name; pointers are compared with all their bits")
def quoted():
    place = sample.Place(1, "at \"here\" if x", [sample.Column("s"), sample.Column("p")])
    texts = ["%#x" % (POINTER + i) + " <f+1>" * (i == 5) for i in range(len(NAMES))]
    events = [sample.Event(i, place, i, pid=i, comm=name, values=[name, texts[i]]) for i, name in enumerate(NAMES)]
    page = opened("quoted", [place], events)
    equal(settled(page), len(NAMES))
    for i, name in enumerate(NAMES):
        for column_, left in (("comm", 1), ("s", 1), ("p", 1), ("place", len(NAMES))):
            page.run("%s[%d].click()" % (ROWS, i))
            equal(press(page, "document.querySelector(\".detail button.value[title^='Filter: %s =']\")" % column_), left, (name, column_))
        equal(press(page, "Array.from(document.querySelectorAll('#tops .card tbody button')).find(one => one.textContent === %s)" %
                    json.dumps(name)), 1, name)
    for text, holds in {"p > %#x" % (POINTER + 2): lambda i: i > 2, "p <= %d" % (POINTER + 5): lambda i: i <= 5,
                        "p < %#x" % POINTER: lambda i: False}.items():
        equal(filtered(page, text), sum(map(holds, range(len(NAMES)))), text)
    equal(filtered(page, "!pid = 12"), len(NAMES))
    page.run("%s[1].click()" % ROWS)
    equal(press(page, "document.querySelector(\".detail button.value[title='Filter: pid = 1']\")"), 1)
    equal(page.problems, [])


@test("a collected value that is called like a column of every frame, or like a property of objects, is filtered by itself")
def namesakes():
    titles = ("time", "cpu", "pid", "constructor", "__proto__")
    place = sample.Place(1, "kill", [sample.Column(title) for title in titles])
    events = [sample.Event(i, place, 10 * i, pid=i, comm="c%d" % i, cpu=i, latency_ns=i, values=[100 + i] * len(titles)) for i in range(3)]
    page = opened("namesakes", [place], events)
    for title in titles:
        name = title if title in titles[-2:] else "(%s)" % title
        page.click("#frames .bar button")
        settled(page)
        page.run("%s[1].click()" % ROWS)
        equal(press(page, "document.querySelector(\".detail button.value[title='Filter: %s = 101']\")" % name), 1, title)
        equal(filtered(page, "%s > 100" % name), 2, title)
    equal(filtered(page, "cpu = 1 (cpu) = 101"), 1)
    equal(page.problems, [])


NS = 1700000000123456789  # a time of day in ns: at this size, a browser's numbers (doubles) are 256 apart


def large_page():
    """Make a page of frames and aggregations whose numbers have more than 53 bits, and return it."""
    exact = sample.pack.exact
    place = sample.Place(1, "large", [sample.Column("x")])
    events = [sample.Event(i, place, None, values=[x]) for i, x in enumerate((NS, NS + 1, 5, NS - 1, None, -2**62, 2**64 - 1, NS))]
    stats = [{"keys": [{"text": "k%d" % i, "order": exact(NS + i), "number": True}], "count": 2, "buckets": [],
              "summary": [exact(2 * NS + 3 * i), exact(NS + i), exact(NS + 2 * i)]} for i in (1, 0, 2)]
    hist = {"keys": [], "count": 3, "buckets": [[62, 3]], "summary": [exact(3 * NS), exact(NS), exact(NS)]}
    far = [NS - 10, NS + 10, 10]
    linear = {"keys": [], "count": 2, "buckets": [[1, 1], [2, 1]], "summary": [exact(2 * NS), exact(NS - 3), exact(NS + 3)]}
    return opened("large", [place], events, aggregations=[
        sample.aggregation("stats_x", "stats of x", "stats", ["key"], stats),
        sample.aggregation("hist_x", "hist of x", "hist", [], [hist]),
        sample.aggregation("lhist_x", "lhist of x", "lhist", [], [linear], bounds=list(map(exact, far)))])


@test("numbers of up to 64 bits are exact: shown in decimal, sorted, filtered, by keys, averages and percentiles")
def large():
    page = large_page()
    values = [NS, NS + 1, 5, NS - 1, None, -2**62, 2**64 - 1, NS]
    texts = ["" if x is None else counted(x) for x in values]
    equal(column(page, "x"), texts)
    for text, holds in {"x = %d" % NS: lambda x: x == NS, "x > %d" % NS: lambda x: x > NS, "x >= %#x" % NS: lambda x: x >= NS,
                        "x != %d" % (NS + 1): lambda x: x != NS + 1, "x < 4K": lambda x: x < 4096, "x < 5.5": lambda x: x < 5.5,
                        "x = 5": lambda x: x == 5, "x = -%d" % 2**62: lambda x: x == -2**62, "x ~ 345678": lambda x: "345678" in str(x),
                        "x = %d" % (2**64 - 1): lambda x: x == 2**64 - 1, "%d" % NS: lambda x: x == NS}.items():
        equal(filtered(page, text), sum(x is not None and bool(holds(x)) for x in values), text)
    page.click("#frames .bar button")
    page.click("[data-column=x]")
    equal([text for text in column(page, "x") if text], [counted(x) for x in sorted((x for x in values if x is not None), reverse=True)])
    page.click(".space .row")
    page.click(".detail button.value[title^='Filter: x']")
    equal(settled(page), 1)
    rows = page.all("#tops .card:nth-child(2) tbody tr", "Array.from(one.children, cell => cell.textContent)")
    equal(sorted(rows), [["k%d" % i, "2", counted(round(fractions.Fraction(2 * NS + 3 * i, 2))), counted(NS + i), counted(NS + 2 * i)]
                         for i in (0, 1, 2)])
    page.click("#tops .card:nth-child(2) th button")
    equal(page.all("#tops .card:nth-child(2) tbody tr", "one.children[0].textContent"), ["k0", "k1", "k2"])
    shown = page.all("#histograms .card", "Array.from(one.querySelectorAll('.numbers dd'), dd => dd.textContent)")
    equal(shown[0], ["3", *[counted(NS)] * 6])
    equal(shown[1], ["2", counted(NS), counted(NS - 3), *map(counted, (NS - 1, NS + 2, NS + 3, NS + 3))])
    labels = page.all("#histograms .card:nth-child(2) tbody tr", "one.children[0].textContent")
    equal(labels, ["%s – %s" % (counted(NS - 10), counted(NS)), "%s – %s" % (counted(NS), counted(NS + 10))])
    equal(page.problems, [])


REAL = """out=$PWD/build/page/run; mkdir -p "$out"; . tests/tfile/programs.sh; build && cd "$out" &&
gdb -nx -batch -iex "set debuginfod enabled off" -iex "set remotetimeout 600" types -x ../../../gdbscripts/gtp.py \
    -x ../../../tests/tfile/frames.py \
    -ex "target remote | ./target types" -ex "run-calls $1" -ex "gtp save real.tf" -ex "target tfile real.tf" \
    -ex "gtp table 1 --csv real.1.csv" -ex "gtp table 2 --csv real.2.csv" -ex "gtp table 3 --csv real.3.csv" \
    -ex "gtp report -o ../real.html"
"""


def rows_of(number):
    with open("build/page/run/real.%d.csv" % number, newline="", encoding="utf-8", errors="backslashreplace") as file:
        return list(csv.DictReader(file))


@test("for a real trace file with hostile task names, the page has the rows that gtp table has")
def real():
    seed = os.environ.get("GTP_SEED", str(random.randrange(10**6)))
    tap.note("seed", seed)
    done = subprocess.run(["bash", "-c", REAL, "real", seed], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    check(done.returncode == 0 and "real.html: " in done.stdout, done.stdout)
    page = chromium.open("build/page/real.html", width=1440, height=1000)
    page.until(READY)
    tables = [rows_of(number) for number in (1, 2, 3)]
    equal(page.text("#frames-said"), "%d frames" % sum(map(len, tables)))
    for i, rows in enumerate(tables):
        choose_place(page, i)
        equal(settled(page), len(rows))
        have = column(page, "frame")
        equal(have, [row["frame"] for row in rows[:len(have)]])
        equal([text.replace(",", "") for text in column(page, "n")], [row["n"] for row in rows[:len(have)]])
    equal(page.problems, [])
    page.screenshot("build/page/real.png", whole=True)


with browser.Browser() as chromium:
    good = tap.run()
sys.exit(not good)
