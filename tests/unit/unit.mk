# SPDX-License-Identifier: GPL-2.0-only
# Unit tests of module sources that need no kernel: they run in user space under ASan and UBSan and
# print TAP.  For a new test add its name to UNIT and its sources as UNIT_<name>.

include tests/unit/helper/helper_unit.mk

UNIT := test_format test_recover test_policy test_rangemap test_jobs test_pipe test_prefetch test_plan_pace test_plan test_plan_visits test_notes test_holds test_pages test_pages_16k test_pages_64k test_evidence test_classify test_cluster_route test_stage_overlay test_stage_ring test_write_range
UNIT_test_format := kmod/meta/ondisk_check.c
UNIT_test_recover := kmod/meta/recover.c kmod/meta/ondisk_check.c
UNIT_test_policy := kmod/evict/default_policy.c kmod/evict/reuse_distance.c tests/unit/policy_sim.c tests/unit/policy_trace.c
UNIT_test_rangemap := kmod/ranges/segments.c
UNIT_test_jobs := kmod/prefetch/job.c
UNIT_test_pipe := kmod/prefetch/pipe.c
UNIT_test_prefetch := kmod/prefetch/prefetch.c kmod/prefetch/slot_wait.c kmod/evict/prefetch_reserve.c
UNIT_test_plan_pace := kmod/prefetch/plan_pace.c
UNIT_test_plan := $(addprefix kmod/evict/,belady.c belady_build.c belady_join.c belady_schedule.c bittree.c block_table.c open_visits.c)
UNIT_test_plan_visits := $(UNIT_test_plan)
UNIT_test_notes := kmod/evict/read_notes.c
UNIT_test_holds := kmod/core/hit_srcu.c
UNIT_test_cluster_route := kmod/cluster/route.c
UNIT_test_stage_overlay := kmod/stage/overlay.c
UNIT_test_stage_ring := kmod/stage/ring.c
UNIT_test_write_range := kmod/core/write_range.c

UNIT_TESTS := $(UNIT:%=$(BUILD)/unit/%) $(HELPER_UNIT:%=$(HELPER_UNIT_DIR)/%) $(BUILD)/unit/test_python
UNIT_CFLAGS := -std=gnu11 -O1 -g -D_GNU_SOURCE -Wall -Wextra -Werror -Wno-sign-compare \
	$(UNIT_SANITIZERS) -Itests/unit -iquote kmod -iquote bpf -Iuapi

define unit-rule
$(BUILD)/unit/$(1): tests/unit/$(1).c $(UNIT_$(1)) \
		$(wildcard kmod/*.h kmod/*/*.h bpf/*.h bpf/*.bpf.c uapi/*.h tests/unit/*.h tests/unit/asm/*.h tests/unit/linux/*.h) tests/unit/unit.mk
	@mkdir -p $$(@D)
	$$(call say,CC,$$<)
	$$(Q)$$(CC) $$(UNIT_CFLAGS) -o $$@ $$< $(UNIT_$(1)) -lcmocka -lisal -lm
endef
$(foreach t,$(UNIT),$(eval $(call unit-rule,$(t))))
# These run without ASan, which does not support switching stacks with swapcontext().
$(BUILD)/unit/test_holds $(BUILD)/unit/test_write_range: UNIT_CFLAGS := $(patsubst -fsanitize=address%,-fsanitize=undefined,$(UNIT_CFLAGS))

$(BUILD)/unit/test_python: tests/unit/test_python.py $(BUILD)/helper/nearcache
	@mkdir -p $(@D)
	$(Q)install -m 755 $< $@

POLICY_TABLE := $(addprefix tests/unit/,policy_table.c policy_reference.c policy_sim.c policy_trace.c) \
	kmod/evict/default_policy.c kmod/evict/reuse_distance.c

$(BUILD)/unit/policy_table: $(POLICY_TABLE) $(wildcard kmod/*.h kmod/*/*.h tests/unit/*.h) tests/unit/unit.mk
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(filter-out -O1 -fsanitize% -fno-sanitize%,$(UNIT_CFLAGS)) -O2 -o $@ $(POLICY_TABLE) -lisal

.PHONY: policy-table
policy-table: $(BUILD)/unit/policy_table ## hits of the eviction policy, pattern by pattern, beside others (simulated)
	@$<

.PHONY: unit
unit: $(UNIT_TESTS)
	@printf '%s\n' $(UNIT_TESTS:$(BUILD)/unit/%=%) >$(BUILD)/unit/list
