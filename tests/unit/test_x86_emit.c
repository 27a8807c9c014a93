// SPDX-License-Identifier: GPL-2.0-only
/* Compares the encoder with an independent one, GNU as: each form with all registers. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "jit/x86_emit.h"

/* clang-format off */
static const char *const name64[] = {
	"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
};

static const char *const name32[] = {
	"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi",
	"r8d", "r9d", "r10d", "r11d", "r12d", "r13d", "r14d", "r15d",
};

static const char *const name16[] = {
	"ax", "cx", "dx", "bx", "sp", "bp", "si", "di",
	"r8w", "r9w", "r10w", "r11w", "r12w", "r13w", "r14w", "r15w",
};

static const char *const name8[] = {
	"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil",
	"r8b", "r9b", "r10b", "r11b", "r12b", "r13b", "r14b", "r15b",
};

/* clang-format on */

static const char *const *const name_of[] = { [X86_32] = name32, [X86_64] = name64 };

/* The instructions that load and extend values of each width. */
static const struct {
	u32 bytes;
	bool sign;
	const char *op, *size;
	const char *const *dst, *const *src;
} forms[] = {
	{ 1, false, "movzx", "byte", name32, name8 },
	{ 1, true, "movsx", "byte", name64, name8 },
	{ 2, false, "movzx", "word", name32, name16 },
	{ 2, true, "movsx", "word", name64, name16 },
	{ 4, false, "mov", "dword", name32, name32 },
	{ 4, true, "movsxd", "dword", name64, name32 },
	{ 8, false, "mov", "qword", name64, name64 },
};

/* One instruction: its position in the bytes, and its intended text. */
struct line {
	u32 at;
	char text[72];
};

static struct {
	struct x86_buf b;
	u8 bytes[1 << 20];
	struct line line[1 << 17];
	u32 lines;
} out;

/* want - record the text of the instruction that is emitted next */
static void __printf(1, 2) want(const char *fmt, ...)
{
	struct line *l = &out.line[out.lines++];
	va_list ap;

	assert_true(out.lines < ARRAY_SIZE(out.line));
	l->at = out.b.len;
	va_start(ap, fmt);
	vsnprintf(l->text, sizeof(l->text), fmt, ap);
	va_end(ap);
}

static void begin(void)
{
	memset(&out, 0, sizeof(out));
	out.b.p = out.bytes;
	out.b.size = sizeof(out.bytes);
}

static void run(const char *fmt, const char *a, const char *c)
{
	char cmd[512];

	snprintf(cmd, sizeof(cmd), fmt, a, c);
	assert_int_equal(system(cmd), 0);
}

static u32 assemble(u8 *dst, u32 size)
{
	char dir[] = "/tmp/test_x86_emit.XXXXXX", path[64], bin[64];
	FILE *f;
	u32 n;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a.s", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(".intel_syntax noprefix\n.text\n", f);
	for (u32 i = 0; i < out.lines; i++)
		fprintf(f, "%s\n", out.line[i].text);
	fclose(f);
	run("as --64 -o %s/a.o %s", dir, path);
	run("objcopy -O binary -j .text %s/a.o %s/a.bin", dir, dir);
	snprintf(bin, sizeof(bin), "%s/a.bin", dir);
	f = fopen(bin, "r");
	assert_non_null(f);
	n = (u32)fread(dst, 1, size, f);
	fclose(f);
	run("rm -r %s%s", dir, "");
	return n;
}

/*
 * same_as_gas - check that all code emitted since begin() is equal to the assembler's code for the
 * recorded texts
 */
static void same_as_gas(void)
{
	static u8 gas[sizeof(out.bytes)];
	u32 n = assemble(gas, sizeof(gas));

	assert_false(out.b.failed);
	assert_true(out.lines > 0);
	for (u32 i = 0; i < out.lines; i++) {
		u32 at = out.line[i].at;
		u32 end = i + 1 < out.lines ? out.line[i + 1].at : out.b.len;

		if (end > n || memcmp(gas + at, out.bytes + at, end - at))
			fail_msg("byte %u: %s", at, out.line[i].text);
	}
	assert_int_equal(n, out.b.len);
}

/* Displacements and immediates on both sides of each limit of an encoding. */
static const s32 numbers[] = { 0, 1, -1, 127, 128, -128, -129, 0x12345678, INT32_MAX, INT32_MIN };

static const char *const alu_name[] = { "add", "or", "adc", "sbb", "and", "sub", "xor", "cmp" };
static const u8 alu_ops[] = { X86_ADD, X86_OR, X86_SBB, X86_AND, X86_SUB, X86_XOR, X86_CMP };

#define EACH(r) for (u32 r = 0; r < X86_NR_REGS; r++)
#define EACH_WIDTH(w) for (enum x86_width w = X86_32; w <= X86_64; w++)
#define EACH_OF(i, array) for (u32 i = 0; i < ARRAY_SIZE(array); i++)

static void test_moves(void **state)
{
	static const char *const cond[] = {
		[X86_CC_B] = "b", "ae", "e",  "ne", "be", "a", "s", "ns",
		[X86_CC_L] = "l", "ge", "le", "g",
	};
	struct x86_buf *b = &out.b;

	begin();
	EACH(r) {
		EACH(s) {
			want("mov %s, %s", name64[r], name64[s]);
			x86_mov(b, r, s);
			want("cmovae %s, %s", name64[r], name64[s]);
			x86_cmov(b, X86_CC_AE, r, s);
		}
		EACH_OF(cc, cond) {
			if (!cond[cc])
				continue;
			want("set%s %s", cond[cc], name8[r]);
			x86_setcc(b, cc, r);
		}
	}
	same_as_gas();
}

static void test_constants(void **state)
{
	static const u64 small[] = { 0, 1, 0x7fffffff, 0x80000000, 0xffffffff };
	static const u64 negative[] = { -1ULL, -128ULL, 0xffffffff80000000 };
	static const u64 large[] = { 0x100000000, 0xffffffff7fffffff, 0x8000000000000000 };
	struct x86_buf *b = &out.b;

	begin();
	EACH(r) {
		EACH_OF(i, small) {
			want("mov %s, 0x%llx", name32[r], small[i]);
			x86_mov_imm(b, r, small[i]);
		}
		EACH_OF(i, negative) {
			want("mov %s, %lld", name64[r], (s64)negative[i]);
			x86_mov_imm(b, r, negative[i]);
		}
		EACH_OF(i, large) {
			want("movabs %s, 0x%llx", name64[r], large[i]);
			x86_mov_imm(b, r, large[i]);
		}
		want("movabs %s, 5", name64[r]);
		x86_movabs(b, r, 5);
		want("xor %s, %s", name32[r], name32[r]);
		x86_zero(b, r);
	}
	same_as_gas();
}

static void mem_text(char *s, size_t n, const struct x86_mem *m)
{
	int at = 0;

	if (m->base == X86_NO_REG && m->index == X86_NO_REG) {
		snprintf(s, n, "[%d]", m->disp);
		return;
	}
	at = snprintf(s, n, "[%s", m->base == X86_NO_REG ? "" : name64[m->base]);
	if (m->index != X86_NO_REG)
		at += snprintf(s + at, n - at, "%s%s*%u", at > 1 ? "+" : "", name64[m->index],
			       1U << m->scale);
	snprintf(s + at, n - at, "%+d]", m->disp);
}

/* Emit comparisons of memory of every width with constants near each limit of an encoding. */
static void compare_memory(struct x86_buf *b, struct x86_mem m, const char *t)
{
	static const char *const size[] = { "", "byte", "word", "", "dword", "", "", "", "qword" };

	for (u32 bytes = 1; bytes <= 8; bytes *= 2) {
		EACH_OF(i, numbers) {
			s32 n = bytes == 1 ? (s8)numbers[i] :
				bytes == 2 ? (s16)numbers[i] :
					     numbers[i];

			want("cmp %s ptr %s, %d", size[bytes], t, n);
			x86_cmp_mem_imm(b, m, n, bytes);
			want("test %s ptr %s, %d", size[bytes], t, n);
			x86_test_mem_imm(b, m, n, bytes);
		}
	}
}

static void add_to_memory(struct x86_buf *b, struct x86_mem m, u32 r, const char *t)
{
	EACH_OF(i, numbers) {
		want("lock add qword ptr %s, %d", t, numbers[i]);
		x86_lock_add_mem_imm(b, m, numbers[i]);
	}
	want("lock add qword ptr %s, %s", t, name64[r]);
	x86_lock_add_mem(b, m, r);
	want("lock xadd qword ptr %s, %s", t, name64[r]);
	x86_lock_xadd(b, m, r);
	want("lock cmpxchg qword ptr %s, %s", t, name64[r]);
	x86_lock_cmpxchg(b, m, r);
}

static void with_memory(struct x86_buf *b, enum x86_width w, struct x86_mem m, u32 r, const char *t)
{
	const char *reg = name_of[w][r];

	want("lea %s, %s", reg, t);
	x86_lea(b, w, r, m);
	want("imul %s, %s", reg, t);
	x86_imul_mem(b, w, r, m);
	EACH_OF(i, alu_ops) {
		want("%s %s, %s", alu_name[alu_ops[i]], reg, t);
		x86_alu_mem(b, alu_ops[i], w, r, m);
		want("%s %s, %s", alu_name[alu_ops[i]], t, reg);
		x86_alu_to_mem(b, alu_ops[i], w, m, r);
	}
}

/* all_on_mem - encode every form that takes a memory operand, with the operand @m */
static void all_on_mem(struct x86_buf *b, struct x86_mem m, u32 r)
{
	char t[48];

	mem_text(t, sizeof(t), &m);
	EACH_OF(i, forms) {
		want("%s %s, %s ptr %s", forms[i].op, forms[i].dst[r], forms[i].size, t);
		x86_load(b, r, m, forms[i].bytes, forms[i].sign);
		if (forms[i].sign)
			continue;
		want("mov %s ptr %s, %s", forms[i].size, t, forms[i].src[r]);
		x86_store(b, m, r, forms[i].bytes);
	}
	want("mov word ptr %s, 4660", t);
	x86_store_imm(b, m, 4660, 2);
	want("mov dword ptr %s, -5", t);
	x86_store_imm(b, m, -5, 4);
	want("mov qword ptr %s, -5", t);
	x86_store_imm(b, m, -5, 8);
	want("push qword ptr %s", t);
	x86_push_mem(b, m);
	want("pop qword ptr %s", t);
	x86_pop_mem(b, m);
	EACH_OF(i, numbers) {
		want("cmp qword ptr %s, %d", t, numbers[i]);
		x86_alu_mem_imm(b, X86_CMP, X86_64, m, numbers[i]);
		want("and dword ptr %s, %d", t, numbers[i]);
		x86_alu_mem_imm(b, X86_AND, X86_32, m, numbers[i]);
	}
	EACH_WIDTH(w)
		with_memory(b, w, m, r, t);
	add_to_memory(b, m, r, t);
	compare_memory(b, m, t);
}

static void test_memory(void **state)
{
	begin();
	EACH(base) {
		EACH_OF(i, numbers)
			all_on_mem(&out.b, x86_at(base, numbers[i]), (base * 7 + i) % X86_NR_REGS);
		EACH(index) {
			struct x86_mem m = { base, index, index % 4, numbers[(base + index) % 10] };

			if (index != X86_RSP)
				all_on_mem(&out.b, m, (base + index) % X86_NR_REGS);
		}
	}
	EACH(r) {
		struct x86_mem m = { X86_NO_REG, X86_NO_REG, 0, numbers[r % 10] };

		all_on_mem(&out.b, m, r);
	}
	same_as_gas();
}

static void test_extensions(void **state)
{
	struct x86_buf *b = &out.b;

	begin();
	EACH(r) {
		EACH(s) {
			EACH_OF(i, forms) {
				want("%s %s, %s", forms[i].op, forms[i].dst[r], forms[i].src[s]);
				x86_extend(b, r, s, forms[i].bytes, forms[i].sign);
			}
		}
	}
	same_as_gas();
}

static void arithmetic(struct x86_buf *b, enum x86_width w, u32 r, u32 s)
{
	const char *dst = name_of[w][r], *src = name_of[w][s];
	s32 number = numbers[(r + s) % ARRAY_SIZE(numbers)];

	EACH_OF(i, alu_ops) {
		want("%s %s, %s", alu_name[alu_ops[i]], dst, src);
		x86_alu(b, alu_ops[i], w, r, s);
	}
	want("test %s, %s", dst, src);
	x86_test(b, w, r, s);
	want("bsf %s, %s", dst, src);
	x86_bsf(b, w, r, s);
	want("imul %s, %s", dst, src);
	x86_imul(b, w, r, s);
	want("imul %s, %s, %d", dst, src, number);
	x86_imul_imm(b, w, r, s, number);
}

static void test_arithmetic(void **state)
{
	begin();
	EACH(r)
		EACH(s)
			EACH_WIDTH(w)
				arithmetic(&out.b, w, r, s);
	same_as_gas();
}

static void with_constant(struct x86_buf *b, enum x86_width w, u32 r, s32 number)
{
	EACH_OF(i, alu_ops) {
		want("%s %s, %d", alu_name[alu_ops[i]], name_of[w][r], number);
		x86_alu_imm(b, alu_ops[i], w, r, number);
	}
}

static void test_arithmetic_with_constants(void **state)
{
	begin();
	EACH(r)
		EACH_OF(i, numbers)
			EACH_WIDTH(w)
				with_constant(&out.b, w, r, numbers[i]);
	same_as_gas();
}

static void test_unary_and_shifts(void **state)
{
	static const char *const unary[] = { "", "", "not", "neg", "mul", "imul", "div", "idiv" };
	static const struct {
		u8 op;
		const char *name;
	} shifts[] = {
		{ X86_SHL, "shl" },
		{ X86_SHR, "shr" },
		{ X86_SAR, "sar" },
	};
	struct x86_buf *b = &out.b;

	begin();
	EACH(r) {
		for (u32 op = X86_NOT; op <= X86_IDIV; op++) {
			EACH_WIDTH(w) {
				want("%s %s", unary[op], name_of[w][r]);
				x86_unary(b, op, w, r);
			}
		}
		EACH_OF(i, shifts) {
			for (u32 n = 1; n < 64; n += 31) {
				want("%s %s, %u", shifts[i].name, name64[r], n);
				x86_shift(b, shifts[i].op, X86_64, r, n);
			}
			want("%s %s, 31", shifts[i].name, name32[r]);
			x86_shift(b, shifts[i].op, X86_32, r, 31);
			EACH_WIDTH(w) {
				want("%s %s, cl", shifts[i].name, name_of[w][r]);
				x86_shift_cl(b, shifts[i].op, w, r);
			}
		}
	}
	want("cqo");
	x86_sign_to_rdx(b, X86_64);
	want("cdq");
	x86_sign_to_rdx(b, X86_32);
	same_as_gas();
}

static void test_stack_and_control(void **state)
{
	struct x86_buf *b = &out.b;

	begin();
	EACH(r) {
		want("push %s", name64[r]);
		x86_push(b, r);
		want("pop %s", name64[r]);
		x86_pop(b, r);
		want("call %s", name64[r]);
		x86_call_reg(b, r);
	}
	want("push 0x12345678");
	x86_push_imm(b, 0x12345678);
	want("pushfq");
	x86_pushfq(b);
	want("popfq");
	x86_popfq(b);
	want("lahf\nseto al");
	x86_flags_to_rax(b);
	want("add al, 127\nsahf");
	x86_flags_from_rax(b);
	want(".byte 1, 2, 3");
	x86_bytes(b, (const u8 *)"\1\2\3", 3);
	want("leave");
	x86_leave(b);
	want("ret");
	x86_ret(b);
	want("lfence");
	x86_lfence(b);
	want("endbr64");
	x86_endbr64(b);
	want(".fill 3, 1, 0xcc");
	x86_int3s(b, 3);
	for (u32 n = 1; n < 9; n++) {
		want(".nops %u", n);
		x86_fill_nops(b, n);
	}
	same_as_gas();
}

static void test_jumps(void **state)
{
	struct x86_buf *b = &out.b;

	begin();
	want(".fill 200, 1, 0xcc");
	x86_int3s(b, 200);
	want("1: jne 1b");
	x86_jcc_short(b, X86_CC_NE, b->len);
	want("1: jl 1b+129");
	x86_jcc_short(b, X86_CC_L, b->len + 129);
	want("1: jmp 1b-126");
	x86_jmp_short(b, b->len - 126);
	want("1: {disp32} jae 1b+64");
	x86_jcc(b, X86_CC_AE, b->len + 64);
	want("1: {disp32} jmp 1b+0x123456");
	x86_jmp(b, b->len + 0x123456);
	want("{disp32} nop dword ptr [rax+0x123]");
	x86_nop_to(b, b->len + 7 + 0x123);
	want("1: call .text-0x1000");
	x86_call_far(b, 0xffffffffa0000000, 0xffffffff9ffff000);
	want("1: {disp32} jmp .text+0x2000");
	x86_jmp_far(b, 0xffffffffa0000000, 0xffffffffa0002000);
	want("1: {disp32} jp .text+0x2000");
	x86_jcc_far(b, 0xffffffffa0000000, X86_CC_P, 0xffffffffa0002000);
	want("mov byte ptr [rip+.text+0x3000], 1");
	x86_bytes(b, (const u8 *)"\xc6\x05", 2);
	x86_disp_far(b, 0xffffffffa0000000, 0xffffffffa0003000, 1);
	x86_bytes(b, (const u8 *)"\1", 1);
	same_as_gas();
}

static void test_skips(void **state)
{
	struct x86_buf *b = &out.b;
	u32 near, far;

	begin();
	want("jns 1f");
	near = x86_skip_if(b, X86_CC_NS);
	want("jmp 2f");
	far = x86_skip(b);
	want(".fill 125, 1, 0xcc\n1:");
	x86_int3s(b, 125);
	x86_land(b, near);
	want(".nops 2\n2:");
	x86_fill_nops(b, 2);
	x86_land(b, far);
	same_as_gas();
	x86_fill_nops(b, 1);
	x86_land(b, far); /* a short jump cannot skip 128 bytes */
	assert_true(b->failed);
}

/* A target out of reach is an error, and the buffer stays marked as failed. */
static void test_reach(void **state)
{
	u8 p[64] = { 0 };
	struct x86_buf b = { .p = p, .size = sizeof(p) };

	x86_jmp_short(&b, 129);
	assert_false(b.failed);
	x86_jmp_short(&b, 2 + 2 + 128);
	assert_true(b.failed);

	b = (struct x86_buf){ .p = p, .size = sizeof(p) };
	x86_call_far(&b, 0, 5 + 0x7fffffffULL);
	assert_false(b.failed);
	b.len = 0;
	x86_call_far(&b, 0, 5 + 0x80000000ULL);
	assert_true(b.failed);

	b = (struct x86_buf){ .p = p, .size = sizeof(p) };
	x86_load(&b, X86_RAX, (struct x86_mem){ X86_RAX, X86_RSP, 0, 0 }, 8, false);
	assert_true(b.failed); /* rsp cannot be an index */
}

/* Nothing is written past the buffer or after an error, but the length is still counted. */
static void test_sticky_error(void **state)
{
	u8 *p = malloc(11); /* exact to the byte: ASan guards the end */
	struct x86_buf b = { .p = p, .size = 11 };

	memset(p, 0xee, 11);
	x86_movabs(&b, X86_RAX, -1ULL);
	assert_false(b.failed);
	x86_mov(&b, X86_RCX, X86_RDX); /* only one of its three bytes fits */
	assert_true(b.failed);
	assert_int_equal(b.len, 13);
	x86_ret(&b);
	assert_int_equal(b.len, 14);
	assert_int_equal(p[10], 0x48);
	free(p);
}

static void test_counting(void **state)
{
	struct x86_buf b = { 0 };

	x86_movabs(&b, X86_R15, 1);
	x86_fill_nops(&b, 1000);
	assert_int_equal(b.len, 1010);
	assert_false(b.failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_constants),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_extensions),
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_arithmetic_with_constants),
		cmocka_unit_test(test_unary_and_shifts),
		cmocka_unit_test(test_stack_and_control),
		cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_skips),
		cmocka_unit_test(test_reach),
		cmocka_unit_test(test_sticky_error),
		cmocka_unit_test(test_counting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
