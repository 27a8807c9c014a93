// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write the frames of the current run to trace files as they come. `gtp record` starts this
 * program.
 *
 * Usage: gtp-drain [-o FILE] [--for TIME] [--until [T:]FRAMES] [--size N [--rotate K]]
 *        gtp-drain [-o FILE] --snapshot
 */
#include <argp.h>
#include <stdlib.h>
#include "base/version.h"
#include "drain.h"
#include "run/duration.h"
#include "trouble.h"

enum {
	SIZE_LEAST = 4096,
	ASK = 256, /* the first value of an option without a letter */
};

/* --- the command line --- */

static u64 parse_size(struct argp_state *state, const char *text)
{
	static const char units[] = "kMG";
	char *end;
	u64 n = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
	const char *unit = n && *end ? strchr(units, *end == 'K' ? 'k' : *end) : NULL;
	u32 shift = unit ? 10 * (u32)(unit - units + 1) : 0;

	if (!n || n > (u64)S64_MAX >> shift || (*end && (!unit || end[1])))
		argp_error(state, "'%s' is no size; write 500k, 64M, 2G or a number of bytes",
			   text);
	if (n << shift < SIZE_LEAST)
		argp_error(state, "files of %s bytes are too small; 4k is the least", text);
	return n << shift;
}

static u32 parse_files(struct argp_state *state, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '1' || *text > '9' || *end || n > INT_MAX)
		argp_error(state, "'%s' is no number of files; write 1 or more", text);
	return (u32)n;
}

/* parse_until - parse "[TRACEPOINT:]FRAMES" */
static void parse_until(struct argp_state *state, const char *text, struct until *u)
{
	const char *colon = strchr(text, ':'), *rest = colon ? colon + 1 : text;
	u64 tracepoint = 0;
	char *end;

	if (colon) {
		tracepoint = *text >= '1' && *text <= '9' ? strtoull(text, &end, 10) : 0;
		if (!tracepoint || end != colon || tracepoint >= FRAMES_MARK)
			argp_error(state, "'%.*s' is no tracepoint's number", (int)(colon - text),
				   text);
	}
	errno = 0;
	u->frames = *rest >= '1' && *rest <= '9' ? strtoull(rest, &end, 10) : 0;
	if (!u->frames || *end || errno)
		argp_error(state,
			   "'%s' is no number of frames; a condition is for gtp record --until",
			   rest);
	u->tracepoint = (u32)tracepoint;
}

/* parse_fd - parse the number of an inherited file descriptor */
static int parse_fd(struct argp_state *state, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n > INT_MAX)
		argp_error(state, "'%s' is no file descriptor", text);
	return (int)n;
}

static error_t option(int key, char *arg, struct argp_state *state)
{
	struct drain *d = state->input;

	switch (key) {
	case 'o':
		d->series.out = arg;
		return 0;
	case 'f':
		d->ms = duration(state, arg);
		return 0;
	case 's':
		d->series.size = parse_size(state, arg);
		return 0;
	case 'r':
		d->series.keep = parse_files(state, arg);
		return 0;
	case 'u':
		parse_until(state, arg, &d->until);
		return 0;
	case 'S':
		d->snapshot = true;
		return 0;
	case ASK:
		d->until.asks = parse_fd(state, arg);
		return 0;
	case 'p':
		d->pipe.path = arg;
		return 0;
	case ARGP_KEY_END:
		if (d->series.keep && !d->series.size)
			argp_error(state, "--rotate needs --size");
		if (d->snapshot &&
		    (d->ms || d->series.size || d->until.frames || d->until.asks >= 0))
			argp_error(state, "--snapshot is one file, and ends by itself");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "the trace file; gtp.tf in the current folder", 0 },
	{ "for", 'f', "TIME", 0, "end after 5s, 500ms, 2m, 1h of a run", 0 },
	{ "until", 'u', "[T:]FRAMES", 0, "end after this number of frames, of tracepoint T", 0 },
	{ "ask", ASK, "FD", OPTION_HIDDEN, "gtp record's answers about a condition", 0 },
	{ "snapshot", 'S', NULL, 0, "write the frames in the buffers, and end", 0 },
	{ "size", 's', "N", 0, "FILE.0001 and so on, none larger than N: 500k, 64M, 2G", 0 },
	{ "rotate", 'r', "K", 0, "keep only the last K of these files", 0 },
	{ "pipe", 'p', "FILE", 0, "read this instead of " PIPE_PATH, 0 },
	{ 0 },
};

const char *const program = "gtp-drain";
const char *argp_program_version = "gtp-drain " GTP_VERSION;

static const struct argp argp = {
	.options = options,
	.parser = option,
	.doc = "Write the frames of a run to a trace file, as they come: man 1 gtp-drain",
};

/* --- the result --- */

static void tell_files(const struct drain *d, const struct totals *t)
{
	const struct series *s = &d->series;
	char *last = series_name(s, t->files);
	u64 ms = d->ended - d->begun;

	if (!s->size)
		inform("%llu frames, %llu bytes in %llu.%llu s, %s", t->frames, t->bytes, ms / 1000,
		       ms % 1000 / 100, last);
	else
		inform("%llu frames, %llu bytes in %llu.%llu s, %u files up to %s", t->frames,
		       t->bytes, ms / 1000, ms % 1000 / 100, t->files, last);
	if (s->keep && t->files > s->keep)
		inform("the first %u files are removed again: --rotate %u", t->files - s->keep,
		       s->keep);
	free(last);
}

static void tell_until(const struct drain *d, u64 behind)
{
	const struct until *u = &d->until;

	if (u->reached && u->frames)
		inform("the last one is frame %llu, as --until says", u->frames);
	else if (u->reached)
		inform("for the last one, of tracepoint %u, --until holds", u->last);
	else if (u->count || u->frames)
		inform("none of them is the one that --until waits for");
	if (u->unknown)
		inform("%llu frames lack a value that --until needs", u->unknown);
	if (behind)
		inform("%llu frames after it were read, too, and are left out", behind);
}

static void summary(const struct drain *d, const struct totals *t, enum drain_end why)
{
	struct tally seen = d->tally, behind = { 0 };
	size_t end = frames_whole(d->buf, d->len, ~0ULL, why == DRAIN_UNTIL ? &behind : &seen);
	bool over = why == DRAIN_OVER || frames_over(d->buf + end, d->len - end);

	if (trouble_first())
		inform("%s", trouble_first());
	tell_files(d, t);
	tell_until(d, behind.frames);
	if (seen.frames > t->frames)
		inform("%llu frames more were read, and could not be written",
		       seen.frames - t->frames);
	if (seen.lost)
		inform("%llu frames were lost: the reader was too slow for them", seen.lost);
	if (d->cut)
		inform("a second was too short for the buffers' frames; the rest is lost");
	if (!over && !d->pipe.ended)
		inform(d->snapshot ? "the run continues" : "the run continues without a reader");
}

int main(int argc, char **argv)
{
	static struct drain d = { .pipe.path = PIPE_PATH,
				  .series.out = "gtp.tf",
				  .until.asks = -1 };
	enum drain_end why;
	struct totals t;

	argp_err_exit_status = RUN_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &d);
	series_check(&d.series);
	pipe_signals(&d.pipe);
	pipe_open(&d.pipe, d.pipe.path);
	series_open(&d.series);
	sync_begin();
	why = drain_all(&d);
	if (!d.begun && why == DRAIN_SIGNAL)
		fail(RUN_INTERRUPTED, "interrupted before a run began; nothing is written");
	if (!d.begun)
		fail(RUN_FAILED, "%s", trouble_first());
	series_end(&d.series);
	t = sync_end();
	summary(&d, &t, why);
	return trouble_first() ? RUN_FAILED : RUN_OK;
}
