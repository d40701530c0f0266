# SPDX-License-Identifier: GPL-2.0-only
# Benchmarks in a guest in virtual time:
#   make bench BENCH=hitpath KERNEL=6.12
#   make bench-report
# Benchmarks on two devices of this machine, which are overwritten:
#   make bench HOST=1 ORIGIN=/dev/... CACHE=/dev/...

BENCH_DIR := $(dir $(lastword $(MAKEFILE_LIST)))

BENCH_PROGRAMS := $(BUILD)/bench/tools
BENCH_CFLAGS := -std=gnu11 -O2 -D_GNU_SOURCE -Wall -Wextra -Werror

# bench-tool NAME,SOURCES: a program for the guest, static as the guest lacks its C library.
define bench-tool
bench-tools: $(BENCH_PROGRAMS)/$(1)
$(BENCH_PROGRAMS)/$(1): $(addprefix $(BENCH_DIR),$(2)) $(wildcard $(BENCH_DIR)*.h) $(BENCH_DIR)bench.mk
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$$(CC) $$(BENCH_CFLAGS) -static -o $$@ $$(filter %.c,$$^) -pthread -lm
endef

$(eval $(call bench-tool,epochs,epochs.c orders.c optimum.c))
$(eval $(call bench-tool,rewrite,rewrite.c))
$(eval $(call bench-tool,sharing_send,sharing_send.c))
$(eval $(call bench-tool,stage,stage.c))
$(eval $(call bench-tool,train,train.c orders.c ../demo/pipeline.c))

# A plugin of the emulator.
bench-tools: $(BUILD)/bench/sharing.so
$(BUILD)/bench/sharing.so: $(addprefix $(BENCH_DIR),sharing.c sharing.h qemu_plugin.h bench.mk)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(BENCH_CFLAGS) -shared -fPIC -o $@ $<

# bench-module FOLDER: a model for the guest's kernel, dm-bench-FOLDER.ko.
define bench-module
bench-models: $(BUILD)/bench/$(1)/$(KVER)/dm-bench-$(1).ko
$(BUILD)/bench/$(1)/$(KVER)/dm-bench-$(1).ko: $(wildcard $(BENCH_DIR)$(1)/*)
	$$(call say,KBUILD,$$@)
	$$(Q)mkdir -p $(abspath $(BUILD))/bench/$(1)/$(KVER)
	$$(Q)cp -p $$^ $(abspath $(BUILD))/bench/$(1)/$(KVER)
	$$(Q)$$(MAKE) $$(if $$(filter 1,$$(V)),V=1,-s) -C $(KDIR) M=$(abspath $(BUILD))/bench/$(1)/$(KVER) modules
	@touch $$@
endef

# Models of a network link and of a drive.
$(eval $(call bench-module,link))
$(eval $(call bench-module,drive))

.PHONY: bench bench-tools bench-models
bench: ## benchmarks in deterministic virtual time, beside the peers (BENCH=name)
	@$(MAKE) --no-print-directory $(if $(filter 1,$(V)),,-s) deps
	@release=$$($(if $(filter-out 0,$(HOST)),uname -r,bash -c '. $(VM_DIR)kernel.sh && kernel_pick "$$1" ""' - "$(KERNEL)")) && \
	$(MAKE) --no-print-directory $(if $(filter 1,$(V)),,-s) module helper selftests bench-tools $(if $(filter-out 0,$(HOST)),,bench-models) KVER="$$release"
	@BUILD=$(abspath $(BUILD)) KERNEL=$(KERNEL) HOST=$(HOST) ORIGIN=$(ORIGIN) CACHE=$(CACHE) $(BENCH_DIR)run $(BENCH)

.PHONY: bench-report
bench-report: ## charts and one page of the benchmarks that were run
	@$(MAKE) --no-print-directory $(if $(filter 1,$(V)),,-s) deps
	@BUILD=$(abspath $(BUILD)) $(BENCH_DIR)report
