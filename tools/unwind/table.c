// SPDX-License-Identifier: GPL-2.0-only
/* Write the table of call frames that the module reads; hit/cfi.h describes its format. */
#include <err.h>
#include <stdlib.h>
#include "regions/table.h"
#include "tools/unwind/rows.h"

enum { PAGE = 1 << GTP_CFI_PAGE_SHIFT };

/* struct writer - the rows of a table, as they are in it */
struct writer {
	u8 *rows;
	u32 n, room;
	u32 *page; /* the first row of each page */
	u64 first_page;
	u64 pages;
};

static void put(struct writer *w, u64 at, u32 rule)
{
	u8 *p;

	if (w->n == w->room) {
		w->room = w->room ? 2 * w->room : 4096;
		w->rows = realloc(w->rows, (size_t)w->room * GTP_CFI_ROW);
		if (!w->rows)
			err(2, "no memory");
	}
	p = w->rows + (size_t)GTP_CFI_ROW * w->n++;
	gtp_put_le(p, at % PAGE, 2);
	gtp_put_le(p + 2, rule, 2);
}

/* Put a rule that holds from @at up to @end: a row, and one for each page that begins meanwhile. */
static void put_range(struct writer *w, u64 at, u64 end, u32 rule)
{
	while (at < end) {
		u64 next = (at / PAGE + 1) * PAGE;

		if (at % PAGE == 0)
			w->page[at / PAGE - w->first_page] = w->n;
		put(w, at, rule);
		at = next < end ? next : end;
	}
}

static void put_rows(struct writer *w, const struct unw_rows *rows)
{
	u64 at = w->first_page * PAGE;
	u32 i;

	for (i = 0; i < rows->n; i++) {
		put_range(w, at, rows->row[i].at, 0);
		put_range(w, rows->row[i].at, rows->row[i].end, rows->row[i].rule);
		at = rows->row[i].end;
	}
	put_range(w, at, (w->first_page + w->pages) * PAGE, 0);
}

static u8 *assemble(const struct writer *w, const struct unw_rows *rows, u32 *size)
{
	size_t bytes = GTP_CFI_HEAD + 4 * (w->pages + 1) + (size_t)GTP_CFI_RULE * rows->rules +
		       (size_t)GTP_CFI_ROW * w->n;
	u8 *table = calloc(1, bytes), *p = table + GTP_CFI_HEAD;
	u64 i;

	if (!table)
		err(2, "no memory");
	memcpy(table, GTP_CFI_MAGIC, 8);
	table[16] = (u8)rows->file->id_len;
	memcpy(table + 17, rows->file->id, rows->file->id_len);
	gtp_put_le(table + 48, w->first_page, 4);
	gtp_put_le(table + 52, w->pages, 4);
	gtp_put_le(table + 56, w->n, 4);
	gtp_put_le(table + 60, rows->rules, 4);
	for (i = 0; i <= w->pages; i++, p += 4)
		gtp_put_le(p, i < w->pages ? w->page[i] : w->n, 4);
	for (i = 0; i < rows->rules; i++, p += GTP_CFI_RULE) {
		p[0] = rows->rule[i].kind;
		p[1] = rows->rule[i].bp;
		p[2] = rows->rule[i].bx;
		p[3] = rows->rule[i].more;
		gtp_put_le(p + 4, (u32)rows->rule[i].offset, 4);
	}
	memcpy(p, w->rows, (size_t)GTP_CFI_ROW * w->n);
	gtp_put_le(table + 8, bytes, 4);
	gtp_put_le(table + 12, gtp_table_crc(table + 16, bytes - 16), 4);
	*size = (u32)bytes;
	return table;
}

u8 *unw_rows_table(const struct unw_rows *rows, u32 *size)
{
	struct writer w = {
		.first_page = rows->row[0].at / PAGE,
		.pages = (rows->row[rows->n - 1].end - 1) / PAGE - rows->row[0].at / PAGE + 1,
	};
	u8 *table;

	w.page = calloc(w.pages, sizeof(*w.page));
	if (!w.page)
		err(2, "no memory");
	put_rows(&w, rows);
	table = assemble(&w, rows, size);
	free(w.page);
	free(w.rows);
	return table;
}
