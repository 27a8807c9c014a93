/* SPDX-License-Identifier: GPL-2.0-only */
/* Find the last frame of a recording, by the number of frames or by a condition. */
#ifndef _DRAIN_UNTIL_H
#define _DRAIN_UNTIL_H

#include "pipe.h"

struct condition;

/**
 * struct until - the end of a recording, as the option --until describes it
 * @frames: end after this number of frames of tracepoint @tracepoint or, if @tracepoint is 0, of
 * all tracepoints; 0: do not count
 * @asks: the descriptor of a connection to the GDB that compiles conditions; negative: there is no
 *	GDB
 * @conditions, @count: the conditions, one for each address of a tracepoint
 * @register_bytes: the size of a frame's registers, from the header
 * @seen: the number of frames that have been counted so far
 * @unknown: the number of frames without a value that their condition needs
 * @last: the number of the tracepoint of the last frame of the recording
 * @reached: true if the last frame of the recording was found
 */
struct until {
	u64 frames;
	u32 tracepoint;
	int asks;
	struct condition *conditions;
	u32 count, register_bytes;
	u64 seen, unknown;
	u32 last;
	bool reached;
};

/**
 * until_begin() - prepare to look for the last frame: read the run's header, ask GDB for conditions
 * @u: the end
 * @p: the pipe; a signal that it has caught ends the wait for GDB's answer
 * @header, @len: the header of the trace file
 *
 * Writes the header to @asks, closes that direction, and reads lines from GDB. "= TRACEPOINT
 * ADDRESS REGISTERS CODE" is the condition at an address: numbers in hex, a mask of the registers
 * that frames have, and the text of an agent expression, or none. "- TEXT" is printed. "! TEXT"
 * says why there is no condition. "." is the last line. Errors are reported by fail().
 */
void until_begin(struct until *u, const struct pipe *p, const u8 *header, size_t len);

/**
 * until_cut() - look for the last frame
 * @u: the end; it counts frames, so pass each frame only once
 * @bytes, @len: the bytes, which begin with a frame but need not end with one
 *
 * Return: @len; or, if the last frame is among the bytes, the offset of its end.
 */
size_t until_cut(struct until *u, const u8 *bytes, size_t len);

#endif /* _DRAIN_UNTIL_H */
