// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load a table of regions into the module, unless /proc/gtpregions shows that the kernel's table is
 * loaded.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "fail.h"
#include "tables.h"

#define FILE_NAME "/proc/gtpregions"

/* Return a line of @text that begins with @word, NUL-terminated; NULL if there is none. */
static char *line_of(char *text, const char *word)
{
	size_t len = strlen(word);
	char *line;

	for (line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		if (strncmp(line, word, len))
			continue;
		line[strcspn(line, "\n")] = '\0';
		return line;
	}
	return NULL;
}

static bool read_file(char *text, size_t size)
{
	FILE *in = fopen(FILE_NAME, "re");
	size_t n;

	if (!in)
		return false;
	n = fread(text, 1, size - 1, in);
	text[n] = '\0';
	fclose(in);
	return true;
}

static bool write_table(const struct gtpd_record *r)
{
	int fd = open(FILE_NAME, O_WRONLY | O_CLOEXEC);
	u32 done = 0;
	ssize_t n = 1;

	while (fd >= 0 && n > 0 && done < r->len) {
		n = write(fd, r->bytes + done, r->len - done);
		if (n > 0)
			done += (u32)n;
	}
	return fd >= 0 && !close(fd) && done == r->len;
}

void tables_offer(const struct gtpd *g, const struct gtpd_part *p)
{
	struct gtpd_record r = { 0 };
	static char text[65536];
	const char *why;

	if (!gtpd_next_of(g, p, GTPD_TABLE, &r) || !read_file(text, sizeof(text)) ||
	    line_of(text, "vmlinux "))
		return;
	if (write_table(&r))
		return;
	why = read_file(text, sizeof(text)) ? line_of(text, "last refused: ") : NULL;
	inform("no table of regions, probes are breakpoints: %s",
	       why ? why : FILE_NAME " cannot be written");
}
