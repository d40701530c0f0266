# SPDX-License-Identifier: GPL-2.0-only
# Unit tests of the helper's sources; fakes replace devices and the kernel.  The tests run under ASan
# and UBSan and print TAP.

BUILD	?= build
Q	?= $(if $(filter 1,$(V)),,@)
ifndef say
say	= $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' $(1) $(2))
endif

HELPER_UNIT_DIR	:= $(BUILD)/unit/helper
HELPER_UNIT	:= test_size test_name test_status_line test_layout test_options test_print \
	test_sanitize test_words test_table_params test_range test_setting test_dataset \
	test_fingerprint_fs test_lvm test_volumes test_sample test_origin_match test_match_content \
	test_match_witness test_set test_set_witness test_attach test_attach_refused test_reconnect test_dm_suspend \
	test_witness test_index test_index_cmd test_index_mds test_index_npz test_index_parquet \
	test_index_tar test_index_tfrecord test_fiemap test_range_set test_glob test_stacking \
	test_read_list test_read_order test_erofs_map test_manifest test_workers test_bar test_progress test_interval test_wait_data \
	test_nearcachetab test_remembered test_uncached_writes test_passthrough test_boot test_keys \
	test_partition test_pins test_pin_record test_pinned_file test_change test_restore test_refresh \
	test_record_owner test_record test_atomic_file \
	test_same_origin test_node_share test_operand test_prefetch_job test_job_parts test_conf test_judge \
	test_exposition test_trace test_opening test_hot test_loop test_heatmap test_shade \
	test_svg test_histogram test_top test_cluster_conf test_cluster_names test_peers_table test_homes test_warm_choice test_read_peers test_joined \
	test_keep_clusters test_parallel_devices test_link_disconnect test_peers \
	test_signals test_cluster_dns test_join_undo test_join_device test_stage_log test_stage_params test_reservation \
	test_udev_properties test_likely_word test_transport test_uevent test_redact test_rates test_shown_rows \
	test_upgrade_steps test_upgrade_record test_upgrade_tables
UNIT_SANITIZERS ?= -fsanitize=address,undefined -fno-sanitize-recover=all
HELPER_UNIT_CFLAGS := -std=gnu11 -O1 -g -D_GNU_SOURCE -Wall -Wextra -Werror \
	-Wno-sign-compare $(UNIT_SANITIZERS) -iquote helper -iquote kmod -Iuapi -iquote bpf

HELPER_LVM	:= helper/ondisk/lvm_label.c helper/ondisk/lvm_text.c helper/ondisk/volume_map.c
HELPER_FSPRINT	:= helper/ondisk/fingerprint_fs.c helper/ondisk/fingerprint_ext4.c helper/ondisk/fingerprint_xfs.c \
	helper/ondisk/fingerprint_erofs.c helper/ondisk/fingerprint_btrfs.c helper/ondisk/fingerprint_lvm.c \
	helper/ondisk/fingerprint_partitions.c helper/ondisk/partition_table.c $(HELPER_LVM)
HELPER_INDEX	:= helper/shard/detect_format.c helper/shard/index_append.c helper/lib/enum_words.c \
	helper/shard/mds.c helper/shard/npz.c helper/shard/parquet.c \
	helper/shard/reader.c helper/shard/sample_select.c helper/shard/tar.c \
	helper/shard/tfrecord.c helper/shard/tar_header.c helper/shard/thrift.c helper/shard/zip.c
# Tests of the index read files that shard.c makes in memory.
HELPER_INDEX_UNIT := $(HELPER_INDEX) helper/lib/error.c helper/lib/sanitize.c \
	tests/unit/helper/shard.c

# The parser of nearcachetab needs the options of 'open'.
HELPER_TAB	:= helper/lib/likely_word.c helper/block/stage_params.c helper/lib/table_words.c helper/open/nearcachetab.c helper/cli/options.c helper/lib/column_choice.c helper/cli/option_table.c helper/cli/option_value.c \
	helper/lib/size.c helper/shard/shard_split.c helper/lib/name.c helper/lib/error.c \
	helper/lib/sanitize.c helper/lib/enum_words.c helper/block/table_params.c helper/lib/range.c \
	helper/block/status_line.c

# Settings that are remembered with a cache.
HELPER_REMEMBERED := helper/open/remembered.c helper/open/remembered_file.c helper/open/remembered_text.c \
	helper/lib/settings_file.c helper/lib/atomic_file.c helper/cli/setting.c helper/block/readahead.c \
	tests/unit/helper/fake_identity.c

# HELPER_UNIT_<test>: sources under test, and fakes of the sources that they call.
HELPER_UNIT_test_conf	:= helper/daemon/conf.c helper/daemon/listen_address.c helper/lib/size.c \
	helper/lib/settings_file.c helper/block/readahead.c helper/lib/error.c helper/lib/sanitize.c \
	tests/unit/helper/fake_identity.c
HELPER_UNIT_test_upgrade_steps := helper/upgrade/steps.c helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_upgrade_record := helper/upgrade/record.c helper/upgrade/carried.c \
	helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_LIBS_test_upgrade_steps := -Wl,--wrap=mlockall
HELPER_UNIT_test_upgrade_tables := helper/upgrade/tables.c helper/block/table_params.c helper/lib/enum_words.c \
	helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_LIBS_test_upgrade_tables := -Wl,--wrap=open
HELPER_UNIT_test_cluster_conf := helper/cluster/conf.c helper/cluster/conf_resolve.c helper/cluster/conf_secret.c helper/cluster/known_addresses.c \
	helper/lib/settings_file.c helper/lib/size.c \
	helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_cluster_dns := $(HELPER_UNIT_test_cluster_conf)
HELPER_UNIT_LIBS_test_cluster_dns := -Wl,--wrap=clock_gettime
HELPER_UNIT_test_join_undo := helper/cluster/join_undo.c helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_join_device := helper/cluster/join_device.c helper/cluster/peers_table.c helper/lib/table_words.c helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_stage_log := helper/ondisk/stage_log.c helper/block/device.c helper/lib/error.c \
	helper/lib/sanitize.c tests/unit/helper/fake_identity.c
HELPER_UNIT_LIBS_test_stage_log := -luuid
HELPER_UNIT_test_stage_params := helper/block/stage_params.c helper/lib/table_words.c helper/lib/size.c
HELPER_UNIT_test_reservation := helper/block/reservation.c helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_LIBS_test_reservation := -Wl,--wrap=ioctl
HELPER_UNIT_test_cluster_names := helper/cluster/node_names.c
HELPER_UNIT_test_joined := helper/cluster/joined.c helper/cluster/known_addresses.c helper/lib/settings_file.c helper/lib/atomic_file.c \
	helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_keep_clusters := helper/daemon/keep_clusters.c helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_link_disconnect := helper/cluster/link.c helper/cluster/link_sysfs.c helper/block/kernel_module.c helper/block/kmsg.c \
	helper/lib/periodic_wait.c helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_LIBS_test_link_disconnect := -DCONTROLLERS='"nvme"' -lnvme -pthread \
	-Wl,--wrap=open,--wrap=openat
HELPER_UNIT_test_peers := helper/cluster/peers.c helper/cluster/disconnect.c helper/cluster/node_names.c \
	helper/cluster/conf.c helper/cluster/conf_resolve.c helper/cluster/conf_secret.c helper/cluster/known_addresses.c \
	helper/cluster/addresses.c helper/lib/settings_file.c helper/lib/size.c \
	helper/lib/periodic_wait.c helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_LIBS_test_peers := -luuid
HELPER_UNIT_test_signals := helper/block/signals.c
HELPER_UNIT_test_parallel_devices := helper/block/parallel_devices.c helper/lib/wait_data.c \
	helper/lib/periodic_wait.c helper/lib/error.c \
	helper/lib/sanitize.c
HELPER_UNIT_test_read_peers := helper/cluster/read_peers.c helper/block/signals.c helper/lib/progress.c \
	helper/lib/periodic_wait.c helper/lib/size.c helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_LIBS_test_read_peers := -Wl,--wrap=pread -pthread
HELPER_UNIT_test_peers_table := helper/cluster/peers_table.c helper/lib/table_words.c
HELPER_UNIT_test_homes := helper/cluster/homes.c helper/cluster/homes_find.c helper/cluster/peers_table.c helper/lib/table_words.c helper/files/shard_ranges.c \
	helper/lib/name.c helper/lib/path.c helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_warm_choice := helper/cluster/warm_choice.c helper/cluster/peer_map.c \
	helper/cluster/homes.c helper/cluster/peers_table.c helper/lib/table_words.c helper/cluster/node_names.c helper/files/shard_ranges.c \
	helper/lib/name.c helper/lib/path.c helper/lib/error.c helper/lib/sanitize.c \
	tests/unit/helper/fake_identity.c
HELPER_UNIT_LIBS_test_warm_choice := -lisal -luuid
HELPER_UNIT_test_exposition := helper/metrics/exposition.c
HELPER_UNIT_test_hot	:= helper/daemon/hot_regions.c helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_loop	:= helper/daemon/loop_position.c helper/trace/trace_format.c helper/trace/touched_units.c \
	helper/lib/sha256.c helper/lib/error.c \
	helper/lib/sanitize.c
HELPER_UNIT_test_opening := helper/daemon/shards_in_use.c helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_trace	:= helper/trace/trace_format.c helper/trace/touched_units.c helper/lib/sha256.c \
	helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_wait_data := helper/lib/wait_data.c helper/lib/periodic_wait.c
HELPER_UNIT_test_histogram := helper/lib/histogram.c
HELPER_UNIT_test_job_parts := helper/files/job_parts.c helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_judge	:= helper/daemon/choose_readahead.c helper/lib/enum_words.c
HELPER_UNIT_test_uevent := helper/block/uevent.c helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_LIBS_test_uevent := -Wl,--wrap=recvfrom
HELPER_UNIT_test_redact := helper/lib/redact.c
HELPER_UNIT_test_shown_rows := helper/cmd/heat.c helper/cmd/latency.c helper/cmd/classifier.c helper/cmd/ranges.c \
	helper/bpf/load_unload_verb.c helper/cli/table_options.c helper/cli/options.c helper/lib/column_choice.c helper/cli/option_table.c \
	helper/cli/option_value.c helper/lib/likely_word.c helper/block/stage_params.c helper/lib/table_words.c \
	helper/block/table_params.c helper/lib/range.c helper/block/status_line.c helper/shard/shard_split.c \
	helper/lib/enum_words.c helper/lib/histogram.c helper/lib/print.c helper/lib/size.c helper/lib/name.c \
	helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_rates := helper/cmd/rates.c helper/cmd/device_samples.c helper/block/device_age.c helper/block/status_line.c \
	helper/lib/enum_words.c helper/lib/print.c helper/lib/column_choice.c helper/lib/size.c helper/lib/name.c \
	helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_LIBS_test_rates := -DUDEV_DATA='"udev-data"'
HELPER_UNIT_test_transport := helper/block/transport.c
HELPER_UNIT_test_likely_word := helper/lib/likely_word.c
HELPER_UNIT_test_size	:= helper/lib/size.c
HELPER_UNIT_test_name	:= helper/lib/name.c helper/lib/path.c helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_status_line	:= helper/block/status_line.c helper/lib/enum_words.c
HELPER_UNIT_test_layout	:= helper/ondisk/layout.c kmod/meta/ondisk_check.c
HELPER_UNIT_test_options := helper/cli/table_options.c helper/lib/likely_word.c helper/block/stage_params.c helper/lib/table_words.c helper/cli/options.c helper/lib/column_choice.c helper/cli/option_table.c helper/cli/option_value.c helper/lib/size.c \
	helper/lib/name.c helper/lib/error.c helper/lib/sanitize.c helper/lib/enum_words.c \
	helper/block/table_params.c helper/lib/range.c helper/block/status_line.c \
	helper/shard/shard_split.c
HELPER_UNIT_test_print	:= helper/lib/print.c helper/lib/column_choice.c helper/lib/size.c helper/lib/error.c \
	helper/lib/sanitize.c
HELPER_UNIT_test_sanitize	:= helper/lib/sanitize.c
HELPER_UNIT_test_words	:= helper/lib/enum_words.c
HELPER_UNIT_test_table_params	:= helper/block/table_params.c helper/lib/enum_words.c
HELPER_UNIT_test_range	:= helper/lib/range.c helper/lib/size.c
HELPER_UNIT_test_setting := helper/cli/setting.c helper/block/readahead.c \
	helper/block/table_params.c helper/lib/enum_words.c \
	helper/lib/size.c helper/lib/error.c helper/lib/sanitize.c \
	tests/unit/helper/fake_identity.c
HELPER_UNIT_test_dataset := helper/open/origin_record.c helper/ondisk/superblock.c helper/block/device.c \
	helper/ondisk/layout.c helper/ondisk/fingerprint_ends.c helper/lib/sha256.c $(HELPER_FSPRINT) \
	helper/lib/error.c \
	helper/lib/sanitize.c kmod/meta/ondisk_check.c tests/unit/helper/fake_identity.c
HELPER_UNIT_test_set	:= helper/block/stage_params.c helper/lib/table_words.c helper/cmd/set.c helper/cmd/resize.c \
	helper/block/dm_need.c helper/block/dm_reload.c helper/block/readahead.c helper/block/table_params.c \
	helper/lib/enum_words.c helper/block/status_line.c \
	helper/cli/setting.c \
	helper/lib/size.c helper/lib/name.c helper/block/signals.c helper/lib/error.c \
	helper/lib/sanitize.c \
	tests/unit/helper/fake_dm.c tests/unit/helper/fake_identity.c \
	tests/unit/helper/fake_output.c tests/unit/helper/fake_gaps.c \
	tests/unit/helper/fake_members.c tests/unit/helper/fake_super.c \
	tests/unit/helper/fake_remembered.c \
	tests/unit/helper/fake_set.c
HELPER_UNIT_test_set_witness := $(HELPER_UNIT_test_set)
HELPER_UNIT_test_attach	:= helper/cmd/attach.c helper/open/attach_cache.c helper/block/dm_need.c helper/block/dm_reload.c \
	helper/block/readahead.c helper/lib/size.c helper/block/table_params.c \
	helper/lib/enum_words.c helper/block/status_line.c helper/lib/name.c helper/block/signals.c \
	helper/lib/error.c \
	helper/lib/sanitize.c tests/unit/helper/fake_dm.c tests/unit/helper/fake_output.c \
	tests/unit/helper/fake_gaps.c tests/unit/helper/fake_device.c tests/unit/helper/fake_attach.c \
	tests/unit/helper/fake_members.c tests/unit/helper/fake_super.c \
	tests/unit/helper/fake_remembered.c helper/cli/setting.c
HELPER_UNIT_test_attach_refused	:= $(HELPER_UNIT_test_attach)
HELPER_UNIT_test_fingerprint_fs := $(HELPER_FSPRINT) helper/block/device.c helper/lib/error.c \
	helper/lib/sanitize.c tests/unit/helper/fake_identity.c
HELPER_UNIT_test_lvm	:= $(HELPER_LVM) helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_volumes := $(HELPER_FSPRINT) helper/block/device.c helper/lib/error.c \
	helper/lib/sanitize.c tests/unit/helper/fake_identity.c
HELPER_UNIT_test_sample := helper/open/content_sample.c helper/open/sample_choice.c \
	helper/ondisk/slot_table.c helper/ondisk/superblock.c helper/block/device.c helper/lib/error.c \
	helper/lib/sanitize.c helper/ondisk/layout.c kmod/meta/ondisk_check.c kmod/meta/recover.c \
	tests/unit/helper/fake_identity.c
HELPER_UNIT_test_origin_match	:= helper/open/origin_match.c helper/open/witness_proof.c helper/lib/error.c \
	helper/lib/sanitize.c \
	kmod/meta/ondisk_check.c kmod/meta/recover.c tests/unit/helper/fake_gaps.c \
	tests/unit/helper/fake_match.c
HELPER_UNIT_test_match_content	:= $(HELPER_UNIT_test_origin_match)
HELPER_UNIT_test_match_witness	:= $(HELPER_UNIT_test_origin_match)
HELPER_UNIT_test_reconnect := helper/open/reconnect_origin.c helper/block/dm_need.c helper/block/dm_reload.c \
	helper/block/readahead.c helper/lib/size.c helper/block/table_params.c \
	helper/lib/enum_words.c helper/block/status_line.c helper/block/signals.c helper/lib/error.c \
	helper/lib/sanitize.c \
	tests/unit/helper/fake_dm.c tests/unit/helper/fake_output.c \
	tests/unit/helper/fake_gaps.c tests/unit/helper/fake_super.c
HELPER_UNIT_test_nearcachetab	:= $(HELPER_TAB)
HELPER_UNIT_test_remembered := $(HELPER_REMEMBERED) $(HELPER_TAB)
HELPER_UNIT_LIBS_test_remembered := -luuid -Wl,--wrap=warn
HELPER_UNIT_test_uncached_writes	:= helper/open/uncached_writes.c \
	helper/block/persistent_folder.c helper/block/device_id_match.c helper/lib/error.c \
	helper/lib/sanitize.c
HELPER_UNIT_test_dm_suspend	:= helper/block/dm_remove.c helper/lib/error.c \
	helper/lib/sanitize.c \
	tests/unit/helper/fake_dm.c
HELPER_UNIT_test_witness := helper/open/witness.c helper/block/device.c helper/ondisk/superblock.c \
	helper/lib/error.c helper/lib/sanitize.c kmod/meta/ondisk_check.c \
	tests/unit/helper/fake_identity.c
HELPER_UNIT_test_udev_properties := helper/open/udev_properties.c helper/open/witness.c helper/ondisk/superblock.c \
	helper/ondisk/stage_log.c helper/ondisk/layout.c helper/block/device.c \
	helper/lib/error.c helper/lib/sanitize.c kmod/meta/ondisk_check.c \
	tests/unit/helper/fake_identity.c
HELPER_UNIT_LIBS_test_udev_properties := -luuid -lblkid
HELPER_UNIT_test_passthrough := helper/open/passthrough.c helper/lib/enum_words.c helper/lib/error.c \
	helper/lib/sanitize.c tests/unit/helper/fake_gaps.c tests/unit/helper/fake_output.c
HELPER_UNIT_test_same_origin := helper/open/origin_users.c helper/block/device_id_match.c \
	helper/lib/enum_words.c \
	helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_boot := helper/open/open_at_boot.c helper/open/stage_passthrough.c $(HELPER_TAB) $(HELPER_REMEMBERED) \
	tests/unit/helper/fake_output.c
HELPER_UNIT_test_index	:= $(HELPER_INDEX_UNIT)
HELPER_UNIT_test_index_cmd := $(HELPER_INDEX_UNIT) helper/cmd/index.c helper/cli/table_options.c helper/block/device.c \
	helper/lib/print.c helper/lib/column_choice.c helper/lib/size.c tests/unit/helper/fake_identity.c
HELPER_UNIT_test_index_mds := $(HELPER_INDEX_UNIT)
HELPER_UNIT_test_index_npz := $(HELPER_INDEX_UNIT)
HELPER_UNIT_test_index_parquet := $(HELPER_INDEX_UNIT)
HELPER_UNIT_test_index_tar := $(HELPER_INDEX_UNIT)
HELPER_UNIT_test_index_tfrecord := $(HELPER_INDEX_UNIT)
HELPER_UNIT_test_fiemap := helper/files/fiemap.c helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_range_set	:= helper/files/shard_ranges.c helper/lib/name.c helper/lib/path.c helper/lib/error.c \
	helper/lib/sanitize.c
HELPER_UNIT_test_glob	:= helper/files/glob.c helper/files/list_lines.c helper/lib/range.c helper/lib/size.c \
	helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_read_list	:= helper/files/read_list.c $(HELPER_UNIT_test_glob)
HELPER_UNIT_test_stacking	:= helper/block/layer_map.c helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_erofs_map	:= helper/files/erofs_tail.c helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_manifest := helper/verify/manifest.c helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_workers := helper/verify/verify_threads.c helper/verify/checksum.c \
	helper/lib/progress.c helper/lib/size.c helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_bar := helper/lib/density_bar.c
# Sources that the heatmap tests need to make samples of shards.
HELPER_SAMPLES	:= helper/heatmap/sample.c helper/heatmap/sample_matrix.c helper/heatmap/cell_level.c \
	helper/lib/density_bar.c helper/files/shard_ranges.c helper/lib/name.c helper/lib/path.c helper/lib/error.c \
	helper/lib/sanitize.c
HELPER_UNIT_test_heatmap := $(HELPER_SAMPLES) helper/heatmap/region_reads.c
HELPER_UNIT_test_shade	:= $(HELPER_SAMPLES) helper/heatmap/text_shades.c helper/lib/size.c
HELPER_UNIT_test_svg	:= $(HELPER_SAMPLES) helper/heatmap/svg.c helper/heatmap/legend.c \
	helper/heatmap/svg_byte_limit.c helper/heatmap/svg_rectangles.c helper/heatmap/xml.c helper/lib/size.c
HELPER_UNIT_test_keys	:= helper/cmd/status.c helper/cmd/stats.c helper/cmd/list.c helper/cmd/rates.c \
	helper/cmd/device_samples.c helper/block/device_age.c helper/cli/table_options.c \
	helper/cluster/peers_table.c helper/lib/table_words.c \
	helper/ondisk/print_superblock.c helper/block/status_line.c helper/lib/enum_words.c \
	helper/block/table_params.c helper/lib/print.c helper/lib/column_choice.c \
	helper/lib/size.c helper/lib/name.c helper/lib/periodic_wait.c helper/lib/error.c \
	helper/lib/sanitize.c \
	tests/unit/helper/fake_members.c
HELPER_UNIT_test_progress := helper/lib/progress.c helper/lib/size.c
HELPER_UNIT_test_top	:= helper/top/cell_format.c helper/top/compose_frame.c helper/top/grid.c \
	helper/top/model.c helper/top/section_heights.c helper/top/sections.c helper/top/stream_rows.c helper/top/sample_difference.c \
	helper/top/view.c helper/top/text_width.c helper/lib/enum_words.c helper/lib/histogram.c \
	helper/block/status_line.c helper/lib/size.c helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_interval	:= helper/lib/periodic_wait.c
HELPER_UNIT_test_atomic_file := helper/lib/atomic_file.c helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_partition	:= helper/shard/shard_split.c
HELPER_UNIT_test_prefetch_job	:= helper/files/job_wait.c helper/lib/progress.c \
	helper/lib/size.c helper/lib/error.c \
	helper/lib/sanitize.c tests/unit/helper/fake_output.c
HELPER_UNIT_test_node_share	:= helper/files/node_share.c helper/shard/shard_split.c \
	helper/files/shard_ranges.c helper/lib/name.c helper/lib/path.c helper/lib/error.c helper/lib/sanitize.c
# Sources that resolve TARGETs.
HELPER_OPERAND	:= helper/files/operand.c helper/files/resolve_file.c helper/files/read_list.c \
	helper/files/read_order.c helper/files/glob.c helper/files/list_lines.c helper/lib/range.c \
	helper/lib/size.c helper/files/shard_ranges.c helper/lib/name.c helper/lib/path.c \
	helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_read_order	:= $(HELPER_OPERAND)
HELPER_UNIT_test_operand	:= $(HELPER_OPERAND) $(HELPER_INDEX) \
	helper/files/node_share.c helper/shard/shard_split.c
# Sources of the record of pins.
HELPER_PINS	:= helper/pins/pin_list.c helper/pins/record_file.c helper/pins/record_json.c \
	helper/pins/record_lines.c helper/pins/unpin_match.c \
	helper/lib/atomic_file.c helper/lib/name.c helper/lib/path.c helper/lib/enum_words.c helper/files/shard_ranges.c \
	helper/lib/error.c helper/lib/sanitize.c
HELPER_UNIT_test_pins	:= $(HELPER_PINS)
HELPER_UNIT_test_pin_record := $(HELPER_PINS)
HELPER_UNIT_test_pinned_file := $(HELPER_PINS) helper/pins/pinned_file.c
HELPER_UNIT_test_change	:= $(HELPER_PINS) helper/pins/change.c \
	helper/pins/kernel_ranges.c helper/lib/size.c tests/unit/helper/fake_nl.c
HELPER_UNIT_test_restore := $(HELPER_UNIT_test_change) helper/pins/restore.c helper/pins/record_owner.c \
	helper/files/glob.c helper/files/list_lines.c helper/lib/range.c \
	helper/block/device_id_match.c tests/unit/helper/fake_dm.c tests/unit/helper/fake_restore.c
HELPER_UNIT_test_refresh := $(HELPER_UNIT_test_restore)
HELPER_UNIT_test_record_owner := $(HELPER_UNIT_test_restore)
HELPER_UNIT_test_record := $(HELPER_PINS) helper/pins/record_owner.c helper/block/device_id_match.c \
	helper/files/glob.c helper/files/list_lines.c tests/unit/helper/fake_dm.c tests/unit/helper/fake_identity.c \
	helper/lib/range.c helper/lib/size.c
HELPER_UNIT_LIBS_test_pin_record := -DPINS_DIR='"pins"'
HELPER_UNIT_LIBS_test_pinned_file := -Wl,--wrap=fstatfs,--wrap=name_to_handle_at,--wrap=open_by_handle_at
HELPER_UNIT_LIBS_test_change := -DPINS_DIR='"pins"'
HELPER_UNIT_LIBS_test_restore := -DPINS_DIR='"pins"' -Wl,--wrap=warn
HELPER_UNIT_LIBS_test_refresh := $(HELPER_UNIT_LIBS_test_restore)
HELPER_UNIT_LIBS_test_record_owner := $(HELPER_UNIT_LIBS_test_restore)
HELPER_UNIT_LIBS_test_atomic_file := -Wl,--wrap=fsync
HELPER_UNIT_LIBS_test_workers := -pthread -lcrypto -lnettle -Wl,--wrap=pread,--wrap=mincore,--wrap=statx
HELPER_UNIT_LIBS_test_progress := -Wl,--wrap=clock_gettime,--wrap=isatty
HELPER_UNIT_LIBS_test_interval := -Wl,--wrap=clock_gettime,--wrap=clock_nanosleep
HELPER_UNIT_LIBS_test_erofs_map := -Wl,--wrap=fstat
HELPER_UNIT_LIBS_test_fiemap := -Wl,--wrap=ioctl,--wrap=fstat,--wrap=fstatfs,--wrap=statx
HELPER_UNIT_LIBS_test_operand := -Wl,--wrap=warn
HELPER_UNIT_LIBS_test_index := -Wl,--wrap=pread
HELPER_UNIT_LIBS_test_attach := -luuid
HELPER_UNIT_LIBS_test_cluster_names := -luuid
HELPER_UNIT_LIBS_test_joined := -DJOINED_DIR='"joined"'
HELPER_UNIT_LIBS_test_attach_refused := -luuid
HELPER_UNIT_LIBS_test_keys := -luuid
HELPER_UNIT_LIBS_test_reconnect := -luuid
HELPER_UNIT_LIBS_test_nearcachetab := -luuid
HELPER_UNIT_LIBS_test_trace := -lcrypto -lnettle
HELPER_UNIT_LIBS_test_loop := -lnettle
HELPER_UNIT_LIBS_test_boot := -luuid
HELPER_UNIT_LIBS_test_uncached_writes := -luuid -Wl,--wrap=fstatfs,--wrap=fsync
HELPER_UNIT_LIBS_test_witness := -Wl,--wrap=device_open,--wrap=device_test_claim
HELPER_UNIT_LIBS_test_fingerprint_fs := -lnettle -lblkid
HELPER_UNIT_LIBS_test_volumes := -lnettle -lblkid
HELPER_UNIT_LIBS_test_dataset := -lnettle -lblkid -Wl,--wrap=pwrite

.PHONY: unit-helper
unit-helper: $(HELPER_UNIT:%=$(HELPER_UNIT_DIR)/%) ## unit tests of the helper
	$(Q)failed=0; for t in $^; do $$t || failed=1; done; exit $$failed

# Sources are compiled once for all tests, and again for each test with -D flags.
helper-unit-variant = $(if $(filter -D%,$(HELPER_UNIT_LIBS_$(1))),$(1),all)
helper-unit-objects = $(patsubst %.c,$(HELPER_UNIT_DIR)/obj/$(call helper-unit-variant,$(1))/%.o,\
	tests/unit/helper/$(1).c $(HELPER_UNIT_$(1)))
HELPER_UNIT_HEADERS := $(wildcard helper/*/*.h bpf/*.h kmod/meta/*.h uapi/*.h tests/unit/helper/*.h) \
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
