# SPDX-License-Identifier: GPL-2.0-only
# Tracks of a timeline: an event's track belongs to its task or its CPU. Slices of a track that cannot nest get lanes.
import collections

# A task. cpu: for the idle task its CPU, since there is one idle task on each CPU; None for other tasks.
Task = collections.namedtuple("Task", "pid cpu")


class Tasks:
    """The tasks in a run's events: their names and processes, if any event has them."""

    def __init__(self, events):
        self.names, self.processes = {}, {}
        for event in events:
            if event.pid is None:
                continue
            task = task_of(event)
            if event.comm is not None:
                self.names[task] = event.comm
            if event.tgid is not None:
                self.processes[task] = event.tgid

    def title(self, task, name=None):
        """Return a task's name, as in `top`, and its number. For an event without NAME, use the task's last known
        name."""
        return ("%s %d" % (self.names.get(task, "task") if name is None else name, task.pid)).strip()


def task_of(event):
    return Task(event.pid, None if event.pid else event.cpu)


class Lanes:
    """Assigns lanes to the slices of a track: slices that overlap without nesting get different lanes."""

    def __init__(self):
        self.open = collections.defaultdict(list)  # track -> for each lane the ends of its open slices, the innermost last

    def lane(self, track, begin, end):
        """Return the number of the lane for a slice. Slices must be passed in the order of their start times, and of
        equal ones the longest first."""
        lanes = self.open[track]
        for number, ends in enumerate(lanes):
            while ends and ends[-1] <= begin:
                ends.pop()
            if not ends or end <= ends[-1]:
                ends.append(end)
                return number
        lanes.append([end])
        return len(lanes) - 1
