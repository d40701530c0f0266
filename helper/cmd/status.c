// SPDX-License-Identifier: GPL-2.0-only
/* nearcache status: show mode, state, devices, sizes, rates and hit ratio. */
#include <inttypes.h>
#include <stdio.h>

#include "cluster/homes.h"
#include "cmd/commands.h"
#include "cmd/node_part.h"
#include "cmd/rates.h"
#include "ondisk/print_superblock.h"
#include "block/device.h"
#include "open/members.h"
#include "block/lock.h"
#include "block/table_params.h"
#include "block/dm_unprivileged.h"
#include "lib/error.h"
#include "netlink/device_state.h"
#include "lib/name.h"
#include "lib/periodic_wait.h"
#include "lib/print.h"
#include "lib/size.h"
#include "open/reconnect_origin.h"
#include "open/renamed.h"
#include "pins/restore.h"
#include "stage/report.h"

#define MILLISECOND	1000000ULL

static void print_devices(const struct dm_device *dev)
{
	char path[PATH_MAX], text[256];
	bool gone = reconnect_needed(dev);
	struct params params;

	print_string("device", "device", device_path_of(dev->number, path));
	print_string("uuid", NULL, dm_cache_uuid(dev));
	print_bytes("size", "size", dev->size);
	print_string("origin", "origin", dev->origin ? device_path_of(dev->origin, path) : NULL);
	print_flag("origin_gone", NULL, gone);
	if (gone) {
		snprintf(text, sizeof(text),
			 "connect it and run 'nearcache attach %s'",
			 dev->name);
		print_string(NULL, "origin gone", text);
	}
	print_string("cache", "cache device", device_path_of(dev->cache, path));
	if (dev->table && params_parse(dev->table, &params))
		members_print_numbers(&params);
	print_flag("read_only", NULL, dev->read_only);
	print_flag("suspended", dev->suspended ? "suspended" : NULL,
		   dev->suspended);
	if (dev->open_count == DM_OPEN_UNKNOWN)
		print_string("open_count", NULL, NULL);
	else
		print_number("open_count", NULL, dev->open_count);
}

/* Prints the witness, and how much the cache would keep after a power failure now. */
static void print_witness(const struct dm_device *dev,
			  const struct status *status)
{
	uint64_t value = status->field[NEARCACHE_FIELD_WITNESS];
	uint64_t regions = status->field[NEARCACHE_FIELD_INTENT_REGIONS];
	const char *crash = dev->status ? status_crash(status) : NULL;

	describe_witness(dev, "witness");
	print_string("witness_state", NULL,
		     status_word(NEARCACHE_FIELD_WITNESS, value));
	print_number("intent_regions",
		     regions ? "regions being written" : NULL, regions);
	print_string(NULL, crash ? "a crash now" : NULL, crash);
}

static void print_content(const uint64_t *field)
{
	uint64_t block = field[NEARCACHE_FIELD_BLOCK_SIZE];

	print_bytes("block_size", "block size", block);
	print_bytes("subblock_size", "sub-block size",
		    field[NEARCACHE_FIELD_SUBBLOCK_SIZE]);
	print_bytes("capacity", NULL,
		    field[NEARCACHE_FIELD_BLOCKS] * block);
	print_number("blocks", "blocks", field[NEARCACHE_FIELD_BLOCKS]);
	print_number("blocks_used", "blocks used",
		     field[NEARCACHE_FIELD_BLOCKS_USED]);
	print_string("integrity",
		     field[NEARCACHE_FIELD_INTEGRITY] ? "integrity" : NULL,
		     status_word(NEARCACHE_FIELD_INTEGRITY,
				 field[NEARCACHE_FIELD_INTEGRITY]));
	print_number("verify", field[NEARCACHE_FIELD_VERIFY] ? "verify" : NULL,
		     field[NEARCACHE_FIELD_VERIFY]);
	print_number("scrub_left",
		     field[NEARCACHE_FIELD_SCRUB_LEFT] ? "blocks to scrub" : NULL,
		     field[NEARCACHE_FIELD_SCRUB_LEFT]);
	print_number("blocks_warm", "blocks warm",
		     field[NEARCACHE_FIELD_BLOCKS_WARM]);
	print_bytes("bytes_valid", NULL,
		    field[NEARCACHE_FIELD_BYTES_VALID]);
}

static void print_memory(const uint64_t *field)
{
	print_bytes("fill_memory", "fill memory used",
		    field[NEARCACHE_FIELD_FILL_MEMORY]);
	print_bytes("fill_memory_peak", "fill memory peak",
		    field[NEARCACHE_FIELD_FILL_MEMORY_PEAK]);
	print_bytes("fill_memory_max", "fill memory cap",
		    field[NEARCACHE_FIELD_FILL_MEMORY_MAX]);
	print_bytes("metadata_memory", "metadata memory",
		    field[NEARCACHE_FIELD_METADATA_MEMORY]);
}

/* Prints settings that are in the dm table, not in the status line. */
static void print_settings(const struct dm_device *dev)
{
	struct params params;

	if (!dev->table || !params_parse(dev->table, &params))
		return;
	print_flag("fill_memory_auto", "fill memory auto", !params.fill_memory);
	print_milliseconds("cache_timeout_ms", "cache timeout",
			   params_cache_timeout(&params));
	print_seconds("origin_timeout_s", "origin timeout",
		      params.origin_timeout);
}

/*
 * Compare the kernel's ranges with the record of pins. Returns false if another run is just
 * changing both, or after a warning: an error of this comparison is no error of the device.
 */
static bool compare_pins(const struct dm_device *dev, struct record_difference *difference)
{
	if (!dev->table || !lock_try_shared(dev->name))
		return false;
	restore_compare(dev, difference);
	lock_release();
	if (!fail_code())
		return true;
	warn("the pins of '%s' are not compared with their record: %s", dev->name,
	     fail_message());
	fail_reset();
	return false;
}

/*
 * Print how the kernel's ranges differ from the record of pins; null if that is unknown. @advice
 * (ADVICE_TEXT bytes): what to do about a difference, or "".
 */
static void print_pins(const struct dm_device *dev, char *advice)
{
	struct record_difference difference;

	*advice = '\0';
	if (!compare_pins(dev, &difference)) {
		print_string("unrecorded_ranges", NULL, NULL);
		print_string("missing_pins", NULL, NULL);
		print_string("renamed_from", NULL, NULL);
		return;
	}
	print_number("unrecorded_ranges",
		     difference.unrecorded ? "unrecorded ranges" : NULL, difference.unrecorded);
	print_number("missing_pins", difference.missing ? "missing pins" : NULL,
		     difference.missing);
	print_string("renamed_from", NULL, *difference.elsewhere ? difference.elsewhere : NULL);
	if (difference.unrecorded || difference.missing)
		print_string(NULL, "pins", restore_advice(dev, &difference, advice));
}

/* The state of the cache stays normal if the origin fails, so show the failed reads beside it. */
static void print_origin_errors(uint64_t failed)
{
	char text[128];

	print_number("fills_failed_origin", NULL, failed);
	if (!failed)
		return;
	snprintf(text, sizeof(text),
		 "%" PRIu64 " reads since the open; 'nearcache stats --watch' shows whether more fail, and dmesg why",
		 failed);
	print_string(NULL, "origin failed", text);
}

/* Prints how much is cached, for people: JSON has both numbers. */
static void print_cached(const uint64_t *field)
{
	uint64_t capacity = field[NEARCACHE_FIELD_BLOCKS] * field[NEARCACHE_FIELD_BLOCK_SIZE];
	uint64_t valid = field[NEARCACHE_FIELD_BYTES_VALID];
	char text[2 * SIZE_TEXT + 32], has[SIZE_TEXT], room[SIZE_TEXT];

	if (!capacity)
		return;
	snprintf(text, sizeof(text), "%s of %s (%.1f %%)", size_print(valid, has),
		 size_print(capacity, room), 100.0 * (double)valid / (double)capacity);
	print_string(NULL, "cached", text);
}

/* Prints whether the origin is there and answers, as far as the cache has seen. */
static void print_origin_state(const struct dm_device *dev, const struct status *status)
{
	static const char *const word[][2] = {
		{ "ok", "no read has failed" },
		{ "errors-seen", "reads have failed since the open" },
		{ "waiting", "it fails, and reads wait for it" },
		{ "gone", "it is gone" },
	};
	unsigned int state = reconnect_needed(dev) ? 3 :
			     status->field[NEARCACHE_FIELD_READS_WAITING] ? 2 :
			     status->counter[NEARCACHE_COUNTER_FILLS_FAILED_ORIGIN] ? 1 : 0;

	if (!dev->status) {
		print_string("origin_state", NULL, NULL);
		return;
	}
	print_string("origin_state", NULL, word[state][0]);
	print_string(NULL, "origin state", word[state][1]);
}

/* Writes the most urgent step to @text. Returns false if everything is as it should be. */
static bool next_step(const struct dm_device *dev, const struct status *status, const char *pins,
		      char *text, size_t size)
{
	uint64_t state = status->field[NEARCACHE_FIELD_STATE];

	if (renamed_table_gone(dev) || !dev->live)
		snprintf(text, size, "nearcache close %s, then open it again", dev->name);
	else if (dev->suspended)
		snprintf(text, size, "dmsetup resume %s", dev->name);
	else if (reconnect_needed(dev))
		snprintf(text, size, "connect the origin, then: nearcache attach %s", dev->name);
	else if (state == NEARCACHE_BYPASS)
		snprintf(text, size, "when the cache device works: nearcache attach %s", dev->name);
	else if (state == NEARCACHE_DEGRADED)
		snprintf(text, size, "look at the cache device: dmesg | tail");
	else if (status->field[NEARCACHE_FIELD_READS_WAITING])
		snprintf(text, size, "bring the origin back: dmesg | tail");
	else if (status->field[NEARCACHE_FIELD_WITNESS] == NEARCACHE_WITNESS_COLD)
		snprintf(text, size, "nearcache set %s witness=DEV, with the same witness", dev->name);
	else if (status->counter[NEARCACHE_COUNTER_DAMAGED] &&
		 !status->field[NEARCACHE_FIELD_SCRUB_LEFT] && !status->counter[NEARCACHE_COUNTER_SCRUBS])
		/* Both counters only grow: after a scrub the cached data is as good as it was read. */
		snprintf(text, size, "look for more damage: nearcache scrub %s", dev->name);
	else
		snprintf(text, size, "%s", pins);
	return *text;
}

static void print_next_step(const struct dm_device *dev, const struct status *status,
			    const char *pins)
{
	char text[ADVICE_TEXT];
	bool needed = next_step(dev, status, pins, text, sizeof(text));

	print_string("next", needed ? "next" : NULL, needed ? text : NULL);
}

/* Taken --interval before the devices are shown; empty without it. */
static struct device_samples earlier;

static int describe_device(const struct dm_device *dev, const struct status *status)
{
	const char *gone = renamed_table_gone(dev);
	const char *loaded = status_word(NEARCACHE_FIELD_LOADED,
					 status->field[NEARCACHE_FIELD_LOADED]);
	uint64_t damaged = status->counter[NEARCACHE_COUNTER_DAMAGED];
	uint64_t waiting = status->field[NEARCACHE_FIELD_READS_WAITING];
	char advice[ADVICE_TEXT];

	print_string("name", NULL, dev->name);
	node_part_print_cluster(dev);
	print_string("mode", "mode", dev->mode);
	print_string("state", "state", describe_state(dev, status));
	print_string("table_gone", gone ? "reason" : NULL, gone);
	describe_reason(dev, status);
	print_string("loaded", "loaded", loaded);
	print_cached(status->field);
	print_devices(dev);
	stage_report_brief(dev);
	print_witness(dev, status);
	print_content(status->field);
	print_bytes("read_bytes", "bytes read", status_read_bytes(status));
	print_ratio("hit_ratio", "hit ratio",
		    status->counter[NEARCACHE_COUNTER_HIT_BYTES],
		    status_read_bytes(status));
	print_bytes("write_bytes", dev->read_only ? NULL : "bytes written",
		    status->counter[NEARCACHE_COUNTER_WRITE_BYTES]);
	rates_print(dev, status, &earlier);
	print_memory(status->field);
	print_settings(dev);
	print_number("damaged", damaged ? "damaged sub-blocks" : NULL, damaged);
	print_number("reads_waiting", waiting ? "reads waiting" : NULL, waiting);
	print_origin_errors(status->counter[NEARCACHE_COUNTER_FILLS_FAILED_ORIGIN]);
	print_pins(dev, advice);
	print_origin_state(dev, status);
	print_string("dm_uuid", NULL, dev->uuid);
	print_flag("complete", NULL, !dm_is_unprivileged());
	if (dm_is_unprivileged())
		print_string(NULL, "only for root",
			     "cluster, witness, timeouts, further cache devices, pins");
	print_next_step(dev, status, advice);
	return 0;
}

static void take_earlier(const struct arguments *args)
{
	struct watch pace;

	if (device_samples_take(args, &earlier))
		return;
	/* The interval begins after the last sample, so no device is measured for less. */
	watch_start(&pace, args->interval * MILLISECOND);
	watch_wait(&pace);
}

static int cmd_status(const struct arguments *args)
{
	dm_read_unprivileged(nl_device_state);
	homes_rename_operands(args->operand, args->operands);
	if (!fail_code() && args->interval)
		take_earlier(args);
	if (!fail_code())
		describe_devices(args->operand, args->operands, describe_device);
	if (fail_code() &&
	    args->operands == 1)
		renamed_explain(name_of_operand(args->operand[0]));
	device_samples_free(&earlier);
	return fail_code();
}

const struct verb status_verb = {
	.name = "status",
	.group = VERBS_OBSERVE,
	.operands = "[NAME...]",
	.operands_max = -1,
	.optional = OPTION_MEASURE,
	.summary = "show mode, state, devices, sizes, rates and hit ratio",
	.details =
"Any user may call status; the cluster, the witness, timeouts, further cache devices and pins\n"
"are shown to root only. If something is wrong, the last line is the next step.\n"
"\n"
"status returns at once; its rates are averages since the device was opened. --interval\n"
"measures them for that time instead, so --interval 1 shows what happens now.\n"
"\n"
"Without NAME, all caches are shown. In JSON, one NAME gives the values at the top\n"
"level; none or several give an array \"devices\".\n",
	.run = cmd_status,
};
