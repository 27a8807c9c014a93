// SPDX-License-Identifier: GPL-2.0-only
/*
 * Implements the kernel as GDB's target: reads its memory, and finds its address, build-id and
 * tracepoints.
 */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/security.h>
#include <linux/utsname.h>

#include "base/compat.h"
#include "kernel/base/params_kernel.h"
#include "kernel/hit/access_kernel.h"
#include "kernel/host.h"
#include "kernel/kernel_target.h"
#include "kernel/monitor.h"
#include "kernel/save.h"
#include "probe/event/event_list.h"
#include "probe/user/files.h"

/*
 * Read kernel addresses, or the code and constants of programs. At a hit a user address belongs to
 * the task that was hit, but here it would be GDB's own. Check lockdown again, since it may have
 * begun after /proc/gtp was opened.
 */
static int target_read(void *ctx, void *dst, u64 addr, u32 len)
{
	if (security_locked_down(LOCKDOWN_KCORE))
		return -EPERM;
	if (gtp_space_is(addr))
		return gtp_files_read(dst, addr, len);
	if (!gtp_access_may_touch(addr, len))
		return -EFAULT;
	return gtp_access_read_kernel(dst, addr, len);
}

static int target_write(void *ctx, u64 addr, const void *src, u32 len)
{
	if (!gtp_allow_write || security_locked_down(LOCKDOWN_DEV_MEM))
		return -EPERM;
	if (!gtp_access_may_touch(addr, len))
		return -EFAULT;
	return gtp_access_write(addr, src, len);
}

static int target_file(void *ctx, const char *path, u64 *base, char *id, struct gtp_why *why)
{
	const struct gtp_file_space *space;
	int err = gtp_files_open(path, &space, why);

	BUILD_BUG_ON(2 * GTP_ELF_ID >= GTP_FILE_ID_MAX);
	if (err)
		return err;
	*base = space->base;
	id[gtp_hex_encode(id, space->elf.id, space->elf.id_bytes)] = '\0';
	return 0;
}

static int target_exits(void *ctx, u64 addr, u32 above, struct gtp_in *list, struct gtp_why *why)
{
	return gtp_files_exits(addr, above, list, why);
}

static int target_frames(void *ctx, u64 addr, const struct gtp_part *part, struct gtp_why *why)
{
	return gtp_files_frames(addr, part, why);
}

static const char *target_release(void *ctx)
{
	return init_utsname()->release;
}

static u64 target_now_ms(void *ctx)
{
	return ktime_to_ms(ktime_get());
}

static int target_marker(void *ctx, u32 n, struct gtp_marker *m, char *text, size_t size)
{
	m->id = text;
	return gtp_event_marker_nth(n, &m->addr, text, size, &m->extra);
}

static int target_marker_at(void *ctx, u64 addr)
{
	return gtp_event_marker_at(addr);
}

static void target_lines(void *ctx)
{
	gtp_host_lines();
}

const struct gtp_stub_ops gtp_kernel_target = {
	.read = target_read,
	.write = target_write,
	.release = target_release,
	.save = gtp_save,
	.now_ms = target_now_ms,
	.file = target_file,
	.exits = target_exits,
	.frames = target_frames,
	.marker = target_marker,
	.marker_at = target_marker_at,
	.lines = target_lines,
	.monitor = gtp_kernel_monitor,
};
