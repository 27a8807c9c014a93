/* SPDX-License-Identifier: GPL-2.0-only */
/* A GDB session on the fake machine: the stub, its output, the fixture's functions and data. */
#ifndef _GTP_FAKE_GDB_H
#define _GTP_FAKE_GDB_H

#include "fake_target.h"
#include "stub/stub.h"

/* Addresses on the fake machine of the objects that tests/kmod/ defines for a real kernel. */
#define FAKE_TEXT 0xffffffff9b200000ULL /* _text, 0x1a200000 above its link address */
#define FAKE_MODULE 0xffffffffc0a00000ULL
#define FAKE_ADD (FAKE_MODULE + 0x10)
#define FAKE_OBJ (FAKE_MODULE + 0x40)
#define FAKE_STR (FAKE_MODULE + 0x80)
#define FAKE_LEAF (FAKE_MODULE + 0xc0)
#define FAKE_MARKER (FAKE_MODULE + 0x200)
#define FAKE_BANNER (FAKE_MODULE + 0x1000)
#define FAKE_ARRAY (FAKE_MODULE + 0x3000)
#define FAKE_OBJS (FAKE_MODULE + 0x3100)
#define FAKE_STRING (FAKE_MODULE + 0x3e00)
#define FAKE_DATA_END (FAKE_MODULE + 0x4000) /* nothing is mapped at this address or after it */

enum { FAKE_OUT_MAX = 1 << 20, FAKE_OBJ_BYTES = 96 };

/**
 * struct fake_gdb - the session; the address of @f is the ctx of every callback
 * @f: the machine; the first member
 * @s: the stub, connected
 * @out: bytes that the stub has sent and the test has not read, NUL-terminated
 * @lost: how often @out was full and its contents were discarded
 * @allow_write: the module parameter
 * @now_ms: the time in milliseconds, by which the stub sends keep-alives
 * @saved: the file name in the last QTSave packet
 */
struct fake_gdb {
	struct fake f;
	struct gtp_stub s;
	char out[FAKE_OUT_MAX];
	u32 out_len;
	u32 lost;
	bool allow_write;
	u64 now_ms;
	char saved[GTP_SAVE_NAME_MAX + 1];
	u8 frames[1024]; /* a table of call frames that is arriving */
	u32 frames_size, frames_have;
};

/*
 * fake_gdb_init - make a machine with the fixture's memory, and a connection; return 0 or -ENOMEM
 */
int fake_gdb_init(struct fake_gdb *g);

/* fake_gdb_exit - end the session and the machine; return the number of leaks, like fake_exit() */
int fake_gdb_exit(struct fake_gdb *g);

/* fake_gdb_reconnect - close and open the connection; return 0 or -ENOMEM */
int fake_gdb_reconnect(struct fake_gdb *g);

/* fake_gdb_feed - send bytes to the stub without adding a frame */
void fake_gdb_feed(struct fake_gdb *g, const void *bytes, u32 len);

/* fake_gdb_clear - discard the stub's output */
void fake_gdb_clear(struct fake_gdb *g);

/* fake_gdb_ask - send a packet; return all replies to it, "text" or "text|text", without acks */
const char *fake_gdb_ask(struct fake_gdb *g, const char *packet);

/*
 * fake_gdb_call - make one of the fixture's calls, such as "add 3 4"; return 0, or -1 if there is
 * no such call
 */
int fake_gdb_call(struct fake_gdb *g, const char *what);

/* fake_gdb_symbol - return the address of one of the fixture's names; 0 if it is not known */
u64 fake_gdb_symbol(const char *name);

#endif /* _GTP_FAKE_GDB_H */
