// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread that waits for the disk, so that the reader of the pipe does not have to wait.
 *
 * The kernel may write pages to the disk in any order, so after a crash of the machine only some of
 * them may be on the disk. So the first of many new frames has the number 0, which ends a trace
 * file for readers. It gets its real number when all new frames and the 0 after them are on the
 * disk.
 */
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "sync.h"
#include "trouble.h"

enum { JOBS = 8 };

/* The queue. The job that is being done is jobs[@first], which @count includes. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct sync_job jobs[JOBS];
	u32 first, count;
	bool ends;
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static pthread_t thread;

/* Only the thread uses the following two, until it has ended. */
static struct totals shown;
static bool broken;
static char *path; /* the path of the file that was renamed last, for messages */

static void break_off(const char *name)
{
	trouble("%s: %s", name, strerror(errno));
	broken = true;
}

/*
 * Sync the folder, so that the file's name is on the disk. Ignore the error of a file system that
 * cannot sync folders.
 */
static void keep_entry(void)
{
	char *copy = must(strdup(path));
	int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	free(copy);
}

static void name(struct sync_job *job)
{
	int err;

	free(path);
	path = job->path;
	if (!broken && fdatasync(job->fd))
		break_off(path);
	if (broken) {
		part_drop(&job->part);
		goto out;
	}
	err = part_finish(&job->part, path);
	if (err) {
		errno = -err;
		break_off(path);
		goto out;
	}
	keep_entry();
	shown = job->totals;
	if (job->old && unlink(job->old) && errno != ENOENT)
		inform("%s: %s; it stays", job->old, strerror(errno));
out:
	free(job->old);
}

/*
 * Write the number of frames into the header. GDB only shows this number; it reads all frames in
 * the file in any case.
 */
static bool put_count(const struct sync_job *job)
{
	char digits[FRAMES_DIGITS + 1];
	u32 count = job->count < INT_MAX ? (u32)job->count : INT_MAX;

	snprintf(digits, sizeof(digits), "%0*x", FRAMES_DIGITS, count);
	for (u32 i = 0; i < ARRAY_SIZE(job->count_at); i++)
		if (job->count_at[i] && pwrite(job->fd, digits, FRAMES_DIGITS,
					       (off_t)job->count_at[i]) != FRAMES_DIGITS)
			return false;
	return true;
}

static void show(const struct sync_job *job)
{
	if (broken || !job->holds)
		return;
	if (fdatasync(job->fd)) {
		break_off(path);
		return;
	}
	errno = ENOSPC;
	if (pwrite(job->fd, job->number, sizeof(job->number), (off_t)job->at) !=
		    sizeof(job->number) ||
	    !put_count(job)) {
		break_off(path);
		return;
	}
	shown = job->totals;
	if (fdatasync(job->fd))
		break_off(path);
}

static void work(struct sync_job *job)
{
	if (job->kind == SYNC_NAME)
		name(job);
	else
		show(job);
	if (job->kind == SYNC_CLOSE && close(job->fd) && !broken)
		break_off(path);
}

static void *run(void *ctx)
{
	pthread_mutex_lock(&queue.lock);
	for (;;) {
		while (!queue.count && !queue.ends)
			pthread_cond_wait(&queue.changed, &queue.lock);
		if (!queue.count)
			break;
		pthread_mutex_unlock(&queue.lock);
		work(&queue.jobs[queue.first]);
		pthread_mutex_lock(&queue.lock);
		queue.first = (queue.first + 1) % JOBS;
		queue.count--;
		pthread_cond_broadcast(&queue.changed);
	}
	pthread_mutex_unlock(&queue.lock);
	return NULL;
}

void sync_begin(void)
{
	int error = pthread_create(&thread, NULL, run, NULL);

	if (error)
		fail(RUN_FAILED, "no thread: %s", strerror(error));
}

bool sync_idle(void)
{
	bool idle;

	pthread_mutex_lock(&queue.lock);
	idle = !queue.count;
	pthread_mutex_unlock(&queue.lock);
	return idle;
}

void sync_do(const struct sync_job *job)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.count == JOBS)
		pthread_cond_wait(&queue.changed, &queue.lock);
	queue.jobs[(queue.first + queue.count) % JOBS] = *job;
	queue.count++;
	pthread_cond_broadcast(&queue.changed);
	pthread_mutex_unlock(&queue.lock);
}

struct totals sync_end(void)
{
	pthread_mutex_lock(&queue.lock);
	queue.ends = true;
	pthread_cond_broadcast(&queue.changed);
	pthread_mutex_unlock(&queue.lock);
	pthread_join(thread, NULL);
	return shown;
}
