# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Job: what the scripts here share: messages, apt without installing, the kernel's env file.
# Sourced by scripts that have set `repo` (the repository's root).

log() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

die() {
	log "$*"
	exit 1
}

# Two scripts that make the same kernel at once would delete each other's work.
vm_lock() {
	mkdir -p "$repo/build/kernels"
	exec 9>"$repo/build/kernels/.$1.lock"
	flock 9
}

# A second apt state beside the machine's, for one more suite of the archive the machine already
# uses: nothing under /etc or /var changes, and the archive's address is the machine's own.
vm_apt_private() {
	[ -n "${apt_private-}" ] && return
	apt_dir=$repo/build/apt
	mkdir -p "$apt_dir/lists/partial" "$apt_dir/cache/archives/partial"
	site=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' "Identifier: Packages" |
		sed -n 's/^bookworm //p' | head -n 1)
	[ -n "$site" ] || die "apt knows no bookworm suite; bookworm-backports cannot be derived from it"
	echo "deb $site bookworm-backports main" >"$apt_dir/sources.list"
	apt_private="-o Dir::Etc::SourceList=$apt_dir/sources.list -o Dir::Etc::SourceParts=/dev/null
		-o Dir::State::Lists=$apt_dir/lists -o Dir::Cache=$apt_dir/cache"
	vm_apt get $apt_private -q update >"$apt_dir/log" 2>&1 ||
		die "cannot read bookworm-backports: $(tail -n 2 "$apt_dir/log")"
}

# vm_apt get|cache ARGS: as root without apt's sandbox user, who may not write under build/.
vm_apt() {
	tool=apt-$1
	shift
	"$tool" -o APT::Sandbox::User=root ${apt_args-} "$@"
}

# vm_apt_field PACKAGE FIELD: of the candidate version; empty when apt does not know the package.
vm_apt_field() {
	vm_apt cache show --no-all-versions "$1" 2>/dev/null | sed -n "s/^$2: //p" | head -n 1
}

# vm_apt_fetch DIR PACKAGE...: the .deb files into DIR, checked by apt against the signed index.
vm_apt_fetch() {
	(
		cd "$1"
		shift
		vm_apt get -q download "$@" >apt.log 2>&1 || die "apt-get download: $(tail -n 2 apt.log)"
	)
}

# vm_write_env DIR: for a kernel of either layout, Debian's packages or a build tree. Written again
# whenever a script looks at the kernel, so that a moved checkout heals itself.
vm_write_env() {
	vm_rel=$(cat "$1/release")
	if [ -d "$1/src" ]; then
		set -- "$1" src/arch/x86/boot/bzImage src/vmlinux src
	else
		set -- "$1" "boot/vmlinuz-$vm_rel" "usr/lib/debug/boot/vmlinux-$vm_rel" \
			"usr/src/linux-headers-$vm_rel"
	fi
	cat >"$1/env.$$" <<-END
		release='$vm_rel'
		vmlinuz='$1/$2'
		vmlinux='$1/$3'
		headers='$1/$4'
		modules='$1/lib/modules/$vm_rel'
		gdb_index='$1/gdb-index'
	END
	mv "$1/env.$$" "$1/env"
}

# vm_index DIR VMLINUX: GDB's own index of the symbols, made once here; in a guest under emulation
# reading vmlinux without it takes minutes instead of seconds.
vm_index() {
	rm -rf "$1/gdb-index"
	mkdir -p "$1/gdb-index"
	gdb -nx -batch -iex "set index-cache directory $1/gdb-index" -iex "set index-cache enabled on" \
		"$2" >"$1/gdb-index/log" 2>&1 || true
	ls "$1"/gdb-index/*.gdb-index >/dev/null 2>&1 ||
		die "gdb wrote no index for $2: $(cat "$1/gdb-index/log")"
}
