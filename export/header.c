// SPDX-License-Identifier: GPL-2.0-only
/*
 * The header of a GDB trace file: all that comes before the frames.
 *
 * It is text. Its lines contain what GDB would read from the stub over a connection:
 *   7f TRACE0        the kind of file
 *   R a4             bytes of the registers in an R block, hex
 *   status ...       the reply to qTStatus without its T, and which kernel it was, and where
 *   tsv ...          a trace state variable, as in qTfV
 *   tp ...           a piece of a tracepoint, as in qTfP, and V: how often it hit
 *   tdesc ...        a line of the target description
 *   (empty)          the frames follow, and a tracepoint number 0 ends them
 *
 * GDB creates variables and tracepoints in the reverse order of the lines, and numbers tracepoints
 * in that order. So write the last one first: then the numbers agree with those in the frames.
 */
#include "base/parse.h"
#include "base/target_xml.h"
#include "export/header.h"
#include "trace/tfile_format.h"
#include "transport/rsp.h"

enum {
	LINE_LIMIT = 999,		 /* GDB 13 refuses a file with a longer line */
	KERNEL_MAX = 128,		 /* most bytes of the text of kernel_items() */
	PIECE_SIZE = 2 * GTP_PACKET_MAX, /* more than any piece: notes alone may fill a packet */
};

static_assert((int)GTP_TP_LOST == (int)GTP_TFILE_LOST_TP, "the frames that say what was lost");
static_assert((int)GTP_TSV_LOST == (int)GTP_TFILE_LOST_VAR, "and their variable");
static_assert((int)GTP_TP_NUM_MAX < (int)GTP_TFILE_LOST_TP, "no tracepoint has their number");

/* struct header - a header being written; @text is NULL while only its length is wanted */
struct header {
	char *text;
	size_t size;
	size_t len;
	char *piece; /* PIECE_SIZE bytes */
	bool live;   /* the run is active: its results are not known yet */
};

static void put(struct header *h, const char *text, size_t len)
{
	/* Both passes generate the same text. Should they not, never write past the allocation. */
	if (h->text && len <= h->size - h->len)
		memcpy(h->text + h->len, text, len);
	h->len += len;
}

static void put_line(struct header *h, const char *kind, const char *text, size_t len)
{
	if (strlen(kind) + len > LINE_LIMIT)
		return;
	put(h, kind, strlen(kind));
	put(h, text, len);
	put(h, "\n", 1);
}

/*
 * Keep the items that fit, and return their length. The stop reason comes first and GDB requires
 * one: drop the note from it if it is too long.
 */
static size_t keep_items(char *status)
{
	static const char tstop[] = "tstop:";
	size_t room = LINE_LIMIT - strlen("status ") - KERNEL_MAX;
	char *to = strchr(status, ';');
	char *item = to;

	while (item && *item) {
		char *next = strchr(item + 1, ';');
		size_t n = next ? (size_t)(next - item) : strlen(item);

		if (n <= room - (size_t)(to - status)) {
			memmove(to, item, n);
			to += n;
		} else if (!strncmp(item + 1, tstop, strlen(tstop))) {
			memcpy(to, ";tstop:0", 8);
			to += 8;
		}
		item = next;
	}
	return to ? (size_t)(to - status) : strlen(status);
}

/*
 * Write the status of an active run. GDB reads no frames of a file whose run is active, so report
 * the run as over for an unknown reason. The number of frames is unknown too, -1 for GDB; the
 * writer of a file may fill it in. All other fields are reported.
 */
static char *live_status(char *piece)
{
	static const char over[] = "0;tunknown:0;tframes:ffffffff;tcreated:ffffffff";
	char *stays = strstr(piece, ";circular:");
	size_t len = strlen(over);

	memmove(piece + 1 + len, stays, strlen(stays) + 1);
	memcpy(piece + 1, over, len);
	return piece + 1;
}

/*
 * Write the kernel's build-id, and the address of its first segment, as in qOffsets, which differs
 * in each boot. GDB skips both.
 */
static size_t kernel_items(const struct gtp_trace *t, char *to)
{
	struct gtp_out out;

	gtp_out_init(&out, to, KERNEL_MAX);
	if (t->text_start && t->build_id && *t->build_id)
		gtp_out_printf(&out, ";textseg:%llx;buildid:%s", t->text_start, t->build_id);
	return out.len;
}

static void put_status(struct header *h, const struct gtp_trace *t)
{
	char *status = h->piece + 1; /* the reply after its T */
	size_t len;

	gtp_trace_status(t, h->piece, PIECE_SIZE - KERNEL_MAX);
	if (h->live)
		status = live_status(h->piece);
	len = keep_items(status);
	put_line(h, "status ", status, len + kernel_items(t, status + len));
}

/* Put the variable $lost, which only frames of GTP_TP_LOST have. */
static void put_lost(struct header *h)
{
	struct gtp_out out;

	gtp_out_init(&out, h->piece, PIECE_SIZE);
	gtp_out_printf(&out, "%x:0:1:", GTP_TSV_LOST);
	gtp_out_hex(&out, "lost", 4);
	put_line(h, "tsv ", h->piece, out.len);
}

static void put_variables(struct header *h, const struct gtp_trace *t)
{
	u32 n = 0;

	while (gtp_tsvs_piece(&t->run.tsvs, n, h->piece, PIECE_SIZE))
		n++;
	while (n--) {
		int len = gtp_tsvs_piece(&t->run.tsvs, n, h->piece, PIECE_SIZE);

		put_line(h, "tsv ", h->piece, (size_t)len);
	}
}

/* byte_at - decode a byte of an even number of hex digits; return -1 at their end */
static int byte_at(const char *hex)
{
	return *hex ? gtp_hex_digit(hex[0]) << 4 | gtp_hex_digit(hex[1]) : -1;
}

static char *skip_blanks(char *hex)
{
	while (byte_at(hex) == ' ' || byte_at(hex) == '\t')
		hex += 2;
	return hex;
}

static char *skip_word(char *hex)
{
	while (byte_at(hex) > ' ' && byte_at(hex) != '/')
		hex += 2;
	return hex;
}

/*
 * Remove the option of "collect/s" and adjust the length. GDB 13 does not support strings in trace
 * files: it refuses a tracepoint whose text has "collect/s", and reads nothing after it. The frames
 * hold the strings, and "collect" alone shows them. @piece is "Znumber:address:cmd:0:length:hex of
 * the text".
 */
static size_t without_option(char *piece, size_t len)
{
	static const char cmd[] = ":cmd:0:";
	char *count = strstr(piece, cmd);
	char *hex, *option, *rest;
	char digits[12];

	if (*piece != 'Z' || !count)
		return len;
	count += strlen(cmd);
	hex = strchr(count, ':') + 1;
	option = skip_blanks(skip_word(skip_blanks(hex)));
	if (byte_at(option) != '/')
		return len;
	rest = skip_word(option + 2);
	memmove(option, rest, strlen(rest) + 1);
	len = strlen(hex);
	snprintf(digits, sizeof(digits), "%x:", (u32)len / 2);
	memmove(count + strlen(digits), hex, len + 1);
	memcpy(count, digits, strlen(digits));
	return strlen(piece);
}

/*
 * Return the length without the condition's bytecode if the line would be too long. The condition's
 * text is in a piece of its own.
 */
static size_t without_condition(char *piece, size_t len)
{
	char *cond = len > LINE_LIMIT - strlen("tp ") ? strstr(piece, ":X") : NULL;

	return *piece == 'T' && cond ? (size_t)(cond - piece) : len;
}

/*
 * Return the end of the first expression of a list: a comma outside brackets and quotes, or the
 * list's end.
 */
static char *end_of_item(char *hex)
{
	int depth = 0, quote = 0, c;

	for (; (c = byte_at(hex)) > 0; hex += 2) {
		if (quote && c == '\\' && byte_at(hex + 2) > 0)
			hex += 2;
		else if (quote)
			quote = c == quote ? 0 : quote;
		else if (c == '"' || c == '\'')
			quote = c;
		else if (strchr("([{", c))
			depth++;
		else if (strchr(")]}", c))
			depth--;
		else if (c == ',' && !depth)
			break;
	}
	return hex;
}

/* put_part - write a line with some expressions of a list, if GDB can read such a line */
static void put_part(struct header *h, size_t head, const char *word, size_t word_len,
		     const char *items, size_t items_len)
{
	char digits[12];

	snprintf(digits, sizeof(digits), "%x:", (u32)(word_len + items_len) / 2);
	if (strlen("tp ") + head + strlen(digits) + word_len + items_len > LINE_LIMIT)
		return;
	put(h, "tp ", strlen("tp "));
	put(h, h->piece, head);
	put(h, digits, strlen(digits));
	put(h, word, word_len);
	put(h, items, items_len);
	put(h, "\n", 1);
}

/*
 * Write the text "collect A, B, ..." in lines that GDB can read, each with as many expressions as
 * fit. An expression that is too long by itself is left out. Return false for any other text.
 */
static bool put_list(struct header *h)
{
	static const char cmd[] = ":cmd:0:", collect[] = "636f6c6c65637420";
	char *count = *h->piece == 'Z' ? strstr(h->piece, cmd) : NULL;
	char *word, *from, *to;
	size_t head, word_len = strlen(collect);

	if (!count)
		return false;
	head = (size_t)(count - h->piece) + strlen(cmd);
	word = skip_blanks(strchr(h->piece + head, ':') + 1);
	if (strncmp(word, collect, word_len))
		return false;
	for (from = skip_blanks(word + word_len); *from; from = skip_blanks(*to ? to + 2 : to)) {
		size_t room = LINE_LIMIT - strlen("tp ") - head - strlen("fff:") - word_len;
		char *next = end_of_item(from);

		do {
			to = next;
			next = *to ? end_of_item(to + 2) : to;
		} while (next != to && (size_t)(next - from) <= room);
		put_part(h, head, word, word_len, from, (size_t)(to - from));
	}
	return true;
}

static void put_piece(struct header *h, size_t len)
{
	len = without_option(h->piece, len);
	len = without_condition(h->piece, len);
	if (strlen("tp ") + len <= LINE_LIMIT || !put_list(h))
		put_line(h, "tp ", h->piece, len);
}

static void put_tracepoint(struct header *h, const struct gtp_trace *t,
			   const struct gtp_tracepoint *tp)
{
	struct gtp_tp_stat stat = gtp_trace_hits(t, tp);
	int len;

	for (u32 n = 0; (len = gtp_tracepoint_piece(tp, n, h->piece, PIECE_SIZE)); n++)
		put_piece(h, (size_t)len);
	if (h->live)
		return;
	len = snprintf(h->piece, PIECE_SIZE, "V%x:%llx:%llx:%llx", tp->num, tp->addr, stat.hits,
		       stat.usage);
	put_line(h, "tp ", h->piece, (size_t)len);
}

static void put_tracepoints(struct header *h, const struct gtp_trace *t)
{
	const struct gtp_tracepoint *tp;

	for (tp = t->tps.last; tp; tp = tp->prev)
		put_tracepoint(h, t, tp);
}

static void put_description(struct header *h)
{
	const char *line = gtp_target_xml, *end;

	for (; (end = strchr(line, '\n')); line = end + 1)
		put_line(h, "tdesc ", line, (size_t)(end - line));
}

static void put_header(struct header *h, const struct gtp_trace *t)
{
	int len;

	h->len = 0;
	put(h, GTP_TFILE_MAGIC, strlen(GTP_TFILE_MAGIC));
	len = snprintf(h->piece, PIECE_SIZE, "%x", GTP_G_PACKET_BYTES);
	put_line(h, "R ", h->piece, (size_t)len);
	put_status(h, t);
	if (h->live)
		put_lost(h);
	put_variables(h, t);
	put_tracepoints(h, t);
	put_description(h);
	put_line(h, "", "", 0);
}

char *gtp_header_make(const struct gtp_trace *t, bool live, u32 *len)
{
	const struct gtp_mem *mem = &t->mem;
	struct header h = { .piece = mem->alloc(mem->ctx, PIECE_SIZE), .live = live };

	if (!h.piece)
		return NULL;
	put_header(&h, t);
	h.size = h.len;
	h.text = h.size <= U32_MAX ? mem->alloc(mem->ctx, h.size) : NULL;
	if (h.text)
		put_header(&h, t);
	mem->free(mem->ctx, h.piece);
	*len = (u32)h.size;
	return h.text;
}
