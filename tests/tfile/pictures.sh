# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # sourced by tests/tfile/run, whose functions and variables these use
# Job: test the formats of gtp export for stacks: folded lines, speedscope, flame graphs.

# all_three NAME [OPTION...]: set `commands` to the GDB commands that write NAME.folded, NAME.json and NAME.svg
all_three() {
	local name=$1
	shift
	commands=(-ex "gtp export folded $out/$name.folded $*" -ex "gtp export speedscope $out/$name.json $*"
		-ex "gtp export flamegraph $out/$name.svg $*")
}

agree() { "$here/pictures.py" "$out/$1.folded" "$out/$1.json" "$out/$1.svg" "$2" "${3:-none}"; } # agree NAME TOTAL [UNIT]

# Exports made during the run, after it, and from its trace file must be the same.
stacks_are_exported() {
	local commands live text
	rm -f "$out"/pic*
	all_three pic
	live=("${commands[@]}")
	all_three pic-by c --by n
	live+=("${commands[@]}" -ex "tstop" -ex "gtp save $out/pic.tf")
	all_three pic-after
	text=$(by_stack "${live[@]}" "${commands[@]}" -ex "gtp stacks --by n --svg '$out/pic short.svg'")
	says "$text" "$out/pic.folded: 2 stacks, 4 hits" "$out/pic-by.svg: 4 stacks, 4 hits" "$out/pic short.svg: 4 stacks, 4 hits" &&
		[ "$(cat "$out/pic.folded")" = $'main;there;look 3\n[the unwinder could not follow];here;look 1' ] &&
		grep -qx '70;main;there;look 1' "$out/pic-by.folded" && agree pic 4 && agree pic-by 4 || return 1
	all_three pic-file
	kept pic.tf "${commands[@]}" >"$out/log"
	for text in folded json svg; do
		cmp "$out/pic.$text" "$out/pic-after.$text" && cmp "$out/pic.$text" "$out/pic-file.$text" || return 1
	done
	cmp "$out/pic-by.svg" "$out/pic short.svg"
}

# The export has all 100 hits, although there was no room for most keys. A separate box has the hits without room.
export_loses_nothing() {
	local commands hits=() i
	for i in {1..100}; do hits+=(-ex "hit look &first $i"); done
	all_three lost
	gtp_online -ex "monitor aggregate-keys 16" -x "$here/stacks.gdb" -ex "gtp clear" "${hits[@]}" "${commands[@]}" >"$out/log"
	agree lost 100 && grep -q '^\[no room for the keys\] [1-9]' "$out/lost.folded"
}

# Export sums or the numbers of their hits, with units. Sums below 0 cannot be drawn.
sums_are_exported() {
	local commands before text
	all_three sum sum_n --unit bytes
	before=("${commands[@]}")
	all_three hits sum_n --weight hits
	before+=("${commands[@]}")
	all_three stats stats_n --weight sum --unit ns
	text=$(gtp_online -ex "gtp sum n by \$kstack at look" -ex "gtp stats n by \$kstack" -ex "gtp min n by \$kstack" -ex "tstart" \
		-ex "hit look &first 1000" -ex "hit look &first 536" "${before[@]}" "${commands[@]}" \
		-ex "gtp export folded $out/no min_n" -ex "gtp export folded $out/no" -ex "hit look &first -5000" \
		-ex "gtp export flamegraph $out/no sum_n" -ex "gtp export speedscope $out/no sum_n" \
		-ex "gtp export folded $out/below sum_n")
	says "$text" "sum.svg: 1 stack, 1.5 KiB" "hits.svg: 1 stack, 2 hits" "stats.svg: 1 stack, 1.54 µs" \
		"\$min_n has no sums" "say which: \$sum_n, \$stats_n, \$min_n" &&
		[ "$(grep -c "\$sum_n has sums below 0" <<<"$text")" = 2 ] && [ ! -e "$out/no" ] && [ "$(cat "$out/below")" = "look -3464" ] &&
		agree sum 1536 bytes && agree hits 2 && agree stats 1536 nanoseconds
}

# The old file stays if the new one cannot be completed, and no temporary file is left.
exports_refuse() {
	local text
	rm -rf "$out"/refused*
	echo before >"$out/refused"
	text=$(by_stack -ex "gtp export" -ex "gtp export nosuch $out/refused" -ex "gtp export folded" -ex "gtp export folded $out/refused nosuch" \
		-ex "gtp export flamegraph $out/refused --by x" -ex "gtp export flamegraph $out/refused --weight ns" \
		-ex "gtp export speedscope $out/refused --what" -ex "gtp export folded /no/such/file" -ex "gtp export folded $out" \
		-ex "gtp stacks --top 3 --svg $out/refused" -ex "complete gtp export fl" -ex "help gtp export")
	says "$text" "say gtp export FORMAT FILE [...]; FORMAT is one of " "no format nosuch; there are folded, speedscope, flamegraph" \
		"there is no \$nosuch" "\$count_c has no key x" "--weight takes hits or sum" "--what is not understood; say gtp export speedscope FILE" \
		"/no/such/file: No such file or directory" "build/tfile is a folder that is not empty" "--svg FILE is the whole picture" \
		"gtp export flamegraph" "folded FILE [NAME] [--by KEY]" &&
		says "$(with_gtp prog -ex "gtp export folded $out/refused")" "not connected to a kernel" &&
		says "$(offline ours.tf -x "$here/../../gdbscripts/gtp.py" -ex "gtp export folded $out/refused")" "gtp save writes them" &&
		[ "$(cat "$out/refused")" = before ] && [ "$(echo "$out"/refused*)" = "$out/refused" ]
}

# If the disk is full, the previous file is unchanged, and the error message is complete.
full_disk_leaves_the_old_file() {
	local text
	rm -rf "$out"/full*
	echo before >"$out/full"
	echo mine >"$out/full.part"
	cat >"$out/full.py" <<-'END'
		import os
		from gtp.export import registry
		def write(path, arg):
		    os.symlink("/dev/full", path)
		    with open(path, "w") as file:
		        file.write("after")
		registry.add("full", "", "", write)
	END
	text=$(with_gtp prog -ex "source $out/full.py" -ex "gtp export full $out/full")
	says "$text" "$out/full: No space left on device" && [ "$(cat "$out/full")" = before ] &&
		[ "$(cat "$out/full.part")" = mine ] && [ -z "$(ls -d "$out"/.gtp.* 2>/dev/null)" ]
}

picture_tests() {
	check "gtp export folded, speedscope, flamegraph: the same hits, by a key too, during a run, after it, from its file" stacks_are_exported
	check "an export has every hit, also those whose keys found no room" export_loses_nothing
	check "an export of sums, of the hits behind them, in units; sums below 0 are refused for pictures" sums_are_exported
	check "gtp export refuses in words; a file that was there stays" exports_refuse
	check "a full disk: the file that was there stays, and it is told" full_disk_leaves_the_old_file
}
