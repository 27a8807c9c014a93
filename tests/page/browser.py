# SPDX-License-Identifier: GPL-2.0-only
"""Opens pages in headless Chromium and uses them as a reader does: click, type, look. Needs only the standard library.

    with Browser() as browser:
        page = browser.open("build/page/x.svg", width=390, height=800, dark=True)
        page.click("#reset")                  scroll to the element, and really click at its middle
        page.type("vfs_")                     type into the element with the focus; page.key("Enter"), page.key("Escape")
        page.text("#matched")                 the text of the first element of a selector
        page.run("document.title")            the value of an expression; waits for promises
        page.until("window.ready")            wait until an expression is true
        page.screenshot("build/page/x.png")
        page.problems                         errors and warnings of the console, exceptions, violations
        page.requests                         the addresses of all files that the page has loaded, itself first

Chromium's DevTools protocol is used over a pair of pipes: JSON, with a NUL after each message. GTP_CHROMIUM can name
another program. Chromium must answer each command within a minute, or the test fails.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

LIMIT = 60  # how many seconds to wait for an answer
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--mute-audio",
         "--hide-scrollbars", "--remote-debugging-pipe")
# A key's name -> (code, number, text) for DevTools.
KEYS = {"Enter": ("Enter", 13, "\r"), "Escape": ("Escape", 27, ""), "Tab": ("Tab", 9, ""), " ": ("Space", 32, " "),
        "ArrowLeft": ("ArrowLeft", 37, ""), "ArrowUp": ("ArrowUp", 38, ""), "ArrowRight": ("ArrowRight", 39, ""),
        "ArrowDown": ("ArrowDown", 40, ""), "Home": ("Home", 36, ""), "End": ("End", 35, ""),
        "Backspace": ("Backspace", 8, ""), "/": ("Slash", 191, "/")}
SHIFT = 8


class Error(Exception):
    """An error of the page or of Chromium."""


def program():
    """Return the path of Chromium, or None."""
    names = os.environ.get("GTP_CHROMIUM", "chromium chromium-browser google-chrome").split()
    return next(filter(None, map(shutil.which, names)), None)


class Browser:
    """A Chromium with an empty profile, and the pages that it has open."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="gdbtp-page.")
        self.number, self.buffer, self.pages = 0, b"", {}
        from_browser, chromium_writes = os.pipe()
        chromium_reads, to_browser = os.pipe()
        # Chromium expects the protocol's pipes at the descriptors 3 and 4.
        line = 'exec "$@" 3<&%d 4>&%d' % (chromium_reads, chromium_writes)
        with open(os.path.join(self.profile, "log"), "wb") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", line, "chromium", program() or "chromium", *FLAGS, "--user-data-dir=" + self.profile],
                pass_fds=(chromium_reads, chromium_writes), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, "HOME": self.profile})
        os.close(chromium_reads)
        os.close(chromium_writes)
        self.reading, self.writing = from_browser, to_browser

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.ask("Browser.close")
        except (Error, OSError):
            self.process.kill()
        try:
            self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.reading)
        os.close(self.writing)
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self, end):
        """Return the next message of Chromium."""
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.reading], [], [], max(0, end - time.monotonic()))
            data = os.read(self.reading, 1 << 20) if ready else None
            if not data:
                with open(os.path.join(self.profile, "log"), errors="replace") as log:
                    how = "is silent" if data is None else "has ended"
                    raise Error("Chromium %s; it said:\n%s" % (how, log.read()[-2000:]))
            self.buffer += data
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def ask(self, method, session=None, **parameters):
        """Return Chromium's answer to a command. Events that arrive meanwhile go to their pages."""
        self.number += 1
        said = {"id": self.number, "method": method, "params": parameters}
        if session:
            said["sessionId"] = session
        os.write(self.writing, json.dumps(said).encode() + b"\0")
        end = time.monotonic() + LIMIT
        while True:
            message = self.message(end)
            if message.get("id") == self.number:
                if "error" in message:
                    raise Error("%s: %s" % (method, message["error"]["message"]))
                return message["result"]
            if message.get("sessionId") in self.pages:
                self.pages[message["sessionId"]].event(message["method"], message["params"])

    def open(self, path, width=1200, height=800, dark=False, touch=False):
        """Open a file or an address. Return its Page once it is loaded. DARK: the reader prefers dark pages. TOUCH: the
        browser is that of a phone."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, session)
        page.prepare(width, height, dark, touch)
        page.go(path if "://" in path else "file://" + os.path.abspath(path))
        page.front()
        return page


class Page:
    """A page that is open; see the top of this file."""

    def __init__(self, browser, session):
        self.browser, self.session = browser, session
        self.problems, self.requests = [], []
        self.loaded = False

    def ask(self, method, **parameters):
        return self.browser.ask(method, self.session, **parameters)

    def event(self, method, what):
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(arg.get("value", arg.get("description"))) for arg in what["args"]))
        elif method == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
            self.problems.append(what["entry"]["text"])

    def prepare(self, width, height, dark, touch):
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(domain + ".enable")
        self.resize(width, height, touch)
        self.ask("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        if touch:
            self.ask("Emulation.setTouchEmulationEnabled", enabled=True)

    def resize(self, width, height, touch=False):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=touch)

    def front(self):
        """Bring this page to the front. Chromium does not draw the other pages, and touches do not reach them."""
        self.ask("Page.bringToFront")

    def go(self, address):
        """Load an address. If it is XML that cannot be parsed, record a problem, because Chromium sends no event for this."""
        self.loaded = False
        answer = self.ask("Page.navigate", url=address)
        if "errorText" in answer:
            raise Error("%s: %s" % (address, answer["errorText"]))
        end = time.monotonic() + LIMIT
        while not self.loaded:
            if time.monotonic() > end:
                raise Error("%s is not loaded after %d s" % (address, LIMIT))
            self.ask("Runtime.evaluate", expression="0")
        wrong = self.run("(document.querySelector('parsererror') || {}).textContent")
        if wrong:
            self.problems.append(wrong)

    def run(self, expression):
        """Return the value of a JavaScript expression, as far as JSON can express it."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Error("%s: %s" % (expression, details.get("exception", {}).get("description") or details["text"]))
        return answer["result"].get("value")

    def until(self, expression):
        """Wait until an expression is true. Return its value."""
        end = time.monotonic() + LIMIT
        while True:
            value = self.run(expression)
            if value:
                return value
            if time.monotonic() > end:
                raise Error("waited %d s for %s" % (LIMIT, expression))

    def frames(self):
        """Wait until the browser has drawn all changes so far."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def place(self, selector):
        """Scroll to the first element that the selector matches. Return the (x, y) of its middle."""
        box = self.run("""(() => {
            const one = document.querySelector(%s);
            if (!one) return null;
            one.scrollIntoView({block: "nearest", inline: "nearest"});
            const box = one.getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2, box.width * box.height];
        })()""" % json.dumps(selector))
        if not box or not box[2]:
            raise Error("nothing to be seen is %s" % selector)
        return box[:2]

    def mouse(self, kind, x, y, **more):
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def hover(self, selector):
        x, y = self.place(selector)
        self.mouse("mouseMoved", x, y)
        self.frames()

    def click(self, selector):
        x, y = self.place(selector)
        self.click_at(x, y)

    def click_at(self, x, y):
        """Click at a point of the window."""
        self.mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)
        self.frames()

    def tap(self, selector):
        """Tap the element with a finger. The page must have been opened with TOUCH."""
        x, y = self.place(selector)
        self.ask("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.ask("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.frames()

    def type(self, text):
        """Type text into the element that has the focus, one character after the other, as a keyboard does."""
        for char in text:
            self.ask("Input.dispatchKeyEvent", type="keyDown", key=char, text=char)
            self.ask("Input.dispatchKeyEvent", type="keyUp", key=char)
        self.frames()

    def key(self, name, shift=False):
        """Press and release a key, given by its name or as one character."""
        code, number, text = KEYS.get(name, ("Key" + name.upper(), ord(name.upper()[0]), name))
        what = {"key": name, "code": code, "windowsVirtualKeyCode": number, "modifiers": SHIFT if shift else 0}
        self.ask("Input.dispatchKeyEvent", type="keyDown", **what, **({"text": text} if text else {}))
        self.ask("Input.dispatchKeyEvent", type="keyUp", **what)
        self.frames()

    def text(self, selector):
        """Return the text of the first element that the selector matches. Raise an error if there is none."""
        return self.run("document.querySelector(%s).textContent" % json.dumps(selector))

    def all(self, selector, expression="one.textContent"):
        """Return the value of a JavaScript expression for each element that the selector matches. In the expression, `one`
        is the element."""
        return self.run("Array.from(document.querySelectorAll(%s), one => %s)" % (json.dumps(selector), expression))

    def screenshot(self, path, whole=False):
        """Write the visible part, or the WHOLE page, as a PNG."""
        answer = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))
