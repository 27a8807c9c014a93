/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common code for the tests of hits: a session with one variable and some memory, and a short
 * notation for tracepoints.
 */
#ifndef _GTP_HIT_CASE_H
#define _GTP_HIT_CASE_H

#include <setjmp.h>
#include "fake_target.h"
#include <cmocka.h>

/* Short names for bytecode; the tests define variable 0x46. */
#define END "27"
#define REG(n) "2600" n
#define CONST8(v) "22" v
#define CONST32(v) "24" v
#define GETV(n) "2c00" n
#define SETV(n) "2d00" n
#define TRACEV(n) "2e00" n
#define ADD "02"
#define DIV "05"
#define TRACE "0c"
#define TRACE_QUICK(n) "0d" n
#define EQUAL "13"
#define REF32 "19"
#define POP "29"
#define TRACENZ "2f"
#define INCREMENT GETV("46") CONST8("01") ADD SETV("46")

/* The values of the registers at all hits. */
extern const struct gtp_regs regs;

int setup(void **state);
int teardown(void **state);

/*
 * define - define a tracepoint from "N:ADDR:E:STEP:PASS", a condition or NULL, and actions up to a
 * NULL. R and M actions have the form that they have in packets; of an expression, only its
 * bytecode is given, in hex
 */
struct gtp_tracepoint *define(struct fake *f, const char *head, const char *cond, ...);

void start(struct fake *f);

/* fire - make @times hits at 0x1000; variable - return the value of variable 0x46 */
void fire(struct fake *f, int times);
s64 variable(struct fake *f);

/* expect_frames - end the run, unless a hit has ended it, and compare its frames */
void expect_frames(struct fake *f, const char *want);
void expect_end(struct fake *f, enum gtp_stop stop, u32 tp);
void expect_error(struct fake *f, u32 tp, const char *want);

#endif /* _GTP_HIT_CASE_H */
