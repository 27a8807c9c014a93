# SPDX-License-Identifier: GPL-2.0-only
# Packs frames column by column, in as few characters as JSON allows without compression. Does not import gdb.
#
# A column is {"n": numbers, null where the frame has none} or {"d": sorted texts, "c": for each frame the index of its
# text, -1 where it has none}. With "big", these texts are numbers in decimal, sorted as numbers: a browser's own numbers
# have 53 bits. "t" has texts to show instead of some of the numbers.

import collections
import re

EXACT = 2**53  # a browser's integers are exact up to this one
NONE = -1


def order(value):
    """Return a sort key for a value of a column. Numbers come before texts, sorted by size."""
    return (1, 0, value) if isinstance(value, str) else (0, value, "")


def exact(number):
    """Return a number for JSON, as text if a browser would round it."""
    return str(number) if abs(number) >= EXACT else number


def column(values):
    """Return the packed column of a list of values, each an int, a str or None."""
    if all(value is None or isinstance(value, int) and abs(value) < EXACT for value in values):
        return {"n": [None if value is None else int(value) for value in values]}
    texts = sorted({value for value in values if value is not None}, key=order)
    codes = {value: code for code, value in enumerate(texts)}
    found = {"d": [str(value) for value in texts], "c": [NONE if value is None else codes[value] for value in values]}
    return found if any(isinstance(value, str) for value in texts) else {**found, "big": True}


def differences(times):
    """Return each time as the difference from the previous known time; the first difference is 0."""
    found, last = [], None
    for time in times:
        found.append(None if time is None else 0 if last is None else time - last)
        last = last if time is None else time
    return found


def or_none(values):
    """Return the list, or None if all of its values are None."""
    return values if any(value is not None for value in values) else None


class Numbers(dict):
    """Numbers things in the order in which they appear: numbers[thing]."""

    def __missing__(self, thing):
        self[thing] = len(self)
        return self[thing]


# Titles of tracepoint columns that have the same values as a leading column of the page.
IN_FRONT = re.compile(r"\$(?:(?P<latency_ns>latency)|(?P<stack>[ku]stack))$|"
                      r"(?:current|\(\(struct task_struct \*\)\$current_task\))->(?:(?P<comm>comm)|(?P<pid>pid))$")


def is_in_front(title, events, values):
    """Return whether a column repeats a leading column in all of its frames, so that it can be left out."""
    found = IN_FRONT.match(title)
    return bool(found) and all(getattr(event, found.lastgroup) == value for event, value in zip(events, values))


# The page's own columns of all frames: the names that its filter knows first.
OWN = ("frame", "time", "cpu", "pid", "comm", "place", "latency")


def named(title):
    """Return the name of a tracepoint's column in the page: its title, in brackets if a column of all frames has that
    name, as an argument `pid' may have."""
    return "(%s)" % title if title in OWN else title


Front = collections.namedtuple("Front", "latency_ns comm pid stack")


class Frames:
    """Collects events; stack_names(number) gives the functions of a stack, the innermost first. VIEWED: {(Place's id,
    column): {number: text}}."""

    def __init__(self, places, stack_names, viewed=None):
        self.places, self.stack_names, self.viewed = places, stack_names, {} if viewed is None else viewed
        self.number = {id(place): i for i, place in enumerate(places)}
        self.tasks, self.names, self.stacks = Numbers(), Numbers(), Numbers()
        self.columns = {name: [] for name in ("place", "index", "time", "cpu", "task", "latency", "stack")}
        self.values, self.front = [[] for _ in places], [[] for _ in places]

    def add(self, event):
        add, place = self.columns, self.number[id(event.place)]
        add["place"].append(place)
        add["index"].append(event.index)
        add["time"].append(event.time_ns)
        add["cpu"].append(event.cpu)
        known = event.pid is not None or event.comm is not None
        add["task"].append(self.tasks[event.pid, event.comm] if known else None)
        add["latency"].append(event.latency_ns)
        add["stack"].append(None if event.stack is None else self.stacks[event.stack])
        self.values[place].append(event.values)
        self.front[place].append(Front(event.latency_ns, event.comm, event.pid, event.stack))

    def data(self):
        """Return the data that the page's script reads as frames, places, tasks, names and stacks."""
        frames = dict(self.columns)
        for name in ("time", "cpu", "task", "latency", "stack"):
            frames[name] = or_none(frames[name])
        if frames["index"] == list(range(len(frames["index"]))):
            frames["index"] = None
        start = next((time for time in frames["time"] or () if time is not None), None)
        frames["start"] = None if start is None else str(start)
        frames["time"] = frames["time"] and differences(frames["time"])
        frames["total"] = len(frames["place"])
        stacks = [[self.names[name] for name in self.stack_names(number)] for number in self.stacks]
        return {"frames": frames, "places": [self.place(i) for i in range(len(self.places))],
                "tasks": [list(task) for task in self.tasks], "stacks": stacks, "names": list(self.names)}

    def name(self, place):
        """Return the name of a tracepoint, with its number if another tracepoint has the same name."""
        again = sum(other.name == place.name for other in self.places) > 1
        return "%s #%d" % (place.name, place.number) if again else place.name

    def with_texts(self, place, at, found):
        """Return the packed column FOUND, with "t" added if some of its numbers have texts."""
        texts = self.viewed.get((id(place), at))
        return {**found, "t": {str(number): text for number, text in texts.items()}} if texts else found

    def place(self, i):
        place = self.places[i]
        by_column = list(zip(*self.values[i])) or [()] * len(place.columns)
        shown = [(one.title, self.with_texts(place, at, column(list(values))))
                 for at, (one, values) in enumerate(zip(place.columns, by_column))
                 if not is_in_front(one.title, self.front[i], values)]
        return {"number": place.number, "name": self.name(place), "hits": None,
                "columns": [values for _, values in shown],
                "fields": [{"name": named(title), "unit": "ns" if title == "$latency" else None} for title, _ in shown]}


def frames(places, events, stack_names, viewed=None):
    """Return the packed columns of some events."""
    found = Frames(places, stack_names, viewed)
    for event in events:
        found.add(event)
    return found.data()
