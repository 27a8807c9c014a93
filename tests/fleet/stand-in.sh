#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Job: stand in for gtp-run on one of the machines of tests/fleet. Each machine has its own device, clocks, and
# failures.
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
	# Stop this shell's grandparent, the shell that exchanges commands with gtp fleet.
	talks=$(ps -o ppid= -p $PPID | tr -d ' ')
	echo "$talks" >"$OUT/$NAME.pid"
	kill -STOP "$talks"
	echo "gtp-run: tracing" >&2
	exec sleep 1000
	;;
esac
