// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace file that GDB can read at any moment while it grows.
 *
 * GDB stops reading at a frame with the number 0, and fails if a file has none. Frames that were
 * written since the last request to sync.c to show frames are hidden from readers. The first hidden
 * frame has the number 0 instead of its own. Readers stop there, so the frames after it may be
 * incomplete, for instance after a signal or on a full disk.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "file.h"
#include "trouble.h"

static const u8 zeros[FRAMES_END];

char *file_refused(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	struct stat st;
	char *why = NULL;

	if (!strcmp(path, "-") || !*name) {
		if (asprintf(&why, "'%s' is no name of a file", path) < 0)
			must(NULL);
	} else if (!lstat(path, &st) && !S_ISREG(st.st_mode)) {
		if (asprintf(&why, "%s is no ordinary file, and would be replaced by one", path) <
		    0)
			must(NULL);
	}
	return why;
}

bool file_open(struct file *f, char *path)
{
	int err;

	*f = (struct file){ .path = path, .empty = true };
	err = part_open(&f->part, path);
	f->fd = f->part.fd;
	if (err)
		trouble("%s cannot be written: %s", path, strerror(-err));
	return !err;
}

void file_close(struct file *f)
{
	part_drop(&f->part);
	close(f->fd);
	f->fd = -1;
}

/*
 * write_at - write as many of the bytes as possible; return their number. If it is not all, errno
 * says why
 */
static size_t write_at(int fd, struct iovec *io, int count, u64 at)
{
	size_t done = 0;

	while (count) {
		ssize_t n = pwritev(fd, io, count, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errno = n ? errno : ENOSPC;
			break;
		}
		done += (size_t)n;
		for (; count && (size_t)n >= io->iov_len; io++, count--)
			n -= (ssize_t)io->iov_len;
		if (count) {
			io->iov_base = (u8 *)io->iov_base + n;
			io->iov_len -= (size_t)n;
		}
	}
	return done;
}

bool file_start(struct file *f, const u8 *header, size_t len)
{
	struct iovec io[] = { { (u8 *)header, len }, { (u8 *)zeros, FRAMES_END } };

	if (write_at(f->fd, io, ARRAY_SIZE(io), 0) < len + FRAMES_END) {
		trouble("%s: %s", f->path, strerror(errno));
		return false;
	}
	f->end = len;
	part_hand_over(); /* the file has its header: from now on sync.c names or drops it */
	return true;
}

/* cut - end the file at @end and drop a partly written block after it */
static bool cut(struct file *f, u64 end)
{
	return !ftruncate(f->fd, (off_t)end) && !ftruncate(f->fd, (off_t)(end + FRAMES_END));
}

/*
 * what_fits - return the size of the whole frames in a block of which only @n bytes were written,
 * so that the end of the file fits as well
 */
static size_t what_fits(struct file *f, const u8 *block, size_t n)
{
	size_t len = n > FRAMES_END ? frames_whole(block, n - FRAMES_END, ~0ULL, NULL) : 0;

	trouble("%s: %s", f->path, strerror(errno));
	if (!n || cut(f, f->end + len))
		return len;
	f->holds = false; /* do not show frames: bytes after the whole frames are unknown */
	return 0;
}

size_t file_put(struct file *f, const u8 *block, size_t len)
{
	struct iovec io[] = { { (u8 *)(f->holds ? block : zeros), FRAMES_NUMBER },
			      { (u8 *)block + FRAMES_NUMBER, len - FRAMES_NUMBER },
			      { (u8 *)zeros, FRAMES_END } };
	size_t n = write_at(f->fd, io, ARRAY_SIZE(io), f->end);

	if (n < len + FRAMES_END)
		len = what_fits(f, block, n);
	if (!len)
		return 0;
	if (!f->holds) {
		f->holds = true;
		f->held_at = f->end;
		memcpy(f->held, block, FRAMES_NUMBER);
	}
	f->empty = false;
	f->end += len;
	return len;
}
