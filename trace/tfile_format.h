/* SPDX-License-Identifier: GPL-2.0-only */
/* The numbers of a trace file, which docs/trace-file.md describes. */
#ifndef _GTP_TFILE_FORMAT_H
#define _GTP_TFILE_FORMAT_H

#define GTP_TFILE_MAGIC "\x7fTRACE0\n"

/* Sizes in bytes; all numbers are little-endian. */
enum {
	GTP_TFILE_NUMBER = 2,	    /* u16 tracepoint; 0 after the last frame */
	GTP_TFILE_HEAD = 2 + 4,	    /* the number, then a u32: how many bytes follow */
	GTP_TFILE_REGS = 1,	    /* 'R', then as many bytes as the header's line R says */
	GTP_TFILE_MEM = 1 + 8 + 2,  /* 'M', u64 address, u16 length, then the bytes */
	GTP_TFILE_VAR = 1 + 4 + 8,  /* 'V', u32 number, s64 value */
	GTP_TFILE_LOST_TP = 0xffff, /* in a recording: not a tracepoint; frames were lost */
	GTP_TFILE_LOST_VAR = 0x200, /* the variable that has the number of lost frames */
};

#endif /* _GTP_TFILE_FORMAT_H */
