// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzer of the compiled session that gtp-run reads.
 *
 * Corrects the header and the checksum, so that the code after those checks is reached. Required:
 * no sanitizer complains; each refusal gives a reason; every packet of an accepted session can be
 * relocated and relocated back.
 */
#include <stdlib.h>
#include "regions/table.h"
#include "tools/run/gtpd.h"

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void walk(const struct gtpd *g)
{
	static char there[GTPD_PACKET_MAX + 1];
	struct gtpd_part p = { 0 };
	u32 records = 0;

	while (gtpd_next_part(g, &p)) {
		struct gtpd_record r = { 0 };

		must(p.id_len && p.id_len <= GTPD_ID_MAX && p.text < p.end);
		while (records++ < 4096 && gtpd_next_of(g, &p, GTPD_PACKET, &r)) {
			must(gtpd_packet(&r, 0, there) >= 0);
			gtpd_packet(&r, 0x12600000, there);
			gtpd_packet(&r, -0x12600000ULL, there);
		}
	}
	must(p.id);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 *copy = malloc(size ? size : 1);
	struct gtpd_error error = { 0 };
	struct gtpd g;

	memcpy(copy, data, size);
	if (size >= GTPD_HEAD) {
		memcpy(copy, GTPD_MAGIC, 8);
		gtp_put_le(copy + 8, size, 4);
		gtp_put_le(copy + 12, gtp_table_crc(copy + GTPD_HEAD, size - GTPD_HEAD), 4);
	}
	if (gtpd_open(&g, copy, size, &error))
		must(error.why);
	else
		walk(&g);
	free(copy);
	return 0;
}
