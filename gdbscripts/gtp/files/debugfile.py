# SPDX-License-Identifier: GPL-2.0-only
# Lists the usual paths of a vmlinux with debug information.


def places(release, build_id=None):
    """Yield paths for the kernel of that release, the likeliest first. BUILD_ID is in hex, or None if it is not
    known."""
    yield "/usr/lib/debug/boot/vmlinux-" + release
    yield "/usr/lib/debug/lib/modules/%s/vmlinux" % release
    yield "/lib/modules/%s/build/vmlinux" % release
    if build_id:
        yield "/usr/lib/debug/.build-id/%s/%s.debug" % (build_id[:2], build_id[2:])
