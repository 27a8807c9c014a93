/* SPDX-License-Identifier: GPL-2.0-only */
/* Find the last frame of a recording: by number, or by a condition. */
#ifndef _DRAIN_UNTIL_H
#define _DRAIN_UNTIL_H

#include "pipe.h"

struct condition;

/**
 * struct until - the end of a recording, as --until describes it
 * @frames: the number of frames after which to end, of tracepoint @tracepoint or, if that is 0, of
 * any; 0: the number of frames does not end the recording
 * @asks: descriptor of the GDB that is asked for conditions; below 0: there is none
 * @conditions, @count: the conditions, one for each place of a tracepoint
 * @register_bytes: the size of a frame's registers, which the header states
 * @seen: the number of frames that have been counted so far
 * @unknown: the number of frames that lack a value that their condition needs
 * @last: the tracepoint of the last frame of the recording
 * @reached: the last frame of the recording has come
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
 * until_begin() - prepare to look for the last frame, with the run's header
 * @u: the end
 * @p: a signal on this pipe ends the wait for the answer
 * @header, @len: the header of the trace file
 *
 * Writes the header to @asks, closes that end, and reads lines: "= TRACEPOINT ADDRESS REGISTERS
 * CODE" is a condition at a place, in hex, with the mask of the registers that frames have and the
 * text of an agent expression, or none; "- TEXT" is passed on; "! TEXT" says why there is no
 * condition; "." is the last one. Errors are reported by fail().
 */
void until_begin(struct until *u, const struct pipe *p, const u8 *header, size_t len);

/**
 * until_cut() - look for the last frame
 * @u: the end; frames are counted, so each must come once
 * @bytes, @len: a frame begins here, and none need end here
 *
 * Return: @len; or, if the last frame is among the bytes, the offset of its end.
 */
size_t until_cut(struct until *u, const u8 *bytes, size_t len);

#endif /* _DRAIN_UNTIL_H */
