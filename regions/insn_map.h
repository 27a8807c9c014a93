/* SPDX-License-Identifier: GPL-2.0-only */
/* The opcode maps of regions/insn.c: the operands of each opcode, its kind, its effect on flags. */
#ifndef _GTP_INSN_MAP_H
#define _GTP_INSN_MAP_H

#include "regions/insn_kind.h"

/* clang-format off */
/* Bits of op.form. An opcode whose form is 0 is unknown; the decoder refuses it. */
enum {
	OK = 0x01,      /* nothing follows the opcode */
	MODRM = 0x02,   /* a ModRM byte, and the SIB and displacement that it needs */
	IMM8 = 0x04,
	IMM16 = 0x08,
	IMMZ = 0x10,    /* 4 bytes, 2 with an operand-size prefix */
	IMMV = 0x20,    /* 4 bytes, 8 with REX.W, 2 with an operand-size prefix */
	LOCK = 0x40,    /* may have a lock prefix if the operand is in memory */
	REP = 0x80,     /* takes f2 and f3 */

	IMM64 = IMMV | IMM8, /* an address of 8 bytes */
	IMM24 = IMM16 | IMM8,
};

/* op.flags: X(name, flags that may be read, flags that are always overwritten) */
#define FLAG_CLASSES(X) \
	X(IN_DOUBT,   GTP_FLAGS_ARITH, 0) \
	X(KEEPS,      0,               0) \
	X(WRITES,     0,               GTP_FLAGS_ARITH) \
	X(CARRY,      GTP_FLAG_CF,     GTP_FLAGS_ARITH) \
	X(COUNTS,     0,               GTP_FLAGS_ARITH & ~GTP_FLAG_CF) \
	X(SETS_CARRY, 0,               GTP_FLAG_CF) \
	X(SHIFTS,     GTP_FLAG_CF,     0) \
	X(CONDITION,  0,               0) /* reads the flags of its condition */

enum flag_class {
#define X(name, in, out) name,
	FLAG_CLASSES(X)
#undef X
};

/* op.group: the checks of the ModRM byte and the prefixes in regions/insn.c */
enum group {
	G_NONE,
	G_ALU,     /* 80, 81, 83: the last of the eight instructions, cmp, takes no lock */
	G_FIRST,   /* only ModRM.reg 0 is an instruction */
	G_MOV,     /* c6, c7: mov (ModRM.reg 0); xabort, xbegin */
	G_MEMORY,  /* the operand is in memory */
	G_SREG_IN, /* 8e: to a segment register */
	G_SREG_OUT,
	G_NOP,     /* 90: nop, pause, xchg %r8,%rax */
	G_X87,
	G_UNARY,   /* f6, f7 */
	G_COUNT,   /* fe */
	G_FLOW,    /* ff */
	G_TABLES,  /* 0f 00 */
	G_SYSTEM,  /* 0f 01 */
	G_HINT,    /* 0f 1e */
	G_CONTROL, /* 0f 20 to 23: control and debug registers; mod is ignored */
	G_BITS,    /* 0f ba */
	G_FENCE,   /* 0f ae */
	G_CMPXCHG, /* 0f c7 */
	G_F3,      /* exists only with f3 */
	G_PLAIN,   /* exists only without 66 */
	G_BRANCH,  /* refused with 66, on which Intel and AMD disagree */
	G_RET,     /* like G_BRANCH, but f3 is allowed */
};

/**
 * struct op - an opcode
 * @form: the bytes that follow the opcode
 * @kind: enum gtp_insn_kind
 * @flags: enum flag_class
 * @group: enum group
 */
struct op {
	u8 form;
	u8 kind;
	u8 flags;
	u8 group;
};

/* The eight opcodes of one arithmetic operation; the last two are invalid in 64-bit mode. */
#define ALU(base, lock, flags) \
	[(base) ... (base) + 1] = { MODRM | (lock), GTP_INSN_PLAIN, flags }, \
	[(base) + 2 ... (base) + 3] = { MODRM, GTP_INSN_PLAIN, flags }, \
	[(base) + 4] = { IMM8, GTP_INSN_PLAIN, flags }, \
	[(base) + 5] = { IMMZ, GTP_INSN_PLAIN, flags }

/* One-byte opcodes, except those invalid in 64-bit mode, prefixes, VEX and EVEX. */
static const struct op one_byte[256] = {
	ALU(0x00, LOCK, WRITES), /* add */
	ALU(0x08, LOCK, WRITES), /* or */
	ALU(0x10, LOCK, CARRY),  /* adc */
	ALU(0x18, LOCK, CARRY),  /* sbb */
	ALU(0x20, LOCK, WRITES), /* and */
	ALU(0x28, LOCK, WRITES), /* sub */
	ALU(0x30, LOCK, WRITES), /* xor */
	ALU(0x38, 0, WRITES),    /* cmp */
	[0x50 ... 0x5f] = { OK, GTP_INSN_PLAIN, KEEPS },              /* push, pop */
	[0x63] = { MODRM, GTP_INSN_PLAIN, KEEPS },                    /* movslq */
	[0x68] = { IMMZ, GTP_INSN_PLAIN, KEEPS },                     /* push */
	[0x69] = { MODRM | IMMZ, GTP_INSN_PLAIN, WRITES },            /* imul */
	[0x6a] = { IMM8, GTP_INSN_PLAIN, KEEPS },                     /* push */
	[0x6b] = { MODRM | IMM8, GTP_INSN_PLAIN, WRITES },            /* imul */
	[0x6c ... 0x6f] = { OK | REP, GTP_INSN_PLAIN, KEEPS },        /* ins, outs */
	[0x70 ... 0x7f] = { IMM8, GTP_INSN_JCC, CONDITION, G_BRANCH },
	[0x80] = { MODRM | IMM8 | LOCK, GTP_INSN_PLAIN, WRITES, G_ALU },
	[0x81] = { MODRM | IMMZ | LOCK, GTP_INSN_PLAIN, WRITES, G_ALU },
	[0x83] = { MODRM | IMM8 | LOCK, GTP_INSN_PLAIN, WRITES, G_ALU },
	[0x84 ... 0x85] = { MODRM, GTP_INSN_PLAIN, WRITES },          /* test */
	[0x86 ... 0x87] = { MODRM | LOCK, GTP_INSN_PLAIN, KEEPS },    /* xchg */
	[0x88 ... 0x8b] = { MODRM, GTP_INSN_PLAIN, KEEPS },           /* mov */
	[0x8c] = { MODRM, GTP_INSN_PLAIN, KEEPS, G_SREG_OUT },
	[0x8d] = { MODRM, GTP_INSN_PLAIN, KEEPS, G_MEMORY },          /* lea */
	[0x8e] = { MODRM, GTP_INSN_PLAIN, KEEPS, G_SREG_IN },
	[0x8f] = { MODRM, GTP_INSN_PLAIN, KEEPS, G_FIRST },           /* pop */
	[0x90] = { OK | REP, GTP_INSN_PLAIN, KEEPS, G_NOP },
	[0x91 ... 0x99] = { OK, GTP_INSN_PLAIN, KEEPS },              /* xchg, cltq, cqto */
	[0x9b] = { OK, GTP_INSN_PLAIN, IN_DOUBT },                    /* fwait */
	[0x9c ... 0x9f] = { OK, GTP_INSN_PLAIN, IN_DOUBT },           /* pushf, popf, sahf, lahf */
	[0xa0 ... 0xa3] = { IMM64, GTP_INSN_PLAIN, KEEPS },           /* mov, an address */
	[0xa4 ... 0xa5] = { OK | REP, GTP_INSN_PLAIN, KEEPS },        /* movs */
	[0xa6 ... 0xa7] = { OK | REP, GTP_INSN_PLAIN, IN_DOUBT },     /* cmps */
	[0xa8] = { IMM8, GTP_INSN_PLAIN, WRITES },                    /* test */
	[0xa9] = { IMMZ, GTP_INSN_PLAIN, WRITES },
	[0xaa ... 0xad] = { OK | REP, GTP_INSN_PLAIN, KEEPS },        /* stos, lods */
	[0xae ... 0xaf] = { OK | REP, GTP_INSN_PLAIN, IN_DOUBT },     /* scas */
	[0xb0 ... 0xb7] = { IMM8, GTP_INSN_PLAIN, KEEPS },            /* mov */
	[0xb8 ... 0xbf] = { IMMV, GTP_INSN_PLAIN, KEEPS },
	[0xc0 ... 0xc1] = { MODRM | IMM8, GTP_INSN_PLAIN, SHIFTS },
	[0xc2] = { IMM16, GTP_INSN_RET, IN_DOUBT, G_RET },
	[0xc3] = { OK | REP, GTP_INSN_RET, IN_DOUBT, G_RET },
	[0xc6] = { MODRM | IMM8, GTP_INSN_PLAIN, KEEPS, G_MOV },
	[0xc7] = { MODRM | IMMZ, GTP_INSN_PLAIN, KEEPS, G_MOV },
	[0xc8] = { IMM24, GTP_INSN_PLAIN, KEEPS },                    /* enter */
	[0xc9] = { OK, GTP_INSN_PLAIN, KEEPS },                       /* leave */
	[0xca] = { IMM16, GTP_INSN_FIXED, IN_DOUBT },                 /* far returns */
	[0xcb] = { OK, GTP_INSN_FIXED, IN_DOUBT },
	[0xcc] = { OK, GTP_INSN_INT3, IN_DOUBT },
	[0xcd] = { IMM8, GTP_INSN_FIXED, IN_DOUBT },                  /* int */
	[0xcf] = { OK, GTP_INSN_FIXED, IN_DOUBT },                    /* iret */
	[0xd0 ... 0xd3] = { MODRM, GTP_INSN_PLAIN, SHIFTS },
	[0xd7] = { OK, GTP_INSN_PLAIN, KEEPS },                       /* xlat */
	[0xd8 ... 0xdf] = { MODRM, GTP_INSN_PLAIN, IN_DOUBT, G_X87 },
	[0xe0 ... 0xe3] = { IMM8, GTP_INSN_LOOP, IN_DOUBT, G_BRANCH },
	[0xe4 ... 0xe7] = { IMM8, GTP_INSN_PLAIN, KEEPS },            /* in, out */
	[0xe8] = { IMMZ, GTP_INSN_CALL, IN_DOUBT, G_BRANCH },
	[0xe9] = { IMMZ, GTP_INSN_JMP, IN_DOUBT, G_BRANCH },
	[0xeb] = { IMM8, GTP_INSN_JMP, IN_DOUBT, G_BRANCH },
	[0xec ... 0xef] = { OK, GTP_INSN_PLAIN, KEEPS },              /* in, out */
	[0xf1] = { OK, GTP_INSN_FIXED, IN_DOUBT },                    /* int1 */
	[0xf4] = { OK, GTP_INSN_FIXED, IN_DOUBT },                    /* hlt, right after sti */
	[0xf5] = { OK, GTP_INSN_PLAIN, IN_DOUBT },                    /* cmc */
	[0xf6] = { MODRM, GTP_INSN_PLAIN, WRITES, G_UNARY },
	[0xf7] = { MODRM, GTP_INSN_PLAIN, WRITES, G_UNARY },
	[0xf8 ... 0xf9] = { OK, GTP_INSN_PLAIN, SETS_CARRY },         /* clc, stc */
	[0xfa] = { OK, GTP_INSN_PLAIN, KEEPS },                       /* cli */
	[0xfb] = { OK, GTP_INSN_FIXED, KEEPS },                       /* sti: delays interrupts */
	[0xfc ... 0xfd] = { OK, GTP_INSN_PLAIN, KEEPS },              /* cld, std */
	[0xfe] = { MODRM | LOCK, GTP_INSN_PLAIN, COUNTS, G_COUNT },
	[0xff] = { MODRM, GTP_INSN_PLAIN, KEEPS, G_FLOW },
};

/*
 * Two-byte opcodes, after 0f. Vector instructions are left out, because the kernel's C code has
 * none.
 */
static const struct op two_byte[256] = {
	[0x00] = { MODRM, GTP_INSN_PLAIN, IN_DOUBT, G_TABLES },
	[0x01] = { MODRM | REP, GTP_INSN_PLAIN, IN_DOUBT, G_SYSTEM },
	[0x02 ... 0x03] = { MODRM, GTP_INSN_PLAIN, IN_DOUBT, G_PLAIN }, /* lar, lsl */
	[0x05] = { OK, GTP_INSN_FIXED, IN_DOUBT, G_PLAIN },             /* syscall */
	[0x06] = { OK, GTP_INSN_PLAIN, KEEPS, G_PLAIN },                /* clts */
	[0x07] = { OK, GTP_INSN_FIXED, IN_DOUBT, G_PLAIN },             /* sysret */
	[0x08 ... 0x09] = { OK, GTP_INSN_PLAIN, KEEPS, G_PLAIN },       /* invd, wbinvd */
	[0x0b] = { OK, GTP_INSN_TRAP, IN_DOUBT, G_PLAIN },              /* ud2 */
	[0x0d] = { MODRM, GTP_INSN_PLAIN, KEEPS, G_MEMORY },            /* prefetchw */
	[0x18] = { MODRM, GTP_INSN_PLAIN, KEEPS, G_MEMORY },            /* prefetch */
	[0x1e] = { MODRM | REP, GTP_INSN_PLAIN, KEEPS, G_HINT },
	[0x1f] = { MODRM, GTP_INSN_PLAIN, KEEPS },                      /* nop */
	[0x20 ... 0x23] = { MODRM, GTP_INSN_PLAIN, IN_DOUBT, G_CONTROL },
	[0x30 ... 0x33] = { OK, GTP_INSN_PLAIN, KEEPS, G_PLAIN },       /* msr, tsc, pmc */
	[0x34 ... 0x35] = { OK, GTP_INSN_FIXED, IN_DOUBT, G_PLAIN },    /* sysenter, sysexit */
	[0x40 ... 0x4f] = { MODRM, GTP_INSN_PLAIN, CONDITION },         /* cmov */
	[0x78 ... 0x79] = { MODRM, GTP_INSN_PLAIN, IN_DOUBT, G_PLAIN }, /* vmread, vmwrite */
	[0x80 ... 0x8f] = { IMMZ, GTP_INSN_JCC, CONDITION, G_BRANCH },
	[0x90 ... 0x9f] = { MODRM, GTP_INSN_PLAIN, CONDITION },         /* set */
	[0xa0 ... 0xa1] = { OK, GTP_INSN_PLAIN, KEEPS },                /* push, pop %fs */
	[0xa2] = { OK, GTP_INSN_PLAIN, KEEPS, G_PLAIN },                /* cpuid */
	[0xa3] = { MODRM, GTP_INSN_PLAIN, SETS_CARRY },                 /* bt */
	[0xa4] = { MODRM | IMM8, GTP_INSN_PLAIN, SHIFTS },              /* shld */
	[0xa5] = { MODRM, GTP_INSN_PLAIN, SHIFTS },
	[0xa8 ... 0xa9] = { OK, GTP_INSN_PLAIN, KEEPS },                /* push, pop %gs */
	[0xab] = { MODRM | LOCK, GTP_INSN_PLAIN, SETS_CARRY },          /* bts */
	[0xac] = { MODRM | IMM8, GTP_INSN_PLAIN, SHIFTS },              /* shrd */
	[0xad] = { MODRM, GTP_INSN_PLAIN, SHIFTS },
	[0xae] = { MODRM | REP, GTP_INSN_PLAIN, KEEPS, G_FENCE },
	[0xaf] = { MODRM, GTP_INSN_PLAIN, WRITES },                     /* imul */
	[0xb0 ... 0xb1] = { MODRM | LOCK, GTP_INSN_PLAIN, WRITES },     /* cmpxchg */
	[0xb2] = { MODRM, GTP_INSN_FIXED, KEEPS, G_MEMORY },            /* lss */
	[0xb3] = { MODRM | LOCK, GTP_INSN_PLAIN, SETS_CARRY },          /* btr */
	[0xb4 ... 0xb5] = { MODRM, GTP_INSN_PLAIN, KEEPS, G_MEMORY },   /* lfs, lgs */
	[0xb6 ... 0xb7] = { MODRM, GTP_INSN_PLAIN, KEEPS },             /* movzx */
	[0xb8] = { MODRM | REP, GTP_INSN_PLAIN, WRITES, G_F3 },         /* popcnt */
	[0xb9] = { MODRM, GTP_INSN_TRAP, IN_DOUBT, G_PLAIN },           /* ud1 */
	[0xba] = { MODRM | IMM8, GTP_INSN_PLAIN, SETS_CARRY, G_BITS },
	[0xbb] = { MODRM | LOCK, GTP_INSN_PLAIN, SETS_CARRY },          /* btc */
	[0xbc ... 0xbd] = { MODRM | REP, GTP_INSN_PLAIN, WRITES },      /* bsf, bsr, tzcnt, lzcnt */
	[0xbe ... 0xbf] = { MODRM, GTP_INSN_PLAIN, KEEPS },             /* movsx */
	[0xc0 ... 0xc1] = { MODRM | LOCK, GTP_INSN_PLAIN, WRITES },     /* xadd */
	[0xc3] = { MODRM, GTP_INSN_PLAIN, KEEPS, G_MEMORY },            /* movnti */
	[0xc7] = { MODRM | REP, GTP_INSN_PLAIN, IN_DOUBT, G_CMPXCHG },
	[0xc8 ... 0xcf] = { OK, GTP_INSN_PLAIN, KEEPS },                /* bswap */
};

#undef ALU
/* clang-format on */

#endif /* _GTP_INSN_MAP_H */
