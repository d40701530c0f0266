# SPDX-License-Identifier: GPL-2.0-only
# Crash test: the guest logs writes (logger/), the host replays the log (crash.c);
# tests/selftests/host/crash.sh.

CRASH_SRC := $(wildcard tests/crash/*.c) kmod/meta/ondisk_check.c kmod/meta/recover.c
CRASH_LOGGER_SRC := $(wildcard tests/crash/logger/*)
CRASH_LOGGER_DIR = $(abspath $(BUILD))/crash/logger/$(KVER)

$(BUILD)/crash/crash: $(CRASH_SRC) $(wildcard tests/crash/*.h tests/crash/logger/*.h kmod/*.h kmod/*/*.h uapi/*.h tests/selftests/nearcache/sector.h)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -std=gnu11 -O2 -D_GNU_SOURCE -Wall -Wextra -Werror -Wno-sign-compare -iquote kmod -Iuapi \
		-o $@ $(CRASH_SRC) -lisal -lcrypto

$(BUILD)/crash/cuts: $(wildcard tests/crash/cuts/*) tests/crash/log.c tests/crash/log.h tests/crash/logger/entry.h uapi/nearcache_stage.h tests/selftests/nearcache/sector.h tests/selftests/nearcache/checkpoints.h
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -std=gnu11 -O2 -D_GNU_SOURCE -Wall -Wextra -Werror -Wno-sign-compare -Iuapi \
		-o $@ $(filter %.c,$^) -lisal -lnettle

$(BUILD)/crash/logger/$(KVER)/dm-crash-log.ko: $(CRASH_LOGGER_SRC)
	$(call say,KBUILD,$@)
	$(Q)mkdir -p $(CRASH_LOGGER_DIR)
	$(Q)cp -p $(CRASH_LOGGER_SRC) $(CRASH_LOGGER_DIR)
	$(Q)$(MAKE) $(if $(filter 1,$(V)),V=1,-s) -C $(KDIR) M=$(CRASH_LOGGER_DIR) modules
	@touch $@

.PHONY: crash crash-logger
crash: $(BUILD)/crash/crash $(BUILD)/crash/cuts
crash-logger: $(BUILD)/crash/logger/$(KVER)/dm-crash-log.ko
