// SPDX-License-Identifier: GPL-2.0-only
/* Checks which variables can be watched, and puts the kernel's refusals into words. */
#include "probe/watch/place.h"

int gtp_watch_place_check(u64 addr, struct gtp_why *why)
{
	u32 bytes = gtp_watch_bytes(addr);

	if (!(gtp_watch_at(addr) % bytes))
		return 0;
	gtp_why(why,
		"0x%llx is no multiple of %u: the processor watches only aligned variables; watch its bytes one by one",
		gtp_watch_at(addr), bytes);
	return -EINVAL;
}

bool gtp_watch_place_meets(u64 addr, u64 start, u64 bytes)
{
	u64 at = gtp_watch_at(addr);

	return at - start < bytes || start - at < (bytes ? gtp_watch_bytes(addr) : 0);
}

void gtp_watch_place_explain(int err, struct gtp_why *why)
{
	switch (err) {
	case -ENOSPC:
	case -EBUSY:
		gtp_why(why,
			"the processor watches four places at a time, and all are in use: by this run, by perf, or by a debugger of programs");
		break;
	case -EINVAL:
		gtp_why(why,
			"the kernel refuses it: this is no variable of the kernel, or the code that enters the kernel uses it");
		break;
	case -EFAULT:
		gtp_why(why, "no memory of the kernel can be read there");
		break;
	case -ENOMEM:
		gtp_why(why, "no memory for a watchpoint");
		break;
	case -EPERM:
	case -EACCES:
		gtp_why(why, "the kernel does not permit this process to watch its memory");
		break;
	default:
		gtp_why(why, "the kernel refused the watchpoint (error %d)", -err);
	}
}
