// SPDX-License-Identifier: GPL-2.0-only
/* Packets that read registers and memory, of the selected frame or of the live kernel. */
#include "base/space.h"
#include "stub/args.h"
#include "stub/handlers.h"
#include "stub/reply.h"
#include "stub/selected.h"

enum {
	READ_MAX = GTP_PACKET_MAX / 2, /* a reply has two digits for each byte */
	PAGE = 4096,		       /* readable memory ends at a page boundary */
	X87_STACK_END = 32,	       /* registers 24 to 31 have 10 bytes, 32 to 39 have 4 */
	NR_DESCRIBED = 40,	       /* see base/target_xml.h */
	NR_OF_PROCESS = 3,	       /* further registers of a process, of 8 bytes each */
};

static void put_unknown(struct gtp_out *out, u32 bytes)
{
	while (bytes--)
		gtp_out_text(out, "xx", 2);
}

static void put_register(struct gtp_out *out, u64 value, u32 bytes)
{
	u8 le[8];

	gtp_put_le(le, value, bytes);
	gtp_out_hex(out, le, bytes);
}

/*
 * Return the registers that are known while no frame is selected, all of the same moment. A running
 * kernel has none, but GDB drops a connection without a pc, so report _text. GDB shows that as
 * "_stext ()" or similar.
 */
static struct gtp_live live_now(const struct gtp_stub *s, const struct gtp_frame *f)
{
	struct gtp_live live = { .pc = s->trace->text_start };

	if (!f && s->ops->process)
		s->ops->process->live(s->ctx, s->thread, &live);
	return live;
}

static bool live_register(const struct gtp_live *live, u32 n, u64 *value)
{
	*value = n == GTP_REG_PC ? live->pc : live->sp;
	return n == GTP_REG_PC || (n == GTP_REG_SP && live->has_sp);
}

static bool get_register(const struct gtp_frame *f, const struct gtp_live *live, u32 n, u64 *value)
{
	if (!f)
		return live_register(live, n, value);
	return n < GTP_NR_SAVED_REGS && gtp_frame_get_reg(f, n, value);
}

static void put_known_or_not(struct gtp_out *out, const struct gtp_frame *f,
			     const struct gtp_live *live, u32 n)
{
	u64 value;

	if (get_register(f, live, n, &value))
		put_register(out, value, gtp_regs_width(n));
	else
		put_unknown(out, gtp_regs_width(n));
}

GTP_HANDLER(gtp_pkt_read_registers)
{
	const struct gtp_frame *f = gtp_selected_frame(s);
	const struct gtp_live live = live_now(s, f);
	u32 n;

	for (n = 0; n < GTP_NR_G_REGS; n++)
		put_known_or_not(&s->reply, f, &live, n);
	return 0;
}

GTP_HANDLER(gtp_pkt_read_register)
{
	u32 described = NR_DESCRIBED + (s->ops->process ? NR_OF_PROCESS : 0);
	u32 n;

	if (!gtp_in_hex32(in, &n))
		return gtp_args_bad(in, why, "a register number");
	if (gtp_args_end(in, why))
		return -EINVAL;
	if (n < GTP_NR_G_REGS) {
		const struct gtp_frame *f = gtp_selected_frame(s);
		const struct gtp_live live = live_now(s, f);

		put_known_or_not(&s->reply, f, &live, n);
	} else if (n < NR_DESCRIBED) {
		put_unknown(&s->reply, n < X87_STACK_END ? 10 : 4);
	} else if (n < described) {
		put_unknown(&s->reply, 8);
	} else {
		gtp_why(why, "register %u is not one of the %u that the target describes", n,
			described);
		return -EINVAL;
	}
	return 0;
}

GTP_HANDLER(gtp_pkt_write_register)
{
	gtp_why(why, "registers cannot be written: the %s runs", gtp_stub_target(s));
	return -EPERM;
}

/*
 * Read live memory; return the number of bytes: all, or those of the pages before the first fault.
 */
static u32 read_live(struct gtp_stub *s, u8 *dst, u64 addr, u32 len)
{
	u32 done = 0;

	if (!s->ops->read(s->ctx, dst, addr, len))
		return len;
	while (done < len) {
		u32 n = PAGE - (u32)((addr + done) % PAGE);

		if (n > len - done)
			n = len - done;
		if (s->ops->read(s->ctx, dst + done, addr + done, n))
			break;
		done += n;
	}
	return done;
}

static bool in_page_of(u64 code, u64 addr)
{
	return code / PAGE == addr / PAGE;
}

/* True if the address is near a tracepoint, because QTro does not include the code of modules. */
static bool is_traced_page(const struct gtp_stub *s, u64 addr)
{
	const struct gtp_tracepoint *tp;

	for (tp = s->trace->tps.first; tp; tp = tp->next)
		if (!tp->gone && in_page_of(tp->addr, addr))
			return true;
	return false;
}

/*
 * Return how many bytes at @addr cannot have changed since the frame was collected. While a frame
 * is selected, GDB reads code and constants, which actions do not collect, to unwind and to
 * disassemble.
 */
static u32 constant_bytes(const struct gtp_stub *s, u64 addr, u32 len)
{
	const struct gtp_trace *t = s->trace;
	u64 n = 0;
	u32 i;

	for (i = 0; i < t->nro; i++)
		if (addr >= t->ro[i].start && addr < t->ro[i].end)
			n = t->ro[i].end - addr;
	if (!n && is_traced_page(s, addr))
		n = PAGE - addr % PAGE;
	/* At addresses of file spaces, only bytes that no process can change are readable. */
	if (!n && gtp_space_is(addr))
		n = len;
	return n < len ? (u32)n : len;
}

static u32 read_frame(struct gtp_stub *s, const struct gtp_frame *f, u8 *dst, u64 addr, u32 len)
{
	u32 n;

	if (addr - GTP_SDATA_ADDR < GTP_BLOCK_MEM_MAX)
		return gtp_sdata_read(f, s->trace->formats, addr - GTP_SDATA_ADDR, dst, len);
	n = gtp_frame_read_mem(f, addr, dst, len);
	if (n)
		return n;
	n = constant_bytes(s, addr, len);
	return n ? read_live(s, dst, addr, n) : 0;
}

/*
 * read_asked() - read the memory that the packet's "ADDR,LENGTH" requests into ->in
 *
 * Read at most @max bytes: after a shorter reply GDB requests the rest. Return: the number of
 * bytes; 0 if LENGTH is 0; -EFAULT if the first byte cannot be read; -EINVAL for a wrong packet.
 */
static int read_asked(struct gtp_stub *s, struct gtp_in *in, u32 max, struct gtp_why *why)
{
	const struct gtp_frame *f = gtp_selected_frame(s);
	u8 *bytes = (u8 *)s->in;
	u64 addr, len;

	if (gtp_args_hex_pair(in, ',', &addr, &len, why))
		return -EINVAL;
	if (!len)
		return 0;
	if (len > max)
		len = max;
	if (len - 1 > ~addr)
		len = ~addr + 1; /* only the bytes before the end of the address space */
	if (f)
		len = read_frame(s, f, bytes, addr, (u32)len);
	else
		len = read_live(s, bytes, addr, (u32)len);
	return len ? (int)len : -EFAULT;
}

GTP_HANDLER(gtp_pkt_read_memory)
{
	int len = read_asked(s, in, READ_MAX, why);

	if (len > 0)
		gtp_out_hex(&s->reply, s->in, (size_t)len);
	return len < 0 ? len : 0;
}

/*
 * Handle x, which GDB 16 and later send instead of m if the stub has the feature "binary-upload+".
 * Its reply has half the size.
 */
GTP_HANDLER(gtp_pkt_read_binary)
{
	int len = read_asked(s, in, GTP_PACKET_MAX - 1, why);

	if (len < 0)
		return len;
	gtp_out_text(&s->reply, "b", 1);
	gtp_out_text(&s->reply, s->in, (size_t)len);
	return 0;
}

static int write_live(struct gtp_stub *s, u64 addr, const void *bytes, u32 len, struct gtp_why *why)
{
	int err;

	if (s->frame >= 0) {
		gtp_why(why, "a trace frame is selected, and what was collected stays: tfind none");
		return -EPERM;
	}
	/* With an empty write GDB tests whether the stub supports X. */
	err = len ? s->ops->write(s->ctx, addr, bytes, len) : 0;
	if (err == -EPERM && s->ops->process)
		gtp_why(why, "the memory of a process that runs is only read");
	else if (err == -EPERM)
		gtp_why(why, "writing kernel memory is not allowed (module parameter allow_write)");
	else if (err)
		gtp_why(why, "cannot write %u bytes at 0x%llx", len, addr);
	return err ? err : gtp_reply_ok(s);
}

static int write_head(struct gtp_in *in, u64 *addr, u64 *len, struct gtp_why *why)
{
	if (!gtp_in_hex64(in, addr))
		return gtp_args_bad(in, why, "an address");
	if (!gtp_in_char(in, ','))
		return gtp_args_bad(in, why, "','");
	if (!gtp_in_hex64(in, len))
		return gtp_args_bad(in, why, "a length");
	if (!gtp_in_char(in, ':'))
		return gtp_args_bad(in, why, "':'");
	return 0;
}

GTP_HANDLER(gtp_pkt_write_memory)
{
	u8 *bytes = (u8 *)s->in;
	u64 addr, len;

	if (write_head(in, &addr, &len, why))
		return -EINVAL;
	if (len > gtp_in_left(in) / 2 || gtp_in_left(in) != 2 * len)
		return gtp_args_bad(in, why, "two digits for every byte");
	/* Decode in place: two digits of the packet become one byte. */
	if (gtp_hex_decode(bytes, READ_MAX, in->p, 2 * (size_t)len) < 0)
		return gtp_args_bad(in, why, "hex digits");
	return write_live(s, addr, bytes, (u32)len, why);
}

GTP_HANDLER(gtp_pkt_write_binary)
{
	u64 addr, len;

	if (write_head(in, &addr, &len, why))
		return -EINVAL;
	if (len != gtp_in_left(in))
		return gtp_args_bad(in, why, "as many bytes as the length says");
	return write_live(s, addr, in->p, (u32)len, why);
}
