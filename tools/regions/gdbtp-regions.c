// SPDX-License-Identifier: GPL-2.0-only
/* gdbtp-regions: finds the code of a kernel, module or program that a 5-byte jump may replace. */
#include <err.h>
#include <getopt.h>
#include <stdlib.h>
#include "tools/regions/explain.h"
#include "tools/regions/leaders.h"
#include "tools/regions/lines.h"
#include "tools/regions/mktable.h"
#include "tools/regions/prototypes.h"
#include "tools/regions/rows.h"
#include "tools/regions/stats.h"
#include "tools/run/text.h"

static const char usage_text[] =
	"usage: gdbtp-regions COMMAND FILE [WHERE...] [OPTION...]\n"
	"  explain FILE WHERE... may a jump replace the code at WHERE? why or why not?\n"
	"  lines FILE FUNCTION   the function's source lines, and the probe that each takes\n"
	"  stats FILE            counts: instructions, the kernel's rule, this rule, reasons\n"
	"  table FILE -o OUT     write the table that the module loads\n"
	"  show TABLE            the contents of a table\n"
	"  build-id FILE         its build-id, which its table has too\n"
	"  deny FILE             addresses that the kernel's rule accepts wrongly\n"
	"  dump FILE [FUNCTION]  a line for every instruction\n"
	"  rows FILE             the line table's size, rows, and rows that start basic blocks\n"
	"FILE is a vmlinux, a module or a program; WHERE is FUNCTION, FUNCTION+OFFSET, an address.\n"
	"  --debug FILE          the file that has the debug information\n"
	"  --cpu NAME            plain (default), its, rethunk: how functions return; stats: all\n"
	"  --at NAME=ADDRESS     the address of a symbol or section in memory, for all addresses\n"
	"  --source FOLDER       the folder of the source files\n"
	"  -o, --output OUT      the file to write\n"
	"  --all                 show: every entry; stats: the module's own decision, too\n";

struct options {
	const char *debug;
	const char *output;
	const char *at;
	const char *source;
	const char *cpu;
	bool all;
};

struct session {
	struct options options;
	struct rgn_image image;
	struct rgn_image debug_image;
	const struct rgn_image *debug;
	struct rgn_text text;
	const char *where;
	char **places; /* @where and the words after it, up to a NULL */
};

static void usage(FILE *to, int status)
{
	fputs(usage_text, to);
	exit(status);
}

static enum rgn_cpu cpu_of(const char *word)
{
	enum rgn_cpu cpu = RGN_CPU_PLAIN;

	if (word && !rgn_cpu_find(&cpu, word))
		text_errx(2, "--cpu %s: want plain, its or rethunk", word);
	return cpu;
}

static void analyse(struct session *s, enum rgn_cpu cpu)
{
	rgn_leaders_find(&s->text, &s->image, s->debug, cpu);
}

static u64 asked_for(struct session *s)
{
	u64 slide = s->options.at ? rgn_explain_slide(&s->text, s->options.at) : 0;

	if (!s->where)
		text_errx(2, "where? FUNCTION, FUNCTION+OFFSET or an address");
	return rgn_explain_place(&s->text, s->where, slide);
}

static const struct rgn_function *asked_function(struct session *s)
{
	u64 addr = asked_for(s);
	const struct rgn_span *span = rgn_text_span(&s->text, addr);

	if (!span)
		text_errx(1, "%s: no code is there", s->where);
	return rgn_text_function(span, addr);
}

static void stats_for(struct session *s, enum rgn_cpu cpu)
{
	struct rgn_stats stats;

	analyse(s, cpu);
	rgn_stats_count(&s->text, &stats);
	rgn_stats_print(&s->text, &stats);
	if (s->options.all && s->image.kernel)
		rgn_stats_module(&s->text, &stats);
	rgn_text_free(&s->text);
}

static void do_stats(struct session *s)
{
	u32 i;

	if (!s->options.cpu || strcmp(s->options.cpu, "all")) {
		stats_for(s, cpu_of(s->options.cpu));
		return;
	}
	for (i = 0; i < RGN_CPU_N; i++) {
		stats_for(s, i);
		text_printf(stdout, "\n");
	}
}

static void do_explain(struct session *s)
{
	char **place = s->places;

	analyse(s, cpu_of(s->options.cpu));
	do {
		s->where = *place;
		rgn_explain_address(&s->text, asked_for(s));
	} while (*place && *++place);
	rgn_text_free(&s->text);
}

static void do_lines(struct session *s)
{
	analyse(s, cpu_of(s->options.cpu));
	rgn_lines_print(&s->text, s->debug, asked_function(s), s->options.source);
	rgn_text_free(&s->text);
}

static void do_table(struct session *s)
{
	if (!s->options.output)
		text_errx(2, "table: say -o FILE");
	/*
	 * Without --cpu, analyse for a CPU with plain returns: there the kernels' rules accept most
	 * addresses, so the list of denied addresses (GTP_TABLE_DENY) is complete for every kind of
	 * CPU.
	 */
	analyse(s, cpu_of(s->options.cpu));
	rgn_prototypes_mark(&s->text, s->debug);
	rgn_mktable_write(&s->text, s->options.output);
	rgn_text_free(&s->text);
}

static void do_build_id(struct session *s)
{
	u32 i;

	for (i = 0; i < s->image.build_id_len; i++)
		text_printf(stdout, "%02x", s->image.build_id[i]);
	text_printf(stdout, "\n");
}

static void do_deny(struct session *s)
{
	analyse(s, cpu_of(s->options.cpu));
	rgn_explain_deny(&s->text);
	rgn_text_free(&s->text);
}

static void do_dump(struct session *s)
{
	analyse(s, cpu_of(s->options.cpu));
	rgn_explain_dump(&s->text, s->where ? asked_function(s) : NULL);
	rgn_text_free(&s->text);
}

static void do_rows(struct session *s)
{
	struct rgn_rows rows;

	rgn_rows_read(s->debug, &rows, NULL, NULL);
	text_printf(
		stdout,
		"%llu rows, %llu of them start basic blocks, %llu bytes, %llu units unreadable\n",
		rows.rows, rows.blocks, rows.bytes, rows.broken);
}

static const struct {
	const char *name;
	void (*run)(struct session *s);
} commands[] = {
	{ "explain", do_explain }, { "lines", do_lines },	{ "stats", do_stats },
	{ "table", do_table },	   { "deny", do_deny },		{ "dump", do_dump },
	{ "rows", do_rows },	   { "build-id", do_build_id },
};

static void parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "debug", required_argument, NULL, 'd' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "at", required_argument, NULL, 't' },
		{ "source", required_argument, NULL, 's' },
		{ "output", required_argument, NULL, 'o' },
		{ "all", no_argument, NULL, 'a' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "o:h", longs, NULL)) != -1) {
		switch (c) {
		case 'd':
			o->debug = optarg;
			break;
		case 'c':
			o->cpu = optarg;
			break;
		case 't':
			o->at = optarg;
			break;
		case 's':
			o->source = optarg;
			break;
		case 'o':
			o->output = optarg;
			break;
		case 'a':
			o->all = true;
			break;
		case 'h':
			usage(stdout, 0);
			break;
		default:
			usage(stderr, 2);
		}
	}
}

/*
 * Return the index of a command in commands[]. For the command show, which reads no image, return
 * the number of entries.
 */
static size_t find_command(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands) && strcmp(commands[i].name, name); i++)
		;
	if (i == ARRAY_SIZE(commands) && strcmp(name, "show"))
		text_errx(2, "no command %s; gdbtp-regions --help lists them", name);
	return i;
}

/*
 * Exit if a file's name is empty, for instance because a script's variable is unset. open() would
 * fail too, but its error message would not show the reason.
 */
static void check_name(const char *of, const char *name)
{
	if (name && !*name)
		text_errx(2, "%s: the file name is empty", of);
}

/* Report a missing or surplus argument. The arguments are word[0] to word[@n - 1]. */
static void check_words(int n, char **word, const struct options *o)
{
	if (!n)
		text_errx(2, "COMMAND and FILE are missing; gdbtp-regions --help lists them");
	find_command(word[0]);
	if (n < 2)
		text_errx(2, "%s: FILE is missing; gdbtp-regions --help says more", word[0]);
	if (n > 3 && strcmp(word[0], "explain"))
		text_errx(2, "%s: %s is one word too many", word[0], word[3]);
	check_name(word[0], word[1]);
	check_name("--debug", o->debug);
	check_name("--source", o->source);
	check_name("--output", o->output);
}

static void run(struct session *s, size_t i, const char *file)
{
	rgn_image_open(&s->image, file, NULL);
	s->debug = &s->image;
	if (s->options.debug) {
		rgn_image_open(&s->debug_image, s->options.debug, &s->image);
		rgn_image_adopt(&s->image, &s->debug_image);
		s->debug = &s->debug_image;
	}
	commands[i].run(s);
	if (s->options.debug)
		rgn_image_close(&s->debug_image);
	rgn_image_close(&s->image);
}

int main(int argc, char **argv)
{
	struct session s = { .where = NULL };
	size_t i;

	parse(argc, argv, &s.options);
	check_words(argc - optind, argv + optind, &s.options);
	s.places = argv + optind + 2;
	s.where = *s.places;
	i = find_command(argv[optind]);
	if (i == ARRAY_SIZE(commands))
		rgn_mktable_show(argv[optind + 1], s.options.all);
	else
		run(&s, i, argv[optind + 1]);
	if (fflush(stdout) || ferror(stdout))
		err(2, "standard output");
	return 0;
}
