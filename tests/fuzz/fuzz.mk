# SPDX-License-Identifier: GPL-2.0-only
# Fuzzers of external input, run by tests/fuzz/run.  They compile the module's sources for user
# space: kernel.h replaces the kernel's headers, around.c the rest of the module.

FUZZ := fuzz_image fuzz_line fuzz_recovery fuzz_sleep
FUZZ_DIR := $(BUILD)/fuzz
FUZZ_CC ?= clang
FUZZ_KMOD := $(addprefix kmod/,dm/table_line.c cache.c cache_sleep.c meta/commit.c meta/ondisk_check.c evict/reuse_distance.c core/health.c core/hit_srcu.c core/index.c core/sleep.c \
	meta/write_intent.c meta/members.c meta/meta.c evict/default_policy.c meta/recorded_fingerprint.c meta/recover.c meta/reread.c dm/claim_registry.c meta/write_session.c dm/status.c meta/checksum.c meta/superblock.c meta/write_intent_clear.c meta/write_intent_leave.c meta/slot_table.c meta/write_group.c \
	dm/target.c dm/live_settings.c meta/witness.c)
FUZZ_SHARED := $(addprefix tests/fuzz/,around.c count.c device_mapper.c doubt.c image.c lines.c \
	mutate.c store.c writes.c) helper/ondisk/layout.c
# Empty files: kernel.h has the declarations of these headers.
FUZZ_EMPTY := $(addprefix $(FUZZ_DIR)/include/,$(addprefix linux/,atomic.h bio.h bitmap.h bits.h \
	blk_types.h blkdev.h build_bug.h completion.h crc32c.h highmem.h ktime.h bvec.h cache.h compiler.h cpumask.h delay.h device-mapper.h dm-io.h err.h file.h hash.h hrtimer.h jiffies.h kdev_t.h \
	kernel.h kthread.h list.h lockdep.h log2.h math.h minmax.h mm.h module.h mutex.h percpu.h random.h rbtree.h rculist.h rcupdate.h refcount.h \
	sched/mm.h slab.h smp.h spinlock.h srcu.h time64.h timekeeping.h tracepoint-defs.h vmalloc.h wait.h workqueue.h) trace/define_trace.h $(addprefix asm/,barrier.h local64.h))
FUZZ_CFLAGS := -std=gnu11 -O1 -g -D_GNU_SOURCE -Wall -Werror -Wno-sign-compare \
	-Wno-unused-value -Wno-c2x-extensions \
	-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=alignment -fno-sanitize-recover=all \
	-I$(FUZZ_DIR)/include -iquote tests/fuzz -iquote kmod -iquote helper -Iuapi -include tests/fuzz/kernel.h
FUZZ_OBJECTS := $(patsubst %.c,$(FUZZ_DIR)/%.o,$(FUZZ_KMOD) $(FUZZ_SHARED))

# The parsers of disk structures may not even overflow unsigned integers, which C allows. Alignment is
# checked only there: the kernel's list_for_each_entry() takes the head of a list for an entry, and a
# struct nc_cache is aligned to cache lines.
$(FUZZ_DIR)/kmod/meta/ondisk_check.o $(FUZZ_DIR)/kmod/meta/recover.o: \
	FUZZ_CFLAGS += -fsanitize=unsigned-integer-overflow -fsanitize=alignment

$(FUZZ_EMPTY):
	@mkdir -p $(@D) && touch $@

$(FUZZ_DIR)/%.o: %.c $(FUZZ_EMPTY) $(wildcard tests/fuzz/*.h kmod/*.h kmod/*/*.h uapi/*.h helper/ondisk/layout.h) \
		tests/fuzz/fuzz.mk
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(FUZZ_CC) $(FUZZ_CFLAGS) -c -o $@ $<

# fuzz_sleep.c sends its own writes, in place of writes.c.
FUZZ_NOT_fuzz_sleep := $(FUZZ_DIR)/tests/fuzz/writes.o

define fuzz-rule
$(FUZZ_DIR)/$(1): $(FUZZ_DIR)/tests/fuzz/$(1).o $(filter-out $(FUZZ_NOT_$(1)),$(FUZZ_OBJECTS))
	$$(call say,LD,$$@)
	$$(Q)$$(FUZZ_CC) -fsanitize=fuzzer,address,undefined,unsigned-integer-overflow -o $$@ $$^ -lisal
endef
$(foreach f,$(FUZZ),$(eval $(call fuzz-rule,$(f))))

# The helper's sources need no kernel.h.
FUZZ_INDEX := $(patsubst %.c,$(FUZZ_DIR)/%.o,$(HELPER_INDEX_UNIT) tests/fuzz/fuzz_index.c \
	tests/fuzz/shards.c)
$(FUZZ_INDEX): FUZZ_CFLAGS := -std=gnu11 -O1 -g -D_GNU_SOURCE -Wall -Werror -Wno-sign-compare \
	-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
	-iquote helper -iquote bpf -Iuapi -iquote tests/unit/helper -iquote tests/fuzz
$(FUZZ_INDEX): $(wildcard helper/*/*.h tests/unit/helper/*.h)

$(FUZZ_DIR)/fuzz_index: $(FUZZ_INDEX) $(FUZZ_DIR)/tests/fuzz/count.o
	$(call say,LD,$@)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer,address,undefined -Wl,--wrap=pread -o $@ $^ -lisal

FUZZ_TAB := $(patsubst %.c,$(FUZZ_DIR)/tab/%.o,$(HELPER_TAB) tests/fuzz/fuzz_tab.c)
$(FUZZ_DIR)/tab/%.o: %.c $(wildcard helper/*/*.h) tests/fuzz/fuzz.mk
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(FUZZ_CC) -std=gnu11 -O1 -g -D_GNU_SOURCE -Wall -Werror -Wno-sign-compare \
		-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
		-iquote helper -iquote bpf -iquote kmod -Iuapi -iquote tests/fuzz -c -o $@ $<

$(FUZZ_DIR)/fuzz_tab: $(FUZZ_TAB) $(FUZZ_DIR)/tests/fuzz/count.o
	$(call say,LD,$@)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer,address,undefined -o $@ $^ -luuid

FUZZ_CLUSTER := $(patsubst %.c,$(FUZZ_DIR)/tab/%.o,helper/cluster/conf.c helper/cluster/conf_resolve.c helper/cluster/conf_secret.c helper/cluster/known_addresses.c \
	helper/cluster/peers_table.c helper/lib/table_words.c \
	helper/lib/settings_file.c helper/lib/size.c helper/lib/error.c helper/lib/sanitize.c \
	tests/fuzz/fuzz_cluster.c)

$(FUZZ_DIR)/fuzz_cluster: $(FUZZ_CLUSTER) $(FUZZ_DIR)/tests/fuzz/count.o
	$(call say,LD,$@)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer,address,undefined -o $@ $^

FUZZ_READS := $(patsubst %.c,$(FUZZ_DIR)/tab/%.o,$(addprefix helper/,files/read_list.c files/list_lines.c \
	lib/range.c lib/size.c lib/error.c lib/sanitize.c) tests/fuzz/fuzz_reads.c)

$(FUZZ_DIR)/fuzz_reads: $(FUZZ_READS) $(FUZZ_DIR)/tests/fuzz/count.o
	$(call say,LD,$@)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer,address,undefined -o $@ $^

FUZZ_LVM := $(patsubst %.c,$(FUZZ_DIR)/tab/%.o,$(HELPER_LVM) helper/lib/error.c helper/lib/sanitize.c \
	tests/fuzz/fuzz_lvm.c)

$(FUZZ_DIR)/fuzz_lvm: $(FUZZ_LVM) $(FUZZ_DIR)/tests/fuzz/count.o
	$(call say,LD,$@)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer,address,undefined -o $@ $^

# Recovery of a stage: stage_kernel.h and tests/unit/linux/ have what it uses of the kernel.
FUZZ_STAGE := $(patsubst %.c,$(FUZZ_DIR)/stage/%.o,$(addprefix kmod/stage/,checked.c origin_print.c overlay.c recover.c ring.c super.c) \
	tests/fuzz/fuzz_stage.c)
$(FUZZ_DIR)/stage/%.o: %.c $(FUZZ_EMPTY) $(wildcard kmod/stage/*.h uapi/*.h tests/unit/linux/*.h) tests/fuzz/stage_kernel.h tests/fuzz/dm_io.h tests/fuzz/fuzz.mk
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(FUZZ_CC) -std=gnu11 -O1 -g -D_GNU_SOURCE -Wall -Werror -Wno-sign-compare -Wno-unused-value -Wno-c2x-extensions \
		-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
		-Itests/unit -I$(FUZZ_DIR)/include -iquote kmod -iquote tests/fuzz -Iuapi -include tests/fuzz/stage_kernel.h -c -o $@ $<

$(FUZZ_DIR)/fuzz_stage: $(FUZZ_STAGE) $(FUZZ_DIR)/tests/fuzz/count.o
	$(call say,LD,$@)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer,address,undefined -o $@ $^ -lisal

# This unit test needs struct nc_cache, so it uses kernel.h, too.  The linker drops the functions that
# the test does not call; with ASan it would keep them.
$(BUILD)/unit/test_prefetch: $(FUZZ_EMPTY) tests/fuzz/kernel.h tests/fuzz/device_mapper.h
$(BUILD)/unit/test_prefetch: UNIT_CFLAGS := $(patsubst -Itests/unit,-I$(FUZZ_DIR)/include,$(patsubst -fsanitize=address%,-fsanitize=undefined,$(UNIT_CFLAGS))) \
	-fno-sanitize=alignment -Wno-unused-value -Wno-unused-parameter -ffunction-sections -Wl,--gc-sections \
	-iquote tests/unit -iquote tests/fuzz -include tests/unit/engine_kernel.h

# Each of these includes core/pages.c.
UNIT_PAGES := $(BUILD)/unit/test_pages $(BUILD)/unit/test_pages_16k $(BUILD)/unit/test_pages_64k
$(UNIT_PAGES): kmod/core/pages.c tests/unit/test_pages.c $(FUZZ_EMPTY)
$(UNIT_PAGES): UNIT_CFLAGS += -I$(FUZZ_DIR)/include

.PHONY: fuzz
fuzz: $(FUZZ:%=$(FUZZ_DIR)/%) $(FUZZ_DIR)/fuzz_stage $(FUZZ_DIR)/fuzz_index $(FUZZ_DIR)/fuzz_tab $(FUZZ_DIR)/fuzz_cluster $(FUZZ_DIR)/fuzz_lvm $(FUZZ_DIR)/fuzz_reads
