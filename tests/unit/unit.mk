# SPDX-License-Identifier: GPL-2.0-only
# Unit tests: pure sources in user space under ASan and UBSan.  Each prints TAP.

include tests/unit/helper/helper_unit.mk

UNIT_TESTS := $(HELPER_UNIT:%=$(HELPER_UNIT_DIR)/%)

.PHONY: unit
unit: $(UNIT_TESTS)
	@printf '%s\n' $(UNIT_TESTS:$(BUILD)/unit/%=%) >$(BUILD)/unit/list
