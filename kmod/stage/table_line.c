// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table line of the target nearcache-stage, and its messages.  A reload of the printed table
 * line changes nothing.  Format: kmod/doc/stage.md.
 */
#include <linux/log2.h>

#include "core/compat.h"
#include "dm/option.h"
#include "nearcache.h"
#include "stage/stage.h"

#define STAGE_MEMORY_MIN	(1024ULL << 10)
/* Default of map_memory: this part of the ring. */
#define STAGE_MEMORY_PART	1024

/* Longest epoch, in blocks: 1 GiB. */
#define STAGE_EPOCH_BLOCKS	(256ULL << 10)

/* Limit the length of an epoch, so that the ring and max_behind have room for several. */
static void set_epoch_limit(struct nc_stage *s)
{
	u64 blocks = min(div_u64(s->ring.blocks, 8), STAGE_EPOCH_BLOCKS), behind;

	/* Read it under the lock: of two callers, the last one must use the newest value. */
	spin_lock_irq(&s->lock);
	behind = READ_ONCE(s->max_behind);
	if (behind)
		blocks = min(blocks, div_u64(behind, 4 * NEARCACHE_STAGE_BLOCK));
	s->ring.epoch_blocks_max = blocks;
	spin_unlock_irq(&s->lock);
}

static void rate_changed(struct dm_target *ti)
{
	struct nc_stage *s = ti->private;

	wake_up(&s->drain.wait);
}

static void max_behind_time_changed(struct dm_target *ti)
{
	struct nc_stage *s = ti->private;

	/* Waiting writes may go on. */
	queue_work(s->queue, &s->room);
}

static void max_behind_changed(struct dm_target *ti)
{
	set_epoch_limit(ti->private);
	max_behind_time_changed(ti);
}

static void origin_timeout_changed(struct dm_target *ti)
{
	nc_drain_check_timeout(ti->private);
}

static void on_full_changed(struct dm_target *ti)
{
	nc_pass_option(ti->private);
}

static const char *const stage_on_full[] = { "wait", "writethrough" };

/* In the order of the printed table line. */
const struct nc_option nc_stage_options[] = {
	{ "rate", "rate must be 0 or 65536 to 1099511627776 bytes/s", 65536, 1ULL << 40,
	  .zero = true, NC_OPTION_AT(struct nc_stage, rate), .changed = rate_changed,
	  .attribute = NEARCACHE_A_DEVICE_RATE },
	{ "max_behind", "max_behind must be 0 or at least 1048576 bytes", 1ULL << 20, U64_MAX,
	  .zero = true, NC_OPTION_AT(struct nc_stage, max_behind), .changed = max_behind_changed,
	  .attribute = NEARCACHE_A_DEVICE_MAX_BEHIND },
	{ "max_behind_time", "max_behind_time must be 0 to 86400 seconds", 0, 86400,
	  NC_OPTION_AT(struct nc_stage, max_behind_time), .changed = max_behind_time_changed,
	  .attribute = NEARCACHE_A_DEVICE_MAX_BEHIND_TIME },
	{ "map_memory", "map_memory must be 1048576 to 1099511627776 bytes", STAGE_MEMORY_MIN,
	  1ULL << 40, .constant = true, NC_OPTION_AT(struct nc_stage, map_memory),
	  .attribute = NEARCACHE_A_DEVICE_MAP_MEMORY },
	{ "keep_retained", "keep_retained must be 0 or 1", 0, 1, .constant = true,
	  NC_OPTION_AT(struct nc_stage, keep_retained),
	  .attribute = NEARCACHE_A_DEVICE_KEEP_RETAINED },
	{ "origin_timeout", "origin_timeout must be 0 to 86400 seconds", 0, 86400,
	  NC_OPTION_AT(struct nc_stage, origin_timeout), .changed = origin_timeout_changed,
	  .attribute = NEARCACHE_A_DEVICE_ORIGIN_TIMEOUT },
	/* Netlink does not show it: the start clears it. */
	{ "drop_unreadable", "drop_unreadable must be 0 or 1", 0, 1, .constant = true,
	  NC_OPTION_AT(struct nc_stage, drop_unreadable) },
	{ "on_full", "on_full must be wait or writethrough", 0, 1, .words = stage_on_full,
	  NC_OPTION_AT(struct nc_stage, on_full), .changed = on_full_changed,
	  .attribute = NEARCACHE_A_DEVICE_ON_FULL },
};

const u32 nc_stage_options_count = ARRAY_SIZE(nc_stage_options);
static_assert(ARRAY_SIZE(nc_stage_options) <= NC_OPTIONS_MAX);

static int open_stage_device(struct nc_stage *s, const char *path, struct dm_dev **dev, char *error)
{
	int r = dm_get_device(s->ti, path, dm_table_get_mode(s->ti->table), dev);

	if (r) {
		*dev = NULL;
		nc_refuse_word(s->ti, error, path);
		return r;
	}
	if (bdev_logical_block_size((*dev)->bdev) > NEARCACHE_STAGE_BLOCK)
		return nc_refuse_word(s->ti, "Logical block size must be at most 4096 bytes", path);
	if (bdev_is_zoned((*dev)->bdev))
		return nc_refuse_word(s->ti, "Zoned devices are not supported", path);
	return 0;
}

static int check_devices(struct nc_stage *s)
{
	char *error;
	int r;

	if (s->ti->begin || s->ti->len != bdev_nr_sectors(s->origin->bdev))
		return nc_refuse_word(s->ti, "The table must cover the whole origin, from sector 0",
				      s->origin->name);
	if (s->log->bdev->bd_dev == s->origin->bdev->bd_dev)
		return nc_refuse_word(s->ti, "Log and origin are one device", s->log->name);
	r = nc_stage_super_read(s, &error);
	if (r) {
		nc_refuse_word(s->ti, error, s->log->name);
		return r;
	}
	if (le64_to_cpu(s->super.block->volume_sectors) > s->ti->len)
		return nc_refuse_word(s->ti, "Log is for a larger origin", s->log->name);
	s->ring.blocks = le64_to_cpu(s->super.block->ring_blocks);
	return 0;
}

/**
 * nc_stage_parse() - parse a table line and open its devices
 * @s: stage with a superblock, without devices
 * @argc: number of words
 * @argv: words behind the name of the target
 *
 * Context: constructor; may sleep.
 * Return: 0, or a negative error; ti->error is set, and the kernel log has the bad value.
 */
int nc_stage_parse(struct nc_stage *s, unsigned int argc, char **argv)
{
	int r;

	if (argc < 2)
		return nc_refuse_word(s->ti, "Expected: log, origin", argc ? argv[0] : "");
	if (!(dm_table_get_mode(s->ti->table) & NC_MODE_WRITE))
		return nc_refuse_word(s->ti, "A stage cannot be read-only", argv[0]);
	r = open_stage_device(s, argv[0], &s->log, "Cannot open the log device") ?:
	    open_stage_device(s, argv[1], &s->origin, "Cannot open the origin") ?:
	    check_devices(s) ?:
	    nc_options_parse(s->ti, nc_stage_options, nc_stage_options_count, argc - 2, argv + 2);
	if (r)
		return r;
	if (!s->map_memory)
		s->map_memory = max(div_u64(s->ring.blocks * NEARCACHE_STAGE_BLOCK,
					    STAGE_MEMORY_PART), STAGE_MEMORY_MIN);
	return dm_set_target_max_io_len(s->ti, NEARCACHE_STAGE_WRITE_MAX);
}

/**
 * nc_stage_message() - handle a message: "commit", "give_up", or "set <option> <value>"
 * @s: stage
 * @argc: number of words
 * @argv: words
 * @result: of "commit": set to the number of the newest epoch that has data
 * @maxlen: size of @result
 *
 * While writes are passed, "commit" flushes the origin as well.
 *
 * Context: process; may sleep.
 * Return: 1 if @result is set, 0, or a negative error; the kernel log has the bad value.
 */
int nc_stage_message(struct nc_stage *s, unsigned int argc, char **argv, char *result,
		     unsigned int maxlen)
{
	u64 epoch;
	int r;

	if (argc == 3 && !strcasecmp(argv[0], "set"))
		return nc_options_change(s->ti, nc_stage_options, nc_stage_options_count, argv[1],
					 argv[2]);
	if (argc == 1 && !strcasecmp(argv[0], "give_up")) {
		nc_stage_give_up(s);
		return 0;
	}
	if (argc != 1 || strcasecmp(argv[0], "commit"))
		return nc_refuse_word(s->ti, "Expected: commit, give_up, or: set <option> <value>",
				      argv[0]);
	if (!READ_ONCE(s->started))
		return -EAGAIN;
	r = nc_stage_commit_sync(s, &epoch) ?: nc_pass_sync(s);
	if (r)
		return r;
	scnprintf(result, maxlen, "%llu", epoch);
	return 1;
}

/* Print the table line to @result, cut at @room bytes. */
void nc_stage_print(struct nc_stage *s, char *result, size_t room)
{
	size_t n = scnprintf(result, room, "%s %s", s->log->name, s->origin->name);

	nc_options_print(s->ti, nc_stage_options, nc_stage_options_count, result + n, room - n);
}
