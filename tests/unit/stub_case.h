/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common code for the tests of the stub: a fake GDB, and checks that compare a whole reply or only
 * its beginning.
 */
#ifndef _GTP_STUB_CASE_H
#define _GTP_STUB_CASE_H

#include "fake_gdb.h"

extern struct fake_gdb gdb;

int set_up(void **state);
int tear_down(void **state);

/* ask_begins - send a packet; its reply must begin with @want */
void ask_begins(const char *packet, const char *want);

#endif /* _GTP_STUB_CASE_H */
