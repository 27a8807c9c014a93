# SPDX-License-Identifier: GPL-2.0-only
# Build the agent's image, $(out)/agent/image. A makefile that includes this file sets top and out.

# All sources that run inside a traced process: the shared ones, and the agent's own.
agent_shared := $(addprefix hit/,hit.c variable.c lines.c stacks.c cfi.c ustack.c walk.c) $(addprefix aggregate/,pair.c table.c) \
	$(addprefix agentexpr/,interp.c decode.c format.c) trace/buffer.c jit/stub_calls.c
agent_own := $(addprefix user/agent/,head.S entry.S part.c read.c ops.c string.c)
agent_obj := $(addsuffix .o,$(addprefix $(out)/agent/,$(basename $(agent_shared) $(agent_own))))

# The code may use only the general registers, needs no library, and lies at any address. It runs on
# foreign stacks, so no protector of stacks, and with frame pointers for profilers that interrupt it.
AGENT_CFLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter -Wvla -Werror -ffreestanding -fbuiltin \
	-fpie -fvisibility=hidden -fno-plt -mgeneral-regs-only -mno-red-zone -fno-stack-protector -fno-omit-frame-pointer \
	-fno-asynchronous-unwind-tables -fcf-protection=none -fno-tree-loop-distribute-patterns -fno-jump-tables \
	-ffunction-sections -fdata-sections -fstack-usage

$(out)/agent/%.o: $(top)/%.c
	@mkdir -p $(@D)
	$(CC) $(AGENT_CFLAGS) -MMD -MP -I$(top) -c -o $@ $<

$(out)/agent/%.o: $(top)/%.S
	@mkdir -p $(@D)
	$(CC) -MMD -MP -I$(top) -c -o $@ $<

$(out)/agent/image.elf: $(agent_obj) $(top)/user/agent/agent.lds
	$(CC) -nostdlib -pie -Wl,-T,$(top)/user/agent/agent.lds,-z,norelro,--no-dynamic-linker,-z,text,--gc-sections,-Bsymbolic,--build-id=none,-z,noexecstack \
		-o $@ $(agent_obj)

$(out)/agent/image: $(out)/agent/image.elf $(top)/user/agent/check
	$(top)/user/agent/check $< $(out)/agent
	objcopy -O binary -j .head -j .text -j .rodata -j .rela.dyn $< $@

-include $(agent_obj:.o=.d)
