/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions for `monitor` commands, both the stub's and those of the host. */
#ifndef _GTP_STUB_MONITOR_H
#define _GTP_STUB_MONITOR_H

#include "base/why.h"

/* gtp_monitor_on_off - return the word for the state of a switch */
static inline const char *gtp_monitor_on_off(bool on)
{
	return on ? "on" : "off";
}

/**
 * gtp_monitor_switch() - parse the argument of a command that switches something on or off
 * @name: the name of the command, for the refusal
 * @arg: the text after the name, without leading and trailing blanks; "": change nothing
 * @value: the switch to set; other contexts may read it at any time
 * @why: the refusal
 *
 * Accepts "on" and "off", and the forms of module parameters, "yes", "no", "y", "n", "1" and "0",
 * in upper or lower case.
 * Return: 0, or -EINVAL with @value unchanged.
 */
int gtp_monitor_switch(const char *name, const char *arg, bool *value, struct gtp_why *why);

/*
 * gtp_monitor_argument - return the text after @name in @command, without leading blanks, "" if
 * there is none; return NULL if it is another command
 */
const char *gtp_monitor_argument(const char *name, const char *command);

#endif /* _GTP_STUB_MONITOR_H */
