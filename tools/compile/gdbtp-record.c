// SPDX-License-Identifier: GPL-2.0-only
/*
 * The target of GDB in `gtp compile`: checks GDB's packets through QTStart with the same code as
 * the module, and writes them to a file.
 *
 * Usage: gdbtp-record [options] VMLINUX      (gdb: target remote | gdbtp-record ...)
 *
 * The file has a line for each packet. After the packet and a tab, the line lists the fields of the
 * packet that may be addresses, each as AT:DIGITS:KIND and a comma.
 */
#include <argp.h>
#include <err.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/parse.h"
#include "export/file.h"
#include "fields.h"
#include "machine.h"
#include "stub/monitor.h"
#include "stub/stub.h"

/**
 * struct list - a list of packets
 * @text: the packets, each with a NUL after it
 * @used: the number of bytes of @text
 */
struct list {
	char *text;
	size_t used;
};

/**
 * struct recorder - the connection
 * @in: the parser that finds the packets in GDB's bytes
 * @stub: a stub as in the module, which gets the same bytes
 * @definitions: the packets since the last QTinit
 * @settings: monitor commands that change a setting, in the order in which GDB sent them
 * @starting: true if the packet being handled is QTStart
 */
struct recorder {
	struct machine machine;
	struct gtp_stub stub;
	struct gtp_rsp in;
	struct list definitions, settings;
	const char *vmlinux, *markers, *out;
	bool starting;
};

static struct recorder recorder;

static void keep(struct list *list, const char *packet)
{
	size_t len = strlen(packet) + 1;

	list->text = realloc(list->text, list->used + len);
	if (!list->text)
		errx(1, "out of memory");
	memcpy(list->text + list->used, packet, len);
	list->used += len;
}

/* --- functions that the stub calls --- */

static int refuse_write(void *ctx, u64 addr, const void *src, u32 len)
{
	return -EPERM;
}

static const char *release(void *ctx)
{
	return ((struct machine *)ctx)->release;
}

static int refuse_save(void *ctx, const char *path, struct gtp_why *why)
{
	gtp_why(why, "nothing has been traced: the session is only compiled");
	return -EOPNOTSUPP;
}

static u64 no_clock(void *ctx)
{
	return 0;
}

static int marker(void *ctx, u32 n, struct gtp_marker *to, char *text, size_t size)
{
	const struct machine *m = ctx;

	if (n >= m->nmarkers)
		return -ENOENT;
	*to = (struct gtp_marker){ m->markers[n].addr, m->markers[n].id, m->markers[n].fields };
	return 0;
}

static int marker_at(void *ctx, u64 addr)
{
	const struct machine *m = ctx;
	u32 i;

	for (i = 0; i < m->nmarkers; i++)
		if (m->markers[i].addr == addr)
			return (int)i;
	return -ENOENT;
}

/*
 * Check the argument of `monitor disas` like the kernel. Print nothing: before tstart there is no
 * code.
 */
static int check_disas(const struct machine *m, const char *arg, struct gtp_why *why)
{
	const struct gtp_tracepoint *tp;
	char *end;
	u64 num = strtoull(arg, &end, 10);

	if (end == arg || *end) {
		gtp_why(why, "disas takes the number of a tracepoint, not '%s'", arg);
		return -EINVAL;
	}
	for (tp = m->trace.tps.first; tp; tp = tp->next)
		if (tp->num == num)
			return 0;
	gtp_why(why, "tracepoint %llu is not known here; it is from tstart on", num);
	return -ENOENT;
}

/* Check and store monitor commands of the kernel, which take effect when gtp-run plays the file. */
static int monitor(void *ctx, struct gtp_stub *s, const char *command, struct gtp_why *why)
{
	static const char *const switches[] = { "self-trace", "jit", "jumps", "notrace" };
	const char *arg = gtp_monitor_argument("disas", command);
	bool on;
	u32 i;

	if (arg)
		return check_disas(ctx, arg, why);
	for (i = 0; i < ARRAY_SIZE(switches); i++) {
		arg = gtp_monitor_argument(switches[i], command);
		if (arg)
			return gtp_monitor_switch(switches[i], arg, &on, why);
	}
	/* Accept these two commands, which only print something. */
	return strcmp(command, "help") && strcmp(command, "files") ? -ENOENT : 0;
}

static const struct gtp_stub_ops ops = {
	.read = machine_read,
	.write = refuse_write,
	.release = release,
	.save = refuse_save,
	.now_ms = no_clock,
	.marker = marker,
	.marker_at = marker_at,
	.monitor = monitor,
};

/* --- keeping packets --- */

/*
 * True if a monitor command has an argument, so that it changes a setting. Without an argument it
 * prints the setting.
 */
static bool is_setting(const char *packet)
{
	static const char name[] = "qRcmd,";
	char text[256];
	int n;

	if (strncmp(packet, name, sizeof(name) - 1))
		return false;
	packet += sizeof(name) - 1;
	n = gtp_hex_decode((u8 *)text, sizeof(text) - 1, packet, strlen(packet));
	if (n < 0)
		return false;
	text[n] = '\0';
	return strchr(text, ' ');
}

static bool is_definition(const char *packet)
{
	return !strncmp(packet, "QT", 2) && strncmp(packet, "QTSave", 6) &&
	       strncmp(packet, "QTFrame", 7) && strcmp(packet, "QTStop");
}

static void packet(void *ctx, char *data, u32 len)
{
	struct recorder *r = ctx;

	/* There are no hits, so a continue would never end: stop the run before GDB continues. */
	if (*data == 'c' || !strncmp(data, "vCont;c", 7))
		gtp_trace_stop(&r->machine.trace, GTP_STOP_USER);
	/* In this program a tracepoint that cannot be armed is an error. */
	r->starting = !strcmp(data, "QTStart");
	if (r->starting)
		r->machine.trace.strict = true;
	if (!strcmp(data, "QTinit"))
		r->definitions.used = 0;
	if (is_setting(data))
		keep(&r->settings, data);
	else if (is_definition(data) && !r->starting && !gtp_trace_running(&r->machine.trace))
		keep(&r->definitions, data);
}

static void ignore(void *ctx)
{
}

static void no_answer(void *ctx, const void *bytes, u32 len)
{
}

static const struct gtp_rsp_ops rsp_ops = { packet, ignore, no_answer };

/* --- the file --- */

static void write_field(void *out, enum field_kind kind, u32 at, u32 digits)
{
	fprintf(out, "%u:%u:%c,", at, digits, kind);
}

static void write_list(FILE *out, const struct list *list)
{
	const char *p;

	for (p = list->text; p < list->text + list->used; p += strlen(p) + 1) {
		fprintf(out, "%s\t", p);
		fields_find(p, (u32)strlen(p), write_field, out);
		fputc('\n', out);
	}
}

/* Append the packets to the file. If GDB starts a second run, the reader of the file refuses it. */
static void write_all(const struct recorder *r)
{
	FILE *out = fopen(r->out, "a");

	if (!out)
		err(1, "%s", r->out);
	write_list(out, &r->settings);
	write_list(out, &r->definitions);
	fputs("QTStart\t\n", out);
	if (fclose(out))
		err(1, "%s", r->out);
}

/* --- the command --- */

static u64 parse_address(struct argp_state *state, const char *text)
{
	char *end;
	u64 n = strtoull(text, &end, 0);

	if (!*text || *end)
		argp_error(state, "'%s' is no address", text);
	return n;
}

static error_t option(int key, char *arg, struct argp_state *state)
{
	struct recorder *r = state->input;

	switch (key) {
	case 't':
		r->machine.text = parse_address(state, arg);
		return 0;
	case 's':
		r->machine.slide = parse_address(state, arg);
		return 0;
	case 'b':
		r->machine.build_id = arg;
		return 0;
	case 'r':
		r->machine.release = arg;
		return 0;
	case 'm':
		r->markers = arg;
		return 0;
	case 'o':
		r->out = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (r->vmlinux)
			argp_usage(state);
		r->vmlinux = arg;
		return 0;
	case ARGP_KEY_END:
		if (!r->vmlinux || !r->out)
			argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "text", 't', "ADDRESS", 0, "the link address of _text", 0 },
	{ "slide", 's', "BYTES", 0, "the distance of _text in memory from its link address", 0 },
	{ "build-id", 'b', "HEX", 0, "of the kernel", 0 },
	{ "release", 'r', "TEXT", 0, "of the kernel", 0 },
	{ "markers", 'm', "FILE", 0, "the kernel's tracepoints: ADDRESS ID<tab>FIELDS", 0 },
	{ "output", 'o', "FILE", 0, "the file for the packets, to which another run is added", 0 },
	{ 0 },
};

static const struct argp argp = {
	options, option, "VMLINUX", "What gtp compile has GDB connect to.", 0, 0, 0
};

static void send_bytes(void *ctx, const void *bytes, u32 len)
{
	fwrite(bytes, 1, len, stdout);
}

static void feed(struct recorder *r, const u8 *bytes, ssize_t len)
{
	ssize_t i;

	for (i = 0; i < len; i++) {
		r->starting = false;
		gtp_rsp_feed(&r->in, bytes + i, 1);
		gtp_stub_feed(&r->stub, bytes + i, 1);
		if (r->starting && gtp_trace_running(&r->machine.trace))
			write_all(r);
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static char packet_room[GTP_PACKET_MAX + 1];
	static u8 last_room[GTP_RSP_FRAME_MAX], in[4096];
	struct recorder *r = &recorder;
	ssize_t n;

	r->machine.build_id = "";
	r->machine.release = "";
	argp_parse(&argp, argc, argv, 0, NULL, r);
	machine_init(&r->machine, r->vmlinux, r->markers);
	gtp_rsp_init(&r->in, &rsp_ops, r, packet_room, last_room);
	if (gtp_stub_init(&r->stub, &r->machine.trace, &ops, send_bytes, &r->machine))
		errx(1, "out of memory");
	while ((n = read(STDIN_FILENO, in, sizeof(in))) > 0)
		feed(r, in, n);
	gtp_stub_exit(&r->stub);
	return 0;
}
