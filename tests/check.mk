# SPDX-License-Identifier: GPL-2.0-only
# The test command.
#   make check T='guest/6.1/'   only tests whose name matches
#   make soak SOAK_MINUTES=600

export T VM_KERNELS SOAK_MINUTES

# Built once: name another place to share it, or to keep it over 'make clean'.
DEBUG_KERNEL ?= $(BUILD)/debug

.PHONY: check check-debug soak
check: ## all tests: static checks, unit tests, guests with both kernels (T=pattern)
	+@BUILD=$(abspath $(BUILD)) MAKE='$(MAKE)' tests/check

check-debug: ## guest tests on a kernel that looks for mistakes; hours (DEBUG_KERNEL=folder of it)
	+@BUILD=$(abspath $(BUILD)) DEBUG_KERNEL=$(abspath $(DEBUG_KERNEL)) MAKE='$(MAKE)' \
		tests/check --debug

soak: ## the same with more iterations, over and over (SOAK_MINUTES=60)
	+@BUILD=$(abspath $(BUILD)) MAKE='$(MAKE)' tests/check --soak

.PHONY: mutants
mutants: ## do the tests notice a broken module? tries those of tests/mutants (M=pattern)
	+@BUILD=$(abspath $(BUILD)) MAKE='$(MAKE)' tests/mutants/run '$(M)'
