# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # sourced by tests/tfile/run, whose functions and variables these use
# Job: test the formats of gtp export for events.

# with_calls ARGUMENT...: run GDB with the arguments and the commands of frames.py; print the notes of
# frames.py, and return GDB's status
with_calls() {
	with_gtp types -x "$here/frames.py" "$@" | grep '^#' && [ "${PIPESTATUS[0]}" = 0 ]
}

# Make calls.tf, the trace file of a run of calls by tasks with hostile names.
make_calls() {
	calls_seed=${GTP_SEED:-$RANDOM}
	rm -rf "$out/online.ctf"
	with_calls -ex "target remote | ./target types" -ex "run-calls $calls_seed" -ex "gtp save $out/calls.tf" \
		-ex "gtp export ctf $out/online.ctf 1" -ex "compare-frames $calls_seed"
}

events_are_what_gdb_prints() {
	with_calls -ex "target tfile calls.tf" -ex "compare-frames $calls_seed"
}

# An export must also work if the first tracepoint of a run does not collect the task, but others do.
task_behind_a_plain_one() {
	with_calls -ex "target remote | ./target types" -ex "run-calls $calls_seed plain" -ex "compare-frames $calls_seed plain"
}

# export_all NAME: export NAME.tf in all formats, its tables to NAME.tables/
export_all() {
	local name=$out/$1 n tables=()
	rm -rf "$name".{tables,csv,ctf,perfetto}
	mkdir "$name.tables"
	for n in 1 2 3; do tables+=(-ex "gtp table $n --csv $name.tables/$n-visit.csv"); done
	with_gtp types -ex "target tfile $1.tf" "${tables[@]}" -ex "gtp export csv $name.csv" -ex "gtp export ctf $name.ctf" \
		-ex "gtp export perfetto $name.perfetto --counter n --counter \"t->wide\"" >"$name.log" && ! grep -a "Error\|Exception" "$name.log"
}

exports_are_the_tables() {
	export_all calls && says "$(cat "$out/calls.log")" "frames without \$clock are left out" "time of day by \$xtime_sec and \$xtime_nsec of" &&
		diff -r "$out/calls.tables" "$out/calls.csv" | sed 's/^/# /' &&
		"$here/exported.py" ctf "$out/calls.ctf" "$out/calls.tables" &&
		"$here/exported.py" perfetto "$out/calls.perfetto" "$out/calls.tables" "$out/calls.tf" "$out/types"
}

# Tracepoint 1 does not collect the time of day. The export takes the clock's offset from the
# program, which has it in the same variable as the kernel.
time_of_day_by_the_kernel() {
	"$here/exported.py" offset "$out/online.ctf" "$out/calls.tables" 1690000000123456789
}

# The export takes the time of day from the beginning and the end of the run, which are in the file's header.
time_of_day_by_the_run() {
	sed 's/;starttime:[0-9a-f]*;stoptime:[0-9a-f]*/;starttime:60a24181e4000;stoptime:60a2453b90a00/' "$out/calls.tf" >"$out/bounds.tf"
	rm -rf "$out/bounds.ctf"
	says "$(with_gtp types -ex "target tfile bounds.tf" -ex "gtp export ctf $out/bounds.ctf 1")" \
		"time of day by the run's begin and end, to within" &&
		"$here/exported.py" bounds "$out/bounds.ctf" "$out/calls.tables" $((0x60a24181e4000)) $((0x60a2453b90a00))
}

# A time of day that the formats cannot have would make the whole trace unreadable, so the export does not use it.
time_of_day_beyond_all() {
	local value text
	for value in xtime_sec=4611686018427387904 xtime_sec=-4611686018427387904; do
		rm -rf "$out"/far.*
		python3 "$here/random_frames.py" "$calls_seed" "$out/calls.tf" "$out/far.tf" "$value" &&
			says "$(with_gtp types -ex "target tfile far.tf" -ex "gtp export ctf $out/far.ctf 3")" "the time of day is not known" &&
			text=$(babeltrace2 "$out/far.ctf") && [ "$(wc -l <<<"$text")" -gt 10 ] || return
	done
	sed 's/;starttime:[0-9a-f]*;/;starttime:zz;/' "$out/calls.tf" >"$out/far.tf"
	says "$(with_gtp types -ex "target tfile far.tf" -ex "gtp export ctf $out/far.refused 1")" "the trace file's status is damaged"
}

# The exports must handle any data that a traced kernel can contain. So fill well-formed frames with random variables and
# memory.
random_frames() {
	python3 "$here/random_frames.py" "$calls_seed" "$out/calls.tf" "$out/random.tf" && export_all random &&
		diff -r "$out/random.tables" "$out/random.csv" | sed 's/^/# /' &&
		"$here/exported.py" ctf "$out/random.ctf" "$out/random.tables" &&
		"$here/exported.py" perfetto "$out/random.perfetto" "$out/random.tables"
}

# Use a file of a run whose frames were recorded too slowly, so that some were lost. A frame that only reports lost
# frames has a frame number in GDB, too.
lost_frames_are_told() {
	local n
	"$here/lost_frames.py" "$out/calls.tf" "$out/lost.tf" && export_all lost &&
		says "$(cat "$out/lost.log")" "12 frames were lost while the run was recorded: the reader was too slow for them" || return
	for n in 1 2 3; do
		diff <(cut -d, -f2- "$out/calls.tables/$n-visit.csv") <(cut -d, -f2- "$out/lost.tables/$n-visit.csv") | sed 's/^/# /'
		[ "${PIPESTATUS[0]}" = 0 ] || return
	done
	says "$(with_gtp types -ex "target tfile lost.tf" -ex "tfind 0" -ex "printf \"lost=%d\\n\", \$lost")" "lost=5"
}

export_refuses() {
	local text made
	head -c 20000 "$out/calls.tf" >"$out/calls-cut.tf"
	rm -rf "$out"/refused.*
	text=$(with_gtp types -ex "target tfile calls-cut.tf" -ex "gtp export ctf refused.1" -ex "gtp export perfetto refused.2" \
		-ex "gtp export csv refused.3" -ex "target tfile calls.tf" -ex "gtp export ctf refused.4 2" -ex "gtp export perfetto refused.5 2" \
		-ex "gtp export perfetto refused.6 --counter nosuch" -ex "gtp export perfetto refused.7 1 t->name --counter t->name" \
		-ex "gtp export perfetto refused.8 --counter" -ex "gtp export ctf refused.9 9" -ex "gtp export csv refused.10 1 nosuch")
	says "$text" "--counter nosuch: there is no such column" "--counter t->name: its values are not numbers" \
		"nothing after --counter; say gtp export perfetto FILE" "the run has no frames of tracepoint 9" 'No symbol "nosuch"' &&
		[ "$(grep -c "the trace ends in the middle of frame" <<<"$text")" = 3 ] &&
		[ "$(grep -c "no frame that is asked for holds \$clock" <<<"$text")" = 2 ] || return 1
	text=$(gtp_online -ex "trace add" -ex "tstart" -ex "gtp export ctf refused.11" -ex "tstop" -ex "gtp export ctf refused.12" \
		-ex "gtp export perfetto refused.13" -ex "gtp export csv refused.14")
	says "$text" "the run is going on" && [ "$(grep -c "the run has no frames" <<<"$text")" = 3 ] || return 1
	made=("$out"/refused.*)
	[ ! -e "${made[0]}" ] || { echo "# is there: ${made[*]}"; return 1; }
}

export_tests() {
	check "the events of an export are what GDB prints, of frames chosen at random, online" make_calls
	check "the same from a trace file" events_are_what_gdb_prints
	check "the task that hit, where the run's first tracepoint has not collected it" task_behind_a_plain_one
	check "gtp export csv, ctf, perfetto: babeltrace2 and protoc read what gtp table shows" exports_are_the_tables
	check "gtp export: the time of day by the kernel that GDB is connected to" time_of_day_by_the_kernel
	check "gtp export: the time of day by when the run began and ended, and its error" time_of_day_by_the_run
	check "gtp export: a time of day before 1970 or after 2262 is none; a damaged one is refused in words" time_of_day_beyond_all
	check "of frames with random values, too" random_frames
	check "gtp export: frames that say how many were lost are no events, and are told" lost_frames_are_told
	check "gtp export refuses in words, and leaves no file then" export_refuses
}
