/* SPDX-License-Identifier: GPL-2.0-only */
/* Offsets that the agent's assembly uses; user/agent/agent.h asserts that they are right. */
#ifndef _GTP_AGENT_LAYOUT_H
#define _GTP_AGENT_LAYOUT_H

#define GTP_AGENT_HASH 0x61c88647
#define GTP_AGENT_SHIFT 52
#define GTP_AGENT_SLOT_AT 64 /* of slot[] in struct gtp_agent */
#define GTP_AGENT_RED_ZONE 128

/* Of members of struct gtp_agent_part */
#define GTP_AGENT_STACK_TOP 0
#define GTP_AGENT_ON_STACK 8
#define GTP_AGENT_CPU_AT 64
#define GTP_AGENT_NESTED 240 /* in the struct gtp_cpu */

/* Flags that C code does not expect: the direction flag, and alignment checks. */
#define GTP_AGENT_ODD_FLAGS 0x40400

#endif /* _GTP_AGENT_LAYOUT_H */
