/* SPDX-License-Identifier: GPL-2.0-only */
/* Declares the handlers of all packets, grouped by their source files. */
#ifndef _GTP_HANDLERS_H
#define _GTP_HANDLERS_H

#include "stub/connection.h"

/**
 * GTP_HANDLER() - the declaration of a handler, or the beginning of its definition
 * @name: the name of the handler, gtp_pkt_...
 *
 * A handler gets the text after the packet's name in @in, NUL-terminated, and writes its reply to
 * @s->reply, which is empty at first. If the handler returns 0, that reply is sent; an empty reply
 * tells GDB that the packet is not supported. If the handler returns a negative errno, the reply is
 * "E." and the words in @why, or a description of the errno.
 */
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

/* pkt_process.c */
GTP_HANDLER(gtp_pkt_thread);
GTP_HANDLER(gtp_pkt_select_thread);
GTP_HANDLER(gtp_pkt_is_thread_alive);
GTP_HANDLER(gtp_pkt_auxv);
GTP_HANDLER(gtp_pkt_exec_file);
GTP_HANDLER(gtp_pkt_libraries);
GTP_HANDLER(gtp_pkt_threads);

/* pkt_vfile.c */
GTP_HANDLER(gtp_pkt_file_root);
GTP_HANDLER(gtp_pkt_file_open);
GTP_HANDLER(gtp_pkt_file_read);
GTP_HANDLER(gtp_pkt_file_stat);
GTP_HANDLER(gtp_pkt_file_link);
GTP_HANDLER(gtp_pkt_file_close);

/* pkt_breakpoint.c */
GTP_HANDLER(gtp_pkt_breakpoint);
GTP_HANDLER(gtp_pkt_hbreak);
GTP_HANDLER(gtp_pkt_watch);
GTP_HANDLER(gtp_pkt_insert);
GTP_HANDLER(gtp_pkt_remove);

/* pkt_memory.c */
GTP_HANDLER(gtp_pkt_read_registers);
GTP_HANDLER(gtp_pkt_read_register);
GTP_HANDLER(gtp_pkt_write_register);
GTP_HANDLER(gtp_pkt_read_memory);
GTP_HANDLER(gtp_pkt_read_binary);
GTP_HANDLER(gtp_pkt_write_memory);
GTP_HANDLER(gtp_pkt_write_binary);

/* pkt_xfer.c */
GTP_HANDLER(gtp_pkt_features);
GTP_HANDLER(gtp_pkt_traceframe_info);
GTP_HANDLER(gtp_pkt_static_data);
GTP_HANDLER(gtp_pkt_trace_file);
GTP_HANDLER(gtp_pkt_aggregates);
GTP_HANDLER(gtp_pkt_stacks);

/* pkt_define.c */
GTP_HANDLER(gtp_pkt_init);
GTP_HANDLER(gtp_pkt_define);
GTP_HANDLER(gtp_pkt_actions);
GTP_HANDLER(gtp_pkt_source);
GTP_HANDLER(gtp_pkt_variable);
GTP_HANDLER(gtp_pkt_readonly);
GTP_HANDLER(gtp_pkt_enable);
GTP_HANDLER(gtp_pkt_disable);

/* pkt_file.c */
GTP_HANDLER(gtp_pkt_file);
GTP_HANDLER(gtp_pkt_exits);
GTP_HANDLER(gtp_pkt_frames);

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

#endif /* _GTP_HANDLERS_H */
