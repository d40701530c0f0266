# SPDX-License-Identifier: GPL-2.0-only
# BPF programs and the skeletons with which the helper loads them. No kernel headers are
# needed: uapi/ declares all structures that the programs read.

BPF_CLANG	?= clang
BPFTOOL		?= bpftool
# Instruction set v3: each kernel on which the module runs has it (5.12 and later).
BPF_CFLAGS	:= -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Werror -Iuapi -Ibpf \
	-idirafter /usr/include/$(shell $(CC) -print-multiarch 2>/dev/null)
BPF_OBJ		:= $(patsubst %.c,$(BUILD)/%.o,$(wildcard bpf/*.bpf.c bpf/examples/*.bpf.c))
BPF_SKELETONS	:= $(patsubst bpf/%.bpf.c,$(BUILD)/bpf/%.skel.h,$(wildcard bpf/*.bpf.c))

.PHONY: bpf
bpf: $(BPF_OBJ) ## the BPF programs alone

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h uapi/*.h) bpf/bpf.mk
	@mkdir -p $(@D)
	$(call say,CLANG,$<)
	$(Q)$(BPF_CLANG) $(BPF_CFLAGS) -c -o $@ $<
	$(Q)llvm-strip -g $@

$(BUILD)/bpf/%.skel.h: $(BUILD)/bpf/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)PATH=$$PATH:/usr/sbin $(BPFTOOL) gen skeleton $< name $(*F)_bpf >$@.new && mv $@.new $@
