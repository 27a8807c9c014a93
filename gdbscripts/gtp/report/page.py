# SPDX-License-Identifier: GPL-2.0-only
# Makes the page of a report: template, style, scripts and data in one file that needs no network. Does not import gdb.
import base64
import hashlib
import html
import json
import os
import re

from gtp.export import flamegraph
from gtp.text import harmless

HERE = os.path.dirname(os.path.abspath(__file__))
EARLY = "theme.js"  # goes into the page's head, so that the page is not drawn in the wrong colours first
# The parts of the page's one script, in order: later parts use names of earlier ones.
SCRIPTS = ("util", "data", "summary", "tracks", "scale", "paint", "pointers", "timeline", "filter", "table",
           "frames", "small", "tops", "histogram", "main")
# Escapes for characters that could end the script element, begin a comment in it, or begin an HTML entity.
IN_SCRIPT = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def part(name):
    """Return the text of a file in the folder gtp/report."""
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def script():
    """Return the page's scripts joined to one script, which defines no global names."""
    parts = (part(name + ".js") for name in SCRIPTS)
    return '(() => {\n"use strict";\n%s})();\n' % "\n".join(parts)


def digest(text):
    """Return the hash of a script or style, by which a Content-Security-Policy allows it."""
    return "'sha256-%s'" % base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def policy(scripts, styles):
    """Return a Content-Security-Policy under which the page loads nothing, and uses only these scripts and styles."""
    return "; ".join(("default-src 'none'", "script-src " + " ".join(map(digest, scripts)),
                      "style-src " + " ".join(map(digest, styles)), "style-src-attr 'unsafe-inline'",
                      "base-uri 'none'", "form-action 'none'"))


def encoded(data):
    """Return the data as JSON that is safe inside a script element, whatever strings it contains."""
    text = json.dumps(harmless.everything(data), separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return re.sub("[<>&]", lambda found: IN_SCRIPT[found.group(0)], text)


def flame_colours():
    """Return the style with the colours of flame graphs. A single flame graph follows the system's theme; in the page,
    the colours follow the page's switch."""
    light, dark = (re.findall(r"--(?:f\d+|up|found|found-ink): [^;]+;", block)
                   for block in re.findall(r"\.gtp-flame \{([^}]*)\}", flamegraph.beside("flamegraph.css"))[:2])
    return "".join(':root[data-theme="%s"] .gtp-flame { %s }\n' % (name, " ".join(colours))
                   for name, colours in (("light", light), ("dark", dark)))


def pictures(flames):
    """Return the HTML of the flame graphs, each in a card, with the script and the style that a flame graph's own file
    has."""
    return "\n".join('<div class="card flame">%s</div>' % svg for svg in flames)


def page(data):
    """Return the whole page, as text. DATA is what gtp.report.data makes; the flame graphs in it are SVG."""
    code, early, style = script(), part(EARLY), part("style.css") + flame_colours()
    flames = data["flames"]
    scripts, styles = [code, early], [style]
    if flames:
        scripts.append("\n" + flamegraph.beside("flamegraph.js"))
        styles.append("\n" + flamegraph.beside("flamegraph.css"))
    parts = {"POLICY": html.escape(policy(scripts, styles)), "TITLE": html.escape(harmless.line(data["title"])), "STYLE": style,
             "SCRIPT": code, "EARLY": early,
             "FLAMES": pictures(flames), "DATA": encoded({**data, "flames": len(flames)})}
    return re.sub("@([A-Z]+)@", lambda found: parts[found.group(1)], part("page.html"))
