# SPDX-License-Identifier: GPL-2.0-only
# Tests and the demo: one makefile fragment per folder.

include tests/vm/vm.mk
include tests/demo/demo.mk
include tests/selftests/selftests.mk
include tests/unit/unit.mk
include tests/crash/crash.mk
include tests/fuzz/fuzz.mk
include tests/bench/bench.mk
include tests/check.mk
