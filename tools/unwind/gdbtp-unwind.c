// SPDX-License-Identifier: GPL-2.0-only
/* gdbtp-unwind: compiles the call frame information of programs for the module. */
#include <err.h>
#include <getopt.h>
#include <stdlib.h>
#include "tools/run/text.h"
#include "tools/unwind/rows.h"

static const char usage_text[] =
	"usage: gdbtp-unwind table FILE -o OUT    write the table of a program or library\n"
	"       gdbtp-unwind stats FILE           its size, and the code that it covers\n"
	"       gdbtp-unwind dump FILE            a line for each row\n"
	"FILE may be 'vdso', the code that the running kernel maps into each program.\n";

static void usage(FILE *to, int status)
{
	fputs(usage_text, to);
	exit(status);
}

static const char *const kinds[GTP_CFI_KINDS] = {
	[GTP_CFI_NONE] = "none",     [GTP_CFI_END] = "end",	[GTP_CFI_UNKNOWN] = "unknown",
	[GTP_CFI_SP] = "sp",	     [GTP_CFI_BP] = "bp",	[GTP_CFI_BX] = "bx",
	[GTP_CFI_AT_SP] = "at-sp",   [GTP_CFI_AT_BP] = "at-bp", [GTP_CFI_PLT] = "plt",
	[GTP_CFI_SIGNAL] = "signal",
};

/* Compile the file. Exit if it has no call frame information. */
static struct unw_rows *compile(const char *path, struct unw_file *file)
{
	struct unw_rows *rows;

	if (strcmp(path, "vdso"))
		unw_file_open(file, path);
	else
		unw_file_vdso(file);
	rows = unw_rows_make(file);
	if (!rows->n)
		text_errx(1, "%s has no .eh_frame for its code", path);
	return rows;
}

/* Return the table, which the module's own check has accepted. */
static u8 *make_table(const struct unw_rows *rows, struct gtp_cfi *table)
{
	const char *why;
	u32 size;
	u8 *bytes = unw_rows_table(rows, &size);

	if (gtp_cfi_open(table, bytes, size, &why))
		text_errx(3, "%s: its table is wrong: %s", rows->file->path, why);
	return bytes;
}

static void write_table(const char *path, const struct gtp_cfi *table)
{
	FILE *out = fopen(path, "wb");

	if (!out || fwrite(table->bytes, 1, table->size, out) != table->size || fclose(out))
		text_errx(2, "%s: %s", path, strerror(errno));
}

static void stats(const struct unw_rows *rows, const struct gtp_cfi *table)
{
	text_printf(stdout, "%s: %u bytes, %u rows, %u rules, %u pages\n", rows->file->path,
		    table->size, table->rows_n, table->rules_n, table->pages_n);
	text_printf(stdout, "%u FDEs, %u skipped, %u of an unknown form\n", rows->fdes,
		    rows->skipped, rows->failed);
	text_printf(stdout, "%llu bytes of code, %llu of them unknown\n", rows->code,
		    rows->unknown);
}

static void dump(const struct unw_rows *rows)
{
	u32 i;

	for (i = 0; i < rows->n; i++) {
		const struct unw_row *row = &rows->row[i];
		const struct gtp_cfi_rule *rule = &rows->rule[row->rule];

		printf("%llx %llx %s %d bp %u bx %u more %u\n", row->at, row->end,
		       kinds[rule->kind], rule->offset, rule->bp, rule->bx, rule->more);
	}
}

static const char *output_of(int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	const char *output = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		if (c == 'h')
			usage(stdout, 0);
		if (c != 'o')
			usage(stderr, 2);
		output = optarg;
	}
	return output;
}

int main(int argc, char **argv)
{
	const char *output = output_of(argc, argv), *command;
	struct gtp_cfi table;
	struct unw_rows *rows;
	struct unw_file file;
	u8 *bytes;

	if (argc - optind != 2)
		usage(stderr, 2);
	command = argv[optind];
	if (!strcmp(command, "table") != !!output)
		usage(stderr, 2);
	rows = compile(argv[optind + 1], &file);
	bytes = make_table(rows, &table);
	if (output)
		write_table(output, &table);
	else if (!strcmp(command, "stats"))
		stats(rows, &table);
	else if (!strcmp(command, "dump"))
		dump(rows);
	else
		usage(stderr, 2);
	free(bytes);
	unw_rows_free(rows);
	return 0;
}
