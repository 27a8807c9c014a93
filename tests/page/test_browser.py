# SPDX-License-Identifier: GPL-2.0-only
# Tests of browser.py itself: it acts on a page as a reader does, and reports the errors in the page.
import os
import struct
import sys

import browser
import tap
from tap import check, equal, test

PAGE = """<!doctype html><meta charset=utf-8><meta name=viewport content="width=device-width"><title>0</title>
<input id=field><button id=more onclick="document.title = +document.title + 1">more</button>
<div style="height: 3000px"></div><p id=low onclick="this.textContent += '!'">low</p>
<script>
console.log("no problem");
addEventListener("keydown", event => window.last = event.key);
</script>"""
WRONG = """<!doctype html><title>wrong</title><script>
console.error("said", 7);
setTimeout(() => { throw new Error("thrown"); });
setTimeout(() => window.done = true, 10);
</script><img src=nothing.png>"""


def page(name, text, **how):
    path = os.path.join("build/page", name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return chromium.open(path, **how)


@test("click, type, keys, text: the page receives the events that were sent")
def used():
    one = page("used.html", PAGE)
    one.click("#field")
    one.type("vfs_<é")
    one.key("Backspace")
    equal(one.run("field.value"), "vfs_<")
    one.key("Tab")
    equal(one.run("document.activeElement.id"), "more")
    one.key("Enter")
    one.click("#more")
    equal(one.run("document.title"), "2")
    one.click("#low")  # click() must scroll to this button first
    equal(one.text("#low"), "low!")
    one.key("Escape")
    equal(one.run("last"), "Escape")
    equal(one.all("p, button"), ["more", "low!"])
    equal(one.problems, [])
    equal([address.rpartition("/")[2] for address in one.requests], ["used.html"])


@test("light and dark, wide and narrow, a mouse or a finger; a picture is as large as the window")
def kinds():
    is_dark = "matchMedia('(prefers-color-scheme: dark)').matches"
    dark = page("used.html", PAGE, width=390, height=700, dark=True, touch=True)
    equal(dark.run("[%s, innerWidth]" % is_dark), [True, 390])
    dark.tap("#more")
    equal(dark.run("document.title"), "1")
    light = page("used.html", PAGE, width=800, height=600)
    equal(light.run("[%s, innerWidth]" % is_dark), [False, 800])
    light.screenshot("build/page/used.png")
    with open("build/page/used.png", "rb") as file:
        equal(struct.unpack(">II", file.read(24)[16:]), (800, 600))


@test("errors of the console, exceptions and failures to load or parse are noticed")
def wrong():
    one = page("wrong.html", WRONG)
    one.until("window.done")
    text = "\n".join(one.problems)
    check("said 7" in text and "Error: thrown" in text and "ERR_FILE_NOT_FOUND" in text, text)
    check(any(address.endswith("/nothing.png") for address in one.requests), one.requests)
    check(page("wrong.svg", "<svg xmlns='http://www.w3.org/2000/svg'><g></svg>").problems, "broken XML is no problem")
    for action in (lambda: one.run("nothing.here"), lambda: one.click("#nothing"), lambda: one.text("#nothing"),
                   lambda: chromium.open("/no/such/file.html")):
        try:
            action()
        except browser.Error:
            continue
        check(False, "no error")


with browser.Browser() as chromium:
    good = tap.run()
sys.exit(not good)
