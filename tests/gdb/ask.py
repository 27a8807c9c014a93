# SPDX-License-Identifier: GPL-2.0-only
"""Run a topic in a child of the GDB in which ready.py waits.

Usage: ask.py TOPIC.py      environment: GTP_READY, GTP_ONLY
The topic's output is this command's. Exit status: the topic's.
"""
import json
import os
import socket
import sys

with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
    line.connect(os.environ["GTP_READY"])
    request = ["source " + sys.argv[1]], {"GTP_ONLY": os.environ.get("GTP_ONLY", "")}
    socket.send_fds(line, [json.dumps(request).encode()], [1, 1])
    status = line.recv(16)
sys.exit(int(status) if status else "the GDB of %s has gone" % os.environ["GTP_READY"])
