// SPDX-License-Identifier: GPL-2.0-only
/* Read a compiled session. All records of the file are checked before any record is used. */
#include "base/mem.h"
#include "base/parse.h"
#include "regions/table.h"
#include "gtpd.h"

enum { KERNEL_HEAD = 8 + 8 + 1 };

static u64 get(const u8 *p, u32 n)
{
	u64 v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

/* --- packets and their relocations --- */

struct relocation {
	u32 at, digits, kind;
};

static struct relocation relocation(const u8 *bytes, u32 i)
{
	const u8 *p = bytes + 2 + i * GTPD_RELOCATION;

	return (struct relocation){ (u32)get(p, 2), p[2], p[3] };
}

/*
 * Return the number of characters of the packet for one hex digit: two in a text that is itself
 * encoded in hex.
 */
static u32 wide(const struct relocation *r)
{
	return r->kind == GTPD_TEXT ? 2 : 1;
}

static int digit_at(const char *text, const struct relocation *r, u32 i)
{
	const char *p = text + r->at + i * wide(r);

	if (r->kind != GTPD_TEXT)
		return gtp_hex_digit(*p);
	if (gtp_hex_digit(p[0]) < 0 || gtp_hex_digit(p[1]) < 0)
		return -1;
	return gtp_hex_digit((char)(gtp_hex_digit(p[0]) << 4 | gtp_hex_digit(p[1])));
}

static bool is_number(const char *text, u32 len, const struct relocation *r)
{
	u32 i;

	if (!r->digits || r->digits > 16 || r->kind >= GTPD_RELOCATION_KINDS)
		return false;
	if (r->at > len || r->digits * wide(r) > len - r->at)
		return false;
	for (i = 0; i < r->digits; i++)
		if (digit_at(text, r, i) < 0)
			return false;
	return true;
}

static const char *check_relocations(const u8 *bytes, u32 n, const char *text, u32 len)
{
	u32 i, from = 0;

	for (i = 0; i < n; i++) {
		struct relocation r = relocation(bytes, i);

		if (!is_number(text, len, &r))
			return "a relocation is not at a number";
		if (r.at < from)
			return "relocations are not in order";
		from = r.at + r.digits * wide(&r);
	}
	return NULL;
}

/*
 * True for packets of definitions and settings; false for packets that start a run, or read or
 * write a file.
 */
static bool is_allowed(const char *text, u32 len)
{
	static const char *const names[] = {
		"QTinit",     "QTDP:",		 "QTDPsrc:", "QTDV:",	  "QTro:",  "QTEnable:",
		"QTDisable:", "QTDisconnected:", "QTNotes:", "QTBuffer:", "qRcmd,",
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (len >= strlen(names[i]) && !memcmp(text, names[i], strlen(names[i])))
			return true;
	return false;
}

/*
 * True for monitor notrace, which allows probes that may crash the kernel. Only the user of the
 * machine may allow such probes, not a file.
 */
static bool allows_notrace(const char *text, u32 len)
{
	static const char packet[] = "qRcmd,", word[] = "notrace";
	const u32 front = sizeof(packet) - 1, n = sizeof(word) - 1;
	u32 at = front;
	u8 c[sizeof(word) - 1];

	if (len < front || memcmp(text, packet, front))
		return false;
	while (len - at >= 2 && gtp_hex_decode(c, 1, text + at, 2) == 1 && *c == ' ')
		at += 2;
	return len - at >= 2 * n && gtp_hex_decode(c, n, text + at, 2 * n) == (int)n &&
	       !memcmp(c, word, n);
}

/* True if the framing escapes no byte of the packet. A session may contain only such packets. */
static bool is_plain(const char *text, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~' || strchr("#$}*", text[i]))
			return false;
	return true;
}

static const char *check_packet(const u8 *bytes, u32 len)
{
	const char *text;
	u32 n, head;

	if (len < 2)
		return "a packet is cut off";
	n = (u32)get(bytes, 2);
	head = 2 + n * GTPD_RELOCATION;
	if (head > len)
		return "the relocations of a packet are cut off";
	text = (const char *)bytes + head;
	len -= head;
	if (len > GTPD_PACKET_MAX)
		return "a packet is too long";
	if (!is_plain(text, len))
		return "a packet has characters that none has";
	if (!is_allowed(text, len))
		return "a packet is none of a definition";
	if (allows_notrace(text, len))
		return "it has monitor notrace, which only the machine's own user may say";
	return check_relocations(bytes, n, text, len);
}

/* --- the other records --- */

static const char *check_kernel(const u8 *bytes, u32 len)
{
	u32 i;

	if (len < KERNEL_HEAD || !bytes[16] || bytes[16] > GTPD_ID_MAX ||
	    len - KERNEL_HEAD < bytes[16])
		return "a kernel has no build-id";
	if (get(bytes, 8) >= get(bytes + 8, 8))
		return "a kernel ends before it begins";
	for (i = KERNEL_HEAD + bytes[16]; i < len; i++)
		if (bytes[i] <= ' ' || bytes[i] > '~')
			return "a kernel's release is no text";
	return NULL;
}

/* Check that a record is a single line, because gtp-run writes it to the trace file as one line. */
static const char *check_line(const u8 *bytes, u32 len)
{
	u32 i;

	if (!len)
		return "a name is empty";
	for (i = 0; i < len; i++)
		if (!bytes[i] || bytes[i] == '\n')
			return "a name is more than a line";
	return NULL;
}

static const char *check_table(const u8 *bytes, u32 len)
{
	const char *why = NULL;
	struct gtp_table t;

	return gtp_table_open(&t, bytes, len, &why) ? why : NULL;
}

static const char *check_record(const struct gtpd_record *r)
{
	switch (r->kind) {
	case GTPD_KERNEL:
		return check_kernel(r->bytes, r->len);
	case GTPD_PACKET:
		return check_packet(r->bytes, r->len);
	case GTPD_NAME:
	case GTPD_KEY:
		return check_line(r->bytes, r->len);
	case GTPD_TABLE:
		return check_table(r->bytes, r->len);
	default:
		return "a record is of an unknown kind";
	}
}

/* --- the file --- */

static const char *check_head(const u8 *bytes, size_t size)
{
	if (size < GTPD_HEAD)
		return "it is too short";
	if (memcmp(bytes, GTPD_MAGIC, 7))
		return "gtp compile has not written it";
	if (bytes[7] != GTPD_MAGIC[7])
		return "it is of another version of gtp compile: compile the session again";
	if (get(bytes + 8, 4) != size || size > GTPD_MAX)
		return "it is cut off, or something is behind it";
	if (get(bytes + 12, 4) != gtp_table_crc(bytes + GTPD_HEAD, size - GTPD_HEAD))
		return "its checksum is wrong";
	return NULL;
}

/* Check the bounds of the record at @at; the caller checks its contents. */
static const char *check_bounds(const u8 *bytes, u32 size, u32 at)
{
	if (size - at < GTPD_RECORD || get(bytes + at + 4, 4) > size - at - GTPD_RECORD)
		return "a record is cut off";
	if (at == GTPD_HEAD && get(bytes + at, 4) != GTPD_KERNEL)
		return "it does not begin with a kernel";
	return NULL;
}

int gtpd_open(struct gtpd *g, const void *bytes, size_t size, struct gtpd_error *error)
{
	struct gtpd found = { bytes, (u32)size };
	struct gtpd_record r = { 0 };
	u32 at = GTPD_HEAD;

	error->at = 0;
	error->why = check_head(bytes, size);
	if (!error->why && size == GTPD_HEAD)
		error->why = "nothing is in it";
	while (!error->why && at < size) {
		error->at = at;
		error->why = check_bounds(bytes, (u32)size, at);
		if (error->why || !gtpd_next(&found, &r))
			break;
		error->why = check_record(&r);
		at = r.at + GTPD_RECORD + r.len;
	}
	if (error->why)
		return -EINVAL;
	*g = found;
	return 0;
}

bool gtpd_next(const struct gtpd *g, struct gtpd_record *r)
{
	u32 at = r->bytes ? r->at + GTPD_RECORD + r->len : GTPD_HEAD;

	if (at >= g->size)
		return false;
	r->at = at;
	r->kind = (enum gtpd_kind)get(g->bytes + at, 4);
	r->len = (u32)get(g->bytes + at + 4, 4);
	r->bytes = g->bytes + at + GTPD_RECORD;
	return true;
}

bool gtpd_next_part(const struct gtpd *g, struct gtpd_part *p)
{
	struct gtpd_record r = { 0 };

	while (gtpd_next(g, &r)) {
		if (r.kind != GTPD_KERNEL || (p->id && r.at <= p->at))
			continue;
		p->at = r.at;
		p->text = get(r.bytes, 8);
		p->end = get(r.bytes + 8, 8);
		p->id_len = r.bytes[16];
		p->id = r.bytes + KERNEL_HEAD;
		p->release = (const char *)p->id + p->id_len;
		p->release_len = r.len - KERNEL_HEAD - p->id_len;
		return true;
	}
	return false;
}

/* Set @r to the first record of a part, GTPD_KERNEL. */
static void begin(const struct gtpd *g, const struct gtpd_part *p, struct gtpd_record *r)
{
	if (r->bytes)
		return;
	r->at = p->at;
	r->len = (u32)get(g->bytes + p->at + 4, 4);
	r->bytes = g->bytes + p->at + GTPD_RECORD;
}

bool gtpd_next_of(const struct gtpd *g, const struct gtpd_part *p, enum gtpd_kind kind,
		  struct gtpd_record *r)
{
	begin(g, p, r);
	while (gtpd_next(g, r) && r->kind != GTPD_KERNEL)
		if (r->kind == kind)
			return true;
	return false;
}

/* --- relocation --- */

static u64 number_of(const char *text, const struct relocation *r)
{
	u64 v = 0;
	u32 i;

	for (i = 0; i < r->digits; i++)
		v = v << 4 | (u64)digit_at(text, r, i);
	return v;
}

static void put_number(char *text, const struct relocation *r, u64 v)
{
	static const char digits[] = "0123456789abcdef";
	u32 i;

	for (i = r->digits; i--; v >>= 4) {
		char c = digits[v & 15];

		if (r->kind == GTPD_TEXT) {
			text[r->at + 2 * i] = digits[(c >> 4) & 15];
			text[r->at + 2 * i + 1] = digits[c & 15];
		} else {
			text[r->at + i] = c;
		}
	}
}

static int move(char *text, const struct relocation *r, u64 distance)
{
	u32 bits = 4 * r->digits;
	u64 mask = bits < 64 ? (1ULL << bits) - 1 : ~0ULL, top = 1ULL << (bits - 1);
	u64 was = number_of(text, r), now = (was + distance) & mask;
	bool up = !(distance >> 63);

	/* Check for overflow of the relocated number, in either direction. */
	if (up ? now < was || distance > mask : now > was || -distance > mask)
		return -ERANGE;
	if (r->kind == GTPD_OPERAND && ((now ^ was) & top))
		return -ERANGE;
	put_number(text, r, now);
	return 0;
}

int gtpd_packet(const struct gtpd_record *r, u64 distance, char *to)
{
	u32 n = (u32)get(r->bytes, 2), head = 2 + n * GTPD_RELOCATION, len = r->len - head, i;

	memcpy(to, r->bytes + head, len);
	to[len] = '\0';
	for (i = 0; i < n; i++) {
		struct relocation one = relocation(r->bytes, i);

		if (move(to, &one, distance))
			return -ERANGE;
	}
	return (int)len;
}
