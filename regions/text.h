/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All code of an image: bytes as they run, functions, instructions, and what is known of each byte.
 */
#ifndef _GTP_TEXT_H
#define _GTP_TEXT_H

#include "regions/decode.h"
#include "regions/image.h"

/*
 * X(name, bit, text): why control may arrive at an address other than from the instruction before
 * it. The first two a decode of the same function shows; the others stay hidden from it.
 */
#define GTP_LEADERS(X) \
	X(JUMP,       0x0001, "a jump of the same function") \
	X(CALL,       0x0002, "a call of the same function") \
	X(ENTRY,      0x0004, "the start of a function") \
	X(OTHER,      0x0008, "a jump or call from another function") \
	X(FIXUP,      0x0010, "an exception fixup") \
	X(JUMP_LABEL, 0x0020, "a jump label that can be switched on") \
	X(ALT,        0x0040, "an alternative's replacement code") \
	X(BOOT,       0x0080, "code that runs at boot only") \
	X(RELOC,      0x0100, "a relocation: its address is stored somewhere") \
	X(REF,        0x0200, "an instruction that names its address") \
	X(CONST,      0x0400, "a constant in data that is its address") \
	X(ROW,        0x0800, "the line table: a basic block starts here") \
	X(LANDING,    0x1000, "an exception's landing pad")

enum gtp_leader {
#define X(name, bit, text) GTP_LEADER_##name = (bit),
	GTP_LEADERS(X)
#undef X
	GTP_LEADER_SEEN = GTP_LEADER_JUMP | GTP_LEADER_CALL | GTP_LEADER_ENTRY,
};

/* X(name, bit, text): whose site a byte belongs to */
#define GTP_SITES(X) \
	X(FTRACE,      0x01, "the function tracer's") \
	X(JUMP_LABEL,  0x02, "a jump label's") \
	X(STATIC_CALL, 0x04, "a static call's") \
	X(ALT,         0x08, "an alternative's") \
	X(PARAVIRT,    0x10, "a paravirtual call's") \
	X(BUG,         0x20, "a BUG or WARN's trap") \
	X(FAULT,       0x40, "an instruction with an exception fixup") \
	X(THUNK,       0x80, "a retpoline's")

enum gtp_site {
#define X(name, bit, text) GTP_SITE_##name = (bit),
	GTP_SITES(X)
#undef X
	/* patched while the kernel runs; patched once, at boot */
	GTP_SITE_RUNTIME = GTP_SITE_FTRACE | GTP_SITE_JUMP_LABEL | GTP_SITE_STATIC_CALL,
	GTP_SITE_BOOT = GTP_SITE_ALT | GTP_SITE_PARAVIRT,
};

enum gtp_function_flag {
	GTP_FN_IJMP = 1,     /* has a jump through a register or memory */
	GTP_FN_THUNK = 2,    /* jumps to a retpoline */
	GTP_FN_RETHUNK = 4,  /* jumps to a return thunk */
	GTP_FN_FAULT = 8,    /* has an instruction with an exception fixup */
	GTP_FN_BAD = 16,     /* has bytes that are no instruction */
	GTP_FN_ENTRY = 32,   /* is in the kernel's entry code */
	GTP_FN_NOINSTR = 64, /* may not be instrumented */
	GTP_FN_NOKPROBE = 128,
	GTP_FN_ROWS = 256,   /* its basic blocks are in the line table, all that can be checked */
	GTP_FN_LANDING = 512, /* has exception tables of its language */
};

/*
 * struct gtp_function - from one symbol to the next, as the kernel's own table of symbols sees it
 */
struct gtp_function {
	const char *name;
	u64 addr;
	u32 size;
	u32 body; /* size by the symbol itself, 0 when it has none: what follows is padding */
	u16 flags;
};

enum gtp_span_kind {
	GTP_SPAN_TEXT,
	GTP_SPAN_INIT,        /* freed after boot, or runs at unload */
	GTP_SPAN_REPLACEMENT, /* runs only where it has been copied to */
	GTP_SPAN_AUX,         /* helps boot-time patching */
};

/* Bits of gtp_span.insn, beside the kind in the low four. */
#define GTP_DECODED_KIND 0x0f
#define GTP_DECODED_COPY 0x40
#define GTP_DECODED_BOOST 0x80

/**
 * struct gtp_span - one section of code
 * @bytes: as they run on the chosen CPU (a copy)
 * @len: for each byte the length of the instruction that starts there, else 0
 * @insn: for each such byte its kind (enum gtp_decoded_kind) and GTP_DECODED_*
 * @leader: for each byte enum gtp_leader bits
 * @site: for each byte enum gtp_site bits
 * @functions: in the order of addresses; they cover all bytes
 */
struct gtp_span {
	const struct gtp_section *section;
	const char *name;
	u64 addr;
	u32 size;
	enum gtp_span_kind kind;
	u8 *bytes;
	u8 *len;
	u8 *insn;
	u16 *leader;
	u8 *site;
	struct gtp_function *functions;
	u32 functions_n;
};

/* Which CPU the code runs on: what the kernel makes of every return at boot. */
enum gtp_cpu {
	GTP_CPU_PLAIN,   /* ret */
	GTP_CPU_ITS,     /* a thunk for those in the lower half of a cache line */
	GTP_CPU_RETHUNK, /* a thunk for all of them */
	GTP_CPU_N,
};

struct gtp_text {
	const struct gtp_image *image;
	struct gtp_span *spans;
	u32 spans_n;
	u64 thunks_start; /* retpolines and return thunks of a linked kernel */
	u64 thunks_end;
	u64 rethunk; /* the return thunk that the compiler calls */
	enum gtp_cpu cpu;
	bool absolute;    /* a constant in code may be an address without any relocation */
	bool relocations; /* every address of code that is stored is known by a relocation */
};

void gtp_text_init(struct gtp_text *text, const struct gtp_image *image, enum gtp_cpu cpu);
void gtp_text_free(struct gtp_text *text);

/* gtp_text_span - the span that holds an address, or NULL */
struct gtp_span *gtp_text_span(const struct gtp_text *text, u64 addr);

/* gtp_text_function - the function that holds an address of the span */
struct gtp_function *gtp_text_function(const struct gtp_span *span, u64 addr);

/* gtp_text_find - the function of that name, or NULL */
struct gtp_function *gtp_text_find(const struct gtp_text *text, const char *name);

/*
 * gtp_text_mark - control may arrive at @addr for the reason @why; addresses outside of code are
 * ignored
 */
void gtp_text_mark(struct gtp_text *text, u64 addr, enum gtp_leader why);

/* gtp_text_site - @n bytes at @addr are a site */
void gtp_text_site(struct gtp_text *text, u64 addr, u32 n, enum gtp_site what);

/* gtp_text_decode - find every instruction; marks what direct jumps and calls show */
void gtp_text_decode(struct gtp_text *text);

/* gtp_text_is_thunk - a jump to there returns, or jumps through a register */
bool gtp_text_is_thunk(const struct gtp_text *text, u64 addr, bool *returns);

/* gtp_leader_text, gtp_site_text - the words for the lowest bit that is set */
const char *gtp_leader_text(u32 bits);
const char *gtp_site_text(u32 bits);

#endif /* _GTP_TEXT_H */
