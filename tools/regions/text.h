/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All code of an image: the bytes as they are at run time, the functions, the instructions, and
 * facts about each byte.
 */
#ifndef _RGN_TEXT_H
#define _RGN_TEXT_H

#include "tools/regions/decode.h"
#include "tools/regions/image.h"

/*
 * X(name, bit, text): the reasons why an address is a leader: control may arrive there other than
 * from the previous instruction. Decoding the function itself shows only the first two reasons. The
 * others are called hidden.
 */
/* clang-format off */
#define RGN_LEADERS(X) \
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
	X(LANDING,    0x1000, "an exception's landing pad") \
	X(TABLE,      0x2000, "an entry of a jump table")
/* clang-format on */

enum rgn_leader {
#define X(name, bit, text) RGN_LEADER_##name = (bit),
	RGN_LEADERS(X)
#undef X
		RGN_LEADER_SEEN = RGN_LEADER_JUMP | RGN_LEADER_CALL | RGN_LEADER_ENTRY,
};

/* X(name, bit, text): the kinds of patch sites to which a byte can belong */
/* clang-format off */
#define RGN_SITES(X) \
	X(FTRACE,      0x01, "the function tracer's") \
	X(JUMP_LABEL,  0x02, "a jump label's") \
	X(STATIC_CALL, 0x04, "a static call's") \
	X(ALT,         0x08, "an alternative's") \
	X(PARAVIRT,    0x10, "a paravirtual call's") \
	X(BUG,         0x20, "a BUG or WARN's trap") \
	X(FAULT,       0x40, "an instruction with an exception fixup") \
	X(THUNK,       0x80, "a retpoline's")
/* clang-format on */

enum rgn_site {
#define X(name, bit, text) RGN_SITE_##name = (bit),
	RGN_SITES(X)
#undef X
	/*
	 * the sites that are patched while the kernel runs; then the sites that are patched once,
	 * at boot
	 */
	RGN_SITE_RUNTIME = RGN_SITE_FTRACE | RGN_SITE_JUMP_LABEL | RGN_SITE_STATIC_CALL,
	RGN_SITE_BOOT = RGN_SITE_ALT | RGN_SITE_PARAVIRT,
};

enum rgn_function_flag {
	RGN_FN_IJMP = 1,     /* has a jump through a register or memory */
	RGN_FN_THUNK = 2,    /* jumps to a retpoline */
	RGN_FN_RETHUNK = 4,  /* jumps to a return thunk */
	RGN_FN_FAULT = 8,    /* has an instruction with an exception fixup */
	RGN_FN_BAD = 16,     /* has bytes that are not an instruction */
	RGN_FN_ENTRY = 32,   /* is in the kernel's entry code */
	RGN_FN_NOINSTR = 64, /* may not be instrumented */
	RGN_FN_NOKPROBE = 128,
	RGN_FN_ROWS = 256,     /* the line table has all basic blocks that decoding shows */
	RGN_FN_LANDING = 512,  /* has an exception table that cannot be read */
	RGN_FN_WRAP = 1024,    /* has no argument on the stack, and returns */
	RGN_FN_BOUND = 8192,   /* of a program: its bounds come from an FDE or a symbol */
	RGN_FN_UNBOUND = 2048, /* of a program: its bounds are unknown */
	RGN_FN_PROVEN = 16384, /* of a program: all its jumps through registers lead to leaders */
	RGN_FN_ASTRAY = 4096,  /* of a program: a jump leads into the middle of an instruction */
};

/*
 * struct rgn_function - in a kernel, the code from one symbol to the next, as in kallsyms; in a
 * program, the code of an FDE or of a symbol with a size, or the code between two of these
 */
struct rgn_function {
	const char *name;
	u64 addr;
	u32 size;
	u32 body; /* the symbol's size, without padding; 0: it has none */
	u16 flags;
	u8 unproven; /* enum rgn_unproven: why RGN_FN_PROVEN is not set */
};

/* X(name, text): the reasons why the targets of a program's jump through a register are unknown */
/* clang-format off */
#define RGN_UNPROVENS(X) \
	X(NOT,       "it has no such jump") \
	X(VALUE,     "the target is computed in a way that is not known here") \
	X(INDEX,     "nothing bounds the index of the table") \
	X(WRITABLE,  "the program may write to the table") \
	X(ENTRY,     "an entry of the table leads out of the function, or to no instruction") \
	X(FRAME,     "the target comes from memory or the caller, and the frame is not gone") \
	X(LABELS,    "the target comes from memory or the caller, and labels of it are stored") \
	X(UNREACHED, "nothing that is known leads to the jump") \
	X(LONG,      "the function is too large")
/* clang-format on */

enum rgn_unproven {
#define X(name, text) RGN_UNPROVEN_##name,
	RGN_UNPROVENS(X)
#undef X
		RGN_UNPROVEN_N,
};

enum rgn_span_kind {
	RGN_SPAN_TEXT,
	RGN_SPAN_INIT,	      /* code that is freed after boot, or runs at unload */
	RGN_SPAN_REPLACEMENT, /* code that runs only after it was copied elsewhere */
	RGN_SPAN_AUX,	      /* code for patching at boot */
	RGN_SPAN_PLT,	      /* stubs of the linker for calls to libraries */
};

/* Bits of rgn_span.insn, in addition to the kind in its low four bits. */
#define RGN_DECODED_KIND 0x0f
#define RGN_DECODED_COPY 0x40
#define RGN_DECODED_BOOST 0x80

/**
 * struct rgn_span - one section of code
 * @bytes: the code as it runs on the chosen CPU (a copy)
 * @len: for each byte the length of the instruction that starts at that byte, else 0
 * @insn: for each such byte its kind (enum rgn_decoded_kind) and RGN_DECODED_*
 * @leader: for each byte enum rgn_leader bits
 * @site: for each byte enum rgn_site bits
 * @functions: the functions, in the order of addresses; they cover all bytes
 */
struct rgn_span {
	const struct rgn_section *section;
	const char *name;
	u64 addr;
	u32 size;
	enum rgn_span_kind kind;
	u8 *bytes;
	u8 *len;
	u8 *insn;
	u16 *leader;
	u8 *site;
	struct rgn_function *functions;
	u32 functions_n;
};

/* rgn_function_start, rgn_function_end - return a function's bounds as offsets in its span */
static inline u32 rgn_function_start(const struct rgn_span *span, const struct rgn_function *f)
{
	return (u32)(f->addr - span->addr);
}

static inline u32 rgn_function_end(const struct rgn_span *span, const struct rgn_function *f)
{
	return rgn_function_start(span, f) + f->size;
}

/* rgn_function_trusted - true for a program's function if it is known to be decoded correctly */
static inline bool rgn_function_trusted(const struct rgn_function *f)
{
	return f->flags & RGN_FN_BOUND &&
	       !(f->flags & (RGN_FN_BAD | RGN_FN_ASTRAY | RGN_FN_LANDING));
}

/* X(name, word, text): the kinds of CPU, by the form of returns after the kernel has booted */
/* clang-format off */
#define RGN_CPUS(X) \
	X(PLAIN, "plain", \
	  "returns are plain (file text of user programs; CPUs without mitigation)") \
	X(ITS, "its", \
	  "returns in the lower half of a cache line go through a thunk (Intel ITS)") \
	X(RETHUNK, "rethunk", "every return goes through a thunk (AMD retbleed, SRSO)")
/* clang-format on */

enum rgn_cpu {
#define X(name, word, text) RGN_CPU_##name,
	RGN_CPUS(X)
#undef X
		RGN_CPU_N,
};

struct rgn_text {
	const struct rgn_image *image;
	struct rgn_span *spans;
	u32 spans_n;
	u64 thunks_start; /* the retpolines and return thunks of vmlinux */
	u64 thunks_end;
	u64 rethunk;	      /* the return thunk that the compiler calls */
	char *names;	      /* names of functions without a symbol */
	struct rgn_fde *fdes; /* the FDEs of a program, by address */
	u32 fdes_n;
	enum rgn_cpu cpu;
	bool absolute;	  /* a constant in code may be an address even without a relocation */
	bool relocations; /* every stored address of code has a relocation */
};

/* rgn_text_init - read all code; rgn_functions_init() then divides it into functions */
void rgn_text_init(struct rgn_text *text, const struct rgn_image *image, enum rgn_cpu cpu);
void rgn_text_free(struct rgn_text *text);

/* rgn_text_span - return the span that contains an address, or NULL */
struct rgn_span *rgn_text_span(const struct rgn_text *text, u64 addr);

/* rgn_text_function - return the function that contains an address of the span */
struct rgn_function *rgn_text_function(const struct rgn_span *span, u64 addr);

/*
 * rgn_text_mark - record that control may arrive at @addr for the reason @why; addresses outside of
 * code are ignored
 */
void rgn_text_mark(struct rgn_text *text, u64 addr, enum rgn_leader why);

/* rgn_text_site - record that @n bytes at @addr are a patch site */
void rgn_text_site(struct rgn_text *text, u64 addr, u32 n, enum rgn_site what);

/* rgn_text_decode - find every instruction, and mark the targets of direct jumps and calls */
void rgn_text_decode(struct rgn_text *text);

/*
 * rgn_text_is_thunk - true if a retpoline or a return thunk is at @addr; *@returns is set to true
 * only for a return thunk
 */
bool rgn_text_is_thunk(const struct rgn_text *text, u64 addr, bool *returns);

/*
 * rgn_cpu_find - find a kind of CPU by its word; return false, with *@cpu unchanged, if there is
 * none
 */
bool rgn_cpu_find(enum rgn_cpu *cpu, const char *word);
const char *rgn_cpu_text(enum rgn_cpu cpu);

/* rgn_leader_text, rgn_site_text - return the text for the lowest bit that is set */
const char *rgn_leader_text(u32 bits);
const char *rgn_site_text(u32 bits);
const char *rgn_unproven_text(enum rgn_unproven why);

#endif /* _RGN_TEXT_H */
