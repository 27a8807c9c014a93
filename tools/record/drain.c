// SPDX-License-Identifier: GPL-2.0-only
/* Copy frames from the pipe to files, until the run, an option or a signal ends the recording. */
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "drain.h"
#include "trouble.h"

enum {
	BUFFER = 1 << 20,      /* bytes; grows for a longer header or frame */
	BUFFER_MOST = 1 << 28, /* a longer header or frame is not valid */
	NAP_BELOW = 32 << 10,  /* nap after reading fewer bytes, to read several frames at once */
	NAP = 10,	       /* ms */
	TICK = 1000,	       /* ms between updates of the readable frames and the shown numbers */
	PATIENCE = 200,	       /* ms to wait for a run; an active run is found at once */
	LAST = 1000,	       /* ms to read the frames that are left when the recording ends */
	SETTLE = 50,	       /* ms to wait before the last read, which gets the newest frames */
};

static u64 now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000 + (u64)t.tv_nsec / 1000000;
}

/* --- bytes read from the pipe --- */

static void forget(struct drain *d, size_t n)
{
	d->len -= n;
	memmove(d->buf, d->buf + n, d->len);
}

/*
 * take_header - if the whole header of the run has arrived, give it to the files; return false on
 * an error
 */
static bool take_header(struct drain *d)
{
	ssize_t len = frames_header(d->buf, d->len);

	if (len < 0)
		trouble("%s has no trace file", d->pipe.path);
	if (len <= 0)
		return !len;
	until_begin(&d->until, &d->pipe, d->buf, (size_t)len);
	if (!series_start(&d->series, d->buf, (size_t)len))
		return false;
	d->begun = now_ms();
	if (d->series.size)
		inform("recording to %s.0001 and so on; ^C ends it", d->series.out);
	else if (!d->snapshot)
		inform("recording to %s; ^C ends it", d->series.out);
	forget(d, (size_t)len);
	return true;
}

static bool grow(struct drain *d)
{
	if (d->len < d->size)
		return true;
	if (d->size >= BUFFER_MOST) {
		trouble("%s has no trace file: no frame ends within %d MiB", d->pipe.path,
			BUFFER_MOST >> 20);
		return false;
	}
	d->size = d->size ? 2 * d->size : BUFFER;
	d->buf = must(realloc(d->buf, d->size));
	return true;
}

/*
 * fill - read all available bytes into the buffer; return false if no more will come
 *
 * Until the recording begins, read only the header: if it did not begin, frames that were read
 * would be lost.
 */
static bool fill(struct drain *d, size_t *n)
{
	bool goes_on = true;
	size_t got = 1;

	*n = 0;
	while (got && goes_on && d->len < d->size && (d->begun || !frames_header(d->buf, d->len))) {
		goes_on = pipe_read(&d->pipe, d->buf + d->len, d->size - d->len, &got);
		d->len += got;
		*n += got;
	}
	return goes_on;
}

/**
 * take() - read available bytes from the pipe, and write the whole frames among them
 * @d: the drain
 * @n: receives the number of bytes that were read
 *
 * Return: false at the end of the run, at its last frame, and on an error.
 */
static bool take(struct drain *d, size_t *n)
{
	bool goes_on, over = false;
	size_t len;

	if (!grow(d))
		return false;
	goes_on = fill(d, n);
	if (*n && !d->begun && !take_header(d))
		return false;
	if (d->begun) {
		len = until_cut(&d->until, d->buf, d->len);
		forget(d, series_put(&d->series, d->buf, len, &d->tally));
		over = d->until.reached || frames_over(d->buf, d->len);
	}
	if (!goes_on && !over)
		pipe_trouble(&d->pipe);
	return goes_on && !over && !trouble_first();
}

/* --- timing --- */

/* struct clock - the times, in ms, at which periodic work is due */
struct clock {
	u64 asked, tick;
	bool told, naps, tty;
};

static int until(u64 then, u64 now)
{
	return then > now ? (int)(then - now < TICK ? then - now : TICK) : 0;
}

/* how_long - return the maximum time to wait, in ms */
static int how_long(const struct drain *d, const struct clock *c, u64 now)
{
	int ms;

	if (c->naps)
		return NAP;
	if (!d->begun)
		return c->told ? -1 : until(c->asked + PATIENCE, now);
	ms = until(c->tick, now);
	if (d->ms && until(d->begun + d->ms, now) < ms)
		ms = until(d->begun + d->ms, now);
	return ms;
}

static void progress(const struct drain *d, u64 now)
{
	const struct totals *t = &d->series.totals;

	fprintf(stderr, "\r\033[K%llu s, %llu frames, %.1f MB", (now - d->begun) / 1000, t->frames,
		(double)t->bytes / 1e6);
	if (d->tally.lost)
		fprintf(stderr, ", %llu lost", d->tally.lost);
}

static void tick(struct drain *d, struct clock *c, u64 now)
{
	size_t n;

	if (!d->begun && !c->told && now >= c->asked + PATIENCE) {
		c->told = true;
		if (!d->snapshot)
			inform("no run is on: it waits for one to begin; ^C ends that");
		else if (take(d, &n) && !d->begun) /* a read waits for others that use the module */
			trouble("no run is on; nothing is written");
	}
	if (!d->begun || now < c->tick)
		return;
	c->tick = now + TICK;
	series_show(&d->series);
	if (c->tty)
		progress(d, now);
}

/* --- the end of a recording --- */

static bool in_time(const struct drain *d, u64 now)
{
	return !d->begun || (!d->snapshot && (!d->ms || now < d->begun + d->ms));
}

/* why_not - return the reason why take() returned false */
static enum drain_end why_not(const struct drain *d)
{
	if (trouble_first())
		return DRAIN_TROUBLE;
	return d->until.reached ? DRAIN_UNTIL : DRAIN_OVER;
}

static enum drain_end follow(struct drain *d, struct clock *c)
{
	size_t n;
	u64 now;
	int what;

	for (;;) {
		now = now_ms();
		tick(d, c, now);
		if (trouble_first())
			return DRAIN_TROUBLE;
		if (!in_time(d, now))
			return DRAIN_TIME;
		what = pipe_wait(&d->pipe, how_long(d, c, now), c->naps);
		c->naps = false;
		if (what & PIPE_SIGNAL)
			return DRAIN_SIGNAL;
		if (!(what & PIPE_READABLE))
			continue;
		if (!take(d, &n))
			return why_not(d);
		c->naps = n < NAP_BELOW;
	}
}

/*
 * rest - if the recording ends before the run, write the frames that have arrived and drop a
 * partial frame. Return the reason why the recording ended
 */
static enum drain_end rest(struct drain *d, enum drain_end why)
{
	u64 last = now_ms() + LAST;
	bool settled = false;
	size_t n = 1;

	while (d->begun && (n || !settled) && now_ms() < last) {
		settled = !n;
		if (settled)
			poll(NULL, 0, SETTLE);
		if (!take(d, &n))
			return why_not(d);
	}
	d->cut = d->begun && n;
	return why;
}

enum drain_end drain_all(struct drain *d)
{
	struct clock c = { .asked = now_ms(), .tty = isatty(STDERR_FILENO) };
	enum drain_end why = follow(d, &c);

	if (why == DRAIN_TIME || why == DRAIN_SIGNAL)
		why = rest(d, why);
	d->ended = now_ms();
	if (c.tty && d->begun)
		fputs("\r\033[K", stderr);
	return why;
}
