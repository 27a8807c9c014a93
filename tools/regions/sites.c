// SPDX-License-Identifier: GPL-2.0-only
/* Read the kernel's tables of patch sites, from vmlinux or a module. */
#include <stdlib.h>
#include "tools/regions/sites.h"

enum table_id {
	EX_TABLE,
	JUMP_TABLE,
	STATIC_CALLS,
	ALTERNATIVES,
	PARAVIRT,
	RETPOLINES,
	RETURNS,
	MCOUNT,
	BUGS,
	BLACKLIST,
	TABLES_N,
};

/* The place of each table: a section, in vmlinux or in modules, or the data between two symbols. */
static const struct {
	const char *section;
	const char *start;
	const char *stop;
} tables[TABLES_N] = {
	[EX_TABLE] = { "__ex_table", "__start___ex_table", "__stop___ex_table" },
	[JUMP_TABLE] = { "__jump_table", "__start___jump_table", "__stop___jump_table" },
	[STATIC_CALLS] = { ".static_call_sites", "__start_static_call_sites",
			   "__stop_static_call_sites" },
	[ALTERNATIVES] = { ".altinstructions", "__alt_instructions", "__alt_instructions_end" },
	[PARAVIRT] = { ".parainstructions", "__parainstructions", "__parainstructions_end" },
	[RETPOLINES] = { ".retpoline_sites", "__retpoline_sites", "__retpoline_sites_end" },
	[RETURNS] = { ".return_sites", "__return_sites", "__return_sites_end" },
	[MCOUNT] = { "__mcount_loc", "__start_mcount_loc", "__stop_mcount_loc" },
	[BUGS] = { "__bug_table", "__start___bug_table", "__stop___bug_table" },
	[BLACKLIST] = { "_kprobe_blacklist", "__start_kprobe_blacklist",
			"__stop_kprobe_blacklist" },
};

struct table {
	const u8 *bytes;
	u64 addr;
	u64 size;
};

static bool table_range(const struct rgn_image *image, enum table_id id, u64 *start, u64 *size)
{
	const struct rgn_section *s = rgn_image_section(image, tables[id].section);
	const struct rgn_symbol *from, *to;

	if (s) {
		*start = s->addr;
		*size = s->size;
		return true;
	}
	from = rgn_image_symbol(image, tables[id].start);
	to = rgn_image_symbol(image, tables[id].stop);
	if (!from || !to || to->addr < from->addr)
		return false;
	*start = from->addr;
	*size = to->addr - from->addr;
	return true;
}

static struct table table_get(const struct rgn_image *image, enum table_id id)
{
	struct table t = { NULL, 0, 0 };

	if (!image->kernel || !table_range(image, id, &t.addr, &t.size))
		return t;
	t.bytes = rgn_image_at(image, t.addr, t.size);
	if (!t.bytes)
		t.size = 0;
	return t;
}

bool rgn_sites_table_named(const char *name)
{
	static const char *const others[] = {
		".smp_locks",
		".call_sites",
		".ibt_endbr_seal",
		".cfi_sites",
		".eh_frame",
		".eh_frame_hdr",
		"__patchable_function_entries",
		".kcfi_traps",
		".gcc_except_table",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		if (!strcmp(name, others[i]))
			return true;
	}
	for (i = 0; i < TABLES_N; i++) {
		if (!strcmp(name, tables[i].section))
			return true;
	}
	return !strncmp(name, ".orc_", 5) || !strncmp(name, ".discard", 8) ||
	       !strncmp(name, "runtime_", 8);
}

bool rgn_sites_table_at(const struct rgn_image *image, u64 addr)
{
	static const struct rgn_image *known;
	static u64 start[TABLES_N], size[TABLES_N];
	u32 i;

	if (known != image) {
		for (i = 0; i < TABLES_N; i++) {
			if (!table_range(image, i, &start[i], &size[i]))
				size[i] = 0;
		}
		known = image;
	}
	for (i = 0; i < TABLES_N; i++) {
		if (addr - start[i] < size[i])
			return true;
	}
	return false;
}

/* Return the address that the 32-bit field at @at contains, relative to the field itself. */
static u64 field(const struct table *t, u64 at)
{
	return t->addr + at + (u64)(s64)(s32)gtp_get_le(t->bytes + at, 4);
}

/*
 * Read the exception table. Each entry has three fields of 4 bytes: an instruction, its fixup, the
 * kind of the fixup.
 */
static void exceptions(struct rgn_text *text)
{
	struct table t = table_get(text->image, EX_TABLE);
	u64 at;

	for (at = 0; at + 12 <= t.size; at += 12) {
		rgn_text_site(text, field(&t, at), 1, RGN_SITE_FAULT);
		rgn_text_mark(text, field(&t, at + 4), RGN_LEADER_FIXUP);
	}
}

/*
 * Read a table whose entries have @stride bytes. Each begins with the address of a patch site of @n
 * bytes.
 */
static void fixed_sites(struct rgn_text *text, enum table_id id, u32 stride, u32 n,
			enum rgn_site what)
{
	struct table t = table_get(text->image, id);
	u64 at;

	for (at = 0; at + stride <= t.size; at += stride)
		rgn_text_site(text, field(&t, at), n, what);
}

/* Read the trampolines of static calls: jumps that the kernel patches as it patches the calls. */
static void trampolines(struct rgn_text *text)
{
	const struct rgn_image *image = text->image;
	u32 i;

	for (i = 0; i < image->symbols_n; i++) {
		if (image->symbols[i].section && !strncmp(image->symbols[i].name, "__SCT__", 7))
			rgn_text_site(text, image->symbols[i].addr, 5, RGN_SITE_STATIC_CALL);
	}
}

static void ftrace(struct rgn_text *text)
{
	struct table t = table_get(text->image, MCOUNT);
	u64 at;

	for (at = 0; at + 8 <= t.size; at += 8)
		rgn_text_site(text, gtp_get_le(t.bytes + at, 8), 5, RGN_SITE_FTRACE);
}

/* Read paravirt sites. Each entry has a pointer, a type, a length, and padding to 16 bytes. */
static void paravirt(struct rgn_text *text)
{
	struct table t = table_get(text->image, PARAVIRT);
	u64 at;

	for (at = 0; at + 16 <= t.size; at += 16)
		rgn_text_site(text, gtp_get_le(t.bytes + at, 8), t.bytes[at + 9],
			      RGN_SITE_PARAVIRT);
}

/*
 * Patch jumps to the return thunk as the kernel's apply_returns() does on the chosen kind of CPU.
 */
static void returns(struct rgn_text *text)
{
	struct table t = table_get(text->image, RETURNS);
	u64 at;

	if (text->cpu == RGN_CPU_RETHUNK)
		return;
	for (at = 0; at + 4 <= t.size; at += 4) {
		u64 addr = field(&t, at);
		struct rgn_span *span = rgn_text_span(text, addr);
		u8 *bytes;

		if (!span || addr - span->addr + 5 > span->size)
			continue;
		bytes = span->bytes + (addr - span->addr);
		if (bytes[0] != 0xe9 || (text->cpu == RGN_CPU_ITS && !(addr & 0x20)))
			continue;
		bytes[0] = 0xc3;
		memset(bytes + 1, 0xcc, 4);
	}
}

/*
 * Read the sites of runtime constants, which the kernel writes into code at boot: a pointer of 8
 * bytes or a shift count of 1 byte.
 */
static void runtime_constants(struct rgn_text *text)
{
	const struct rgn_image *image = text->image;
	u32 i;

	for (i = 1; i < image->sections_n; i++) {
		const struct rgn_section *s = &image->sections[i];
		struct table t = { s->bytes, s->addr, s->size };
		u32 n = strncmp(s->name, "runtime_shift_", 14) ? 8 : 1;
		u64 at;

		if (!s->bytes || !(s->flags & SHF_ALLOC) || strncmp(s->name, "runtime_", 8))
			continue;
		for (at = 0; at + 4 <= t.size; at += 4)
			rgn_text_site(text, field(&t, at), n, RGN_SITE_ALT);
	}
}

static void flag_range(struct rgn_text *text, const char *from, const char *to, u16 flag)
{
	const struct rgn_symbol *start = rgn_image_symbol(text->image, from);
	const struct rgn_symbol *end = rgn_image_symbol(text->image, to);
	struct rgn_span *span = start && end ? rgn_text_span(text, start->addr) : NULL;
	u32 i;

	for (i = 0; span && i < span->functions_n; i++) {
		if (span->functions[i].addr >= start->addr && span->functions[i].addr < end->addr)
			span->functions[i].flags |= flag;
	}
}

static void flag_sections(struct rgn_text *text)
{
	u32 i, j;

	for (i = 0; i < text->spans_n; i++) {
		struct rgn_span *span = &text->spans[i];
		u16 flag = 0;

		if (!strncmp(span->name, ".noinstr.text", 13))
			flag = RGN_FN_NOINSTR;
		else if (!strncmp(span->name, ".kprobes.text", 13))
			flag = RGN_FN_NOKPROBE;
		else if (!strncmp(span->name, ".entry.text", 11))
			flag = RGN_FN_ENTRY;
		for (j = 0; j < span->functions_n; j++)
			span->functions[j].flags |= flag;
	}
}

static void blacklist(struct rgn_text *text)
{
	struct table t = table_get(text->image, BLACKLIST);
	u64 at;

	for (at = 0; at + 8 <= t.size; at += 8) {
		u64 addr = gtp_get_le(t.bytes + at, 8);
		struct rgn_span *span = rgn_text_span(text, addr);

		if (span)
			rgn_text_function(span, addr)->flags |= RGN_FN_NOKPROBE;
	}
	flag_range(text, "__entry_text_start", "__entry_text_end", RGN_FN_ENTRY);
	flag_range(text, "__noinstr_text_start", "__noinstr_text_end", RGN_FN_NOINSTR);
	flag_range(text, "__kprobes_text_start", "__kprobes_text_end", RGN_FN_NOKPROBE);
	flag_sections(text);
}

void rgn_sites_before(struct rgn_text *text)
{
	if (!text->image->kernel)
		return;
	exceptions(text);
	fixed_sites(text, STATIC_CALLS, 8, 5, RGN_SITE_STATIC_CALL);
	trampolines(text);
	ftrace(text);
	fixed_sites(text, BUGS, 12, 2, RGN_SITE_BUG);
	paravirt(text);
	fixed_sites(text, RETPOLINES, 4, 5, RGN_SITE_THUNK);
	returns(text);
	runtime_constants(text);
	blacklist(text);
}

/* Read jump labels. Each entry has the site, its target, and a key of 8 bytes. */
static void jump_labels(struct rgn_text *text)
{
	struct table t = table_get(text->image, JUMP_TABLE);
	u64 at;

	for (at = 0; at + 16 <= t.size; at += 16) {
		u64 addr = field(&t, at);
		struct rgn_span *span = rgn_text_span(text, addr);
		u32 len = span ? span->len[addr - span->addr] : 0;

		/* The site is a nop or a jump of two or five bytes; if in doubt assume five. */
		rgn_text_site(text, addr, len == 2 ? 2 : 5, RGN_SITE_JUMP_LABEL);
		rgn_text_mark(text, field(&t, at + 4), RGN_LEADER_JUMP_LABEL);
	}
}

struct alternative {
	u64 addr;
	u64 by;
	u8 len;
	u8 by_len;
};

/*
 * Mark the targets of jumps in a replacement. A target inside the replacement stands for the same
 * offset in the site.
 */
static void replacement(struct rgn_text *text, const struct alternative *a)
{
	struct rgn_span *span = rgn_text_span(text, a->by);
	u32 at, end;

	if (!span || a->by - span->addr + a->by_len > span->size)
		return;
	end = (u32)(a->by - span->addr) + a->by_len;
	for (at = end - a->by_len; at < end;) {
		struct rgn_decoded insn;
		u64 target;

		rgn_decode(&insn, span->bytes + at, end - at, span->addr + at);
		at += insn.len;
		if (insn.kind != RGN_DECODED_CALL && insn.kind != RGN_DECODED_JCC &&
		    insn.kind != RGN_DECODED_JMP)
			continue;
		target = insn.target;
		if (target - a->by < a->by_len)
			target = a->addr + (target - a->by);
		rgn_text_mark(text, target, RGN_LEADER_ALT);
	}
}

/*
 * Read an entry of the table of alternatives. The layout depends on the kernel's version: an entry
 * has 12 bytes, with the lengths at 10 and 11, or 14 bytes, with the lengths at 12 and 13.
 */
static struct alternative alternative_at(const struct table *t, u64 at, u32 stride)
{
	struct alternative a = { .addr = field(t, at), .by = field(t, at + 4) };

	a.len = t->bytes[at + stride - 2];
	a.by_len = t->bytes[at + stride - 1];
	return a;
}

/* True if the stride is right, so that every entry has addresses of code and a replacement. */
static bool stride_fits(const struct rgn_text *text, const struct table *t, u32 stride)
{
	u64 at;

	if (t->size % stride)
		return false;
	for (at = 0; at < t->size; at += stride) {
		struct alternative a = alternative_at(t, at, stride);
		struct rgn_span *by = rgn_text_span(text, a.by);

		if (!rgn_text_span(text, a.addr))
			return false;
		if (a.by_len && (!by || by->kind != RGN_SPAN_REPLACEMENT || a.by_len > a.len))
			return false;
	}
	return true;
}

static void alternatives(struct rgn_text *text)
{
	struct table t = table_get(text->image, ALTERNATIVES);
	u32 stride = stride_fits(text, &t, 12) ? 12 : 14;
	u64 at;

	for (at = 0; at + stride <= t.size; at += stride) {
		struct alternative a = alternative_at(&t, at, stride);

		rgn_text_site(text, a.addr, a.len, RGN_SITE_ALT);
		replacement(text, &a);
	}
}

void rgn_sites_after(struct rgn_text *text)
{
	if (!text->image->kernel)
		return;
	jump_labels(text);
	alternatives(text);
}
