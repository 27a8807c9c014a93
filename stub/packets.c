// SPDX-License-Identifier: GPL-2.0-only
/* The table of packets. Find the handler of a packet, call it and send its reply. */
#include "session/install.h"
#include "stub/console.h"
#include "stub/handlers.h"
#include "stub/packets.h"
#include "stub/reply.h"

/*
 * The rows have the order of the appendix "GDB Remote Serial Protocol" in GDB's manual. If a name
 * is the beginning of another, the longer name comes first. docs/packets.md is generated from this
 * table.
 */
const struct gtp_packet gtp_packets[] = {
	/* Packets */
	{ "!", 0, gtp_pkt_none, "extended mode: there are no programs to start" },
	{ "?", 0, gtp_pkt_stop_reason, "why the target stopped: S05" },
	{ "c", GTP_PKT_PREFIX | GTP_PKT_NOISY, gtp_pkt_continue,
	  "[ADDR]: wait until the run ends or ^C comes" },
	{ "C", GTP_PKT_PREFIX | GTP_PKT_NOISY, gtp_pkt_continue, "SIG[;ADDR]: as c" },
	{ "D", GTP_PKT_PREFIX, gtp_pkt_ok, "[;PID]: detach" },
	{ "g", 0, gtp_pkt_read_registers, "registers: of the selected frame, or the live pc" },
	{ "G", GTP_PKT_PREFIX, gtp_pkt_write_register, "HEX: refused" },
	{ "H", GTP_PKT_PREFIX, gtp_pkt_select_thread,
	  "OP THREAD: whose registers are read; the kernel has one thread" },
	{ "k", 0, gtp_pkt_kill, "no reply; the kernel is not killed" },
	{ "m", GTP_PKT_PREFIX | GTP_PKT_NUMERIC, gtp_pkt_read_memory,
	  "ADDR,LENGTH: of the selected frame, or live" },
	{ "M", GTP_PKT_PREFIX, gtp_pkt_write_memory, "ADDR,LENGTH:HEX: refused unless allowed" },
	{ "p", GTP_PKT_PREFIX, gtp_pkt_read_register, "N: one register" },
	{ "P", GTP_PKT_PREFIX, gtp_pkt_write_register, "N=HEX: refused" },
	{ "s", GTP_PKT_PREFIX | GTP_PKT_NOISY, gtp_pkt_step, "[ADDR]: says that it cannot" },
	{ "S", GTP_PKT_PREFIX | GTP_PKT_NOISY, gtp_pkt_step, "SIG[;ADDR]: as s" },
	{ "T", GTP_PKT_PREFIX, gtp_pkt_is_thread_alive, "THREAD: alive?" },
	{ "vCont?", 0, gtp_pkt_none, "not offered: GDB uses c and s" },
	{ "vCont;", GTP_PKT_PREFIX | GTP_PKT_NOISY, gtp_pkt_vcont, "ACTION...: as c or s" },
	{ "vFile:close:", GTP_PKT_PREFIX | GTP_PKT_PROCESS, gtp_pkt_file_close, "FD" },
	{ "vFile:fstat:", GTP_PKT_PREFIX | GTP_PKT_PROCESS, gtp_pkt_file_stat,
	  "FD: size, mode, time" },
	{ "vFile:open:", GTP_PKT_PREFIX | GTP_PKT_PROCESS, gtp_pkt_file_open,
	  "HEXPATH,FLAGS,MODE: a file as the process sees it, for reading" },
	{ "vFile:pread:", GTP_PKT_PREFIX | GTP_PKT_PROCESS, gtp_pkt_file_read, "FD,COUNT,OFFSET" },
	{ "vFile:readlink:", GTP_PKT_PREFIX | GTP_PKT_PROCESS, gtp_pkt_file_link, "HEXPATH" },
	{ "vFile:setfs:", GTP_PKT_PREFIX | GTP_PKT_PROCESS, gtp_pkt_file_root,
	  "PID: the process, or 0" },
	{ "vMustReplyEmpty", 0, gtp_pkt_none, "how GDB learns what unknown looks like" },
	{ "x", GTP_PKT_PREFIX | GTP_PKT_NUMERIC, gtp_pkt_read_binary,
	  "ADDR,LENGTH: as m, the bytes as they are" },
	{ "X", GTP_PKT_PREFIX, gtp_pkt_write_binary, "ADDR,LENGTH:BYTES: refused unless allowed" },
	{ "z0,", GTP_PKT_PREFIX, gtp_pkt_remove, "ADDR,KIND: no dprintf there any more" },
	{ "Z0,", GTP_PKT_PREFIX, gtp_pkt_insert,
	  "ADDR,KIND[;Xlen,HEX...][;cmds:PERSIST,Xlen,HEX...]: a dprintf; without cmds refused" },
	{ "z", GTP_PKT_PREFIX, gtp_pkt_breakpoint, "TYPE,ADDR,KIND: refused" },
	{ "Z1,", GTP_PKT_PREFIX, gtp_pkt_hbreak, "ADDR,KIND: refused" },
	{ "Z", GTP_PKT_PREFIX, gtp_pkt_watch, "TYPE,ADDR,KIND: refused" },

	/* General Query Packets */
	{ "qAttached", GTP_PKT_PREFIX, gtp_pkt_attached, "[:PID]: 1: GDB detaches at exit" },
	{ "qC", GTP_PKT_PROCESS, gtp_pkt_thread, "the selected thread of a process" },
	{ "qL", GTP_PKT_PREFIX, gtp_pkt_none, "no list here: a process has qXfer:threads:read" },
	{ "QGtpExits:", GTP_PKT_PREFIX, gtp_pkt_exits,
	  "ADDR:ABOVE:KINDADDR,...: where a function of a program ends" },
	{ "QGtpFile:", GTP_PKT_PREFIX, gtp_pkt_file,
	  "HEXPATH: the space of a program's file: BASE;[HEX: build-id]" },
	{ "QGtpFrames:", GTP_PKT_PREFIX, gtp_pkt_frames,
	  "ADDR:OFFSET:SIZE:HEX: a part of a program's call frame information" },
	{ "qOffsets", 0, gtp_pkt_offsets, "TextSeg=ADDR: where the kernel was loaded" },
	{ "QStartNoAckMode", 0, gtp_pkt_no_ack, "no acks any more" },
	{ "qRcmd,", GTP_PKT_PREFIX | GTP_PKT_NOISY, gtp_pkt_monitor, "HEX: `monitor`" },
	{ "qSupported", GTP_PKT_PREFIX, gtp_pkt_supported, "[:FEATURES]: what this stub can do" },
	{ "qSymbol:", GTP_PKT_PREFIX, gtp_pkt_ok, "[VALUE]:[NAME]: no symbol is needed" },
	{ "qfThreadInfo", 0, gtp_pkt_none, "no list here: a process has qXfer:threads:read" },
	{ "qXfer:auxv:read:", GTP_PKT_PREFIX | GTP_PKT_PROCESS, gtp_pkt_auxv,
	  ":OFFSET,LENGTH: the auxiliary vector of a process" },
	{ "qXfer:exec-file:read:", GTP_PKT_PREFIX | GTP_PKT_PROCESS, gtp_pkt_exec_file,
	  "PID:OFFSET,LENGTH: the path of the program of a process" },
	{ "qXfer:features:read:", GTP_PKT_PREFIX, gtp_pkt_features,
	  "ANNEX:OFFSET,LENGTH: the target description" },
	{ "qXfer:gtpaggregates:read:", GTP_PKT_PREFIX, gtp_pkt_aggregates,
	  "show|clear:OFFSET,LENGTH: what actions have aggregated" },
	{ "qXfer:gtpframe:read:", GTP_PKT_PREFIX, gtp_pkt_trace_file,
	  ":OFFSET,LENGTH: the stopped run as a trace file" },
	{ "qXfer:gtpstacks:read:", GTP_PKT_PREFIX, gtp_pkt_stacks,
	  "N|all:OFFSET,LENGTH: the stack of that number from $kstack; all of a stopped run" },
	{ "qXfer:libraries-svr4:read:", GTP_PKT_PREFIX | GTP_PKT_PROCESS, gtp_pkt_libraries,
	  ":OFFSET,LENGTH: the libraries of a process" },
	{ "qXfer:statictrace:read:", GTP_PKT_PREFIX, gtp_pkt_static_data,
	  ":OFFSET,LENGTH: $_sdata of the selected frame" },
	{ "qXfer:threads:read:", GTP_PKT_PREFIX | GTP_PKT_PROCESS, gtp_pkt_threads,
	  ":OFFSET,LENGTH: the threads of a process" },
	{ "qXfer:traceframe-info:read:", GTP_PKT_PREFIX, gtp_pkt_traceframe_info,
	  ":OFFSET,LENGTH: what the selected frame has" },

	/* Tracepoint Packets */
	{ "QTBuffer:circular:", GTP_PKT_PREFIX | GTP_PKT_NOISY, gtp_pkt_circular,
	  "0|1: keep the newest frames" },
	{ "QTBuffer:size:", GTP_PKT_PREFIX | GTP_PKT_NOISY, gtp_pkt_size,
	  "HEX|-1: bytes for all CPUs together" },
	{ "QTDP:-", GTP_PKT_PREFIX | GTP_PKT_NOISY, gtp_pkt_actions,
	  "N:ADDR:ACTIONS[-]: more of a tracepoint" },
	{ "QTDP:", GTP_PKT_PREFIX | GTP_PKT_NOISY, gtp_pkt_define,
	  "N:ADDR:E|D:STEP:PASS[:Flen][:S][:Xlen,HEX][-]: a tracepoint" },
	{ "QTDPsrc:", GTP_PKT_PREFIX | GTP_PKT_NOISY, gtp_pkt_source,
	  "N:ADDR:TYPE:START:LEN:HEX: its source text" },
	{ "QTDV:", GTP_PKT_PREFIX | GTP_PKT_NOISY, gtp_pkt_variable,
	  "N:VALUE:BUILTIN:HEXNAME: a trace state variable" },
	{ "QTDisable:", GTP_PKT_PREFIX | GTP_PKT_NOISY, gtp_pkt_disable, "N:ADDR" },
	{ "QTDisconnected:", GTP_PKT_PREFIX | GTP_PKT_NOISY, gtp_pkt_disconnected,
	  "0|1: the run goes on without GDB" },
	{ "QTEnable:", GTP_PKT_PREFIX | GTP_PKT_NOISY, gtp_pkt_enable, "N:ADDR" },
	{ "QTFrame:", GTP_PKT_PREFIX | GTP_PKT_NOISY, gtp_pkt_frame,
	  "N | pc:A | tdp:N | range:A:B | outside:A:B: select a frame" },
	{ "QTNotes:", GTP_PKT_PREFIX | GTP_PKT_NOISY, gtp_pkt_notes,
	  "[user:HEX;][notes:HEX;][tstop:HEX;]" },
	{ "QTSave:", GTP_PKT_PREFIX | GTP_PKT_NOISY, gtp_pkt_save, "HEXNAME: a trace file there" },
	{ "QTStart", GTP_PKT_NOISY, gtp_pkt_start, "begin the run" },
	{ "QTStop", GTP_PKT_NOISY, gtp_pkt_stop, "end the run" },
	{ "QTinit", GTP_PKT_NOISY, gtp_pkt_init, "forget definitions and frames" },
	{ "QTro:", GTP_PKT_PREFIX, gtp_pkt_readonly, "START,END[:...]: read-only, link-time" },
	{ "qTBuffer:", GTP_PKT_PREFIX | GTP_PKT_NOISY, gtp_pkt_buffer,
	  "OFFSET,LENGTH: frames as in a trace file" },
	{ "qTMinFTPILen", 0, gtp_pkt_min_fast, "shortest instruction for ftrace" },
	{ "qTP:", GTP_PKT_PREFIX, gtp_pkt_tp_status, "N:ADDR: hits and bytes used" },
	{ "qTStatus", GTP_PKT_NOISY, gtp_pkt_status, "how the run goes" },
	{ "qTV:", GTP_PKT_PREFIX, gtp_pkt_tsv_value, "N: a trace state variable's value" },
	{ "qTfP", 0, gtp_pkt_first_tp, "upload of tracepoints" },
	{ "qTsP", 0, gtp_pkt_next_tp, "the next piece" },
	{ "qTSTMat:", GTP_PKT_PREFIX, gtp_pkt_marker_at, "ADDR: the kernel tracepoint there" },
	{ "qTfSTM", 0, gtp_pkt_first_marker, "list of kernel tracepoints" },
	{ "qTsSTM", 0, gtp_pkt_next_marker, "more of it" },
	{ "qTfV", 0, gtp_pkt_first_tsv, "upload of trace state variables" },
	{ "qTsV", 0, gtp_pkt_next_tsv, "the next one" },
};

const u32 gtp_packets_count = ARRAY_SIZE(gtp_packets);

static bool matches(const struct gtp_packet *p, const char *data, u32 len)
{
	u32 n = (u32)strlen(p->name);

	if (len < n || memcmp(data, p->name, n))
		return false;
	return len == n || (p->flags & GTP_PKT_PREFIX);
}

const struct gtp_packet *gtp_packets_find(const char *data, u32 len)
{
	u32 i;

	for (i = 0; i < gtp_packets_count; i++)
		if (matches(&gtp_packets[i], data, len))
			return &gtp_packets[i];
	return NULL;
}

static void run(struct gtp_stub *s, const struct gtp_packet *p, char *data, u32 len)
{
	u32 n = (u32)strlen(p->name);
	struct gtp_why why = { "" };
	struct gtp_in in;
	int err;

	gtp_in_init(&in, data + n, len - n);
	in.skipped = n;
	s->noisy = p->flags & GTP_PKT_NOISY;
	if (s->noisy)
		gtp_stub_flush_notice(s);
	err = p->handle(s, &in, &why);
	s->noisy = false;
	if (err < 0)
		gtp_reply_error(s, err, p->flags & GTP_PKT_NUMERIC ? NULL : why.text);
}

static bool is_known(const struct gtp_stub *s, const struct gtp_packet *p)
{
	return s->ops->process || !(p->flags & GTP_PKT_PROCESS);
}

void gtp_packets_handle(struct gtp_stub *s, char *data, u32 len)
{
	const struct gtp_packet *p = gtp_packets_find(data, len);
	struct gtp_why why = { "" };

	if (gtp_install_before_packet(s->trace, data, len, &why))
		gtp_stub_printf(s, "gdbtp: %s\n", why.text);
	gtp_out_init(&s->reply, s->reply.buf, s->reply.size);
	s->no_reply = false;
	if (p && is_known(s, p))
		run(s, p, data, len);
	if (!s->no_reply)
		gtp_rsp_reply(&s->rsp, s->reply.buf, (u32)s->reply.len);
}
