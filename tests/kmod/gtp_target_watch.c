// SPDX-License-Identifier: GPL-2.0-only
/*
 * Variables for watchpoints. A single instruction writes each of them, and a single one reads it.
 */
#include <linux/compiler.h>

#include "gtp_target.h"

long gtp_target_watched[GTP_TARGET_WATCHED];
int gtp_target_watched_int;
u8 gtp_target_watched_u8;

GTP_TARGET_FN void gtp_target_write(u32 n, long value)
{
	WRITE_ONCE(gtp_target_watched[n], value);
}

GTP_TARGET_FN long gtp_target_read(u32 n)
{
	return READ_ONCE(gtp_target_watched[n]);
}

GTP_TARGET_FN void gtp_target_write_int(int value)
{
	WRITE_ONCE(gtp_target_watched_int, value);
}

GTP_TARGET_FN void gtp_target_write_u8(u8 value)
{
	WRITE_ONCE(gtp_target_watched_u8, value);
}
