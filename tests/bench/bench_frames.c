// SPDX-License-Identifier: GPL-2.0-only
/*
 * For stopped runs of 10^4 to 10^7 frames, measure the time to make the index, to find a frame as
 * tfind does, and to read all frames as qTBuffer and tsave -r do. The argument sets the last
 * exponent. The measured code also runs in the kernel.
 *
 * Hits alternate between four CPUs and between ten tracepoints. An eleventh tracepoint has a single
 * hit, in the last frame.
 */
#include <stdlib.h>
#include <time.h>

#include "export/file.h"
#include "tests/unit/fake_target.h"

enum {
	CPUS = 4,
	TRACEPOINTS = 10,
	RARE = TRACEPOINTS + 1,
	ROUNDS = 9, /* number of rounds; the fastest is reported */
	PACKET = 8192,
	PIECE = 256 << 10,
};

static struct fake fake;
static u8 piece[PIECE];

static double read_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/*
 * Return this process's CPU time, which other load on the machine does not increase. Reading the
 * clock is too slow to measure less than a microsecond.
 */
static double cpu_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "bench_frames: %s\n", what);
	exit(1);
}

static u64 pc_of(u32 tp)
{
	return 0xffffffff81000000ULL + tp * 0x1235;
}

static void write_frames(u32 n)
{
	for (u32 i = 0; i < n; i++) {
		struct gtp_buffer *b = &fake.trace.run.cpus[i % CPUS]->buf;
		u32 tp = i == n - 1 ? RARE : 1 + i % TRACEPOINTS;

		must(!gtp_buffer_begin(b, (u16)tp, pc_of(tp), i), "no room for a frame");
		gtp_buffer_commit(b, 0);
	}
}

/*
 * Return the nanoseconds that a search for a frame takes. Check that the search finds the right
 * frame.
 */
static double find_ns(const struct gtp_index *ix, enum gtp_find how, u64 a, u64 b, u32 from,
		      s64 want)
{
	double best = 1e18;

	for (u32 i = 0; i < ROUNDS; i++) {
		double start = read_ns(CLOCK_MONOTONIC);
		s64 found = gtp_index_find(ix, how, a, b, from);
		double took = read_ns(CLOCK_MONOTONIC) - start;

		must(found == want, "a frame is not found, or another one");
		best = took < best ? took : best;
	}
	return best;
}

/*
 * Return the average nanoseconds of a qTBuffer packet, at positions distributed over the whole run.
 */
static double packet_ns(const struct gtp_index *ix)
{
	u64 len = gtp_index_at(ix, ix->n)->offset;
	double start = cpu_ns();

	for (u32 i = 0; i < 1000; i++)
		must(gtp_index_read(ix, len / 1001 * i, piece, PACKET) > 0, "nothing is read");
	return (cpu_ns() - start) / 1000;
}

static double file_ns(void)
{
	struct gtp_why why;
	struct gtp_file f;
	double start = cpu_ns();
	u64 done = 0;
	s64 n;

	must(!gtp_file_open(&f, &fake.trace, &why), "no file");
	while ((n = gtp_file_read(&f, done, piece, PIECE)) > 0)
		done += (u64)n;
	must(!n && done == gtp_file_size(&f), "the file is not read");
	gtp_file_close(&f);
	return cpu_ns() - start;
}

static void measure(u32 n)
{
	u32 bytes = (n / CPUS + 2) * (u32)sizeof(struct gtp_frame);
	void *mem[CPUS], *own[CPUS];
	const struct gtp_index *ix;
	struct gtp_why why;
	double start, built;

	must(!gtp_trace_start(&fake.trace, &why), "no start");
	for (u32 i = 0; i < CPUS; i++) {
		mem[i] = malloc(bytes);
		must(mem[i], "no memory");
		own[i] = fake.trace.run.cpus[i]->buf.mem;
		gtp_buffer_init(&fake.trace.run.cpus[i]->buf, mem[i], bytes, false);
	}
	write_frames(n);
	gtp_trace_stop(&fake.trace, GTP_STOP_USER);
	start = cpu_ns();
	ix = gtp_trace_index(&fake.trace, &why);
	built = cpu_ns() - start;
	must(ix && ix->n == n, "no index");
	printf("%10u %8.1f %6.0f", n, built / 1e6, built / n);
	printf(" %8.2f", find_ns(ix, GTP_FIND_NUMBER, n - 1, 0, 0, n - 1) / 1e3);
	printf(" %8.2f",
	       find_ns(ix, GTP_FIND_TP, 1, 0, n / 2 / 10 * 10 + 1, n / 2 / 10 * 10 + 10) / 1e3);
	printf(" %8.2f", find_ns(ix, GTP_FIND_TP, RARE, 0, 0, n - 1) / 1e3);
	printf(" %8.2f", find_ns(ix, GTP_FIND_PC, pc_of(RARE), 0, 0, n - 1) / 1e3);
	printf(" %8.2f", find_ns(ix, GTP_FIND_PC, 0x1234, 0, 0, -1) / 1e3);
	printf(" %8.2f",
	       find_ns(ix, GTP_FIND_OUTSIDE, pc_of(1), pc_of(TRACEPOINTS), 0, n - 1) / 1e3);
	printf(" %8.2f", find_ns(ix, GTP_FIND_TP, 1 + 64, 0, 0, -1) / 1e6);
	printf(" %8.2f", packet_ns(ix) / 1e3);
	start = file_ns();
	printf(" %8.1f %6.0f\n", start / 1e6, start / n);
	fflush(stdout);
	for (u32 i = 0; i < CPUS; i++) {
		fake.trace.run.cpus[i]->buf.mem = own[i];
		free(mem[i]);
	}
}

int main(int argc, char **argv)
{
	u32 most = argc > 1 ? (u32)atoi(argv[1]) : 7, n = 1000;

	must(!fake_init(&fake), "init");
	fake.ncpus = CPUS;
	for (u32 tp = 1; tp <= RARE; tp++) {
		char def[64];

		snprintf(def, sizeof(def), "%x:%llx:E:0:0", tp, pc_of(tp));
		fake_define(&fake, def, NULL);
	}
	printf("%10s %15s %8s %8s %8s %8s %8s %8s %8s %8s %15s\n", "", "index", "number", "next",
	       "rare", "rare", "no", "outside", "each", "qTBuffer", "tsave -r");
	printf("%10s %8s %6s %8s %8s %8s %8s %8s %8s %8s %8s %8s %6s\n", "frames", "ms", "ns each",
	       "us", "tp, us", "tp, us", "pc, us", "pc, us", "us", "one, ms", "us", "ms",
	       "ns each");
	for (u32 i = 4; i <= most; i++) {
		n *= 10;
		measure(n);
	}
	return fake_exit(&fake);
}
