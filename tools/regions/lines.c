// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the source lines of a function with libdw. The code of an inlined function belongs to the
 * line that calls it.
 */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <err.h>
#include <stdlib.h>
#include "tools/regions/explain.h"
#include "tools/regions/lines.h"
#include "tools/run/text.h"

#define LINES_MAX 20000 /* maximum number of source lines of a function */

/* struct line - the first address of a source line, and how many of its addresses allow a jump */
struct line {
	u64 addr;
	u32 rows;
	u32 jumps;
	bool seen;
};

struct listing {
	const struct rgn_text *text;
	Dwfl *dwfl;
	Dwfl_Module *module;
	u64 slide; /* libdw's address minus the image's address */
	Dwarf_Die unit;
	Dwarf_Die function;
	const char *file;
	int first;
	int last;
	struct line *lines;
};

/*
 * Return the difference between the addresses of libdw and those of the image: both assign their
 * own addresses to the sections of object files.
 */
static u64 slide_of(struct listing *l, const struct rgn_image *debug, u64 addr)
{
	const struct rgn_section *ours = rgn_text_span(l->text, addr)->section;
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(l->module, &bias);
	size_t names;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	if (!debug->relocatable)
		return bias;
	if (!elf || elf_getshdrstrndx(elf, &names))
		text_errx(1, "%s: %s", debug->path, dwfl_errmsg(-1));
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name;

		if (!gelf_getshdr(scn, &sh))
			continue;
		name = elf_strptr(elf, names, sh.sh_name);
		if (name && !strcmp(name, ours->name))
			return bias + sh.sh_addr - ours->addr;
	}
	text_errx(1, "%s: has no section %s", debug->path, ours->name);
}

static void open_debug(struct listing *l, const struct rgn_image *debug, u64 addr)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	Dwarf_Addr bias;

	l->dwfl = dwfl_begin(&callbacks);
	if (l->dwfl)
		l->module = dwfl_report_offline(l->dwfl, debug->path, debug->path, -1);
	if (!l->module)
		text_errx(1, "%s: %s", debug->path, dwfl_errmsg(-1));
	dwfl_report_end(l->dwfl, NULL, NULL);
	if (!dwfl_module_getdwarf(l->module, &bias))
		text_errx(1, "%s: has no debug information (%s)", debug->path, dwfl_errmsg(-1));
	l->slide = slide_of(l, debug, addr);
}

static void find_function(struct listing *l, const struct rgn_function *f)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit = dwfl_module_addrdie(l->module, f->addr + l->slide, &bias), *scopes;
	int n, i;

	if (!unit)
		text_errx(1, "%s: the debug information does not know this code", f->name);
	l->unit = *unit;
	n = dwarf_getscopes(unit, f->addr + l->slide - bias, &scopes);
	for (i = 0; i < n; i++) {
		if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
			break;
	}
	if (n <= 0 || i == n)
		text_errx(1, "%s: the debug information has no function there", f->name);
	l->function = scopes[i];
	free(scopes);
	/* The function's attributes may come from an abstract origin in another unit. */
	l->slide -= bias;
	l->file = dwarf_decl_file(&l->function);
	if (!l->file || dwarf_decl_line(&l->function, &l->first))
		text_errx(1, "%s: the debug information has no line for it", f->name);
	l->lines = rgn_alloc(LINES_MAX, sizeof(*l->lines));
	l->last = l->first;
}

/*
 * Find the outermost inlined call in @die whose code contains @pc; look into lexical blocks, too.
 */
static bool inlined_at(Dwarf_Die *die, Dwarf_Addr pc, Dwarf_Die *call)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block)
			continue;
		/* A lexical block may have no ranges, so search it in any case. */
		if (tag == DW_TAG_inlined_subroutine && dwarf_haspc(&child, pc) == 1) {
			*call = child;
			return true;
		}
		if (tag == DW_TAG_lexical_block && inlined_at(&child, pc, call))
			return true;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

/* Return the file of an inlined call: its attribute is an index into the unit's file table. */
static const char *call_file(struct listing *l, Dwarf_Die *call)
{
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Word n;
	size_t files_n;

	if (dwarf_formudata(dwarf_attr(call, DW_AT_call_file, &attr), &n) ||
	    dwarf_getsrcfiles(&l->unit, &files, &files_n))
		return NULL;
	return dwarf_filesrc(files, n, NULL, NULL);
}

static int call_line(Dwarf_Die *call)
{
	Dwarf_Attribute attr;
	Dwarf_Word n;

	return dwarf_formudata(dwarf_attr(call, DW_AT_call_line, &attr), &n) ? 0 : (int)n;
}

static void add_row(struct listing *l, Dwarf_Addr pc, const char *file, int number)
{
	struct rgn_verdict v;
	struct line *line;
	Dwarf_Die call;

	if (inlined_at(&l->function, pc, &call)) {
		file = call_file(l, &call);
		number = call_line(&call);
	}
	if (!file || strcmp(file, l->file) || number < l->first || number - l->first >= LINES_MAX)
		return;
	line = &l->lines[number - l->first];
	rgn_verdict_get(l->text, pc - l->slide, &v);
	if (!line->seen || pc - l->slide < line->addr)
		line->addr = pc - l->slide;
	line->seen = true;
	line->rows++;
	line->jumps += v.id >= RGN_VERDICT_ACCEPT;
	if (number > l->last)
		l->last = number;
}

static void read_rows(struct listing *l)
{
	Dwarf_Lines *rows;
	size_t n, i;

	if (dwarf_getsrclines(&l->unit, &rows, &n))
		text_errx(1, "the line table cannot be read: %s", dwarf_errmsg(-1));
	for (i = 0; i < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(rows, i);
		bool statement, end;
		Dwarf_Addr pc;
		int number;

		if (dwarf_lineaddr(row, &pc) || dwarf_lineno(row, &number) ||
		    dwarf_linebeginstatement(row, &statement) || dwarf_lineendsequence(row, &end))
			continue;
		if (statement && !end && dwarf_haspc(&l->function, pc) == 1)
			add_row(l, pc, dwarf_linesrc(row, NULL, NULL), number);
	}
}

static FILE *open_source(const struct listing *l, const char *folder)
{
	const char *rest = l->file;
	char path[4096];
	FILE *in;

	if (!folder)
		return fopen(l->file, "r");
	/*
	 * The folder of the build is unknown, so try shorter and shorter ends of the path, relative
	 * to @source.
	 */
	for (; rest; rest = strchr(rest, '/')) {
		while (*rest == '/')
			rest++;
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, rest) < sizeof(path)) {
			in = fopen(path, "r");
			if (in)
				return in;
		}
	}
	return NULL;
}

static char marker(const struct rgn_text *text, const struct line *line)
{
	struct rgn_verdict v;

	if (!line->seen)
		return ' ';
	rgn_verdict_get(text, line->addr, &v);
	if (v.id >= RGN_VERDICT_ACCEPT || v.id == RGN_VERDICT_FTRACE)
		return v.id == RGN_VERDICT_FTRACE ? 'f' : 'j';
	return v.id >= RGN_VERDICT_PROBE ? 'b' : '-';
}

static void print_line(const struct listing *l, int number, const char *source)
{
	const struct line *line = &l->lines[number - l->first];
	char name[256] = "";
	struct rgn_verdict v;

	if (line->seen)
		rgn_explain_name(l->text, line->addr, name, sizeof(name));
	text_printf(stdout, "%c %6d", marker(l->text, line), number);
	if (source)
		text_printf(stdout, "  %s", source);
	if (!line->seen) {
		text_printf(stdout, "\n");
		return;
	}
	rgn_verdict_get(l->text, line->addr, &v);
	text_printf(stdout, "%s  %s", source ? "\n         " : "", name);
	if (v.id < RGN_VERDICT_ACCEPT)
		text_printf(stdout, " (%s)", rgn_verdict_word(v.id));
	if (line->rows > 1)
		text_printf(stdout, ", jumps at %u of %u places", line->jumps, line->rows);
	text_printf(stdout, "\n");
}

static void print_all(const struct listing *l, FILE *source)
{
	char text[512];
	int number = 0;

	while (source && number < l->first - 1 && fgets(text, sizeof(text), source))
		number += !!strchr(text, '\n');
	for (number = l->first; number <= l->last; number++) {
		bool have = source && fgets(text, sizeof(text), source);

		if (have)
			text[strcspn(text, "\n")] = '\0';
		if (have || l->lines[number - l->first].seen)
			print_line(l, number, have ? text : NULL);
	}
}

void rgn_lines_print(const struct rgn_text *text, const struct rgn_image *debug,
		     const struct rgn_function *f, const char *source)
{
	struct listing l = { .text = text };
	FILE *in;

	open_debug(&l, debug, f->addr);
	find_function(&l, f);
	read_rows(&l);
	text_printf(stdout, "%s at %s:%d\n", f->name, l.file, l.first);
	text_printf(
		stdout,
		"j: takes a jump, b: a breakpoint, f: the function tracer's site, -: no probe\n");
	in = open_source(&l, source);
	print_all(&l, in);
	if (in)
		fclose(in);
	free(l.lines);
	dwfl_end(l.dwfl);
}
