# SPDX-License-Identifier: GPL-2.0-only
# The replayer of crashes: tests/selftests/host/crash.sh.

CRASH_SRC := $(wildcard tests/crash/*.c) kmod/format.c kmod/recover.c

$(BUILD)/crash/crash: $(CRASH_SRC) $(wildcard tests/crash/*.h kmod/*.h uapi/*.h tests/selftests/nearcache/sector.h)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -std=gnu11 -O2 -D_GNU_SOURCE -Wall -Wextra -Werror -Wno-sign-compare -Ikmod -Iuapi \
		-o $@ $(CRASH_SRC) -lisal

.PHONY: crash
crash: $(BUILD)/crash/crash
