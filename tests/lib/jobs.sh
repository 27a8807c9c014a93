# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Job: run the suites of a check, the longest first, several in parallel (each of them occupies a lane). Repeat suites
# that failed, and count the tests. Sourced by tests/check and the selftest, in the repository's root, after suites.sh.
#
# The logs of a check, in $logs. NAME.log: the log of each suite. NAME.first: the first log of a suite that failed, and
# passed when it was repeated. NAME.again: the second log of a suite that failed twice. NAME.fetched: the log of a
# download. `times` has the seconds and CPU seconds of each suite, `failed` the suites that --failed repeats.

# A lane runs one suite at a time. A guest is idle for a quarter of its time, so one lane more than there are CPUs keeps
# all CPUs busy.
lanes=$(($(nproc) + 1))
# The file with the seconds that each suite took the last time, a copy of the last check's `times`.
times=${GTP_TIMES:-tests/lib/times}
# If more suites than this fail, the failures are not due to chance, and no suite is repeated.
most_repeated=4

job_names=()
declare -A job_kind job_after job_words job_state job_urgency job_of

# add_job KIND NAME AFTER COMMAND...
add_job() {
	job_names+=("$2")
	job_kind[$2]=$1 job_after[$2]=$3 job_state[$2]=waits
	job_words[$2]=$(printf '%q ' "${@:4}")
}

# job NAME AFTER COMMAND...: add a suite. It may start when the jobs AFTER (names with blanks
# between) have ended, whether they passed or not: a suite itself reports what it lacks.
job() { add_job suite "$@"; }

# fetched NAME AFTER COMMAND...: add a job that downloads. Such a job leaves the processor idle, so it needs no lane. If
# it fails, the suite that needs the download reports that.
fetched() { add_job fetch "$@"; }

# seconds_of NAME: print the seconds that a suite took the last time. An unknown suite counts as a long one, so that it
# does not start last
seconds_of() {
	local seconds
	seconds=$(awk -v name="$1" '$1 == name { print int($2) }' "$times" 2>/dev/null)
	echo "${seconds:-300}"
}

# urgency NAME: set job_urgency[NAME] to the seconds from a job's start to the end of the last job that waits for it
urgency() {
	local name=$1 other most=0
	[ -z "${job_urgency[$name]-}" ] || return 0
	for other in "${job_names[@]}"; do
		[[ " ${job_after[$other]} " == *" $name "* ]] || continue
		urgency "$other"
		[ "${job_urgency[$other]}" -le "$most" ] || most=${job_urgency[$other]}
	done
	job_urgency[$name]=$((most + $(seconds_of "$name")))
}

# may_start NAME: true if all jobs for which NAME waits have ended, and a lane is free. Jobs that are not part of this
# check are ignored.
may_start() {
	local other on=0
	[ "${job_state[$1]}" = waits ] || return
	for other in ${job_after[$1]}; do
		[ "${job_state[$other]-ended}" = ended ] || return
	done
	[ "${job_kind[$1]}" != fetch ] || return 0
	for other in "${job_of[@]}"; do
		[ "${job_kind[$other]}" = fetch ] || on=$((on + 1))
	done
	[ $on -lt "$lanes" ]
}

# next_job: set `chosen` to the most urgent job that may start
next_job() {
	local name
	chosen=
	for name in "${job_names[@]}"; do
		may_start "$name" || continue
		[ -n "$chosen" ] && [ "${job_urgency[$name]}" -le "${job_urgency[$chosen]}" ] || chosen=$name
	done
	[ -n "$chosen" ]
}

run_job() {
	local words
	eval "words=(${job_words[$1]})"
	if [ "${job_kind[$1]}" = fetch ]; then
		"${words[@]}" >"$logs/$1.fetched" 2>&1
	else
		suite "$1" "${words[@]}"
	fi
}

# ended_jobs: note the jobs that have ended; fail if none has
ended_jobs() {
	local pid running some=1
	running=" $(jobs -rp | tr '\n' ' ')"
	for pid in "${!job_of[@]}"; do
		[[ $running != *" $pid "* ]] || continue
		job_state[${job_of[$pid]}]=ended
		unset "job_of[$pid]"
		some=0
	done
	return $some
}

run_jobs() {
	local chosen name
	for name in "${job_names[@]}"; do
		urgency "$name"
	done
	while :; do
		while next_job; do
			job_state[$chosen]=runs
			run_job "$chosen" &
			job_of[$!]=$chosen
		done
		[ ${#job_of[@]} -gt 0 ] || break
		ended_jobs || wait -n
	done
}

# keep_jobs NAME...: drop all jobs except these and those that they wait for
keep_jobs() {
	local name kept=" " todo=("$@")
	while [ ${#todo[@]} -gt 0 ]; do
		name=${todo[0]} todo=("${todo[@]:1}")
		[ -n "${job_kind[$name]-}" ] && [[ $kept != *" $name "* ]] || continue
		kept+="$name "
		# shellcheck disable=SC2206 # a list
		todo+=(${job_after[$name]})
	done
	# shellcheck disable=SC2206
	job_names=($kept)
}

# suite NAME COMMAND...: run a suite and keep its output. Print a line with the result, the elapsed
# seconds, the CPU seconds, and why tests were skipped. Print it in one write, because suites run in
# parallel.
suite() {
	local name=$1 log=$logs/$1.log start=$SECONDS used TIMEFORMAT='%0U %0S' status
	shift
	used=$({ time "$@" >"$log" 2>&1; } 2>&1)
	status=$?
	used=$((${used/ /+}))
	conclude "$name" "$log" $status >/dev/null
	echo "$name $((SECONDS - start)) $used" >>"$logs/times"
	said_of "$name" "$log" $((SECONDS - start)) "$used" >"$log.said"
	cat "$log.said"
	rm "$log.said"
}

# said_of NAME LOG SECONDS CPU_SECONDS
said_of() {
	printf '%-18s %s  %4d s, %d of CPU\n' "$1" "$(tally "$2")" "$3" "$4"
	grep -E '^ok .*# SKIP' "$2" | sed 's/^/  /'
	grep -q '^not ok ' "$2" || return
	grep -nE '^not ok ' "$2" | head -20
	echo "  the whole of it: $2; its end:"
	tail -25 "$2" | sed 's/^/  | /'
}

# Repeating --------------------------------------------------------------------------------------

# is_proof LOG: true if the log shows a defect for certain (a kernel's splat or death, a sanitizer's
# report), even if it does not occur each time.
is_proof() {
	grep -qE '^vm: (splat|guest died|silence)|(Address|Leak|UndefinedBehavior|Memory)Sanitizer|: runtime error: ' "$1"
}

# red: print the suites that failed
red() {
	local log
	for log in "$logs"/*.log; do
		! grep -qs '^not ok ' "$log" || basename "$log" .log
	done
}

# repeat NAME: run a failed suite again, alone and with the same seed. If it passes, it was flaky, and the second log
# counts.
repeat() {
	local log=$logs/$1.log words
	eval "words=(${job_words[$1]})"
	mv "$log" "$logs/$1.first"
	echo "once more, by itself:"
	suite "$1" "${words[@]}"
	grep -q '^not ok ' "$log" || return 0
	mv "$log" "$logs/$1.again"
	mv "$logs/$1.first" "$log"
}

# repeat_red: repeat each failed suite once, except those whose log proves a defect. Repeat none if
# more suites failed than can fail by chance.
repeat_red() {
	local name names
	mapfile -t names < <(red)
	if [ ${#names[@]} -gt $most_repeated ]; then
		echo "${#names[@]} suites failed: none is repeated"
		return
	fi
	for name in "${names[@]}"; do
		if is_proof "$logs/$name.log"; then
			echo "$name is not repeated: the kernel's own log, or a sanitizer, says what it is"
		else
			repeat "$name"
		fi
	done
}

# Print the suites that failed, and passed when they were repeated. This is also a defect, either of the test or of the
# tested code.
flaky() {
	local first count=0
	for first in "$logs"/*.first; do
		[ -e "$first" ] || continue
		count=$((count + 1))
		failures 10 "$first" | sed "s/^what failed:/$(basename "$first" .first) failed, and passed when it was repeated:/"
	done
	echo "flaky: $count"
}

# total: print the flaky suites and the failed tests right before the count, since CI keeps only the end of a log; fail
# if a test failed
total() {
	{
		red
		find "$logs" -name '*.first' -printf '%f\n' | sed 's/\.first$//'
	} >"$logs/failed"
	flaky
	failures 30 "$logs"/*.log
	tally "$logs"/*.log
	! grep -q '^not ok ' "$logs"/*.log
}
