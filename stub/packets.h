/* SPDX-License-Identifier: GPL-2.0-only */
/* The packet table: which packets there are, who handles them, and what handlers share. */
#ifndef _GTP_PACKETS_H
#define _GTP_PACKETS_H

#include "stub/console.h"

enum {
	GTP_PKT_PREFIX = 1 << 0,  /* arguments may follow the name */
	GTP_PKT_NOISY = 1 << 1,   /* GDB takes O packets before the reply */
	GTP_PKT_NUMERIC = 1 << 2, /* GDB reads no words in an error of this one: E01 */
};

/**
 * struct gtp_packet - one row
 * @name: what the packet begins with
 * @flags: GTP_PKT_*
 * @handle: answers it, see below
 * @doc: its arguments, and what it is for
 *
 * A handler gets the text behind the name in @in (terminated by a NUL behind its end) and leaves
 * its reply in @s->reply, which is empty to begin with. It returns 0 to have that sent as it is:
 * an empty reply tells GDB that the packet is not known. A negative errno sends `E.` and the
 * words in @why, or words of the errno's own.
 */
struct gtp_packet {
	const char *name;
	u8 flags;
	int (*handle)(struct gtp_stub *s, struct gtp_in *in, struct gtp_why *why);
	const char *doc;
};

extern const struct gtp_packet gtp_packets[];
extern const u32 gtp_packets_count;

/* gtp_packets_find - the row of a packet, NULL when it is not known */
const struct gtp_packet *gtp_packets_find(const char *data, u32 len);

/* gtp_packets_handle - find it, handle it, send the reply; @data is terminated */
void gtp_packets_handle(struct gtp_stub *s, char *data, u32 len);

/* gtp_packets_ok - the reply "OK" */
int gtp_packets_ok(struct gtp_stub *s);

/* gtp_packets_bad - -EINVAL, and why says which packet lacks @expected at which column */
int gtp_packets_bad(const struct gtp_in *in, struct gtp_why *why, const char *expected);

/* gtp_packets_end - 0 when all of the packet has been read */
int gtp_packets_end(const struct gtp_in *in, struct gtp_why *why);

/* gtp_packets_hex_pair - "HEX<sep>HEX" and nothing more; 0 or -EINVAL */
int gtp_packets_hex_pair(struct gtp_in *in, char sep, u64 *a, u64 *b, struct gtp_why *why);

/* gtp_stub_stop_reply - the wait for a stop is over: sends "S05" (the run ended) or "S02" (^C) */
void gtp_stub_stop_reply(struct gtp_stub *s, const char *reply);

/* gtp_pkt_frame_selected - the selected frame, NULL when there is none (any more) */
const struct gtp_frame *gtp_pkt_frame_selected(struct gtp_stub *s);

/* gtp_monitor_ended - a line for the console that says why the run ended */
void gtp_monitor_ended(struct gtp_stub *s);

#define GTP_HANDLER(name) int name(struct gtp_stub *s, struct gtp_in *in, struct gtp_why *why)

/* pkt_general.c */
GTP_HANDLER(gtp_pkt_none);
GTP_HANDLER(gtp_pkt_ok);
GTP_HANDLER(gtp_pkt_supported);
GTP_HANDLER(gtp_pkt_min_fast);
GTP_HANDLER(gtp_pkt_no_ack);
GTP_HANDLER(gtp_pkt_stop_reason);
GTP_HANDLER(gtp_pkt_attached);
GTP_HANDLER(gtp_pkt_offsets);
GTP_HANDLER(gtp_pkt_kill);
GTP_HANDLER(gtp_pkt_continue);
GTP_HANDLER(gtp_pkt_step);
GTP_HANDLER(gtp_pkt_vcont);
GTP_HANDLER(gtp_pkt_breakpoint);

/* pkt_memory.c */
GTP_HANDLER(gtp_pkt_read_registers);
GTP_HANDLER(gtp_pkt_read_register);
GTP_HANDLER(gtp_pkt_write_register);
GTP_HANDLER(gtp_pkt_read_memory);
GTP_HANDLER(gtp_pkt_write_memory);
GTP_HANDLER(gtp_pkt_write_binary);

/* pkt_xfer.c */
GTP_HANDLER(gtp_pkt_features);
GTP_HANDLER(gtp_pkt_traceframe_info);
GTP_HANDLER(gtp_pkt_static_data);

/* pkt_define.c */
GTP_HANDLER(gtp_pkt_init);
GTP_HANDLER(gtp_pkt_define);
GTP_HANDLER(gtp_pkt_actions);
GTP_HANDLER(gtp_pkt_source);
GTP_HANDLER(gtp_pkt_variable);
GTP_HANDLER(gtp_pkt_readonly);
GTP_HANDLER(gtp_pkt_enable);
GTP_HANDLER(gtp_pkt_disable);

/* gtp_pkt_finish_install - arm what was defined during the run and has had its last continuation */
int gtp_pkt_finish_install(struct gtp_stub *s, struct gtp_why *why);

/* gtp_pkt_continues_install - is this packet a continuation of what is being installed? */
bool gtp_pkt_continues_install(const struct gtp_stub *s, const char *data, u32 len);

/* pkt_run.c */
GTP_HANDLER(gtp_pkt_start);
GTP_HANDLER(gtp_pkt_stop);
GTP_HANDLER(gtp_pkt_disconnected);
GTP_HANDLER(gtp_pkt_circular);
GTP_HANDLER(gtp_pkt_size);
GTP_HANDLER(gtp_pkt_notes);
GTP_HANDLER(gtp_pkt_status);
GTP_HANDLER(gtp_pkt_tp_status);
GTP_HANDLER(gtp_pkt_tsv_value);

/* pkt_frame.c */
GTP_HANDLER(gtp_pkt_frame);
GTP_HANDLER(gtp_pkt_save);
GTP_HANDLER(gtp_pkt_buffer);

/* pkt_upload.c */
GTP_HANDLER(gtp_pkt_first_tp);
GTP_HANDLER(gtp_pkt_next_tp);
GTP_HANDLER(gtp_pkt_first_tsv);
GTP_HANDLER(gtp_pkt_next_tsv);

/* pkt_marker.c */
GTP_HANDLER(gtp_pkt_first_marker);
GTP_HANDLER(gtp_pkt_next_marker);
GTP_HANDLER(gtp_pkt_marker_at);

/* monitor.c */
GTP_HANDLER(gtp_pkt_monitor);

#endif /* _GTP_PACKETS_H */
