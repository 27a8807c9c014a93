#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Job: gtp-run as a machine of these tests has it: on the device of its own, with its own clocks, and with its own death.
. "$FLEET_MACHINE"
if [ "$1" = --clocks ]; then
	exec /usr/bin/python3 -B "$HERE/clocks.py" "$2" "$AHEAD"
fi
case $MODE in
runs) exec "$RUN" --device "$DEVICE" "$@" ;;
refuses) exec "$RUN" --device "$OUT/nothing" "$@" ;;
dies)
	echo "gtp-run: tracing" >&2
	kill -KILL $$
	;;
hangs)
	# Stop the shell that talks to the other side, the grandparent of this one.
	talks=$(ps -o ppid= -p $PPID | tr -d ' ')
	echo "$talks" >"$OUT/$NAME.pid"
	kill -STOP "$talks"
	echo "gtp-run: tracing" >&2
	exec sleep 1000
	;;
esac
