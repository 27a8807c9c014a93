// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure how fast the frames of a run are drained on one core. Like /proc/gtpframe_pipe, the test
 * sweeps over the buffers of four CPUs and reads the trace file. For comparison, it copies the same
 * number of bytes.
 *
 * Usage: bench_stream [ROW]      ROW: only that row, the first is 0
 * To count the instructions for ROUNDS * FRAMES * CPUS frames of a row:
 *	valgrind --tool=callgrind --toggle-collect=drain build/bench/bench_stream ROW
 */
#include <stdlib.h>
#include <time.h>

#include "export/stream.h"
#include "tests/unit/fake_target.h"

enum {
	ROUNDS = 15, /* number of rounds; the fastest is reported, as other load only adds time */
	CPUS = 4,
	FRAMES = 4000, /* frames on each CPU in one sweep */
	PIECE = 256 << 10,
};

static struct fake fake;
static struct gtp_stream stream;
static u8 piece[PIECE], copy[PIECE];

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "bench_stream: %s failed\n", what);
	exit(1);
}

/*
 * struct kind - a kind of frame: it has @vars variables, registers if @mask is set, @bytes of
 * memory
 */
struct kind {
	const char *name;
	u32 vars;
	u64 mask;
	u32 bytes;
};

static int read_memory(void *ctx, void *dst, u64 addr, u32 len)
{
	memset(dst, 0x5a, len);
	return 0;
}

/* Write frames to the CPUs' buffers in turn. Draining them in order of time then takes longest. */
static noinline void write_frames(const struct kind *k)
{
	static const struct gtp_regs regs;
	u32 i, n;

	for (i = 0; i < FRAMES * CPUS; i++) {
		struct gtp_buffer *b = &fake.trace.run.cpus[i % CPUS]->buf;

		must(gtp_buffer_begin(b, 1, 0x1000, fake.clock++), "begin");
		for (n = 0; n < k->vars; n++)
			must(gtp_buffer_add_var(b, (u16)(n + 1), i), "variable");
		must(gtp_buffer_add_regs(b, &regs, 0x1000, k->mask), "registers");
		must(gtp_buffer_add_mem(b, 0x2000, k->bytes, read_memory, NULL), "memory");
		gtp_buffer_commit(b, 0);
	}
}

static noinline u64 drain(void)
{
	u64 bytes = 0;
	s64 n;

	must(gtp_stream_sweep(&stream), "sweep");
	while ((n = gtp_stream_read(&stream, piece, PIECE)) > 0)
		bytes += (u64)n;
	must((int)n, "read");
	return bytes;
}

static double copy_ns(u64 bytes)
{
	double start = now_ns();

	for (; bytes; bytes -= bytes < PIECE ? bytes : PIECE) {
		memcpy(copy, piece, bytes < PIECE ? bytes : PIECE);
		__asm__ volatile("" : : "r"(copy) : "memory");
	}
	return now_ns() - start;
}

static void measure(const struct kind *k)
{
	double best = 1e18, copied = 1e18;
	u64 bytes = 0;

	for (u32 i = 0; i < ROUNDS; i++) {
		double start, ns;

		write_frames(k);
		start = now_ns();
		bytes = drain();
		ns = now_ns() - start;
		best = ns < best ? ns : best;
		ns = copy_ns(bytes);
		copied = ns < copied ? ns : copied;
	}
	printf("%-32s %6.1f M frames/s %5.0f MB/s  ns a frame: %5.1f, to copy its bytes: %.1f\n",
	       k->name, FRAMES * CPUS * 1e3 / best, (double)bytes * 1e3 / best,
	       best / (FRAMES * CPUS), copied / (FRAMES * CPUS));
}

int main(int argc, char **argv)
{
	static const struct kind kinds[] = {
		{ "empty", 0, 0, 0 },
		{ "$clock, $cpu_id", 2, 0, 0 },
		{ "64 bytes of memory", 0, 0, 64 },
		{ "$regs", 0, GTP_REGS_KNOWN, 0 },
		{ "$regs, 512 bytes of memory", 0, GTP_REGS_KNOWN, 512 },
	};
	struct gtp_why why;
	u32 i;

	must(fake_init(&fake), "init");
	fake.ncpus = CPUS;
	fake.trace.buffer_bytes = FAKE_BYTES_MAX;
	fake_define(&fake, "1:1000:E:0:0", NULL);
	must(gtp_trace_start(&fake.trace, &why), "start");
	must(gtp_stream_open(&stream, &fake.trace, true, NULL, &why), "open");
	while (gtp_stream_read(&stream, piece, PIECE) > 0)
		;
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (argc < 2 || i == (u32)atoi(argv[1]))
			measure(&kinds[i]);
	gtp_stream_close(&stream);
	return fake_exit(&fake);
}
