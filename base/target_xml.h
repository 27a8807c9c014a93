/* SPDX-License-Identifier: GPL-2.0-only */
/* The target description: the registers that GDB may read, and their numbers. */
#ifndef _GTP_TARGET_XML_H
#define _GTP_TARGET_XML_H

/*
 * GDB's core feature for x86-64: the 24 integer registers that a g packet of gdbtp carries, and the
 * 16 registers of the x87. GDB requires the latter, although a hit never has their values. SSE and
 * later features are left out, so that the register mask of "collect $regs" stays short. Each line
 * ends with "\n", because a trace file has one record for each line.
 */
static const char gtp_target_xml[] =
	"<?xml version=\"1.0\"?>\n"
	"<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n"
	"<target version=\"1.0\">\n"
	"<architecture>i386:x86-64</architecture>\n"
	"<feature name=\"org.gnu.gdb.i386.core\">\n"
	"<flags id=\"i386_eflags\" size=\"4\">\n"
	"<field name=\"CF\" start=\"0\" end=\"0\"/>\n"
	"<field name=\"PF\" start=\"2\" end=\"2\"/>\n"
	"<field name=\"AF\" start=\"4\" end=\"4\"/>\n"
	"<field name=\"ZF\" start=\"6\" end=\"6\"/>\n"
	"<field name=\"SF\" start=\"7\" end=\"7\"/>\n"
	"<field name=\"TF\" start=\"8\" end=\"8\"/>\n"
	"<field name=\"IF\" start=\"9\" end=\"9\"/>\n"
	"<field name=\"DF\" start=\"10\" end=\"10\"/>\n"
	"<field name=\"OF\" start=\"11\" end=\"11\"/>\n"
	"<field name=\"NT\" start=\"14\" end=\"14\"/>\n"
	"<field name=\"RF\" start=\"16\" end=\"16\"/>\n"
	"<field name=\"VM\" start=\"17\" end=\"17\"/>\n"
	"<field name=\"AC\" start=\"18\" end=\"18\"/>\n"
	"<field name=\"VIF\" start=\"19\" end=\"19\"/>\n"
	"<field name=\"VIP\" start=\"20\" end=\"20\"/>\n"
	"<field name=\"ID\" start=\"21\" end=\"21\"/>\n"
	"</flags>\n"
	"<reg name=\"rax\" bitsize=\"64\" type=\"int64\"/>\n"
	"<reg name=\"rbx\" bitsize=\"64\" type=\"int64\"/>\n"
	"<reg name=\"rcx\" bitsize=\"64\" type=\"int64\"/>\n"
	"<reg name=\"rdx\" bitsize=\"64\" type=\"int64\"/>\n"
	"<reg name=\"rsi\" bitsize=\"64\" type=\"int64\"/>\n"
	"<reg name=\"rdi\" bitsize=\"64\" type=\"int64\"/>\n"
	"<reg name=\"rbp\" bitsize=\"64\" type=\"data_ptr\"/>\n"
	"<reg name=\"rsp\" bitsize=\"64\" type=\"data_ptr\"/>\n"
	"<reg name=\"r8\" bitsize=\"64\" type=\"int64\"/>\n"
	"<reg name=\"r9\" bitsize=\"64\" type=\"int64\"/>\n"
	"<reg name=\"r10\" bitsize=\"64\" type=\"int64\"/>\n"
	"<reg name=\"r11\" bitsize=\"64\" type=\"int64\"/>\n"
	"<reg name=\"r12\" bitsize=\"64\" type=\"int64\"/>\n"
	"<reg name=\"r13\" bitsize=\"64\" type=\"int64\"/>\n"
	"<reg name=\"r14\" bitsize=\"64\" type=\"int64\"/>\n"
	"<reg name=\"r15\" bitsize=\"64\" type=\"int64\"/>\n"
	"<reg name=\"rip\" bitsize=\"64\" type=\"code_ptr\"/>\n"
	"<reg name=\"eflags\" bitsize=\"32\" type=\"i386_eflags\"/>\n"
	"<reg name=\"cs\" bitsize=\"32\" type=\"int32\"/>\n"
	"<reg name=\"ss\" bitsize=\"32\" type=\"int32\"/>\n"
	"<reg name=\"ds\" bitsize=\"32\" type=\"int32\"/>\n"
	"<reg name=\"es\" bitsize=\"32\" type=\"int32\"/>\n"
	"<reg name=\"fs\" bitsize=\"32\" type=\"int32\"/>\n"
	"<reg name=\"gs\" bitsize=\"32\" type=\"int32\"/>\n"
	"<reg name=\"st0\" bitsize=\"80\" type=\"i387_ext\"/>\n"
	"<reg name=\"st1\" bitsize=\"80\" type=\"i387_ext\"/>\n"
	"<reg name=\"st2\" bitsize=\"80\" type=\"i387_ext\"/>\n"
	"<reg name=\"st3\" bitsize=\"80\" type=\"i387_ext\"/>\n"
	"<reg name=\"st4\" bitsize=\"80\" type=\"i387_ext\"/>\n"
	"<reg name=\"st5\" bitsize=\"80\" type=\"i387_ext\"/>\n"
	"<reg name=\"st6\" bitsize=\"80\" type=\"i387_ext\"/>\n"
	"<reg name=\"st7\" bitsize=\"80\" type=\"i387_ext\"/>\n"
	"<reg name=\"fctrl\" bitsize=\"32\" type=\"int\" group=\"float\"/>\n"
	"<reg name=\"fstat\" bitsize=\"32\" type=\"int\" group=\"float\"/>\n"
	"<reg name=\"ftag\" bitsize=\"32\" type=\"int\" group=\"float\"/>\n"
	"<reg name=\"fiseg\" bitsize=\"32\" type=\"int\" group=\"float\"/>\n"
	"<reg name=\"fioff\" bitsize=\"32\" type=\"int\" group=\"float\"/>\n"
	"<reg name=\"foseg\" bitsize=\"32\" type=\"int\" group=\"float\"/>\n"
	"<reg name=\"fooff\" bitsize=\"32\" type=\"int\" group=\"float\"/>\n"
	"<reg name=\"fop\" bitsize=\"32\" type=\"int\" group=\"float\"/>\n"
	"</feature>\n"
	"</target>\n";

#endif /* _GTP_TARGET_XML_H */
