# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # sourced by tests/regions/run, whose functions and variables these use
# Job: test the output of gdbtp-regions ($tool): names and source lines of a hostile file, refusals of wrong arguments.

# says_escaped NAME COMMAND...: test that the output has the escaped text and no escape sequence, whatever the exit
# status is
says_escaped() {
	local name=$1 said
	shift
	said=$("$@" 2>&1)
	[[ $said == *'\033]0;owned\a'* ]] && ! LC_ALL=C grep -q '[^ -~	]' <<<"$said"
	result $? "$name: no escape sequence of a foreign file reaches the terminal" || sed 's/^/# /' <<<"${said//$'\e'/ESC}"
}

# says TEXT ARGUMENT...: test that the tool refuses the arguments with the one line TEXT, and status 2
says() {
	local text=$1 said code
	shift
	said=$("$tool" "$@" 2>&1)
	code=$?
	[ $code = 2 ] && [ "$said" = "gdbtp-regions: $text" ]
	result $? "gdbtp-regions ${*@Q}: $text" || sed 's/^/# /' <<<"status $code: $said"
}

# The tool must say in one sentence which argument is missing or superfluous.
wrong() {
	local status=0 self=$out/names/plain.o
	says "COMMAND and FILE are missing; gdbtp-regions --help lists them" || status=1
	says "no command vmlinux; gdbtp-regions --help lists them" vmlinux || status=1
	says "no command vmlinux; gdbtp-regions --help lists them" vmlinux f || status=1
	says "stats: FILE is missing; gdbtp-regions --help says more" stats || status=1
	says "show: FILE is missing; gdbtp-regions --help says more" show --all || status=1
	says "stats: the file name is empty" stats '' || status=1
	says "show: the file name is empty" show '' || status=1
	says "--debug: the file name is empty" stats "$self" --debug '' || status=1
	says "--source: the file name is empty" lines "$self" f --source '' || status=1
	says "--output: the file name is empty" table "$self" -o '' || status=1
	says "lines: much is one word too many" lines "$self" f much || status=1
	return $status
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
	wrong || status=1
	return $status
}
