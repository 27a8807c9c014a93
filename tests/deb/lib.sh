# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Job: make roots of Debian 13 for the packages' tests: a bare one, and layers over it, which are kept or thrown away.
# Sourced in the repository's root by tests/deb/run, inside a mount namespace of its own.

suite=trixie
roots=$PWD/build/roots/deb-$suite
archive=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' "Identifier: Packages" 2>/dev/null |
	sed -n 's/^bookworm //p; s/^trixie //p' | head -n 1)
archive=${archive:-http://deb.debian.org/debian/}
security=$(sed 's|/debian/$|/debian-security/|' <<<"$archive")

# base: make a root of debootstrap's smallest variant, with apt. The root has another name until it is complete.
make_base() {
	[ ! -d "$roots/base" ] || return 0
	command -v mmdebstrap >/dev/null || apt-get -qq -y --no-install-recommends install mmdebstrap >/dev/null || return 1
	rm -rf "$roots/base.new"
	mkdir -p "$roots/archives"
	mmdebstrap --quiet --variant=minbase --include=ca-certificates "$suite" "$roots/base.new" "$archive" &&
		# Start no services in a root that is not a running machine.
		printf '#!/bin/sh\nexit 101\n' >"$roots/base.new/usr/sbin/policy-rc.d" &&
		chmod 755 "$roots/base.new/usr/sbin/policy-rc.d" &&
		mv "$roots/base.new" "$roots/base"
}

# mount_layer NAME BELOW...: mount the layer NAME over the others, at $roots/NAME.root. Written files stay in NAME
mount_layer() {
	local name=$1 lower
	shift
	lower=$(printf ":$roots/%s" "$@")
	lower=${lower#:}
	mkdir -p "$roots/$name" "$roots/$name.work" "$roots/$name.root" "$roots/archives/partial"
	mount -t overlay -o "lowerdir=$lower,upperdir=$roots/$name,workdir=$roots/$name.work" overlay "$roots/$name.root" &&
		mount -t proc proc "$roots/$name.root/proc" &&
		mount -t tmpfs -o mode=1777 tmp "$roots/$name.root/tmp" &&
		mount --bind "$roots/archives" "$roots/$name.root/var/cache/apt/archives" &&
		mount --rbind /dev "$roots/$name.root/dev" &&
		cp -L /etc/resolv.conf "$roots/$name.root/etc/resolv.conf"
}

# set_sources NAME [security]: set apt's package sources in a mounted layer
set_sources() {
	echo "deb $archive $suite main" >"$roots/$1.root/etc/apt/sources.list"
	[ "${2-}" != security ] || echo "deb $security $suite-security main" >>"$roots/$1.root/etc/apt/sources.list"
}

drop_layer() {
	rm -rf "${roots:?}/$1" "$roots/$1.work"
}

# in_root NAME COMMAND...: run a command as root in a mounted layer, with a clean environment
in_root() {
	local name=$1
	shift
	env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive chroot "$roots/$name.root" "$@"
}

# apt NAME ARGS...: run apt in a mounted layer as a user would, but without questions
apt() {
	local name=$1
	shift
	in_root "$name" apt-get -q -y -o Dpkg::Use-Pty=0 -o APT::Sandbox::User=root "$@"
}
