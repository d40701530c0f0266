# SPDX-License-Identifier: GPL-2.0-only
# Benchmarks, in a guest in virtual time.
#   make bench BENCH=hitpath KERNEL=6.12
# Or on two devices of this machine, which are overwritten.
#   make bench HOST=1 ORIGIN=/dev/... CACHE=/dev/...

BENCH_DIR := $(dir $(lastword $(MAKEFILE_LIST)))

.PHONY: bench
bench: ## benchmarks in deterministic virtual time, beside the peers (BENCH=name)
	@$(MAKE) --no-print-directory $(if $(filter 1,$(V)),,-s) deps
	@release=$$($(if $(filter-out 0,$(HOST)),uname -r,bash -c '. $(VM_DIR)kernel.sh && kernel_pick "$$1" ""' - "$(KERNEL)")) && \
	$(MAKE) --no-print-directory $(if $(filter 1,$(V)),,-s) module helper selftests KVER="$$release"
	@BUILD=$(abspath $(BUILD)) KERNEL=$(KERNEL) HOST=$(HOST) ORIGIN=$(ORIGIN) CACHE=$(CACHE) $(BENCH_DIR)run $(BENCH)
