# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Job: the only list of suites, with the files that each suite needs built, and where and how it runs. tests/run and
# tests/check source it, in the repository's root.

# The suites use the programs that tests/vm/deps installs. Otherwise the wrapper of a version
# manager may come first in PATH. It starts other programs, and starts them slowly: pyenv's takes
# 0.6 s of CPU time for each python3, Debian's own python3 takes 0.05 s.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH

# Keep compiled Python files in the build folder. Without them, each GDB that starts the command gtp compiles its modules
# again: 0.2 s of CPU time, and 2 s in a guest.
export PYTHONPYCACHEPREFIX=$PWD/build/pycache
unset PYTHONDONTWRITEBYTECODE

# name | guest | needs | topics | what it shows
#   guest   -: none; own: it boots its own; parallel, single: it runs inside one whose CPUs have a host thread each, or
#           share one
#   needs   what must be built for the kernel: see the functions need_*
#   topics  what may follow the suite's name
suites="
structure | - | | | folders include and call only those below them; documents name what is there; Kbuild refuses what it must
style     | - | | | checkpatch, clang-format, budgets, licences
lib       | - | | | what the suites share sees failures, skips and silence
module    | - | | | the modules build without a warning, sparse has nothing to say, and an endbr64 is where one must be
unit      | - | | test_NAME | every shared source on a fake machine, under ASan and UBSan
vectors   | - | tools | FILE | what each opcode means, in the interpreter and the compiler
agent     | - | tools | | what GDB sees of a process by gtp attach, and that the process is left as it was
inject    | - | tools | | jumps in processes that run on: results, signals, system calls, kills; nothing is left
blob      | - | | | the agent's code in a process: every hit counted and every frame right, and the process unharmed
connect   | - | tools | | what gdbtp-connect passes on
shell     | - | | | the parts of the command gtp that need neither root, nor a kernel, nor GDB
tfile     | - | | | trace files as a real GDB and babeltrace2 read them
compile   | - | tools | | sessions that gtp compile makes and gtp-run runs: the bytes that GDB saves, refusals
fleet     | - | tools | | gtp fleet on sshds of its own: what comes back, what fails, what is merged
record    | - | tools | | what gtp record writes: ends, crashes, full disks, files that turn; the lines of gtp live
page      | - | | TOPIC | pictures and pages in a browser, used as a reader uses them
fuzz      | - | | FUZZER | any bytes as packets and expressions; compiler against interpreter
expr      | own | tools module kmod | recipes, offline, places, views, commands, guest, kernel or fixture | C expressions as gtp commands translate them, and their values at hits
regions   | - | | TOPIC | the verdicts of gdbtp-regions against independent readers
unwind    | - | tools | | tables of call frame information, and stacks taken by them, against libdw
vm        | own | | | the runner of guests fails when it must, and only then
deb       | own | | TOPIC | the Debian packages: built, installed, booted, upgraded, purged, in roots of Debian 13
crash     | own | tools module kmod | PLACE | where the kernel's own rule for jumps is wrong, gdbtp knows
dying     | own | tools module kmod | CASE | machines that panic during a run get to their end
jump      | own | tools module kmod | TOPIC | jumps at random places of a live kernel under load
marks     | own | tools module kmod tables | CASE | processors with bugs, and what generated code has for each
soak      | own | tools module kmod program | | runs of 1,000 jumps and of uprobes while others change the same code
hunt      | own | tools module kmod | | probes at random functions while all else that is probed walks by
sessions  | parallel | tools module kmod | FILE | packet transcripts against /proc/gtp
smp       | parallel | tools module kmod tables | | exact counts on all CPUs, with interrupts
jit       | parallel | tools module jit | | the compiler in the kernel: vectors, random programs, bad addresses
gdb       | single | tools module kmod tables program | TOPIC | a real GDB against the module
faults    | single | tools module kmod tables program | TOPIC | users, signals, memory, modules and CPUs that fail
"

logs=build/check
# A suite is ended when it has printed no line for this many seconds, and a topic in a guest after half as many. The
# total time is not limited.
silence=${GTP_SILENCE:-1800}

# column SUITE NUMBER
column() {
	awk -F'|' -v name="$1" -v n="$2" '{ gsub(/^ +| +$/, "", $1); gsub(/^ +| +$/, "", $n) } $1 == name { print $n }' <<<"$suites"
}

# suites_with GUEST: print the suites that have this word in the column `guest`
suites_with() {
	awk -F'|' -v guest="$1" '{ gsub(/ /, "", $1); gsub(/ /, "", $2) } $2 == guest { print $1 }' <<<"$suites"
}

# part_spec SUITE[/TOPIC][:WORD]: set suite, topic and word to its parts
part_spec() {
	local place=${1%%:*}
	suite=${place%%/*} topic='' word=''
	[[ $place != */* ]] || topic=${place#*/}
	[[ $1 != *:* ]] || word=${1#*:}
}

# For a suite that cannot select tests, keep only the lines of tests that have the word in their
# name.
with_word() {
	awk -v word="$1" '/^(not )?ok / && !index($0, word) { next } { print; fflush() }'
}

watched() { tests/lib/silence "$silence" "$@"; }

# print one TAP test for a command that prints no TAP
single() {
	local what=$1
	shift
	if "$@"; then echo "ok - $what"; else echo "not ok - $what"; return 1; fi
}

# no_output COMMAND...: true if the command succeeds and its output has no warning
no_output() {
	local out status
	out=$("$@" 2>&1)
	status=$?
	printf '%s\n' "$out" | sed 's/^/# /'
	[ $status = 0 ] && ! grep -qE 'warning:|error:' <<<"$out"
}

# Targets to build ------------------------------------------------------------------------------

# find_kernel SERIES: set the variables of an unpacked kernel
find_kernel() {
	tests/vm/kernel "$1" >/dev/null || return 1
	# shellcheck disable=SC1090
	. "build/kernels/$1/env"
}

# for_kernel SERIES FUNCTION...: call the function with the kernel's variables. If the kernel's
# release has a root of its own, call it in that root, with the compiler and the libraries of the
# guest.
for_kernel() {
	local series=$1
	shift
	# shellcheck disable=SC1090
	. "build/kernels/$series/env"
	if [ -z "$root" ]; then
		"$@"
	else
		# Name the headers by the path at which their package put them. With any other path, 7.3's Kbuild writes
		# its output into their folder.
		# shellcheck disable=SC2016 # for the other shell
		tests/vm/in-root "$series" bash -c \
			'. tests/lib/suites.sh; . "build/kernels/$0/env"; headers=${headers#"$root"}; "$@"' "$series" "$@"
	fi
}

# The compiled Python files are among the tools: guests and GDBs in other roots only read them.
need_tools() { make -s -C tools && python3 -m compileall -q gdbscripts tests; }

# Compile the shared sources for userspace, for the unit tests and for the fake targets of tests/tfile.
need_objects() { make -s -C tests/unit "$PWD/build/unit/libgtp.a" "$PWD/build/unit/libhelp.a"; }

# The variables of make for modules. Kbuild calls nm several times for each object, and on a machine with LLVM each nm
# loads libLLVM as a plugin, which takes 20 times the CPU time of nm itself. gcc-nm loads only gcc's own plugin. With W=1
# Kbuild also starts kernel-doc for each object; run_module starts it once for all files.
kbuild_words=(KCFLAGS=-Werror NM=gcc-nm cmd_checkdoc=)

# need_module [MAKE'S VARIABLE...]
need_module() { scripts/build-module "$headers" "build/module/$release" "${kbuild_words[@]}" "$@"; }

need_kmod() { tests/kmod/build "$headers" "build/kmod/$release" "${kbuild_words[@]}"; }

need_tables() {
	tools/gdbtp-tables make "build/tables/$release" "$vmlinux" "build/kmod/$release/gtp_target.ko" \
		"build/kmod/$release/gtp_target2.ko"
}

need_program() { tests/program/build "build/program/$release"; }

# Call this after need_module, because it links the objects that need_module builds.
need_jit() { tests/jit/build "$headers" "build/jit/$release" "build/module/$release" "${kbuild_words[@]}"; }

# needs_of SUITE TOPIC
needs_of() {
	case $1/$2 in
	faults/) column "$1" 3 ;;
	faults/regions | faults/lockdown) column "$1" 3 | sed 's/ program//' ;;
	faults/program) column "$1" 3 | sed 's/ tables//' ;;
	faults/*) column "$1" 3 | sed 's/ tables program//' ;;
	gdb/ | gdb/event | gdb/program | gdb/program_recipes | gdb/exits | gdb/ustack | gdb/unwind | gdb/markers) column "$1" 3 ;;
	gdb/*) column "$1" 3 | sed 's/ program//' ;;
	*) column "$1" 3 ;;
	esac
}

# newer FILE FOLDER...: true if anything in the folders is newer than the file, or the file does not exist
newer() {
	[ ! -e "$1" ] || [ -n "$(find "${@:2}" -newer "$1" -print -quit)" ]
}

# to_build NEED: true if a source is newer than the result. This function is faster than Kbuild, which takes four
# seconds of CPU time to find that out. If a file was removed, its folder is newer.
to_build() {
	local folders
	read -ra folders < <(sed -n 's/^GTP_FOLDERS := //p' shared.mk)
	case $1 in
	module) newer "build/module/$release/gdbtp.ko" Kbuild shared.mk scripts/build-module scripts/kbuild "${folders[@]}" ;;
	kmod) newer "build/kmod/$release/gtp_target.ko" scripts/kbuild tests/kmod ;;
	esac
}

# build_one SERIES NEED: build one target. The tools are built for the host, where they choose places and make tables.
# If the guest has a root of its own, the tools are also built in that root, for use in the guest.
build_one() {
	if [ "$2" = tools ]; then
		need_tools || return
		[ -n "${root-}" ] || return 0
	fi
	to_build "$2" || return 0
	for_kernel "$1" "need_$2"
}

# build SERIES NEED...: build quietly; on failure print the step and the end of its output
build() {
	local need log=$logs/build.log series=$1
	shift
	mkdir -p "$logs"
	[ "${*:-tools}" = tools ] || find_kernel "$series" || { echo "not ok - kernel $series is there"; return 1; }
	for need; do
		build_one "$series" "$need" >"$log" 2>&1 && continue
		tail -n 30 "$log" | sed 's/^/# /'
		echo "not ok - $need: it builds for $series"
		return 1
	done
}

# How each suite runs: run_NAME SERIES TOPIC WORD ------------------------------------------------
# Suites without a guest get all three arguments; TOPIC and WORD may be empty.

run_structure() {
	local status=0
	watched tests/structure/run || status=1
	watched tests/lib/named || status=1
	watched tests/marks/refused || status=1
	return $status
}

run_style() { watched scripts/style; }

run_lib() { watched tests/lib/selftest; }

# documented KERNEL_DOC: call a kernel's kernel-doc, which prints warnings, for all sources of modules
documented() {
	local folders files
	read -ra folders < <(sed -n 's/^GTP_FOLDERS := //p' shared.mk)
	mapfile -t files < <(find "${folders[@]}" tests/kmod tests/jit -maxdepth 1 -name '*.c')
	[ ${#files[@]} -gt 100 ] && perl "$1" -none "${files[@]}"
}

# The modules must build without a warning, from gcc and from sparse.
run_module() {
	local doc
	single "kernel $1 is there" find_kernel "$1" || return 1
	if [ -n "$root" ] && [ ! -e "${headers%-cloud-amd64}-common/scripts/checker-valid.sh" ]; then
		echo "ok - sparse has nothing to say for $1 # SKIP its headers come without what calls sparse"
		single "gdbtp.ko builds for $1 at W=1 without a warning" no_output for_kernel "$1" need_module
	else
		single "gdbtp.ko builds for $1 at W=1 without a warning, and sparse has nothing to say" \
			no_output for_kernel "$1" need_module C=2 CF=-Wsparse-error
	fi
	single "the fixture modules build for $1 without a warning" no_output for_kernel "$1" need_kmod
	single "the programs that are traced build for $1 without a warning" no_output for_kernel "$1" need_program
	# The headers of the newest kernels come without kernel-doc.
	for doc in "$headers" "${headers%-cloud-amd64}-common"; do
		[ -e "$doc/scripts/kernel-doc" ] || continue
		single "kernel-doc has nothing to say for $1" no_output documented "$doc/scripts/kernel-doc"
		break
	done
	[ -z "$root" ] || single "the tools build with its compiler" no_output for_kernel "$1" need_tools
	single "tables of regions are made for $1" no_output for_kernel "$1" need_tables
	# By default, a check runs this suite on the oldest kernel only.
	[ "${GTP_BESIDE-$1}" != "$1" ] ||
		single "the compiler's test module builds for $1 without a warning" no_output for_kernel "$1" need_jit
	python3 -B tests/marks/taken.py "build/module/$release/gdbtp.ko" "$headers"
}

run_unit() { CMOCKA_MESSAGE_OUTPUT=TAP watched make -s -k -C tests/unit check ${2:+"ONLY=$2"}; }

run_vectors() {
	local files
	mapfile -t files < <(find tests/vectors -name '*.ax' ${2:+-path "*$2*"} | sort)
	[ ${#files[@]} = 0 ] || watched build/tools/axrun "${files[@]}"
}

run_agent() {
	single "the programs that gtp-attach looks at build" make -s -f tests/agent/fixture.mk || return 1
	GTP_ONLY=${3-} watched tests/agent/run
}

run_inject() {
	single "the processes that are patched, and the program that patches them, build" \
		make -s -f tests/inject/fixture.mk || return 1
	GTP_ONLY=${3-} watched tests/inject/run
}

run_blob() {
	single "the agent's image builds, and needs nothing outside itself" \
		make -s -C tests/blob build || return 1
	watched build/blob/test_blob build/blob/agent/image
}

run_connect() { watched tests/connect/run; }

run_shell() { watched tests/shell/run; }

run_tfile() { watched tests/tfile/run; }

run_compile() { watched tests/compile/run; }

run_fleet() { watched tests/fleet/run; }

run_record() { watched tests/record/run; }

run_page() { watched tests/page/run ${2:+"$2"}; }

# Fuzzers try the same inputs each time unless FUZZ_SEED is set. random_jit and random_pad are one target, and take
# little time.
run_fuzz() {
	local status=0
	[[ ${2-} == random* ]] || watched make -s -C tests/fuzz run ROUNDS="${FUZZ_ROUNDS:-1}" SEED="${FUZZ_SEED:-1}" \
		${2:+"ONLY=$2"} || status=1
	[[ ${2:-random} != random* ]] || watched make -s -C tests/fuzz random COUNT=100000 || status=1
	return $status
}

run_regions() { SEED=${SEED-${GTP_SEED-}} watched tests/regions/run ${2:+"$2"}; }

run_unwind() {
	single "the programs whose stacks are compared build" make -s -f tests/unwind/fixture.mk || return 1
	SEED=${SEED-${GTP_SEED-1}} GTP_ONLY=${3-} watched tests/unwind/run
}

run_vm() { watched tests/vm/selftest "$1"; }

# This suite needs root to make root file systems, and boots its own guests. Every topic continues
# where the previous ones ended. The limit of silence is longer, because the suite shows apt's
# output only if apt fails.
run_deb() { silence=$((3 * silence)) watched tests/deb/run ${2:+"$2"}; }

run_expr() { tests/expr/run "$1" ${2:+"$2"}; }

run_crash() { tests/crash/run "$1" ${2:+"$2"}; }

run_dying() { tests/dying/run "$1" ${2:+"$2"}; }

# The places are chosen at random in each run; the log has the seed.
run_jump() {
	local topics=(together single counts waits halt weak)
	[ -z "$2" ] || topics=("$2")
	tests/jump/run "$1" --count 300 "${topics[@]}"
}

run_marks() { tests/marks/run "$1" ${2:+"$2"}; }

run_soak() { tests/jump/soak "$1" --seconds 60; }

run_hunt() {
	local places=150
	[ -z "${GTP_BRIEF-}" ] || places=60
	tests/hunt/run "$1" --places $places --batch $places
}

# pack_headers SERIES: pack the headers in which macros are looked up into one file, with their
# paths in the guest. A guest takes fourteen seconds to read 6,000 files of the host, and six
# seconds each further time. Lanes start guests of one kernel at the same moment: one lane packs,
# the others wait.
pack_headers() (
	find_kernel "$1" || exit
	packed=$PWD/build/kernels/$1/headers-$release.tar top=$(realpath "${root:-/}")
	repo=$PWD
	. tests/vm/lib.sh
	vm_lock "$1" || exit
	[ ! -e "$packed" ] || exit 0
	folders=()
	for at in "$(realpath "$headers")" "$(realpath "${headers%-cloud-amd64}-common")"; do
		for folder in "$at"/{,arch/x86/}include; do
			[ ! -d "$folder" ] || folders+=("${folder#"${top%/}/"}")
		done
	done
	tar -C "$top" -cf "$packed.new" "${folders[@]}" && mv "$packed.new" "$packed"
)

# on_host SPEC...: true if the GDBs of these suites run on the host, beside their guest. Only the GDBs of suite gdb do
# so, and only if neither GTP_INSIDE nor GTP_FRESH is set. With GTP_FRESH, each GDB runs as a user's GDB does.
on_host() {
	[ $# = 1 ] && [[ $1 =~ ^gdb(/|:|$) ]] && [ -z "${GTP_INSIDE-}${GTP_FRESH-}" ]
}

# gdb_beside SPEC: set `command` to the command that runs the GDBs of SPEC beside their guest
gdb_beside() {
	local suite topic word topics
	part_spec "$1"
	IFS=, read -ra topics <<<"$topic"
	command=(env GTP_ONLY="$word" tests/gdb/run "${topics[@]}")
}

# in_kept SERIES COMMAND...: run a command in the guest that `make guest` keeps, and set `status`; fail if there is no
# such guest. A kernel that warns dies, so if the guest still answers, its log has no warning.
in_kept() {
	local kept=build/vm/kept-$1
	[ -n "${GTP_KEPT-}" ] && [ -e "$kept/env" ] || return
	shift
	status=0
	(
		# shellcheck disable=SC1091
		. "$kept/env"
		export GTP_AGENT GTP_GUEST GTP_OUT GTP_GDB_INDEX
		"$@"
		status=$?
		tests/vm/in-guest true && exit $status
		tail -n 20 "$kept/console" | sed 's/^/# /'
		echo "not ok - the kept guest goes on: $kept/console"
		exit 1
	) || status=$?
}

# guest_run KIND SERIES SPEC...: run suites in one guest. For tests that change code while other
# CPUs run it, all CPUs of the guest must share one host thread: see tests/vm/README.md.
guest_run() {
	local kind=$1 series=$2 options=(--smp 8) limit=$silence other=${GTP_BESIDE-} command status
	[ "$kind" = parallel ] || options=(--smp 4 --thread single)
	[ "$series" != debug ] || limit=$((3 * silence))
	[ "$other" != "$series" ] || other=''
	shift 2
	command=(tests/guest "$@")
	! on_host "$@" || { gdb_beside "$1"; options+=(--agent); }
	if on_host "$@" && in_kept "$series" "${command[@]}"; then
		return $status
	fi
	pack_headers "$series" || { echo "not ok - the headers of $series are there"; return 1; }
	tests/vm/run --kernel "$series" "${options[@]}" --mem 4096 --silence "$limit" --name "$kind" -- \
		env GTP_SILENCE=$((limit / 2)) ${GTP_SEED:+GTP_SEED="$GTP_SEED"} GTP_FRESH="${GTP_FRESH-}" GTP_BESIDE="$other" \
		GTP_BRIEF="${GTP_BRIEF-}" "${command[@]}"
}

# Counting ---------------------------------------------------------------------------------------

# tally FILE...: print how many tests passed, failed and were skipped
tally() {
	awk '/^ok / { if (/# SKIP/) skip++; else ok++ } /^not ok / { bad++ }
		END { printf "%d passed, %d failed, %d skipped\n", ok, bad, skip }' "$@"
}

# failures MOST FILE...: print at most MOST of the tests that failed, each with the name of its log and its line in that
# log. The log's name begins with the suite's name.
failures() {
	local most=$1 bad count
	shift
	bad=$(grep -nHE '^not ok ' "$@" | sed -E 's/^([^:]*):([0-9]+):(.*)/\3   (\1:\2)/')
	[ -n "$bad" ] || return 0
	count=$(wc -l <<<"$bad")
	echo "what failed:"
	head -n "$most" <<<"$bad" | sed 's/^/  /'
	[ "$count" -le "$most" ] || echo "  and $((count - most)) more: grep '^not ok' in the logs"
}

# conclude NAME FILE STATUS: add a line to the log of a suite that fails without naming a test, or prints no test at all
conclude() {
	grep -q '^not ok ' "$2" && return
	[ "$3" = 0 ] && grep -q '^ok ' "$2" && return
	echo "not ok - $1 as a whole: exit status $3, $(grep -c '^ok ' "$2") tests seen" | tee -a "$2"
}
