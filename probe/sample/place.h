/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks sample addresses, and puts events and the kernel's refusals into words. */
#ifndef _GTP_SAMPLE_PLACE_H
#define _GTP_SAMPLE_PLACE_H

#include "base/sample.h"
#include "base/why.h"

/**
 * gtp_sample_place_check() - check a sample address (base/sample.h) without asking the kernel
 * @addr: a sample address
 * @why: the refusal
 *
 * Return: 0, or -EINVAL if the event is unknown, or the period is 0 or too short.
 */
int gtp_sample_place_check(u64 addr, struct gtp_why *why);

/* gtp_sample_place_name - write the event and the period of a sample address as text */
void gtp_sample_place_name(u64 addr, char *buf, size_t size);

/* gtp_sample_place_explain - put into words why the kernel refused the event of a sample address */
void gtp_sample_place_explain(u64 addr, int err, struct gtp_why *why);

#endif /* _GTP_SAMPLE_PLACE_H */
