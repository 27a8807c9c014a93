# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # sourced by tests/regions/run, whose functions and variables these use
# Job: a foreign file's names and source lines on a terminal: sourced by tests/regions/run. $tool is gdbtp-regions.

# says_escaped NAME COMMAND...: its output has the escaped text, and no escape sequence, whatever its status is
says_escaped() {
	local name=$1 said
	shift
	said=$("$@" 2>&1)
	[[ $said == *'\033]0;owned\a'* ]] && ! LC_ALL=C grep -q '[^ -~	]' <<<"$said"
	result $? "$name: no escape sequence of a foreign file reaches the terminal" || sed 's/^/# /' <<<"${said//$'\e'/ESC}"
}

names() {
	local bad=$'\e]0;owned\a' folder=$out/names status=0
	rm -rf "$folder" && mkdir "$folder" || return 1
	printf 'int f(int x)\n{\n\treturn x * 3 + 1; /* %s */\n}\n' "$bad" >"$folder/source.c"
	gcc -g -O1 -c -o "$folder/plain.o" "$folder/source.c" &&
		objcopy --redefine-sym f="f$bad" "$folder/plain.o" "$folder/loud.o" || return 1
	says_escaped "explain" "$tool" explain "$folder/loud.o" "f$bad" || status=1
	says_escaped "lines" "$tool" lines "$folder/loud.o" "f$bad" || status=1
	says_escaped "an error" "$tool" explain "$folder/plain.o" "$bad" || status=1
	return $status
}
