# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # sourced by tests/tfile/run, whose functions and variables these use
# Job: test the data in the page of gtp report without a browser. tests/page/test_report.py tests the page in a browser.

report_is() { "$here/report.py" "$@" | sed 's/^/# /' && [ "${PIPESTATUS[0]}" = 0 ]; } # report_is QUESTION FILE...

# Uses calls.tf, a run of calls by tasks with hostile names.
report_is_the_table() {
	local n tables=()
	for n in 1 2 3; do tables+=(-ex "gtp table $n --csv $out/report.$n.csv"); done
	with_gtp types -ex "target tfile calls.tf" "${tables[@]}" -ex "gtp report -o $out/report.html" >"$out/log" &&
		report_is table "$out/report.html" "$out"/report.{1,2,3}.csv
}

# Reports made after the run and from its trace file must have the same aggregations, stacks and
# frames. The old page must be replaced only when the new one is complete.
reports_are_the_same() {
	echo old >"$out/report-live.html"
	by_stack -ex "tstop" -ex "gtp report $out/report-live.html" -ex "gtp save $out/report.tf" >"$out/log" &&
		kept report.tf -ex "gtp report --output=$out/report-file.html" >>"$out/log" &&
		says "$(cat "$out/log")" "report-live.html: 1 frame, 1 aggregation" "report-file.html: 1 frame, 1 aggregation" &&
		report_is same "$out/report-live.html" "$out/report-file.html"
}

# Test reports of parts of a run: of one tracepoint, some columns, a condition, some frames; and of a run without
# frames.
reports_of_parts() {
	with_gtp types -ex "target tfile calls.tf" -ex "gtp report $out/report-some.html 2 n --limit 5" \
		-ex "gtp report $out/report-if.html 2 n if n > 5" -ex "gtp table 2 n if n > 5 --csv $out/report-if.csv" >"$out/log" &&
		report_is limited "$out/report-some.html" 5 && report_is table "$out/report-if.html" "$out/report-if.csv" || return 1
	count_hits report-none.tf 3 3 4 >"$out/log"
	says "$(kept report-none.tf -ex "gtp report $out/report-none.html")" "report-none.html: 0 frames, 5 aggregations" &&
		report_is counts "$out/report-none.html" count_look 3=2 4=1
}

# Numbers of more than 53 bits must be texts in the page, because a browser would round numbers.
report_numbers_are_exact() {
	local ns=1700000000123456789
	tail_of report-large.tf "aggregation stats_x stats :" "entry 3 : $((3 * ns)) 7 $ns :" \
		"aggregation lhist_y lhist $ns $((ns + 10)) 10 :" "entry 1 : $ns $ns $ns : 1=1" "aggregation max_z max :" "entry 1 : 9 :"
	kept report-large.tf -ex "gtp report $out/report-large.html" >"$out/log"
	report_is figures "$out/report-large.html" stats_x "'$((3 * ns))'" 7 "'$ns'" &&
		report_is figures "$out/report-large.html" lhist_y "'$ns'" "'$ns'" "'$ns'" "'$ns'" "'$((ns + 10))'" 10 &&
		report_is figures "$out/report-large.html" max_z 9
}

report_refuses() {
	local text
	rm -f "$out"/refused*
	text=$(kept report.tf -ex "gtp report" -ex "gtp report -o" -ex "gtp report $out/refused 9" -ex "gtp report $out/refused 2 nosuch" \
		-ex "gtp report $out/refused 2 --csv x" -ex "gtp report /no/such/x.html" -ex "gtp report --nosuch x")
	[ "$(grep -c "a page needs a name; say gtp report" <<<"$text")" = 3 ] &&
		says "$text" "the run has no frames of tracepoint 9" 'No symbol "nosuch"' "gtp table --csv FILE writes a CSV file" \
			"/no/such/x.html: No such file or directory" &&
		says "$(with_gtp prog -ex "gtp report $out/refused")" "there is no run to read" &&
		says "$(gtp_online -ex "trace add" -ex "tstart" -ex "gtp report $out/refused")" "the run is going on" &&
		[ ! -e "$out/refused" ] && [ ! -e "$out/refused.part" ]
}

report_tests() {
	check "gtp report: the page's frames are those of gtp table, each value" report_is_the_table
	check "a report of the stopped run and one of its file have the same frames, aggregations and stacks" reports_are_the_same
	check "a report of one tracepoint, of some frames, of those with a condition, and of a run without frames" reports_of_parts
	check "a report's numbers of more than 53 bits are texts, which no browser rounds" report_numbers_are_exact
	check "gtp report refuses in words, and leaves no file" report_refuses
}
