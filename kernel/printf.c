// SPDX-License-Identifier: GPL-2.0-only
/* Hands the text of printf from all CPUs to GDB's console. */
#include "kernel/base/lock_kernel.h"
#include "kernel/hit/cpu_kernel.h"
#include "kernel/printf.h"

static void drain_one(struct gtp_text *t, struct gtp_stub *stub,
		      bool (*has_room)(struct gtp_stub *stub))
{
	char buf[200];
	u64 dropped;

	while (has_room(stub) && gtp_text_get(t, buf, sizeof(buf)))
		gtp_stub_print(stub, buf);
	/* The message about dropped text is text as well: send it only if GDB reads. */
	dropped = has_room(stub) ? gtp_text_dropped(t) : 0;
	if (dropped)
		gtp_stub_printf(
			stub,
			"[%llu lines of printf were dropped: they came faster than GDB reads]\n",
			dropped);
}

bool gtp_printf_drain(struct gtp_trace *t, struct gtp_stub *stub,
		      bool (*has_room)(struct gtp_stub *stub))
{
	u32 i;

	lockdep_assert_held(&gtp_lock);
	if (!t->run.cpus)
		return false;
	for (i = 0; i < t->run.ncpus; i++)
		if (t->run.cpus[i])
			drain_one(gtp_cpu_text(t->run.cpus[i]), stub, has_room);
	return !has_room(stub);
}
