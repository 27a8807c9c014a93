# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # sourced by tests/tfile/run, whose functions and variables these use
# Job: test expressions that GDB must not compile to bytecode as typed, because this would end GDB or give another
# value; and classes.

# cells PROGRAM FUNCTION COLLECT HITS COLUMNS: print the CSV file of a run with these hits, each given by the arguments
# of a call. Fail if GDB has not survived
cells() {
	local hits=() one
	while read -r one; do hits+=(-ex "eval \"monitor hit %lu $one"); done <<<"$4"
	rm -f "$out/cells.csv"
	says "$(with_gtp "$1" -ex "target remote | ./target $1" -ex "trace *$2" -ex "python gdb.execute('commands\ncollect $3\nend')" \
		-ex "tstart" "${hits[@]}" -ex "tstop" -ex "tsave -r cells.tf" -ex "target tfile $out/cells.tf" \
		-ex "gtp table 1 $5 --csv $out/cells.csv" -ex "echo =survived\n" 2>&1)" "=survived" && cut -d, -f2- "$out/cells.csv" | tr -d '\r'
}

of_things=$'%lu 256", (long) visit, (long) &things[0]\n%lu 1", (long) visit, (long) &things[1]'

# The columns that a table shows, without the titles.
shows() { # shows EXPECTED PROGRAM FUNCTION COLLECT HITS COLUMNS
	diff <(echo "$1") <(cells "${@:2}" | tail -n +2) | sed 's/^/# /'
	[ "${PIPESTATUS[0]}" = 0 ]
}

# GDB 13 aborts when it compiles an index of type enum, bool or flags, or a value of 16 bytes, to bytecode.
gdb_survives_columns() {
	shows $'-2,-2,-2,-3000,<unavailable>,-5,1,1\n7,7,7,-3000,<unavailable>,-5,1,1' types visit '*t, n, huge' "$of_things" \
		't->numbers[BUSY], t->numbers[t->flag], t->numbers[+t->flag], limits[(enum state) 2], limits[$eflags], (long) huge, huge < 0, (int) huge && n'
}

gdb_survives_commands() {
	local line
	for line in 'gtp collect limits[(enum state) 2]' 'gtp collect limits[$eflags]' 'gtp collect (_Bool) huge' \
		'gtp trace *visit if (_Bool) huge' 'gtp hist limits[(enum state) 1] at *visit'; do
		says "$(with_gtp types -ex "target remote | ./target types" -ex "trace *visit" -ex "$line" -ex "echo =survived\n" 2>&1)" \
			"=survived" || return 1
	done
}

# In bytecode a cast to bool does nothing, and GDB's evaluator gives ?: the type of one of its sides.
columns_have_the_values_of_c() {
	shows $'true,18446744069414584324\nfalse,18446744069414584324' types visit '*t, n' "$of_things" \
		'(_Bool) (n & 256), -(n == 7 ? 1ul : ~3u)' &&
		shows 256 types visit '*t, n' "$of_things" 'n if t->ratio / 4'
}

# A static member is not in the object, and a base class may begin elsewhere than the class.
columns_have_the_values_of_classes() {
	shows '{b = 1},"{<base> = {...}, <second> = {...}, d = 3}",{s = 2},2,"{_vptr.apart = 0x200000001, a = 3}",3' \
		classes look '*b, *d, *a' '%lu %lu %lu %lu", (long) look, (long) memory, (long) memory, (long) memory, (long) memory' \
		'*b, *d, *(second *) d, ((second *) d)->s, *a, ((derived *) (second *) d)->d'
}

floating_point_registers_are_unavailable() {
	shows 5,'<unavailable>,<unavailable>' classes half n '5", (long) half' 'n, x, x * 2 + n'
}

# GDB takes a tracepoint for that of the next file if only their actions differ. When it opens a second file it may say
# "Unknown block type", because it still is at the first file's frame.
columns_are_those_of_the_file() {
	local long
	long="counter $(printf '+ %.0s' {1..250})1"
	with_gtp prog -ex "target remote | ./target prog" -ex "trace add" -ex "python gdb.execute('commands\ncollect counter\ncollect first\nend')" \
		-ex "tstart" -ex "hit add 3 4" -ex "tstop" -ex "tsave -r two.tf" -ex "delete" -ex "trace add" \
		-ex "python gdb.execute('commands\ncollect second\nend')" -ex "tstart" -ex "hit add 3 4" -ex "tstop" -ex "tsave -r other.tf" \
		-ex "delete" -ex "trace add" -ex "python gdb.execute('commands\ncollect counter\ncollect $long\nend')" -ex "tstart" \
		-ex "hit add 3 4" -ex "tstop" -ex "tsave -r long.tf" -ex "target tfile $out/long.tf" -ex "gtp table --csv $out/long.csv" >"$out/columns.log"
	[ "$(head -n 1 "$out/long.csv" | tr -d '\r')" = "frame,counter,$long" ] || return 1
	with_gtp prog -ex "target tfile two.tf" -ex "gtp table --csv $out/two.csv" -ex "target tfile other.tf" \
		-ex "gtp table --csv $out/other.csv" -ex "target tfile two.tf" -ex "gtp table --csv $out/again.csv" >"$out/columns.log"
	[ "$(head -n 1 "$out/other.csv" | tr -d '\r')" = "frame,second" ] && grep -q '22, name = ""second""' "$out/other.csv" &&
		[ "$(head -n 1 "$out/two.csv" | tr -d '\r')" = "frame,counter,first" ] && cmp "$out/two.csv" "$out/again.csv"
}

columns_tests() {
	check "a table has the columns of the open file, also after a file with other actions at the same address" columns_are_those_of_the_file
	check "columns with an enum, a bool or \$eflags as an index, or with 16 bytes, do not end GDB" gdb_survives_columns
	check "commands with a constant of an enum as an index, or with a cast of 16 bytes to bool, do not end GDB" gdb_survives_commands
	check "a cast to bool, a ?: of two types and a condition that is a fraction are C's" columns_have_the_values_of_c
	check "classes with static members, virtual bases, and casts to a base class" columns_have_the_values_of_classes
	check "a variable in a floating-point register is unavailable in a trace file" floating_point_registers_are_unavailable
}
