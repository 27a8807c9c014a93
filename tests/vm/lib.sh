# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Job: functions that the scripts in tests/vm share: messages, apt without installing, the kernel's env file. Sourced by
# scripts that have set `repo` (the repository's root).

log() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

die() {
	log "$*"
	exit 1
}

# Take a lock, because two scripts that make the same kernel at once would delete each other's
# files.
vm_lock() {
	mkdir -p "$repo/build/kernels"
	exec 9>"$repo/build/kernels/.$1.lock"
	flock 9
}

# vm_program NAME OPTION...: compile the program build/vm/NAME from tests/vm/NAME*.c if a source is newer
vm_program() {
	vm_built=$repo/build/vm/$1 vm_name=$1
	shift
	[ ! -e "$vm_built" ] || [ -n "$(find "$repo"/tests/vm -name '*.[ch]' -newer "$vm_built")" ] || return 0
	mkdir -p "$repo/build/vm"
	gcc -O2 -Wall -Wextra -Werror -I"$repo" "$@" -o "$vm_built.$$" "$repo"/tests/vm/"$vm_name"*.c && mv "$vm_built.$$" "$vm_built"
}

# The guests' kernels, from the oldest to the newest.
vm_all="6.1 6.12 deb13 7.3"

# vm_known SERIES: true if there is a kernel of this series
vm_known() {
	case " $vm_all debug " in
	*" ${1:-none} "*) ;;
	*) false ;;
	esac
}

# vm_release SERIES: print the Debian release of the guest's root, the series of its kernel, and the address of its
# packages. Such a root has the compiler, GDB and libraries of its release. Print nothing for guests that use this
# machine's root.
vm_release() {
	case $1 in
	deb13) echo "trixie 6.12 trixie trixie-security" ;;
	7.3) echo "trixie 7.3 trixie trixie-security trixie-backports" ;;
	esac
}

# vm_site SUITE: print the address from which this machine's apt gets a suite of the archive
vm_site() {
	vm_address=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' "Identifier: Packages" |
		sed -n "s/^$1 //p" | head -n 1)
	[ -n "$vm_address" ] && echo "$vm_address"
}

# vm_apt_private NAME SOURCES: make a second apt state beside the machine's, for more suites of the archive that the
# machine uses. Nothing under /etc or /var changes.
vm_apt_private() {
	apt_dir=$repo/build/apt/$1
	mkdir -p "$apt_dir/lists/partial" "$apt_dir/cache/archives/partial"
	echo "$2" >"$apt_dir/sources.list"
	apt_private="-o Dir::Etc::SourceList=$apt_dir/sources.list -o Dir::Etc::SourceParts=/dev/null
		-o Dir::State::Lists=$apt_dir/lists -o Dir::Cache=$apt_dir/cache"
	# Take a lock: apt fails while another apt reads the same lists, and a check fetches a kernel and QEMU at the
	# same time.
	exec 6>"$apt_dir/lock"
	flock 6
	# shellcheck disable=SC2086 # a list
	vm_apt get $apt_private -q update >"$apt_dir/log" 2>&1 || die "cannot read $2: $(tail -n 2 "$apt_dir/log")"
	exec 6>&-
}

# vm_apt get|cache ARGS: run apt as root without its sandbox user, who may not write under build/.
vm_apt() {
	tool=apt-$1
	shift
	"$tool" -o APT::Sandbox::User=root -o Acquire::Retries=5 -o Acquire::http::Timeout=60 ${apt_args-} "$@"
}

# vm_apt_field PACKAGE FIELD: print a field of the package's candidate version, or nothing if apt does not know the
# package.
vm_apt_field() {
	vm_apt cache show --no-all-versions "$1" 2>/dev/null | sed -n "s/^$2: //p" | head -n 1
}

# vm_apt_fetch DIR PACKAGE...: download the .deb files to DIR; apt checks them against the signed
# index.
vm_apt_fetch() {
	(
		cd "$1"
		shift
		vm_apt get -q download "$@" >apt.log 2>&1 || die "apt-get download: $(tail -n 2 apt.log)"
	)
}

# vm_write_env DIR [ROOT]: describe a kernel in one of three layouts: Debian's packages unpacked in DIR, a build tree in
# DIR, or the root of a release. Each script that uses the kernel writes the description again, so that a moved checkout
# works.
vm_write_env() {
	vm_rel=$(cat "$1/release")
	vm_dest=$1 vm_root=${2-}
	if [ -d "$1/src" ]; then
		set -- "$1" src/arch/x86/boot/bzImage src/vmlinux src
	else
		set -- "${2:-$1}" "boot/vmlinuz-$vm_rel" "usr/lib/debug/boot/vmlinux-$vm_rel" \
			"usr/src/linux-headers-$vm_rel"
	fi
	cat >"$vm_dest/env.$$" <<-END
		release='$vm_rel'
		vmlinuz='$1/$2'
		vmlinux='$1/$3'
		headers='$1/$4'
		modules='$1/lib/modules/$vm_rel'
		gdb_index='$vm_dest/gdb-index'
		root='$vm_root'
	END
	mv "$vm_dest/env.$$" "$vm_dest/env"
}

# vm_index DIR VMLINUX [COMMAND...]: make GDB's index of the symbols once, on this machine. Without
# the index, GDB in an emulated guest takes minutes instead of seconds to read vmlinux. COMMAND, if
# given, is put before "gdb ...", to run the GDB of the guest's root.
vm_index() {
	vm_dir=$1 vm_elf=$2
	shift 2
	rm -rf "$vm_dir/gdb-index"
	mkdir -p "$vm_dir/gdb-index"
	"$@" gdb -nx -batch -iex "set index-cache directory $vm_dir/gdb-index" -iex "set index-cache enabled on" \
		-ex "maint wait-for-index-cache" "$vm_elf" >"$vm_dir/gdb-index/log" 2>&1 || true
	ls "$vm_dir"/gdb-index/*.gdb-index >/dev/null 2>&1 ||
		die "gdb wrote no index for $vm_elf: $(cat "$vm_dir/gdb-index/log")"
}
