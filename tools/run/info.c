// SPDX-License-Identifier: GPL-2.0-only
/* `gtp-run --info`: print a compiled session in the form in which the user wrote it. */
#include "base/parse.h"
#include "info.h"
#include "text.h"

const char *info_name(const struct gtpd_part *p)
{
	static char text[256];
	struct gtp_out out;

	gtp_out_init(&out, text, sizeof(text));
	gtp_out_printf(&out, "%.*s (build-id ", (int)(p->release_len < 128 ? p->release_len : 128),
		       p->release);
	gtp_out_hex(&out, p->id, p->id_len);
	gtp_out_printf(&out, ")");
	return text;
}

/* Print the number and address of a tracepoint, from its definition N:ADDR:... */
static void print_place(struct gtp_in *in)
{
	u32 num;
	u64 addr;

	if (gtp_in_hex32(in, &num) && gtp_in_char(in, ':') && gtp_in_hex64(in, &addr))
		printf("  tracepoint %u at 0x%llx\n", num, addr);
}

static void print_hex(struct gtp_in *in)
{
	char text[GTPD_PACKET_MAX / 2 + 1];
	size_t len = 0;

	while (len < sizeof(text) && gtp_in_bytes(in, (u8 *)text + len, 1))
		len++;
	text_put(stdout, text, len);
	putchar('\n');
}

/* Print a source text from N:ADDR:TYPE:START:LENGTH:HEX. */
static void print_source(struct gtp_in *in)
{
	const char *part, *type = NULL, *hex;
	size_t type_len = 0, len;
	u32 i;

	for (i = 0; i < 5; i++) {
		len = gtp_in_until(in, ':', &part);
		if (i == 2) {
			type = part;
			type_len = len;
		}
		if (!gtp_in_char(in, ':'))
			return;
	}
	gtp_in_rest(in, &hex);
	in->p = hex;
	printf("    %s", type_len == 4 && !memcmp(type, "cond", 4) ? "if " :
			 type_len == 2 && !memcmp(type, "at", 2)   ? "place " :
								     "");
	print_hex(in);
}

/* Print a monitor command that changes a setting; the setting stays after the run. */
static void print_monitor(struct gtp_in *in)
{
	printf("  monitor ");
	print_hex(in);
}

static void print_packet(const struct gtpd_record *r)
{
	char text[GTPD_PACKET_MAX + 1];
	struct gtp_in in;

	gtp_in_init(&in, text, (size_t)gtpd_packet(r, 0, text));
	if (gtp_in_word(&in, "QTDPsrc:"))
		print_source(&in);
	else if (gtp_in_word(&in, "qRcmd,"))
		print_monitor(&in);
	else if (gtp_in_word(&in, "QTDP:") && !gtp_in_char(&in, '-'))
		print_place(&in);
}

void info_print(const struct gtpd *g)
{
	struct gtpd_part p = { 0 };

	while (gtpd_next_part(g, &p)) {
		struct gtpd_record r = { 0 };

		text_line(stdout, info_name(&p));
		if (gtpd_next_of(g, &p, GTPD_TABLE, &r))
			printf("  a table of regions, %u bytes: probes can be jumps\n", r.len);
		else
			printf("  no table of regions: where none is loaded, no probe is a jump\n");
		r.bytes = NULL;
		while (gtpd_next_of(g, &p, GTPD_PACKET, &r))
			print_packet(&r);
	}
}
