// SPDX-License-Identifier: GPL-2.0-only
/*
 * A session that `gtp compile` has made, on a machine without GDB, Python or vmlinux.
 *
 * Usage: gtp-run [--for TIME] [-o FILE] SESSION.gtpd
 *        gtp-run --info SESSION.gtpd
 *        gtp-run --clocks N
 */
#include <argp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
#include "base/parse.h"
#include "base/version.h"
#include "client.h"
#include "clocks.h"
#include "fail.h"
#include "info.h"
#include "save.h"
#include "tables.h"

enum {
	POLL_MOST = 1000000, /* ms */
	CLOCKS_MOST = 1000,
};

/**
 * struct given - what was typed
 * @session, @out: files; @out NULL: beside where we are, by the session's name
 * @device: the line to the module
 * @ms: how long to trace; 0: until a signal comes or the run ends
 * @info: only show what is in the file
 * @clocks: only say so often what the clocks say
 */
struct given {
	const char *session, *out, *device;
	u64 ms;
	u32 clocks;
	bool info;
};

/* --- the command line --- */

static u64 duration(struct argp_state *state, const char *text)
{
	static const struct {
		const char *unit;
		double ms;
	} units[] = { { "", 1000 }, { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 } };
	double n;
	char *end;
	u32 i;

	n = strtod(text, &end);
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (*text >= '0' && *text <= '9' && !strcmp(end, units[i].unit) &&
		    n * units[i].ms >= 1 && n * units[i].ms < 1e15)
			return (u64)(n * units[i].ms);
	argp_error(state, "'%s' is no time; write 5s, 500ms, 2m or 1h", text);
	return 0;
}

static u32 clocks(struct argp_state *state, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '1' || *text > '9' || *end || n > CLOCKS_MOST)
		argp_error(state, "'%s' is no number of answers; write 1 to %d", text, CLOCKS_MOST);
	return (u32)n;
}

static error_t option(int key, char *arg, struct argp_state *state)
{
	struct given *given = state->input;

	switch (key) {
	case 'f':
		given->ms = duration(state, arg);
		return 0;
	case 'o':
		given->out = arg;
		return 0;
	case 'd':
		given->device = arg;
		return 0;
	case 'i':
		given->info = true;
		return 0;
	case 'c':
		given->clocks = clocks(state, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (given->session)
			argp_usage(state);
		given->session = arg;
		return 0;
	case ARGP_KEY_END:
		if (!given->session == !given->clocks)
			argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "for", 'f', "TIME", 0, "end after 5s, 500ms, 2m, 1h", 0 },
	{ "output", 'o', "FILE", 0, "the trace file; SESSION.tf in the current folder", 0 },
	{ "info", 'i', NULL, 0, "show what is in SESSION.gtpd, and trace nothing", 0 },
	{ "clocks", 'c', "N", 0, "say at each of N lines of input what the clocks say", 0 },
	{ "device", 'd', "FILE", 0, "the line to the module instead of /proc/gtp", 0 },
	{ 0 },
};

const char *argp_program_version = "gtp-run " GTP_VERSION;

static const struct argp argp = {
	.options = options,
	.parser = option,
	.args_doc = "SESSION.gtpd",
	.doc = "Run a session that gtp compile has made, without GDB and vmlinux: man 1 gtp-run",
};

/* --- the file --- */

static void load(struct gtpd *g, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct gtpd_error error;
	size_t have = 0;
	struct stat st;
	ssize_t n = 1;
	u8 *bytes;

	if (fd < 0 || fstat(fd, &st))
		fail(RUN_FAILED, "%s: %s", path, strerror(errno));
	if (st.st_size > GTPD_MAX)
		fail(RUN_WRONG_FILE, "%s: it is too long to be a compiled session", path);
	bytes = must(malloc((size_t)st.st_size + 1));
	while (n > 0 && have < (size_t)st.st_size) {
		n = read(fd, bytes + have, (size_t)st.st_size - have);
		if (n < 0)
			fail(RUN_FAILED, "%s: %s", path, strerror(errno));
		have += (size_t)n;
	}
	close(fd);
	if (gtpd_open(g, bytes, have, &error))
		fail(RUN_WRONG_FILE, "%s is no session to run: %s (at byte %u)", path, error.why,
		     error.at);
}

static bool is_part_of(const struct gtpd_part *p, const char *build_id)
{
	char hex[2 * GTPD_ID_MAX + 1];

	hex[gtp_hex_encode(hex, p->id, p->id_len)] = '\0';
	return !strcmp(hex, build_id);
}

/* choose - the part of the running kernel */
static void choose(struct client *c, const struct gtpd *g, const char *path, struct gtpd_part *p)
{
	char *build_id = client_monitor(c, "build-id"), *version;

	while (gtpd_next_part(g, p)) {
		if (is_part_of(p, build_id)) {
			free(build_id);
			return;
		}
	}
	version = client_monitor(c, "version");
	fprintf(stderr, "gtp-run: %s is for other kernels:\n", path);
	memset(p, 0, sizeof(*p));
	while (gtpd_next_part(g, p))
		fprintf(stderr, "  %s\n", info_name(p));
	fail(RUN_WRONG_FILE,
	     "here is %s (build-id %s); compile the session with --vmlinux of that kernel", version,
	     build_id);
}

/* --- the run --- */

static void refuse_running(struct client *c)
{
	if (!strncmp(client_ask(c, "qTStatus"), "T1", 2))
		fail(RUN_BUSY,
		     "a run of another session is going on; nothing was changed. End it first: gdb, target remote %s, tstop",
		     c->path);
}

/* distance - from where the kernel was linked to where it is */
static u64 distance_of(struct client *c, const struct gtpd_part *p)
{
	static const char word[] = "TextSeg=";
	const char *reply = client_ask(c, "qOffsets");
	u64 text;

	if (strncmp(reply, word, sizeof(word) - 1))
		fail(RUN_FAILED, "the module does not know where the kernel lies");
	text = strtoull(reply + sizeof(word) - 1, NULL, 16);
	return text - p->text;
}

static void define(struct client *c, const struct gtpd *g, const struct gtpd_part *p, u64 distance)
{
	char packet[GTPD_PACKET_MAX + 1];
	struct gtpd_record r = { 0 };

	while (gtpd_next_of(g, p, GTPD_PACKET, &r)) {
		if (gtpd_packet(&r, distance, packet) < 0)
			fail(RUN_FAILED,
			     "an address of the session does not fit where the kernel lies now");
		client_order(c, packet, "the session is refused");
		client_show(c, stderr);
	}
}

static u64 now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000 + (u64)t.tv_nsec / 1000000;
}

/*
 * Those that end the run, but for what nohup has had ignored; and a reader that goes takes no
 * frames along.
 */
static int signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction was;
	sigset_t set;
	u32 i;
	int fd;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!sigaction(numbers[i], NULL, &was) && was.sa_handler != SIG_IGN)
			sigaddset(&set, numbers[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fd < 0)
		fail(RUN_FAILED, "signalfd: %s", strerror(errno));
	return fd;
}

/* For poll: how long it is until then, and not more than it takes. */
static int left(u64 until)
{
	u64 now = now_ms();

	if (now >= until)
		return 0;
	return until - now < POLL_MOST ? (int)(until - now) : POLL_MOST;
}

/* The wait of a continue, which ends by itself, in time, or by a signal. */
static void wait_for_end(struct client *c, int caught, u64 ms)
{
	struct pollfd fds[] = { { c->fd, POLLIN, 0 }, { caught, POLLIN, 0 } };
	u64 until = now_ms() + ms;
	bool asked = false;

	client_send(c, "c");
	while (!c->answered) {
		int n = poll(fds, asked ? 1 : 2, ms && !asked ? left(until) : -1);

		if (n > 0 && fds[0].revents) {
			client_receive(c);
			client_show(c, stdout);
		} else if (!asked && ((n > 0 && fds[1].revents) || (ms && !left(until)))) {
			client_interrupt(c);
			asked = true;
		}
	}
}

static void trace_until(struct client *c, int caught, u64 ms)
{
	client_order(c, "QTStart", "the run does not begin");
	client_show(c, stderr);
	fprintf(stderr, "gtp-run: tracing%s\n", ms ? "" : "; ^C ends it");
	wait_for_end(c, caught, ms);
	/* As GDB's tstop does it. */
	client_order(c, "QTNotes:tstop:;", "the run does not end");
	client_order(c, "QTStop", "the run does not end");
	client_show(c, stdout);
}

/* --- what came of it --- */

static void print_hits(struct client *c, const char *packet)
{
	struct gtp_in in;
	u32 num;
	u64 addr, hits = 0;

	gtp_in_init(&in, packet, strlen(packet));
	if (!gtp_in_word(&in, "QTDP:") || !gtp_in_hex32(&in, &num) || !gtp_in_char(&in, ':') ||
	    !gtp_in_hex64(&in, &addr))
		return;
	if (*client_ask(c, "qTP:%x:%llx", num, addr) == 'V')
		hits = strtoull(c->reply + 1, NULL, 16);
	printf("tracepoint %u at 0x%llx: %llu hits\n", num, addr, hits);
}

/* The lines of `monitor status` that are about frames and hits. */
static void print_status(struct client *c)
{
	static const char *const wanted[] = {
		"run:",	   "frames:",	 "not seen:",	"errors:",
		"stacks:", "not armed:", "no $_sdata:", "no target:",
	};
	char *text = client_monitor(c, "status"), *line, *rest = text;
	u32 i;

	while ((line = strsep(&rest, "\n")))
		for (i = 0; i < ARRAY_SIZE(wanted); i++)
			if (!strncmp(line, wanted[i], strlen(wanted[i])))
				printf("%s\n", line);
	free(text);
}

static void summary(struct client *c, const struct gtpd *g, const struct gtpd_part *p, u64 distance)
{
	char packet[GTPD_PACKET_MAX + 1];
	struct gtpd_record r = { 0 };

	printf("kernel:    %s\n", info_name(p));
	print_status(c);
	while (gtpd_next_of(g, p, GTPD_PACKET, &r))
		if (gtpd_packet(&r, distance, packet) > 0)
			print_hits(c, packet);
}

/* The session's name with another end, in the current folder. */
static char *default_out(const char *session)
{
	const char *name = strrchr(session, '/') ? strrchr(session, '/') + 1 : session;
	size_t len = strlen(name);
	char *out;

	if (len > 5 && !strcmp(name + len - 5, ".gtpd"))
		len -= 5;
	if (asprintf(&out, "%.*s.tf", (int)len, name) < 0)
		fail(RUN_FAILED, "out of memory");
	return out;
}

static void trace(const struct given *given, const struct gtpd *g)
{
	const char *out = given->out ? given->out : default_out(given->session);
	static struct client client;
	struct gtpd_part part = { 0 };
	int caught = signals();
	u64 distance, size;
	struct save file;

	client_open(&client, given->device);
	refuse_running(&client);
	choose(&client, g, given->session, &part);
	distance = distance_of(&client, &part);
	save_begin(&file, out);
	if (!strcmp(given->device, TABLES_LINE))
		tables_offer(g, &part);
	define(&client, g, &part, distance);
	trace_until(&client, caught, given->ms);
	summary(&client, g, &part, distance);
	size = save(&file, &client, g, &part, distance);
	printf("%s: %llu bytes\n", out, size);
	if (fflush(stdout))
		fail(RUN_FAILED, "standard output: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	struct given given = { .device = TABLES_LINE };
	struct gtpd g;

	argp_err_exit_status = RUN_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &given);
	if (given.clocks) {
		clocks_tell(given.clocks);
		return RUN_OK;
	}
	load(&g, given.session);
	if (given.info)
		info_print(&g);
	else
		trace(&given, &g);
	return RUN_OK;
}
