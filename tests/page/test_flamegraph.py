# SPDX-License-Identifier: GPL-2.0-only
# Tests the flame graph in a browser: its widths must match the weights in the folded text, and it must work by mouse, keys
# and touch.
import collections
import os
import re
import sys

import browser
import tap
from gtp.export import flamegraph
from tap import check, equal, matches, note, test

FOLDED = """entry;syscall;vfs_read;ext4_read;page_alloc 400
entry;syscall;vfs_read;ext4_read 100
entry;syscall;vfs_read;pipe_read 60
entry;syscall;vfs_write;ext4_write;page_alloc 200
entry;syscall;vfs_write 40
kthread;worker;ext4_write;page_alloc;page_clear 150
kthread;worker 30
[no room for the keys] 20
"""
# A name that a process may have. The picture must show it as text, not interpret it as markup.
HOSTILE = "<b onload=alert(1)>&amp;\"']]></script>\x1b[31m\n\x00é"
GROUPS = {"vfs_read": "fs", "vfs_write": "fs", "ext4_read": "fs", "ext4_write": "fs", "page_alloc": "mm",
          "page_clear": "mm", "kthread": "kernel", "worker": "kernel", "entry": "arch/x86", "syscall": "arch/x86"}


def rows(folded):
    """Yield the stacks of a folded file."""
    for line in folded.splitlines():
        names, _, weight = line.rpartition(" ")
        yield tuple(names.split(";")), int(weight)


def opened(name, some, title="count at page_alloc", unit="hits", notes=(), groups=None, **how):
    path = os.path.join("build/page", name + ".svg")
    with open(path, "w", encoding="utf-8") as file:
        file.write(flamegraph.svg(some, title, unit, notes, groups))
    page = chromium.open(path, **how)
    equal(page.problems, [], "problems of the page")
    return page


def boxes(page):
    """Return the drawn boxes: (label, x, y, width) as the browser has them."""
    return page.all(".frames .f", """(box => [one.getAttribute("aria-label"), box.x, box.y, box.width])
                                     (one.querySelector("rect").getBBox())""")


def widths(page):
    """Return {(row, name): width in pixels} for the drawn boxes."""
    found = collections.Counter()
    for label, _, y, width in boxes(page):
        found[round(y / 20), label.split(": ")[0]] += width
    return found


def wanted(some):
    """Return {(row, name): weight}, from the folded text alone."""
    found = collections.Counter()
    for names, weight in some:
        for i, name in enumerate(("all", *names)):
            found[i, name] += weight
    return found


def select(page, name):
    """Return a selector for the first box of a function."""
    labels = [label.split(": ")[0] for label, *_ in boxes(page)]
    return ".f[data-box='%d'] rect" % labels.index(name)


def quiet(page, loaded):
    equal(page.problems, [], "problems of the page")
    equal([address.rpartition("/")[2] for address in page.requests], [loaded], "what was loaded")


@test("each function is as wide as the folded text says, and inside its caller")
def widths_are_weights():
    page = opened("small", rows(FOLDED), groups=GROUPS)
    expected, found = wanted(rows(FOLDED)), widths(page)
    equal(set(found), set(expected))
    pixels = found[0, "all"] / expected[0, "all"]
    check(pixels > 1, "%f pixels a hit" % pixels)
    for key, weight in expected.items():
        check(abs(found[key] - weight * pixels) < 0.01, "%s: %f, wanted %f" % (key, found[key], weight * pixels))
    for label, x, y, width in boxes(page)[1:]:
        above = [one for one in boxes(page) if one[2] == y - 20]
        over = [left for _, left, _, wide in above if left <= x + 0.01 and x + width <= left + wide + 0.01]
        equal(len(over), 1, "boxes above " + label)
    equal(page.text(".total"), "1,000 hits")
    equal(page.all(".legend span"), ["fs", "arch/x86", "mm", "kernel"])
    page.screenshot("build/page/small.png")
    quiet(page, "small.svg")


@test("a click zooms in, a click on a caller or on Zoom out zooms out, Escape shows all")
def zoom():
    page = opened("small", rows(FOLDED))
    before = boxes(page)
    page.click(select(page, "vfs_read"))
    found = widths(page)
    equal(found[3, "vfs_read"], found[0, "all"])
    equal(round(found[5, "page_alloc"] / found[0, "all"], 4), round(400 / 560, 4))
    check(not {"kthread", "vfs_write"} & {name for _, name in found}, found)
    equal(page.text(".now"), "vfs_read: 560 hits, 56.0 % of all")
    matches("page_alloc: 400 hits, 40.0 % of all, 71.4 % of vfs_read", "\n".join(label for label, *_ in boxes(page)))
    page.click(select(page, "syscall"))
    equal(page.text(".now"), "syscall: 800 hits, 80.0 % of all")
    check((3, "vfs_write") in widths(page), widths(page))
    page.click(".out")
    equal(boxes(page), before)
    check(page.run("document.querySelector('.out').disabled"), "Zoom out of all")
    page.click(select(page, "worker"))
    page.key("Escape")
    equal(boxes(page), before)
    quiet(page, "small.svg")


@test("search: matches are marked, their share is shown, and nothing counts twice")
def search():
    page = opened("small", rows(FOLDED))
    for text, share, names in (("vfs_", "80.0", {"vfs_read", "vfs_write"}),
                               ("page_", "75.0", {"page_alloc", "page_clear"}),
                               ("EXT4_W|pipe", "41.0", {"ext4_write", "pipe_read"}), ("nothing", "0.0", set()),
                               ("[no room", "2.00", {"[no room for the keys]"})):
        page.key("/")
        page.type(text)
        equal(page.text(".matched"), "matched %s %%" % share, text)
        equal({label.split(": ")[0] for label in page.all(".f.found", "one.getAttribute('aria-label')")}, names, text)
        page.key("Escape")
        equal([page.text(".matched"), page.run("document.querySelector('.search').value")], ["", ""])
        equal(page.all(".f.found"), [])
    equal(page.text(".total"), "1,000 hits")  # no `/' has been typed into the search field
    quiet(page, "small.svg")


@test("keys only: Tab to the picture, arrows along it, Enter, Escape; the focused box is described")
def keys():
    page = opened("small", rows(FOLDED))
    focused = "document.activeElement.getAttribute('aria-label')"
    page.key("Tab")
    equal(page.run(focused), "search functions")
    page.key("Tab")  # Tab skips the button Zoom out, which is disabled
    equal(page.run(focused), "all: 1,000 hits, 100.0 % of all")
    for key, name in (("ArrowDown", "entry"), ("ArrowRight", "kthread"), ("ArrowLeft", "entry"),
                      ("ArrowDown", "syscall"), ("ArrowDown", "vfs_read"), ("ArrowUp", "syscall")):
        page.key(key)
        equal(page.run(focused).split(": ")[0], name, key)
    equal(page.all(".tip text"), ["syscall", "800 hits, 80.0 % of all"])
    page.key("Enter")
    equal(page.text(".now"), "syscall: 800 hits, 80.0 % of all")
    equal(page.run(focused).split(": ")[0], "syscall", "the focus stays")
    page.key("Escape")
    check(page.run("document.querySelector('.out').disabled"), "Escape")
    page.key("Tab", shift=True)
    equal(page.run(focused), "search functions")
    quiet(page, "small.svg")


@test("the box under the pointer is described beside it, inside the picture")
def tip():
    page = opened("small", rows(FOLDED), width=500)
    page.hover(select(page, "[no room for the keys]"))
    equal(page.all(".tip text"), ["[no room for the keys]", "20 hits, 2.00 % of all"])
    (left, right), = page.all(".tip rect", "(box => [box.left, box.right])(one.getBoundingClientRect())")
    check(0 <= left and right <= 500, "%f to %f" % (left, right))
    page.hover(".search")
    equal(page.all(".tip text"), [])


@test("names of users stay text: no markup, no script, no control character, in a file and in a page")
def hostile():
    some = [((HOSTILE, "vfs_read"), 3), (("b", HOSTILE), 1)]
    page = opened("hostile", some, title=HOSTILE, notes=[HOSTILE], groups={HOSTILE: HOSTILE, "vfs_read": "fs"})
    shown = HOSTILE.replace("\x1b", "\\033").replace("\n", "\\n").replace("\0", "\\000")
    for selector in (".name", ".note"):
        equal(page.text(selector), shown, selector)
    equal(set(page.all(".legend span")), {shown, "fs"})
    equal([label.split(": ")[0] for label, *_ in boxes(page)][1], shown)
    quiet(page, "hostile.svg")
    page = embedded("hostile", flamegraph.svg(some, HOSTILE, HOSTILE, [HOSTILE], {HOSTILE: HOSTILE}))
    equal(page.text(".name"), shown)
    equal(page.all("b[onload]"), [])


def embedded(name, *pictures, theme="", **how):
    path = os.path.join("build/page", name + ".html")
    with open(path, "w", encoding="utf-8") as file:
        file.write("<!doctype html><html%s><meta charset=utf-8><meta name=viewport content='width=device-width'>"
                   "<body><input id=mine>%s<p id=end>end</p>" % (theme, "<hr>".join(pictures)))
    page = chromium.open(path, **how)
    equal(page.problems, [], "problems of the page")
    return page


@test("in a page: several pictures, each by itself, and the page's keys stay the page's")
def in_a_page():
    page = embedded("two", flamegraph.svg(rows(FOLDED), "one"), flamegraph.svg(rows("a;b 3\na;c 1\n"), "two"))
    equal(page.all(".name"), ["one", "two"])
    equal(page.text("#end"), "end")
    page.click("#mine")
    page.type("/x")
    equal(page.run("mine.value"), "/x")
    page.click("svg:last-of-type .frames .f:nth-child(3) rect")
    equal(page.all(".now"), [page.all(".now")[0], "b: 3 hits, 75.0 % of all"])
    check(page.all(".out", "one.disabled") == [True, False], "both zoomed")
    page.key("/")
    page.type("c")
    equal(page.all(".matched"), ["", "matched 25.0 %"])
    quiet(page, "two.html")


NARROW = r"(\d+) narrow ones, "


def row_weight(page, row):
    """Return the sum of the numbers in the labels of a row."""
    return sum(int(matches(r": ([\d,]+) hits?, ", label).group(1).replace(",", "")) for label, _, y, _ in boxes(page)
               if round(y / 20) == row)


@test("10,000 stacks: drawn, searched, and zoomed to one of the narrowest; narrow ones are joined, and none is lost")
def many():
    random = tap.seeded()
    some = {("entry", "call%d" % (i % 7), "last%d" % i): random.randrange(1, 50) for i in range(10000)}
    total = sum(some.values())
    page = opened("many", some.items(), width=1000, height=700)
    row = [(label, width) for label, _, y, width in boxes(page) if y == 60]
    note("%d boxes, %d of them of the functions that were hit" % (len(boxes(page)), len(row)))
    check(10 < len(row) < 1000, "%d boxes" % len(row))
    equal(sum(int((re.match(NARROW, label) or [0, 1])[1]) for label, _ in row), 10000)
    equal([row_weight(page, n) for n in range(4)], [total] * 4)
    check(abs(sum(width for _, width in row) - boxes(page)[0][3]) < 0.1, "the row is not as wide as all")
    page.key("/")
    page.type("^last")
    equal(page.text(".matched"), "matched 100.0 %")
    page.key("Escape")
    for step in range(30):
        blocks = [i for i, (label, *_) in enumerate(boxes(page)) if re.match(NARROW, label)]
        if not blocks:
            break
        page.click(".f[data-box='%d'] rect" % random.choice(blocks))
    note("%d clicks" % step)
    check(1 <= step < 30, "%d clicks" % step)
    ends = [(label.split(": "), y) for label, _, y, _ in boxes(page) if y == 60]
    check(ends, boxes(page))
    call = boxes(page)[2][0].split(": ")[0]
    for (name, text), _ in ends:
        matches("^%d hits?, " % some["entry", call, name], text)
    page.screenshot("build/page/many.png")
    quiet(page, "many.svg")


# The relative luminance of a colour, and the contrast ratio of two, by the definitions of WCAG 2.
CONTRAST = """(() => {
    const light = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(Number).map(v => v / 255)
        .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
    const of = (one, what) => getComputedStyle(one)[what];
    const back = of(document.querySelector("svg"), "backgroundColor");
    const found = [];
    for (const one of document.querySelectorAll(".f, .tip"))
        if (one.querySelector("text"))
            found.push([one.getAttribute("class"), contrast(of(one.querySelector("text"), "fill"),
                                                            of(one.querySelector("rect"), "fill"))]);
    for (const one of document.querySelectorAll(".head div:not(.bar), .matched, .head button, .head input"))
        if (one.textContent || one.value)
            found.push([one.className, contrast(of(one, "color"), back)]);
    return found;
})()"""


@test("in light and dark every text has a contrast of 4.5 or more: all colours, zoomed, searching, the word on a frame")
def contrast():
    some = [(("top", "part%d_x" % i), 10) for i in range(12)] + [(("[no room]",), 10)]
    groups = {"part%d_x" % i: "group %d" % i for i in range(12)}
    for dark in (False, True):
        page = opened("colours", some, notes=["a note"], groups=groups, dark=dark)
        seen = collections.Counter()

        def measure():
            for kind, value in page.run(CONTRAST):
                check(value >= 4.5, "%s, %s: %.2f" % ("dark" if dark else "light", kind, value))
                seen.update(kind.split())

        page.hover(select(page, "part1_x"))
        measure()
        page.click(select(page, "top"))
        measure()
        page.key("/")
        page.type("part3")
        measure()
        expected = {"k%d" % i for i in range(12)} | {"up", "found", "tip", "note", "name", "total", "matched", "now"}
        check(expected <= set(seen), "not seen: %s" % (expected - set(seen)))
        page.screenshot("build/page/colours-%s.png" % ("dark" if dark else "light"))
    page = embedded("theme", flamegraph.svg(some, "x"), theme=" data-theme=dark")
    dark_back = page.run("getComputedStyle(document.querySelector('svg')).backgroundColor")
    page = embedded("theme", flamegraph.svg(some, "x"), theme=" data-theme=light", dark=True)
    light_back = page.run("getComputedStyle(document.querySelector('svg')).backgroundColor")
    check(dark_back != light_back, "a page that says data-theme is not followed")


@test("on a phone: nothing is wider than the screen, fingers have room, a tap zooms")
def phone():
    page = opened("small", rows(FOLDED), width=390, height=760, touch=True)
    equal(page.run("[innerWidth, document.documentElement.scrollWidth]"), [390, 390])
    for selector in (".search", ".out"):
        box, = page.all(selector, "(box => [box.left, box.right, box.height])(one.getBoundingClientRect())")
        check(box[0] >= 0 and box[1] <= 390 and box[2] >= 44, "%s: %s" % (selector, box))
    page.tap(select(page, "vfs_read"))
    equal(page.text(".now"), "vfs_read: 560 hits, 56.0 % of all")
    equal(page.all(".tip text"), [])
    page.tap(".out")
    check(page.run("document.querySelector('.out').disabled"), "a tap at Zoom out")
    page.resize(740, 360, touch=True)
    page.until("document.querySelector('.f rect').getBBox().width > 700")
    quiet(page, "small.svg")


@test("ns and bytes have their units; an empty picture says so; a weight below 0 is refused")
def units():
    for unit, weight, text in (("ns", 1234567, "1.23 ms"), ("bytes", 1536, "1.5 KiB"), ("bytes", 1, "1 byte"),
                               ("ns", 999, "999 ns"), ("ns", 7000000000000, "7,000 s"), ("hits", 1, "1 hit"),
                               ("pages", 5000, "5,000 pages"), ("", 12, "12")):
        page = opened("units", [(("a",), weight)], unit=unit)
        equal(page.text(".total"), text)
        equal(boxes(page)[1][0], "a: %s, 100.0 %% of all" % text)
    page = opened("units", [], title="empty")
    equal(page.text(".total"), "nothing was counted")
    try:
        flamegraph.svg([(("a",), -1)], "x")
    except ValueError:
        return
    check(False, "a weight below 0 is drawn")


@test("without scripts: a still picture, with the same widths")
def still():
    text = flamegraph.svg(rows(FOLDED), "a < b", groups=GROUPS)
    path = "build/page/still.svg"
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r"<script.*?</script>", "", text, flags=re.S))
    page = chromium.open(path)
    found = page.all(".still .f", "[one.textContent, one.querySelector('rect').getBBox().width]")
    pixels = found[0][1] / 1000
    for name, weight in (("vfs_read", 560), ("kthread", 180), ("entry", 800)):
        equal([round(width / pixels) for label, width in found if label == name], [weight], name)
    equal(page.all(".words", "one.textContent")[:2], ["a < b", "1,000 hits"])
    quiet(page, "still.svg")


with browser.Browser() as chromium:
    good = tap.run()
sys.exit(not good)
