# SPDX-License-Identifier: GPL-2.0-only
"""The script that runs on each machine in /bin/sh. It makes a private folder, then obeys one command at a time."""
import base64

HELLO = "gtp-fleet"

# put NAME BYTES: append the bytes that follow to the file. clocks N: gtp-run answers. run WORDS: gtp-run traces; prints
# its lines, then "ended STATUS". stop: end the run. get NAME: prints "file BYTES" and the bytes. bye: remove the
# folder. Without a bye, as when the connection breaks, the run is ended, and its frames stay on the machine.
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
    """Return the command for ssh: the user's login shell there starts /bin/sh with the script.

    csh allows no newline within quotes, and expands a ! even there. So the script is sent in base64, and the login shell
    does not see its text.
    """
    text = base64.b64encode(SCRIPT.encode()).decode()
    return "exec /bin/sh -c 'eval \"$(echo %s | base64 -d)\"'" % text
