# SPDX-License-Identifier: GPL-2.0-only
# A second GDB, because the topic's own GDB cannot be in a continue and make calls at the same time.
import signal

from lib import *

OPTIONS = ("pagination off", "confirm off", "width 0", "debuginfod enabled off")


def plain(text):
    """Return the text without the messages of `set debug remote`."""
    text = re.sub(r"^ *\[remote\].*\n", "", text, flags=re.M)
    return re.sub(r"\[remote\].*\n", "", text)


class Typed:
    """A second GDB. Commands are typed into it, and its output is read as it arrives."""

    def __init__(self, *args):
        options = [word for option in OPTIONS for word in ("-iex", "set " + option)]
        self.process = subprocess.Popen([*GDB, "-q", "-nx"] + options + list(args), stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        self.marks = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()

    def kill(self):
        """Kill GDB with SIGKILL. Its connection is closed when this returns."""
        self.process.kill()
        self.process.wait()

    def leave(self):
        """Let GDB quit, and check its exit status."""
        self.type("quit")
        equal(self.process.wait(SECONDS), 0, "gdb's exit status")

    def type(self, *lines):
        for line in lines:
            self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def until(self, pattern):
        """Return GDB's output up to and including a line that has the pattern."""
        seen = []
        for line in self.process.stdout:
            seen.append(line)
            if re.search(pattern, line):
                return "".join(seen)
        raise Failure("gdb ended before %r: %s" % (pattern, "".join(seen)))

    def marked(self):
        """Return GDB's output until it has executed the typed commands."""
        self.marks += 1
        mark = "inner-mark-%d" % self.marks
        self.type("echo %s\\n" % mark)
        text = self.until(mark)
        return text[:text.rindex(mark)].replace("(gdb) ", "")

    def say(self, *lines):
        """Type GDB commands. Return their output."""
        self.type(*lines)
        return self.marked()

    def wait(self):
        """Type `continue'. Return the output up to GDB's message that it sends the packet for `continue'."""
        self.type("set debug remote 1", "continue")
        return plain(self.until(r"Sending packet: \$c#"))

    def interrupt(self):
        """Send ^C. Return the output since GDB began to wait."""
        os.kill(self.process.pid, signal.SIGINT)
        self.type("set debug remote 0")
        text = plain(self.marked())
        matches("received signal SIGINT", text)
        return text

    def stopped(self):
        """Wait until GDB's `continue' ends by itself. Return the output since GDB began to wait."""
        self.type("set debug remote 0")
        return plain(self.marked())

    def during(self, *calls):
        """Type `continue', let the fixture make the calls, and send ^C. Return GDB's output."""
        self.wait()
        for line in calls:
            target(line)
        return self.interrupt()


class Inner(Typed):
    """A second GDB that is connected and has the fixture's symbols."""

    def __init__(self, *lines):
        super().__init__()
        self.say(fixture_symbols(), "target remote " + LINE, *lines)
