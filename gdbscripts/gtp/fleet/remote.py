# SPDX-License-Identifier: GPL-2.0-only
"""The script that runs on each machine, in its /bin/sh: a folder of its own, and a word at a time."""
import shlex

HELLO = "gtp-fleet"

# put NAME BYTES: what follows goes after the file. clocks N: gtp-run answers. run WORDS: gtp-run traces; its lines, and
# "ended STATUS" after them. stop: it shall end. get NAME: "file BYTES" and the bytes. bye: the folder goes.
# Without a bye, as when the connection breaks, the run is ended, and what it has collected stays there.
# No word of this may have a single quote: it is one, for whatever shell the user has there.
SCRIPT = """trap "" HUP PIPE
umask 077
d=$(mktemp -d "${TMPDIR:-/tmp}/gtp-fleet.XXXXXX") && cd "$d" || exit 1
echo "%s $d"
bye=
while read -r word a b; do
  case $word in
  put) head -c "$b" >>"$a" && echo put ;;
  clocks) chmod 700 gtp-run && ./gtp-run --clocks "$a" || echo "no clocks" ;;
  run) ( ./gtp-run -o out.tf $a $b session.gtpd </dev/null & echo $! >pid; wait $!; s=$?; : >pid; echo "ended $s" ) & ;;
  stop) until [ -e pid ]; do sleep 1; done; [ -s pid ] && kill -TERM "$(cat pid)" ;;
  alive) echo alive ;;
  get) echo "file $(wc -c <"$a")"; cat "$a" ;;
  bye) bye=1; break ;;
  esac
done
[ -s pid ] && kill -TERM "$(cat pid)"
wait
cd /
[ -z "$bye" ] && [ -s "$d/out.tf" ] || rm -rf "$d"
""" % HELLO


def command():
    """For ssh: the user's own shell there starts one that is known."""
    return "exec /bin/sh -c " + shlex.quote(SCRIPT)
