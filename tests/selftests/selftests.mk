# SPDX-License-Identifier: GPL-2.0-only
# Build the selftests within the kernel's selftest framework.
#
# The framework (and checkpatch) comes from the distribution's kernel source. The tests are copied
# into that tree, so that 'include ../lib.mk' finds it, built below BUILD/selftests/obj, and
# installed to BUILD/selftests/nearcache.

SELFTESTS_DIR := tests/selftests
KSELFTEST := $(BUILD)/kselftest
KSELFTEST_TAR := /usr/src/linux-source-6.12.tar.xz
KSELFTEST_STAMP := $(KSELFTEST)/.extracted
KSELFTEST_TREE := $(KSELFTEST)/tools/testing/selftests

$(KSELFTEST_TAR):
	@echo "no $@: install the package linux-source-6.12 (make deps)" >&2; exit 1

$(KSELFTEST_STAMP): $(SELFTESTS_DIR)/kselftest.members | $(KSELFTEST_TAR)
	$(call say,TAR,$(KSELFTEST))
	$(Q)rm -rf $(KSELFTEST) && mkdir -p $(KSELFTEST)
	$(Q)tar -C $(KSELFTEST) --strip-components=1 -xf $(KSELFTEST_TAR) \
		$$(grep -v "^#" $<)
	@touch $@

.PHONY: selftests kselftest-tree
kselftest-tree: $(KSELFTEST_STAMP)

selftests: $(KSELFTEST_STAMP) $(HELPER_LIB)
	$(Q)mkdir -p $(BUILD)/selftests/obj
	$(Q)rsync -a --delete $(SELFTESTS_DIR)/nearcache $(KSELFTEST_TREE)/
	$(Q)rm -rf $(BUILD)/selftests/nearcache
	$(Q)$(MAKE) $(if $(filter 1,$(V)),,-s) --no-print-directory -C $(KSELFTEST_TREE)/nearcache \
		NEARCACHE_TOP=$(CURDIR) OUTPUT=$(abspath $(BUILD))/selftests/obj \
		INSTALL_PATH=$(abspath $(BUILD))/selftests/nearcache install
	$(Q)$(MAKE) -s --no-print-directory -C $(KSELFTEST_TREE)/nearcache \
		NEARCACHE_TOP=$(CURDIR) OUTPUT=$(abspath $(BUILD))/selftests/obj \
		COLLECTION=nearcache emit_tests | sed -n 's/^nearcache://p' >$(BUILD)/selftests/list
