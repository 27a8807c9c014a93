// SPDX-License-Identifier: GPL-2.0-only
/* Packets and replies on a connection without acknowledgments. */
#include <stdlib.h>
#include <string.h>

#include "turns.h"

enum {
	INTERRUPT = 0x03,
	KNOWN = 3, /* first bytes of a packet that has_text(), is_text() and others compare */
};

enum step { BETWEEN, BEGINS, INSIDE, ENDS };

static enum step packets_next(struct packets *p, char c)
{
	if (p->where == PACKETS_BETWEEN) {
		if (c != '$')
			return BETWEEN;
		p->where = PACKETS_INSIDE;
		p->len = 0;
	} else if (p->where == PACKETS_INSIDE) {
		if (c == '#')
			p->where = PACKETS_SUM;
	} else {
		p->where = p->where == PACKETS_SUM ? PACKETS_LAST : PACKETS_BETWEEN;
	}
	if (p->len < sizeof(p->head))
		p->head[p->len] = c;
	p->len++;
	if (p->len == 1)
		return BEGINS;
	return p->where == PACKETS_BETWEEN ? ENDS : INSIDE;
}

static bool is(const char *head, const char *name)
{
	return !memcmp(head + 1, name, strlen(name));
}

/*
 * True if GDB accepts console text before the packet's reply: see remote_get_noisy_reply() in GDB.
 */
static bool has_text(const char *head)
{
	return (is(head, "QT") && !is(head, "QTro")) || is(head, "qTSt") || is(head, "qTBu") ||
	       is(head, "qRcm");
}

/* True if a packet of the module is console text; false if it is a reply. */
static bool is_text(const char *head)
{
	return head[1] == 'O' && head[2] != 'K';
}

bool turns_raw(struct turns *t, const char *bytes, size_t len)
{
	if (!len)
		return true;
	if (len > t->room - t->queued) {
		size_t room = 2 * (t->queued + len);
		char *queue = realloc(t->queue, room);

		if (!queue)
			return false;
		t->queue = queue;
		t->room = room;
	}
	memcpy(t->queue + t->queued, bytes, len);
	t->queued += len;
	return true;
}

/* True if the packet that is being written is one that ^C interrupts. */
static bool interruptible(const struct turns *t)
{
	return t->writing && t->slow && t->answered < t->started;
}

/* Begin a packet: GDB no longer waits for replies to earlier packets. */
static void begin_packet(struct turns *t)
{
	t->interrupting |= interruptible(t);
	if (t->asked > t->started)
		t->queued = t->unstarted;
	else
		t->asked++;
	t->unstarted = t->queued;
	t->text = false;
}

bool turns_asked(struct turns *t, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		enum step step = packets_next(&t->gdb, bytes[i]);

		if (step == BEGINS)
			begin_packet(t);
		if (step == BETWEEN && bytes[i] == INTERRUPT && interruptible(t) &&
		    t->asked == t->started) {
			t->interrupting = true;
			continue;
		}
		if (!turns_raw(t, bytes + i, 1))
			return false;
		if (t->gdb.where != PACKETS_BETWEEN && t->gdb.len == sizeof(t->gdb.head))
			t->text = has_text(t->gdb.head);
	}
	return true;
}

size_t turns_take(struct turns *t, char *out, size_t size)
{
	size_t n = t->asked > t->started ? t->unstarted : t->queued;

	if (t->interrupting)
		return 0;
	if (!n) {
		if (t->queued < KNOWN || t->answered < t->started)
			return 0;
		t->started++;
		t->slow = is(t->queue, "QT");
		/* The only packet without a reply: k (kill). */
		if (is(t->queue, "k#"))
			t->answered++;
		n = t->queued;
	}
	if (n > size)
		n = size;
	memcpy(out, t->queue, n);
	memmove(t->queue, t->queue + n, t->queued - n);
	t->queued -= n;
	if (t->asked > t->started)
		t->unstarted -= n;
	return n;
}

bool turns_waits(const struct turns *t)
{
	return t->asked > t->started && t->module.where == PACKETS_BETWEEN;
}

bool turns_left(const struct turns *t)
{
	return !(t->writing && t->slow) && (t->queued || t->writing);
}

size_t turns_answer(struct turns *t, const char *bytes, size_t len, char *out)
{
	struct packets *p = &t->module;
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		enum step step = packets_next(p, bytes[i]);

		if (step == BETWEEN) {
			out[n++] = bytes[i];
			continue;
		}
		if (p->len < KNOWN)
			continue;
		if (p->len == KNOWN) {
			t->passes = t->answered + 1 >= t->asked || (is_text(p->head) && t->text);
			if (t->passes) {
				memcpy(out + n, p->head, KNOWN);
				n += KNOWN;
			}
		} else if (t->passes) {
			out[n++] = bytes[i];
		}
		if (step == ENDS && !is_text(p->head) && t->answered < t->started)
			t->answered++;
	}
	return n;
}
