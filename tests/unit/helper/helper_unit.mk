# SPDX-License-Identifier: GPL-2.0-only
# Unit tests of the helper's sources that need no device, under ASan and UBSan.
# Each prints TAP.

BUILD	?= build
Q	?= $(if $(filter 1,$(V)),,@)
ifndef say
say	= $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' $(1) $(2))
endif

HELPER_UNIT_DIR	:= $(BUILD)/unit/helper
HELPER_UNIT	:= test_size test_name test_status test_layout test_arguments \
	test_print test_text test_mode test_params test_range test_setting \
	test_dataset test_fsprint test_pair test_reload test_attach \
	test_reconnect test_stop test_witness test_index test_index_cmd \
	test_index_mds test_index_npz test_index_parquet test_index_tar \
	test_index_tfrecord test_extents test_shards test_words test_layers \
	test_erofs test_manifest test_verifying test_density test_progress \
	test_watch test_tab test_gaps test_passthrough test_opentab test_keys \
	test_share test_bandwidth test_pins test_change test_restore test_recorded test_durable \
	test_neighbour test_roster test_target test_job test_conf test_judge test_exposition \
	test_trace test_opening test_hot test_loop \
	test_replace test_heatmap test_shade test_svg \
	test_histogram test_top
HELPER_UNIT_CFLAGS := -std=gnu11 -O1 -g -D_GNU_SOURCE -Wall -Wextra -Werror \
	-Wno-sign-compare -fsanitize=address,undefined \
	-fno-sanitize-recover=all -Ihelper -Ikmod -Iuapi -Ibpf

HELPER_FSPRINT	:= helper/fsprint.c helper/fsprint_ext4.c helper/fsprint_xfs.c \
	helper/fsprint_erofs.c
HELPER_INDEX	:= helper/index.c helper/index_build.c helper/index_format.c \
	helper/index_mds.c helper/index_npz.c helper/index_parquet.c \
	helper/index_scan.c helper/index_select.c helper/index_tar.c \
	helper/index_tfrecord.c helper/tar_header.c helper/thrift.c helper/zip.c
# With synthetic files in memory.
HELPER_INDEX_UNIT := $(HELPER_INDEX) helper/fail.c helper/text.c \
	tests/unit/helper/shard.c

# The parser of nearcachetab needs the options of 'open'.
HELPER_TAB	:= helper/tab.c helper/arguments.c helper/option_value.c helper/bandwidth.c \
	helper/duration.c helper/share.c helper/label.c helper/path.c helper/size.c helper/name.c \
	helper/fail.c helper/text.c helper/mode.c helper/params.c helper/range.c \
	helper/onchange.c helper/status.c helper/index_format.c

# Sources under test, for each test.
HELPER_UNIT_test_conf	:= helper/daemon/conf.c helper/daemon/address.c helper/duration.c helper/readahead.c \
	helper/size.c helper/fail.c helper/text.c tests/unit/helper/fake_identity.c
HELPER_UNIT_test_exposition := helper/metrics/exposition.c
HELPER_UNIT_test_hot	:= helper/daemon/hot.c helper/fail.c helper/text.c
HELPER_UNIT_test_loop	:= helper/daemon/loop.c helper/trace/trace.c helper/trace/touched.c helper/sha256.c helper/fail.c \
	helper/text.c
HELPER_UNIT_test_opening := helper/daemon/opening.c helper/fail.c helper/text.c
HELPER_UNIT_test_trace	:= helper/trace/trace.c helper/trace/touched.c helper/sha256.c helper/fail.c helper/text.c
HELPER_UNIT_test_histogram := helper/histogram.c
HELPER_UNIT_test_judge	:= helper/daemon/judge.c helper/class.c
HELPER_UNIT_test_size	:= helper/size.c
HELPER_UNIT_test_name	:= helper/name.c
HELPER_UNIT_test_status	:= helper/status.c helper/mode.c
HELPER_UNIT_test_layout	:= helper/layout.c kmod/format.c
HELPER_UNIT_test_arguments := helper/arguments.c helper/option_value.c helper/size.c helper/name.c \
	helper/fail.c helper/text.c helper/mode.c helper/params.c helper/range.c \
	helper/onchange.c helper/status.c helper/index_format.c \
	helper/bandwidth.c helper/duration.c helper/label.c helper/path.c \
	helper/share.c
HELPER_UNIT_test_print	:= helper/print.c helper/size.c helper/fail.c \
	helper/text.c
HELPER_UNIT_test_text	:= helper/text.c
HELPER_UNIT_test_mode	:= helper/mode.c
HELPER_UNIT_test_params	:= helper/params.c helper/mode.c
HELPER_UNIT_test_range	:= helper/range.c helper/size.c
HELPER_UNIT_test_setting := helper/setting.c helper/readahead.c helper/params.c helper/mode.c \
	helper/size.c helper/fail.c helper/text.c \
	tests/unit/helper/fake_identity.c
HELPER_UNIT_test_dataset := helper/dataset.c helper/super.c helper/device.c \
	helper/layout.c helper/fingerprint.c helper/sha256.c $(HELPER_FSPRINT) helper/fail.c \
	helper/text.c kmod/format.c tests/unit/helper/fake_identity.c
HELPER_UNIT_test_reload	:= helper/cmd_set.c helper/cmd_resize.c \
	helper/reload.c helper/readahead.c helper/params.c helper/mode.c \
	helper/setting.c \
	helper/size.c helper/name.c helper/signals.c helper/fail.c helper/text.c \
	tests/unit/helper/fake_dm.c tests/unit/helper/fake_identity.c \
	tests/unit/helper/fake_output.c tests/unit/helper/fake_gaps.c \
	tests/unit/helper/fake_members.c
HELPER_UNIT_test_attach	:= helper/cmd_attach.c helper/reload.c \
	helper/readahead.c helper/size.c helper/params.c \
	helper/mode.c helper/status.c helper/name.c helper/signals.c helper/fail.c \
	helper/text.c tests/unit/helper/fake_dm.c tests/unit/helper/fake_output.c \
	tests/unit/helper/fake_gaps.c tests/unit/helper/fake_device.c \
	tests/unit/helper/fake_members.c
HELPER_UNIT_test_fsprint := $(HELPER_FSPRINT) helper/device.c helper/fail.c \
	helper/text.c tests/unit/helper/fake_identity.c
HELPER_UNIT_test_pair	:= helper/pair.c helper/fail.c helper/text.c \
	kmod/format.c kmod/recover.c tests/unit/helper/fake_gaps.c
HELPER_UNIT_test_reconnect := helper/reconnect.c helper/reload.c \
	helper/readahead.c helper/size.c helper/params.c \
	helper/mode.c helper/status.c helper/signals.c helper/fail.c helper/text.c \
	tests/unit/helper/fake_dm.c tests/unit/helper/fake_output.c \
	tests/unit/helper/fake_gaps.c
HELPER_UNIT_test_tab	:= $(HELPER_TAB) helper/systemd/verbs.c
HELPER_UNIT_test_gaps	:= helper/gaps.c helper/lasting.c helper/volume.c helper/fail.c \
	helper/text.c
HELPER_UNIT_test_stop	:= helper/stop.c helper/fail.c helper/text.c \
	tests/unit/helper/fake_dm.c
HELPER_UNIT_test_witness := helper/witness.c helper/device.c helper/super.c \
	helper/fail.c helper/text.c kmod/format.c tests/unit/helper/fake_identity.c
HELPER_UNIT_test_passthrough := helper/passthrough.c helper/mode.c helper/fail.c \
	helper/text.c tests/unit/helper/fake_gaps.c tests/unit/helper/fake_output.c
HELPER_UNIT_test_neighbour := helper/neighbour.c helper/volume.c helper/mode.c \
	helper/fail.c helper/text.c
HELPER_UNIT_test_opentab := helper/opentab.c $(HELPER_TAB) helper/systemd/verbs.c \
	tests/unit/helper/fake_output.c
HELPER_UNIT_test_index	:= $(HELPER_INDEX_UNIT)
HELPER_UNIT_test_index_cmd := $(HELPER_INDEX_UNIT) helper/cmd_index.c \
	helper/print.c helper/size.c
HELPER_UNIT_test_index_mds := $(HELPER_INDEX_UNIT)
HELPER_UNIT_test_index_npz := $(HELPER_INDEX_UNIT)
HELPER_UNIT_test_index_parquet := $(HELPER_INDEX_UNIT)
HELPER_UNIT_test_index_tar := $(HELPER_INDEX_UNIT)
HELPER_UNIT_test_index_tfrecord := $(HELPER_INDEX_UNIT)
HELPER_UNIT_test_extents := helper/extents.c helper/fail.c helper/text.c
HELPER_UNIT_test_shards	:= helper/shards.c helper/fail.c helper/text.c
HELPER_UNIT_test_words	:= helper/words.c helper/range.c helper/size.c \
	helper/fail.c helper/text.c
HELPER_UNIT_test_layers	:= helper/layers.c helper/fail.c helper/text.c
HELPER_UNIT_test_erofs	:= helper/erofs.c helper/fail.c helper/text.c
HELPER_UNIT_test_manifest := helper/manifest.c helper/fail.c helper/text.c
HELPER_UNIT_test_verifying := helper/verifying.c helper/checksum.c \
	helper/progress.c helper/size.c helper/fail.c helper/text.c
HELPER_UNIT_test_density := helper/density.c
HELPER_UNIT_test_replace := helper/replace.c helper/fail.c helper/text.c
# Shards and their samples.
HELPER_SAMPLES	:= helper/heatmap/sample.c helper/heatmap/matrix.c helper/heatmap/level.c \
	helper/density.c helper/shards.c helper/fail.c helper/text.c
HELPER_UNIT_test_heatmap := $(HELPER_SAMPLES) helper/heatmap/counts.c
HELPER_UNIT_test_shade	:= $(HELPER_SAMPLES) helper/heatmap/shade.c helper/size.c
HELPER_UNIT_test_svg	:= $(HELPER_SAMPLES) helper/heatmap/svg.c helper/heatmap/legend.c \
	helper/heatmap/picture.c helper/heatmap/plane.c helper/heatmap/xml.c helper/size.c
HELPER_UNIT_test_keys	:= helper/cmd_status.c helper/cmd_stats.c helper/cmd_list.c \
	helper/describe.c helper/status.c helper/mode.c helper/params.c helper/print.c \
	helper/size.c helper/name.c helper/watch.c helper/fail.c helper/text.c \
	tests/unit/helper/fake_members.c
HELPER_UNIT_test_progress := helper/progress.c helper/size.c
HELPER_UNIT_test_top	:= helper/top/cells.c helper/top/frame.c helper/top/grid.c \
	helper/top/model.c helper/top/room.c helper/top/sections.c helper/top/since.c \
	helper/top/view.c helper/top/width.c helper/class.c helper/histogram.c \
	helper/status.c helper/mode.c helper/size.c helper/fail.c helper/text.c
HELPER_UNIT_test_watch	:= helper/watch.c
HELPER_UNIT_test_durable := helper/durable.c helper/fail.c helper/text.c
HELPER_UNIT_test_share	:= helper/share.c
HELPER_UNIT_test_job	:= helper/job.c helper/progress.c helper/size.c helper/fail.c \
	helper/text.c tests/unit/helper/fake_output.c
HELPER_UNIT_test_roster	:= helper/roster.c helper/shards.c helper/fail.c helper/text.c
HELPER_UNIT_test_target	:= helper/target.c helper/words.c helper/range.c helper/size.c \
	helper/roster.c helper/shards.c helper/fail.c helper/text.c
HELPER_UNIT_test_bandwidth := helper/bandwidth.c helper/duration.c helper/size.c
# The record of pins.
HELPER_PINS	:= helper/pins.c helper/pins_file.c helper/pins_json.c helper/spans.c \
	helper/durable.c helper/label.c helper/path.c helper/want.c helper/shards.c \
	helper/index_format.c helper/fail.c helper/text.c
HELPER_UNIT_test_pins	:= $(HELPER_PINS)
HELPER_UNIT_test_change	:= $(HELPER_PINS) helper/change.c helper/exchange.c \
	helper/known.c helper/size.c tests/unit/helper/fake_nl.c
HELPER_UNIT_test_restore := $(HELPER_UNIT_test_change) helper/restore.c \
	helper/record.c helper/owner.c helper/volume.c tests/unit/helper/fake_dm.c
HELPER_UNIT_test_recorded := $(HELPER_PINS) helper/recorded.c helper/words.c \
	helper/range.c helper/size.c
HELPER_UNIT_LIBS_test_change := -DPINS_DIR='"pins"'
HELPER_UNIT_LIBS_test_restore := -DPINS_DIR='"pins"' -Wl,--wrap=warn
HELPER_UNIT_LIBS_test_durable := -Wl,--wrap=fsync
HELPER_UNIT_LIBS_test_verifying := -pthread -lcrypto -lnettle -Wl,--wrap=pread,--wrap=mincore,--wrap=statx
HELPER_UNIT_LIBS_test_progress := -Wl,--wrap=clock_gettime,--wrap=isatty
HELPER_UNIT_LIBS_test_watch := -Wl,--wrap=clock_gettime,--wrap=clock_nanosleep
HELPER_UNIT_LIBS_test_erofs := -Wl,--wrap=fstat
HELPER_UNIT_LIBS_test_extents := -Wl,--wrap=ioctl,--wrap=fstat,--wrap=fstatfs,--wrap=statx
HELPER_UNIT_LIBS_test_index := -Wl,--wrap=pread
HELPER_UNIT_LIBS_test_attach := -luuid
HELPER_UNIT_LIBS_test_keys := -luuid
HELPER_UNIT_LIBS_test_reconnect := -luuid
HELPER_UNIT_LIBS_test_tab := -luuid
HELPER_UNIT_LIBS_test_trace := -lcrypto -lnettle
HELPER_UNIT_LIBS_test_loop := -lnettle
HELPER_UNIT_LIBS_test_opentab := -luuid
HELPER_UNIT_LIBS_test_gaps := -luuid -Wl,--wrap=fstatfs,--wrap=fsync
HELPER_UNIT_LIBS_test_witness := -Wl,--wrap=device_open,--wrap=device_test_claim
HELPER_UNIT_LIBS_test_fsprint := -lnettle
HELPER_UNIT_LIBS_test_dataset := -lnettle -Wl,--wrap=pwrite

.PHONY: unit-helper
unit-helper: $(HELPER_UNIT:%=$(HELPER_UNIT_DIR)/%) ## unit tests of the helper
	$(Q)failed=0; for t in $^; do $$t || failed=1; done; exit $$failed

# Sources are compiled once for all tests, and again for each test with -D flags.
helper-unit-variant = $(if $(filter -D%,$(HELPER_UNIT_LIBS_$(1))),$(1),all)
helper-unit-objects = $(patsubst %.c,$(HELPER_UNIT_DIR)/obj/$(call helper-unit-variant,$(1))/%.o,\
	tests/unit/helper/$(1).c $(HELPER_UNIT_$(1)))
HELPER_UNIT_HEADERS := $(wildcard helper/*.h helper/*/*.h bpf/*.h kmod/format*.h uapi/*.h tests/unit/helper/*.h) \
	tests/unit/helper/helper_unit.mk

define helper-unit-variant-rule
$(HELPER_UNIT_DIR)/obj/$(1)/%.o: %.c $(HELPER_UNIT_HEADERS)
	@mkdir -p $$(@D)
	$$(call say,CC,$$<)
	$$(Q)$$(CC) $$(HELPER_UNIT_CFLAGS) $(filter -D%,$(HELPER_UNIT_LIBS_$(1))) -c -o $$@ $$<
endef
$(foreach v,$(sort $(foreach t,$(HELPER_UNIT),$(call helper-unit-variant,$(t)))),\
	$(eval $(call helper-unit-variant-rule,$(v))))

define helper-unit-rule
$(HELPER_UNIT_DIR)/$(1): $(call helper-unit-objects,$(1))
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(HELPER_UNIT_CFLAGS) -o $$@ $$^ -lcmocka -lisal -ljson-c \
		$(filter-out -D%,$(HELPER_UNIT_LIBS_$(1)))
endef
$(foreach t,$(HELPER_UNIT),$(eval $(call helper-unit-rule,$(t))))
