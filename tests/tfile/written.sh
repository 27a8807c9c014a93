# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # sourced by tests/tfile/run, whose functions and variables these use
# Job: test that commands do not damage existing files, and refuse trace files with a damaged end. kept.tf exists already.

# all_write TRACE FILE: print GDB's output for each command that writes FILE, with the trace file TRACE open
all_write() {
	local words=() command
	for command in "export folded" "export csv" "report -o" "stacks --folded" "table --csv" "stacks --svg"; do
		words+=(-ex "gtp $command $2")
	done
	kept "$1" "${words[@]}"
}

# times N TEXT OUTPUT: check that N lines of the output contain the text
times() { [ "$(grep -cF "$2" <<<"$3")" = "$1" ] || { echo "# not $1 times '$2': $3"; return 1; }; }

trace_files_stay() {
	local w=$out/w
	rm -rf "$w"
	mkdir "$w"
	cp "$out/kept.tf" "$w/open.tf"
	cp "$out/kept.tf" "$w/another.tf"
	ln -s open.tf "$w/link.tf"
	times 6 "open.tf is the trace file that GDB reads" "$(all_write w/open.tf "$w/open.tf")" &&
		times 6 "link.tf is the trace file that GDB reads" "$(all_write w/open.tf "$w/link.tf")" &&
		times 6 "another.tf is a trace file, and would be replaced" "$(all_write w/open.tf "$w/another.tf")" &&
		times 6 "is no ordinary file" "$(all_write w/open.tf /dev/stdout)" &&
		cmp "$w/open.tf" "$out/kept.tf" && cmp "$w/another.tf" "$out/kept.tf" && [ -L "$w/link.tf" ] && [ -L /dev/stdout ]
}

links_and_modes_stay() {
	local w=$out/w
	rm -rf "$w"
	mkdir "$w" "$w/full"
	echo before >"$w/real"
	echo mine >"$w/real.part"
	echo mine >"$w/full/mine"
	chmod 600 "$w/real"
	ln -s real "$w/link"
	ln -s full "$w/to-full"
	says "$(kept kept.tf -ex "gtp export csv $w/link" -ex "gtp export csv $w/to-full" -ex "gtp export csv --limit 1" \
		-ex "gtp export csv $w/new --csv $w/other")" "link: " "to-full is a folder that is not empty" \
		"the file stands in front of --limit" "--csv belongs to gtp table" &&
		[ -L "$w/link" ] && [ "$(head -c 5 "$w/real")" = frame ] && [ "$(stat -c %a "$w/real")" = 600 ] &&
		[ "$(cat "$w/real.part")" = mine ] && [ "$(ls -A "$w")" = "$(printf '%s\n' full link real real.part to-full)" ]
}

replaced_trace_is_told() {
	cp "$out/kept.tf" "$out/replaced.tf"
	times 2 "is not the file any more that GDB has read" "$(kept replaced.tf -ex "shell cp kept.tf r.part; mv r.part replaced.tf" \
		-ex "gtp table" -ex "gtp export csv $out/never.csv")" && [ ! -e "$out/never.csv" ]
}

# Entries without a value and empty buckets are refused, because the kernel never writes any.
empty_entries_are_refused() {
	local n=0 line
	for line in "aggregation stats_x stats :|entry 0 : 0 0 0 :" "aggregation hist_y hist :|entry 1 : 3 3 3 : 3=0" \
		"aggregation hist_y hist : key_a|noroom 0 : 0 0 0 :" "aggregation count_z count :|entry 0 : :"; do
		n=$((n + 1))
		tail_of "empty-$n.tf" "${line%|*}" "${line#*|}"
		says "$(kept "empty-$n.tf" -ex "gtp show" -ex "gtp merge $out/empty-$n.tf" -ex "gtp report $out/empty.html")" \
			"the text of the aggregations is damaged: it cannot be read" || return 1
		[ "$(grep -c "is damaged" "$out/gdb.log")" = 3 ] && ! grep "bug of gdbtp" "$out/gdb.log" ||
			{ sed 's/^/# /' "$out/gdb.log"; return 1; }
	done
}

stacks_have_addresses() {
	local n=0 line
	for line in "stack 1 -10" "stack 1 10000000000000000" "image -1 10"; do
		n=$((n + 1))
		tail_of "below-$n.tf" "$line"
		says "$(kept "below-$n.tf" -ex "gtp show")" "what follows the trace file's frames is damaged" || return 1
	done
}

written_tests() {
	check "no command that writes a file replaces a trace file, a device, or what GDB reads" trace_files_stay
	check "a file keeps its mode and its link; what has a name like it stays; wrong words are told" links_and_modes_stay
	check "a trace file that another one has replaced is told" replaced_trace_is_told
}
