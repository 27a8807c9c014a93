# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Job: run the topics of a folder, each in a process of its own, and check that each runs all the tests that it planned.
# Sourced by the runners of such folders, which set `top` (the repository's root).

failed=0

# A topic is given as TOPIC, or as TOPIC:WORD to run only the tests that have the word in their
# name.
topic_of() { echo "${1%%:*}"; }

word_of() { case $1 in *:*) echo "${1#*:}" ;; *) echo "${GTP_ONLY-}" ;; esac; }

fail() {
	echo "not ok - $*"
	failed=1
}

# all_topics DIR: print the topics of the folder. If GTP_BESIDE is set, leave out those for which one kernel is enough:
# the guest of the kernel GTP_BESIDE runs them. If GTP_BARE is set, leave out those about parts that the kernel of
# tests/vm/debug-kernel does not have.
all_topics() {
	local file
	for file in "$1"/test_*.py; do
		if [ -n "${GTP_BESIDE-}" ] && grep -q '^# One kernel is enough' "$file"; then
			echo "# $file: runs on $GTP_BESIDE" >&2
		elif [ -n "${GTP_BARE-}" ] && grep -q "^# A distribution's kernel" "$file"; then
			echo "# $file: needs the kernel of a distribution, left out" >&2
		else
			file=${file##*/test_}
			echo "${file%.py}"
		fi
	done
}

# single_topics DIR: print all topics of suite gdb except smp, which needs CPUs that run in parallel
single_topics() { all_topics "$1" | grep -vx smp; }

# in_guest COMMAND...: run a command on the machine of the tested kernel: here, or in the guest of GTP_AGENT
in_guest() {
	if [ -n "${GTP_AGENT-}" ]; then "$top/tests/vm/in-guest" "$@"; else "$@"; fi
}

# make_gdb: set `gdb` to the words of a GDB that reads vmlinux and runs the file whose name follows.
# Beside a guest, it is the GDB of the guest's root. It is killed when its parent dies: otherwise it
# would go on, because the other end of its connection may stay open.
# shellcheck disable=SC2154 # of the kernel's env file
make_gdb() {
	local line=() words=(-batch -nx -iex "set debuginfod enabled off" -iex "maint set worker-threads 0"
		-iex "set index-cache directory ${GTP_GDB_INDEX-}" -iex "set index-cache enabled on" "$vmlinux" -x)
	gdb=(gdb "${words[@]}")
	[ -n "${GTP_AGENT-}" ] || return 0
	# Over the agent's connection GDB gets an answer only when the kernel has sent it. On a busy
	# machine this may take longer than GDB's default of two seconds.
	line=(setpriv --pdeathsig KILL)
	gdb=("${line[@]}" gdb -iex "set remotetimeout 600" "${words[@]}")
	[ -z "$root" ] || gdb=("${line[@]}" "$top/tests/vm/in-root" --share "$GTP_AGENT" "$GTP_GUEST" "${gdb[@]}")
}

# topic SPEC COMMAND...: run a topic and print its TAP. Print another line if the topic ended before
# it had run all planned tests. A topic may take any time, but must not be silent for GTP_SILENCE
# seconds.
topic() {
	local name log status planned seen
	name=$(topic_of "$1")
	log=$(mktemp)
	echo "# topic $name"
	GTP_ONLY=$(word_of "$1") "$top/tests/lib/silence" "${GTP_SILENCE:-900}" "${@:2}" | tee "$log"
	status=${PIPESTATUS[0]}
	planned=$(sed -n 's/^1\.\.//p' "$log" | head -n 1)
	seen=$(grep -cE '^(not )?ok [0-9]' "$log")
	if [ "$seen" != "${planned:-none}" ]; then
		fail "$name ran $seen of ${planned:-none} tests (exit status $status)"
	elif [ "$status" != 0 ]; then
		grep -q '^not ok' "$log" || fail "$name as a whole: exit status $status"
		failed=1
	fi
	rm -f "$log"
}
