// SPDX-License-Identifier: GPL-2.0-only
/* A whole GDB trace file: the header, the frames, the end. */
#include "export/file.h"
#include "export/header.h"

int gtp_file_open(struct gtp_file *f, struct gtp_trace *t, struct gtp_why *why)
{
	*f = (struct gtp_file){ .t = t, .epoch = t->epoch };
	if (gtp_trace_running(t)) {
		gtp_why(why, "the run is going on; tstop ends it, then it can be saved");
		return -EBUSY;
	}
	if (!gtp_trace_index(t, why))
		return -ENOMEM;
	f->header = gtp_header_make(t, false, &f->header_len);
	if (!f->header) {
		gtp_why(why, "no memory for the header of the trace file");
		return -ENOMEM;
	}
	return 0;
}

static u64 frames_len(const struct gtp_file *f)
{
	return gtp_index_at(&f->t->index, f->t->index.n)->offset;
}

u64 gtp_file_size(const struct gtp_file *f)
{
	return f->header_len + frames_len(f) + GTP_FILE_END_BYTES;
}

static u32 read_header(const struct gtp_file *f, u64 offset, u8 *dst, u32 len)
{
	u64 left = offset < f->header_len ? f->header_len - offset : 0;

	if (len > left)
		len = (u32)left;
	memcpy(dst, f->header + (left ? offset : 0), len);
	return len;
}

s64 gtp_file_read(const struct gtp_file *f, u64 offset, u8 *dst, u32 len)
{
	u64 size;
	u32 done;

	/* QTinit or a new run has dropped the frames since the file was opened. */
	if (f->epoch != f->t->epoch)
		return -ESTALE;
	size = gtp_file_size(f);
	done = read_header(f, offset, dst, len);
	if (offset + done >= f->header_len)
		done += gtp_index_read(&f->t->index, offset + done - f->header_len, dst + done,
				       len - done);
	for (; done < len && offset < size && offset + done < size; done++)
		dst[done] = 0;
	return done;
}

void gtp_file_close(struct gtp_file *f)
{
	f->t->mem.free(f->t->mem.ctx, f->header);
	f->header = NULL;
}
