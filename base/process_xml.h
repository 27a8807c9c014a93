/* SPDX-License-Identifier: GPL-2.0-only */
/* The registers that a process has as a target in addition to those of the kernel. */
#ifndef _GTP_PROCESS_XML_H
#define _GTP_PROCESS_XML_H

/*
 * The first of these features tells GDB that the target is a Linux process, which has libraries.
 * These lines are inserted before the last line of gtp_target_xml.
 */
static const char gtp_process_xml_end[] = "</target>\n";
static const char gtp_process_xml[] =
	"<osabi>GNU/Linux</osabi>\n"
	"<feature name=\"org.gnu.gdb.i386.linux\">\n"
	"<reg name=\"orig_rax\" bitsize=\"64\" type=\"int\" group=\"system\"/>\n"
	"</feature>\n"
	"<feature name=\"org.gnu.gdb.i386.segments\">\n"
	"<reg name=\"fs_base\" bitsize=\"64\" type=\"int\"/>\n"
	"<reg name=\"gs_base\" bitsize=\"64\" type=\"int\"/>\n"
	"</feature>\n";

#endif /* _GTP_PROCESS_XML_H */
