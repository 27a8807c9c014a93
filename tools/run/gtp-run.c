// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a session that `gtp compile` has made, on a machine without GDB, Python or vmlinux.
 *
 * Usage: gtp-run [--for TIME] [-o FILE] SESSION.gtpd
 *        gtp-run --info SESSION.gtpd
 *        gtp-run --clocks N
 *
 * SESSION.gtpd may be -, which is standard input.
 */
#include <argp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "base/parse.h"
#include "base/version.h"
#include "client.h"
#include "clocks.h"
#include "duration.h"
#include "fail.h"
#include "info.h"
#include "load.h"
#include "save.h"
#include "tables.h"
#include "text.h"

enum { CLOCKS_MOST = 1000 };

/**
 * struct given - the command line
 * @session, @out: the input and the output file; if @out is NULL, the file is in the current folder
 *	and named after the session
 * @device: the path of /proc/gtp
 * @ms: how long to trace; 0: until a signal comes or the run ends
 * @info: true to show only the contents of the file
 * @clocks: if not 0, only answer this number of requests for clock readings
 */
struct given {
	const char *session, *out, *device;
	u64 ms;
	u32 clocks;
	bool info;
};

/* --- the command line --- */

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
	{ "info", 'i', NULL, 0, "show the contents of SESSION.gtpd, and trace nothing", 0 },
	{ "clocks", 'c', "N", 0, "print the clocks at each of N lines of input", 0 },
	{ "device", 'd', "FILE", 0, "the device to use instead of /proc/gtp", 0 },
	{ 0 },
};

const char *const program = "gtp-run";
const char *argp_program_version = "gtp-run " GTP_VERSION;

static const struct argp argp = {
	.options = options,
	.parser = option,
	.args_doc = "SESSION.gtpd|-",
	.doc = "Run a session that gtp compile has made, without GDB and vmlinux: man 1 gtp-run",
};

/* --- the part of the session for the running kernel --- */

static bool is_part_of(const struct gtpd_part *p, const char *build_id)
{
	char hex[2 * GTPD_ID_MAX + 1];

	hex[gtp_hex_encode(hex, p->id, p->id_len)] = '\0';
	return !strcmp(hex, build_id);
}

/* choose - find the part of the session for the running kernel */
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
	inform("%s is for other kernels:", path);
	memset(p, 0, sizeof(*p));
	while (gtpd_next_part(g, p)) {
		fputs("  ", stderr);
		text_line(stderr, info_name(p));
	}
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

/* distance - return the difference between the running kernel's address and its link address */
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

/*
 * check_distance - check that all packets of the session can be relocated by @distance, before any
 * packet is sent
 */
static void check_distance(const struct gtpd *g, const struct gtpd_part *p, u64 distance)
{
	char packet[GTPD_PACKET_MAX + 1];
	struct gtpd_record r = { 0 };

	while (gtpd_next_of(g, p, GTPD_PACKET, &r))
		if (gtpd_packet(&r, distance, packet) < 0)
			fail(RUN_WRONG_FILE,
			     "an address of the session does not fit where the kernel lies now; nothing was changed");
}

/* --- signals --- */

/* Signals that end the run, except those that nohup ignores. */
static sigset_t endings, delivering; /* @delivering: the mask without @endings */
static sig_atomic_t ended;

static void on_ending(int number)
{
	WRITE_ONCE(ended, 1);
}

/*
 * Catch signals. Until the run is active, a signal interrupts waits, even a wait in the module
 * while it arms probes; the module then stops arming. Ignore SIGPIPE: if the reader of the output
 * exits, this program must not end and lose the frames.
 */
static void signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction action = { .sa_handler = on_ending };
	struct sigaction was;
	u32 i;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* treat a file-size limit like a full disk */
	sigemptyset(&endings);
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (sigaction(numbers[i], NULL, &was) || was.sa_handler == SIG_IGN)
			continue;
		sigaddset(&endings, numbers[i]);
		sigaction(numbers[i], &action, NULL);
	}
	sigprocmask(SIG_UNBLOCK, &endings, NULL);
}

/* --- the session --- */

/* give_up - delete the definitions of this session, if any were sent, and exit */
static _Noreturn void give_up(struct client *c, bool defined)
{
	if (defined)
		client_order(c, "QTinit", "the definitions stay");
	fail(RUN_INTERRUPTED, "interrupted before the run began; nothing is %s",
	     defined ? "defined" : "changed");
}

static void define(struct client *c, const struct gtpd *g, const struct gtpd_part *p, u64 distance)
{
	char packet[GTPD_PACKET_MAX + 1];
	struct gtpd_record r = { 0 };
	bool defined = false;

	while (gtpd_next_of(g, p, GTPD_PACKET, &r)) {
		if (READ_ONCE(ended))
			give_up(c, defined);
		gtpd_packet(&r, distance, packet);
		client_order(c, packet, "the session is refused");
		client_show(c, stderr);
		defined = defined || !strcmp(packet, "QTinit");
	}
	if (READ_ONCE(ended))
		give_up(c, defined);
}

/* start - start the run, and block the signals until wait_for_end() waits for them */
static void start(struct client *c)
{
	bool runs = !strcmp(client_ask(c, "QTStart"), "OK");

	sigprocmask(SIG_BLOCK, &endings, &delivering);
	if (READ_ONCE(ended)) {
		if (runs)
			client_order(c, "QTStop", "the run does not end");
		give_up(c, true);
	}
	client_check(c, "the run does not begin");
	client_show(c, stderr);
}

static u64 now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000 + (u64)t.tv_nsec / 1000000;
}

static u64 left(u64 until)
{
	u64 now = now_ms();

	return now < until ? until - now : 0;
}

/* Wait until the run ends by itself, the time is over or a signal comes. */
static void wait_for_end(struct client *c, u64 ms)
{
	struct pollfd line = { c->fd, POLLIN, 0 };
	u64 until = now_ms() + ms;
	bool asked = false;

	client_send(c, "c");
	while (!c->answered) {
		u64 rest = left(until);
		struct timespec most = { (time_t)(rest / 1000), (long)(rest % 1000) * 1000000 };
		int n = ppoll(&line, 1, ms && !asked ? &most : NULL, &delivering);

		if (n > 0) {
			client_receive(c);
			client_show(c, stdout);
		} else if (!asked && (READ_ONCE(ended) || (ms && !left(until)))) {
			client_interrupt(c);
			asked = true;
		}
	}
}

static void trace_until(struct client *c, u64 ms)
{
	start(c);
	fprintf(stderr, "gtp-run: tracing%s\n", ms ? "" : "; ^C ends it");
	wait_for_end(c, ms);
	/* End the run with the packets of GDB's tstop. */
	client_order(c, "QTNotes:tstop:;", "the run does not end");
	client_order(c, "QTStop", "the run does not end");
	client_show(c, stdout);
}

/* --- results --- */

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

/* Print the lines about frames and hits from `monitor status`. */
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
				text_line(stdout, line);
	free(text);
}

static void summary(struct client *c, const struct gtpd *g, const struct gtpd_part *p, u64 distance)
{
	char packet[GTPD_PACKET_MAX + 1];
	struct gtpd_record r = { 0 };

	printf("kernel:    ");
	text_line(stdout, info_name(p));
	print_status(c);
	while (gtpd_next_of(g, p, GTPD_PACKET, &r))
		if (gtpd_packet(&r, distance, packet) > 0)
			print_hits(c, packet);
}

/*
 * Return the output file's name: that of the session with the suffix .tf, in the current folder;
 * stdin.tf for standard input.
 */
static char *default_out(const char *session)
{
	const char *name = strrchr(session, '/') ? strrchr(session, '/') + 1 : session;
	size_t len;
	char *out;

	if (!strcmp(session, "-"))
		name = "stdin";
	len = strlen(name);
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
	u64 distance, size;
	struct save file;

	load_spare(given->session, out);
	client_open(&client, given->device);
	refuse_running(&client);
	choose(&client, g, load_name(given->session), &part);
	distance = distance_of(&client, &part);
	check_distance(g, &part, distance);
	signals();
	save_begin(&file, out);
	if (!strcmp(given->device, TABLES_LINE))
		tables_offer(g, &part);
	define(&client, g, &part, distance);
	trace_until(&client, given->ms);
	summary(&client, g, &part, distance);
	size = save(&file, &client, g, &part, distance);
	text_put(stdout, out, strlen(out));
	printf(": %llu bytes\n", size);
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
	load_session(&g, given.session);
	if (given.info)
		info_print(&g);
	else
		trace(&given, &g);
	return RUN_OK;
}
