/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages of gdbtp-connect to its user. */
#ifndef _GTP_CONNECT_COMPLAIN_H
#define _GTP_CONNECT_COMPLAIN_H

/**
 * complain - print a line on standard error that begins with the command's name
 * @format: the text, as for printf()
 */
void complain(const char *format, ...);

#endif
