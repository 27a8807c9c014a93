// SPDX-License-Identifier: GPL-2.0-only
/* Write one trace file, or a series of files of which only the last are kept. */
#include <ctype.h>
#include <dirent.h>
#include <libgen.h>
#include <stdlib.h>
#include "series.h"
#include "trouble.h"

char *series_name(const struct series *s, u32 number)
{
	char *name;

	if ((s->size ? asprintf(&name, "%s.%04u", s->out, number) : asprintf(&name, "%s", s->out)) <
	    0)
		must(NULL);
	return name;
}

/* --- files that existed before --- */

static bool is_one_of(const char *name, const char *base)
{
	size_t len = strlen(base), i;

	if (strncmp(name, base, len) || name[len] != '.')
		return false;
	for (i = len + 1; isdigit((unsigned char)name[i]); i++)
		;
	return !name[i] && i >= len + 1 + 4;
}

/* Refuse to begin if files of another recording would look like files of this one. */
static void check_others(const struct series *s)
{
	char *copy = must(strdup(s->out)), *again = must(strdup(s->out));
	DIR *folder = opendir(dirname(copy));
	const char *base = basename(again);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (is_one_of(entry->d_name, base))
			fail(RUN_FAILED,
			     "%s is there, of an earlier recording; remove its files, or name another one with -o",
			     entry->d_name);
	if (folder)
		closedir(folder);
	free(again);
	free(copy);
}

void series_check(const struct series *s)
{
	char *why = file_refused(s->out);

	if (why)
		fail(RUN_FAILED, "%s", why);
	free(why);
	if (s->size)
		check_others(s);
}

/* --- the files --- */

void series_open(struct series *s)
{
	s->number = 1;
	if (!file_open(&s->file, series_name(s, 1)))
		fail(RUN_FAILED, "%s", trouble_first());
}

/* begin - write the header of an open file, and let sync.c give the file its name */
static bool begin(struct series *s)
{
	struct sync_job job = { .kind = SYNC_NAME };

	if (!file_start(&s->file, s->header, s->header_len)) {
		file_close(&s->file);
		return false;
	}
	s->count = 0;
	s->totals.files++;
	s->totals.bytes += s->header_len + FRAMES_END;
	job.fd = s->file.fd;
	job.part = s->file.part;
	job.path = must(strdup(s->file.path));
	if (s->keep && s->number > s->keep)
		job.old = series_name(s, s->number - s->keep);
	job.totals = s->totals;
	sync_do(&job);
	return true;
}

bool series_start(struct series *s, const u8 *header, size_t len)
{
	s->header = must(malloc(len));
	memcpy(s->header, header, len);
	s->header_len = len;
	s->count_at[0] = frames_count_at(header, len, "tframes");
	s->count_at[1] = frames_count_at(header, len, "tcreated");
	if (s->size && len + FRAMES_END > s->size / 2) {
		trouble("the run's header takes %zu bytes; say --size with twice that or more",
			len);
		file_close(&s->file);
		return false;
	}
	return begin(s);
}

/* hand_over - let sync.c show the frames that were written since the last call */
static void hand_over(struct series *s, enum sync_kind kind)
{
	struct sync_job job = { .kind = kind,
				.fd = s->file.fd,
				.holds = s->file.holds,
				.at = s->file.held_at,
				.count_at = { s->count_at[0], s->count_at[1] },
				.count = s->count,
				.totals = s->totals };

	memcpy(job.number, s->file.held, FRAMES_NUMBER);
	s->file.holds = false;
	sync_do(&job);
}

void series_show(struct series *s)
{
	if (s->file.holds && sync_idle())
		hand_over(s, SYNC_SHOW);
}

void series_end(struct series *s)
{
	if (s->file.fd < 0)
		return;
	hand_over(s, SYNC_CLOSE);
	s->file.fd = -1;
	free(s->file.path);
}

static bool next(struct series *s)
{
	series_end(s);
	s->number++;
	return file_open(&s->file, series_name(s, s->number)) && begin(s);
}

/* room - return the bytes of frames for which the file still has room */
static u64 room(const struct series *s)
{
	u64 used = s->file.end + FRAMES_END;

	if (!s->size)
		return ~0ULL;
	return used < s->size ? s->size - used : 0;
}

size_t series_put(struct series *s, const u8 *bytes, size_t len, struct tally *t)
{
	size_t done = 0, first, want, got;
	struct tally before;

	while ((first = frames_first(bytes + done, len - done))) {
		want = frames_whole(bytes + done, len - done, room(s), NULL);
		if (!want && s->file.empty)
			want = first;
		if (!want && !next(s))
			break;
		if (!want)
			continue;
		got = file_put(&s->file, bytes + done, want);
		before = *t;
		frames_whole(bytes + done, got, ~0ULL, t);
		s->totals.frames += t->frames - before.frames;
		s->count += t->frames + t->marks - before.frames - before.marks;
		s->totals.bytes += got;
		done += got;
		if (got < want)
			break;
	}
	return done;
}
