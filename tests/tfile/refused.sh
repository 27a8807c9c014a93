# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # sourced by tests/tfile/run, whose functions and variables these use
# Job: test trace files with numbers and names that no run writes, and arguments that commands refuse. kept.tf exists already.

errors_show_what_was_typed() {
	says "$(with_gtp types -x "$here/refused.py")" "all is as typed"
}

many_names_take_no_hours() {
	says "$(with_gtp types -x "$here/many.py")" "no search through all of them"
}

# Trace files with a name that occurs twice, or with numbers that are out of range, are damaged.
impossible_numbers_are_refused() {
	local n=0 line lines most=18446744073709551616
	for line in "aggregation a_x count :|entry 1 : :|aggregation a_x stats :|entry 1 : 1 1 1 :" "run 0 -1 0" \
		"run 0 0 $most" "aggregation a_x count :|entry $most : :" "aggregation a_x sum :|entry 1 : $most :" \
		"aggregation a_x sum :|entry 1 : -9223372036854775809 :" "aggregation a_x hist :|entry 1 : 1 1 1 : 1=$most" \
		"aggregation a_x lhist 0 $most 1$most :|entry 1 : 1 1 1 : 1=1"; do
		n=$((n + 1))
		IFS='|' read -ra lines <<<"$line"
		tail_of "impossible-$n.tf" "${lines[@]}"
		says "$(kept "impossible-$n.tf" -ex "gtp show" -ex "gtp merge $out/impossible-$n.tf" -ex "gtp stacks")" \
			"the text of the aggregations is damaged: it cannot be read" || return 1
		[ "$(grep -c "is damaged" "$out/gdb.log")" = 3 ] && ! grep "bug of gdbtp" "$out/gdb.log" || return 1
	done
}

# The module keeps a sum modulo 2^64 as a signed number. A sum that may have wrapped is never shown as an ordinary number.
sums_that_wrap_are_marked() {
	local text narrow=$'name sum_narrow\tunsigned int\tn\t' wide=$'name sum_wide\tunsigned long\tn\t'
	local signed=$'name sum_signed\tlong\tn\t' stacked=$'name sum_stacked\tunsigned long\tn\t'
	tail_of sums-1.tf "$narrow" "$wide" "$signed" "aggregation sum_narrow sum : key_a" "entry 4294967296 1 : -4294967296 :" \
		"entry 4294967298 2 : 7 :" "entry 2 3 : 8 :" "aggregation sum_wide sum : key_a" "entry 3 1 : -5 :" "entry 2 2 : 9 :" \
		"aggregation sum_signed sum :" "entry 3 : -6 :" "aggregation stats_x stats :" "entry 3 : $((-(1 << 62))) $((1 << 62)) $((1 << 62)) :"
	tail_of sums-2.tf "$wide" "aggregation sum_wide sum : key_a" "entry 1 1 : 10 :"
	tail_of sums-3.tf "$stacked" "key key_s" "stack 1 10" "aggregation sum_stacked sum : key_s" "entry 2 1 : -5 :"
	text=$(kept sums-1.tf -ex "gtp show" -ex "gtp merge $out/sums-1.tf $out/sums-2.tf" -ex "gtp report $out/sums.html")
	says "$text" "18446744069414584320 (n 4294967296)" "7 modulo 2^64 (n 4294967298)" "8 (n 2)" "18446744073709551611 modulo 2^64 (n 3)" \
		"9 (n 2)" "-6 (n 3)" "avg 4611686018427387904" "5 modulo 2^64 (n 4)" || return 1
	[ "$(grep -c "modulo 2^64: the sum may have wrapped" <<<"$text")" = 4 ] || return 1
	[ "$(grep -oE '^[123] .*modulo|^[123] .*\(n' <<<"$text" | head -n 5 | cut -c1 | tr -d '\n')" = 21312 ] || return 1
	text=$(kept sums-3.tf -ex "gtp stacks" -ex "gtp export folded $out/sums.folded" -ex "gtp export folded $out/sums.folded --weight hits")
	[ "$(grep -c "\$sum_stacked has a sum that may have wrapped at 2^64" <<<"$text")" = 2 ] && grep -q " 2$" "$out/sums.folded"
}

# A key of a type that no key can have is shown as a number. A key of type string is not a stack, even if the file says
# so.
keys_are_shown_as_they_can_be() {
	tail_of odd.tf $'name key_t\tstruct thing\tthing\t' "key keystr_s" "stack 1 10" "aggregation a_x count : key_t keystr_s" \
		"entry 1 7 41 0 : :"
	[ "$(grep -c '^7 *A *1$' <<<"$(with_gtp types -ex "gtp merge $out/odd.tf" -ex "target tfile $out/odd.tf" -ex "gtp show")")" = 2 ]
}

# The second file lacks the line "key". The numbers in it must not be taken for numbers of stacks in the first file.
stacks_and_numbers_are_not_merged() {
	tail_of stack-1.tf "key key_n" "stack 1 10" "aggregation a_x count : key_n" "entry 1 1 : :"
	tail_of stack-2.tf "aggregation a_x count : key_n" "entry 2 1 : :"
	tail_of stack-3.tf "aggregation b_x count : key_n" "entry 3 1 : :"
	says "$(with_gtp prog -ex "gtp merge $out/stack-1.tf $out/stack-2.tf" -ex "gtp merge $out/stack-3.tf $out/stack-1.tf" 2>&1)" \
		"stack-2.tf: \$key_n is a number here, and a stack in the files before it" \
		"stack-1.tf: \$key_n is a stack here, and a number in the files before it"
}

# Reading a pipe or device would wait for ever, or fill the memory.
endless_files_are_refused() {
	rm -f "$out/fifo"
	mkfifo "$out/fifo"
	says "$(ulimit -v 4000000 && with_gtp prog -ex "gtp merge $out/fifo" -ex "gtp merge /dev/zero" 2>&1)" \
		"fifo is no ordinary file" "/dev/zero is no ordinary file"
}

# A thread-local variable and exception tables give each reader something to read.
damaged_programs_are_read() {
	echo 'thread_local int mine = 3; int main(int c, char **) { try { if (c > 1) throw c; } catch (int) { return mine; } return 0; }' |
		g++ -o "$out/elves" -x c++ - &&
		says "$(ELF=$out/elves FOLDER=$out run_gdb -x "$here/../../gdbscripts/gtp.py" -x "$here/elves.py")" "2000 files, 0 exceptions"
}

# Each error must show the usage of the command that was typed.
arguments_are_refused() {
	local text
	text=$(kept kept.tf -ex "gtp table n," -ex "gtp table ,n" -ex "gtp export csv $out/never n,,t" -ex "gtp export csv $out/never --nosuch" \
		-ex "gtp export ctf $out/never --limit" -ex "gtp export ctf2 $out/never n if" -ex "gtp export perfetto $out/never --nosuch" \
		-ex "gtp report $out/never --nosuch 1" -ex "gtp table --nosuch" -ex "gtp show --every 99999999999999s")
	says "$text" "a column is missing before or after a comma; say gtp export csv FILE" "--nosuch is not understood; say gtp export csv FILE" \
		"nothing after --limit; say gtp export ctf FILE" "no expression after \`if'; say gtp export ctf2 FILE" \
		"--nosuch is not understood; say gtp export perfetto FILE" "--nosuch is not understood; say gtp report" \
		"--nosuch is not understood; say gtp table" "--every takes a time of a day at most" &&
		[ "$(grep -c "a column is missing .*; say gtp table" <<<"$text")" = 2 ] && [ ! -e "$out/never" ] &&
		says "$(gtp_online -ex "gtp events" -ex "gtp events x*")" "the target has no events" "no event matches x*"
}

# gtp trace must refuse an address without code, and must not ask the target for this: later, tstart would refuse the
# whole run.
addresses_without_code_are_refused() {
	local text
	text=$(with_gtp prog -ex "gtp trace *0" -ex "gtp trace *&counter" -ex "info tracepoints" -ex "gtp trace *add" \
		-ex "trace *0xffffffff81000000" -ex "gtp trace *0xffffffff81000000" -ex "gtp trace *0x7b00000000001000")
	says "$text" "there is no code at 0x0" "there is no code at $(printf "%#x" "0x$counter")" "No tracepoints." "at 0x$add: *add" \
		"at 0xffffffff81000000: *0xffffffff81000000" "at 0x7b00000000001000: *0x7b00000000001000"
}

# base/sample.h says how an address is made of an event and a period. Nothing is set if there is an error.
samples_are_addresses() {
	local text
	text=$(with_gtp prog -ex "gtp sample 99hz" -ex "gtp sample cache-misses:10000 if counter == 3" -ex "gtp sample ref-cycles:1" \
		-ex "gtp sample 100000Hz collect counter" -ex "gtp trace *0x4310000000989680" \
		-ex "gtp sample 9hz collect \$args" -ex "info tracepoints")
	says "$text" "0x43100000009a2112" "0x4303000000002710" "0x4309000000000001" "0x4310000000002710" "at 0x4310000000989680" \
		"trace only if counter == 3" "a sample on each CPU by cache-misses:10000" "\$args: the place is in no function" || return 1
	text=$(with_gtp prog -ex "gtp sample" -ex "gtp sample 0hz" -ex "gtp sample 100001hz" -ex "gtp sample cycles:0" \
		-ex "gtp sample cycles:281474976710656" -ex "gtp sample cycles" -ex "gtp sample add" -ex "gtp sample 99hz by" \
		-ex "gtp sample 99hz if" -ex "gtp sample 99hz collect" -ex "gtp sample 99hz by 1 collect counter" \
		-ex "gtp sample 99hz if nosuch" -ex "gtp sample 99hz collect nosuch" \
		-ex "gtp count --limit 9 at sample 99hz" -ex "gtp sum --limit 9 counter at watch counter" -ex "info tracepoints")
	says "$text" "no event is named; say gtp sample EVENT" "0hz: 1hz to 100000hz" "100001hz: 1hz to 100000hz" "cycles:0: periods of 1 to" \
		"cycles:281474976710656: periods of 1 to 281474976710655" "cycles is no event" "add is no event" "nothing after \`by'" \
		"nothing after \`if'" "nothing after \`collect'" "leave \`by' or \`collect' out" \
		"and sample 99hz is one" "and watch counter is one" "No tracepoints." &&
		[ "$(grep -c "nosuch" <<<"$text")" -ge 2 ] && ! grep "bug of gdbtp" <<<"$text"
}

# A sample that has interrupted a program has no kernel stack. If the program's own stack is a key as well, it says so.
samples_in_programs_have_one_stack() {
	local text
	tail_of in-program.tf "key key_k" "key key_u" "stack 1 7500000000000004" "stack 2 401000 7500001400000000" \
		"aggregation a_x count : key_k key_u" "entry 3 1 2 : :" "aggregation a_y count : key_k" "entry 4 1 : :"
	text=$(kept in-program.tf -ex "gtp stacks a_x --folded" -ex "gtp stacks a_y --folded")
	grep -qx "0x401000 3" <<<"$text" && grep -qxF "[in the program] 4" <<<"$text"
}

refused_tests() {
	check "gtp watch refuses each bit field; a cut record has no values; an error in an expression shows what was typed, not what names stand for" \
		errors_show_what_was_typed
	check "an aggregation of a name twice, or a number beyond 64 bits, is a damaged file" impossible_numbers_are_refused
	check "the time for a file grows with its number of aggregations or expressions, not with its square" many_names_take_no_hours
	check "a sum that may have wrapped at 2^64 is marked, and is neither merged nor drawn as an ordinary number" sums_that_wrap_are_marked
	check "a key with a type that no key has is a number, and a string is no stack" keys_are_shown_as_they_can_be
	check "gtp merge refuses a key that is a stack in one file and a number in another" stacks_and_numbers_are_not_merged
	check "gtp merge refuses files that have no end" endless_files_are_refused
	check "a comma too many and options of another command are refused, with the usage of the command that was typed" \
		arguments_are_refused
	check "2,000 damaged copies of a program: each reader finds nothing in them, or reads on" damaged_programs_are_read
	check "gtp sample: the address has the event and the period; other events and clauses are refused, and nothing is set" \
		samples_are_addresses
	check "a sample in a program: the program's stack alone, or a word that says so" samples_in_programs_have_one_stack
	check "gtp trace *ADDRESS refuses an address without code" addresses_without_code_are_refused
}
