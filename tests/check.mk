# SPDX-License-Identifier: GPL-2.0-only
# The test commands.
#   make check T='guest/6.1/'   only tests whose name matches
#   make soak SOAK_MINUTES=600

export T VM_KERNELS SOAK_MINUTES

# Folder of the debug kernel, which is built once. Another folder survives 'make clean' and can be shared between trees.
DEBUG_KERNEL ?= $(BUILD)/debug

.PHONY: check check-debug soak
check: ## all tests: static checks, unit tests, guests with both kernels (T=pattern)
	+@BUILD=$(abspath $(BUILD)) MAKE='$(MAKE)' tests/check

check-debug: ## guest tests on a debug kernel; takes hours (DEBUG_KERNEL=its folder)
	+@BUILD=$(abspath $(BUILD)) DEBUG_KERNEL=$(abspath $(DEBUG_KERNEL)) MAKE='$(MAKE)' \
		tests/check --debug

soak: ## all tests with more iterations, repeated (SOAK_MINUTES=60)
	+@BUILD=$(abspath $(BUILD)) MAKE='$(MAKE)' tests/check --soak

.PHONY: model
model: ## search all states of the models of tests/model (SOAK=1: larger ones)
	+@BUILD=$(abspath $(BUILD)) MAKE='$(MAKE)' T='^model/' tests/check

.PHONY: mutants
mutants: ## check that the tests detect the broken modules of tests/mutants (M=pattern)
	+@BUILD=$(abspath $(BUILD)) MAKE='$(MAKE)' tests/mutants/run '$(M)'

# KERNELS: its list; SMOKE=1: some tests only.
export KERNELS SMOKE
.PHONY: check-kernels
check-kernels: ## build, boot and test on each kernel, also newer ones than this machine's (KERNELS=, SMOKE=1)
	+@BUILD=$(abspath $(BUILD)) MAKE='$(MAKE)' tests/kernels/check
