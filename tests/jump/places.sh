# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Job: common code of tests/jump/run, tests/jump/soak and tests/hunt/run, which source it in the repository's root.
repo=$PWD
. tests/vm/lib.sh

series=6.1 seed=${GTP_SEED:-$RANDOM$RANDOM} cpu=max append='' thread=single
accept=() # what the guest's kernel log may have: words for tests/vm/run

# options "NAME..." WORD...: set variables from the words: a kernel sets series, and --seed, --cpu, --append, --thread and
# --NAME set the variables of these names. The remaining words are in the array rest. Return 1 for an unknown option.
options() {
	local known=" seed cpu append thread $1 "
	shift
	while [ $# -gt 0 ]; do
		case $1 in
		--*)
			[[ $# -ge 2 && $known == *" ${1#--} "* ]] || return 1
			declare -g "${1#--}=$2"
			shift 2
			;;
		*)
			vm_known "$1" || break
			series=$1
			shift
			;;
		esac
	done
	rest=("$@")
}

# take_kernel FOLDER SUITE: build what the suite needs, so that it does not test modules of older sources. Set the variables
# of tests/vm/kernel, and $out to build/FOLDER/RELEASE, where the tables and the chosen places are stored
take_kernel() {
	local env
	# shellcheck disable=SC2046 # words
	(. tests/lib/suites.sh && build "$series" $(needs_of "$2" "")) || exit 1
	env=$(tests/vm/kernel "$series") || exit 1
	eval "$env"
	tool=build/tools/gdbtp-regions
	out=build/$1/$release
	mkdir -p "$out"
	picks=$(mktemp "$PWD/$out/picks.XXXXXX")
	trap 'rm -f "$picks"' EXIT
}

# make_tables FILE...: make the tables of regions of the kernel and of modules
make_tables() {
	# shellcheck disable=SC2154 # of the kernel's
	tools/gdbtp-tables make "$out/tables" "$vmlinux" "$@" || exit 1
}

# choose COUNT FILE...: choose places in the kernel and in modules, see pick.py
choose() {
	python3 -B tests/jump/pick.py "$seed" "$1" $tool "$vmlinux" "${@:2}" || exit 1
}

# in_guest NAME WORD...: run `python3 WORD...` with the tests' environment in a guest. Exits with the guest's status.
in_guest() {
	local name=$1 status=0
	shift
	echo "# seed $seed, kernel $series, CPU $cpu, thread $thread: $(wc -l <"$picks") places"
	tests/vm/run --kernel "$series" --smp 4 --thread "$thread" --mem 4096 --cpu "$cpu" --append "$append" \
		--silence 1800 "${accept[@]}" --name "$name" -- env GTP_TABLES="$PWD/$out/tables" GTP_MODULES="$modules" \
		PYTHONPATH="$PWD/tests/jump" ${GTP_MODULE:+"GTP_MODULE=$GTP_MODULE"} tests/lib/env python3 "$@" || status=$?
	[ $status = 0 ] || echo "# the guest ended with status $status; the same again: --seed $seed --cpu $cpu --thread $thread"
	exit $status
}
