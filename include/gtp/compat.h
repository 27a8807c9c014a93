/* SPDX-License-Identifier: GPL-2.0-only */
/* Where kernel versions differ in what they export: one name here for each, and why. */
#ifndef _GTP_COMPAT_H
#define _GTP_COMPAT_H

#include <linux/trace.h>
#include <linux/version.h>

/* 6.8 ("tracing: Allow creating instances with specified system events") added the systems. */
static inline struct trace_array *gtp_trace_array_get(const char *name)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
	return trace_array_get_by_name(name, NULL);
#else
	return trace_array_get_by_name(name);
#endif
}

#endif /* _GTP_COMPAT_H */
