// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table line of the target nearcache-stage, its messages and its status line.  A reload of the
 * printed table line changes nothing.  Format: kmod/doc/stage.md.
 */
#include <linux/log2.h>
#include <linux/ktime.h>

#include "core/compat.h"
#include "dm/option.h"
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

	/* Inside the lock: of two callers, the last one must use the newest value. */
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

static void max_behind_changed(struct dm_target *ti)
{
	set_epoch_limit(ti->private);
}

/* In the order of the printed table line. */
static const struct nc_option stage_options[] = {
	{ "rate", "rate must be 0 or 65536 to 1099511627776 bytes/s", 65536, 1ULL << 40,
	  .zero = true, NC_OPTION_AT(struct nc_stage, rate), .changed = rate_changed },
	{ "max_behind", "max_behind must be 0 or at least 1048576 bytes", 1ULL << 20, U64_MAX,
	  .zero = true, NC_OPTION_AT(struct nc_stage, max_behind), .changed = max_behind_changed },
	{ "max_behind_time", "max_behind_time must be 0 to 86400 seconds", 0, 86400,
	  NC_OPTION_AT(struct nc_stage, max_behind_time) },
	{ "map_memory", "map_memory must be 1048576 to 1099511627776 bytes", STAGE_MEMORY_MIN,
	  1ULL << 40, .constant = true, NC_OPTION_AT(struct nc_stage, map_memory) },
	{ "keep_retained", "keep_retained must be 0 or 1", 0, 1, .constant = true,
	  NC_OPTION_AT(struct nc_stage, keep_retained) },
};

static_assert(ARRAY_SIZE(stage_options) <= NC_OPTIONS_MAX);

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
	    nc_options_parse(s->ti, stage_options, ARRAY_SIZE(stage_options), argc - 2, argv + 2);
	if (r)
		return r;
	if (!s->map_memory)
		s->map_memory = max(div_u64(s->ring.blocks * NEARCACHE_STAGE_BLOCK,
					    STAGE_MEMORY_PART), STAGE_MEMORY_MIN);
	return dm_set_target_max_io_len(s->ti, NEARCACHE_STAGE_WRITE_MAX);
}

/**
 * nc_stage_message() - handle a message: "commit", or "set <option> <value>"
 * @s: stage
 * @argc: number of words
 * @argv: words
 * @result: of "commit": set to the number of the newest epoch that has data
 * @maxlen: size of @result
 *
 * Context: process; may sleep.
 * Return: 1 if @result is set, 0, or a negative error; the kernel log has the bad value.
 */
int nc_stage_message(struct nc_stage *s, unsigned int argc, char **argv, char *result,
		     unsigned int maxlen)
{
	u64 epoch;
	int r;

	if (argc == 3 && !strcasecmp(argv[0], "set")) {
		r = nc_options_change(s->ti, stage_options, ARRAY_SIZE(stage_options), argv[1],
				      argv[2]);
		if (!r)
			queue_work(s->queue, &s->room);
		return r;
	}
	if (argc != 1 || strcasecmp(argv[0], "commit"))
		return nc_refuse_word(s->ti, "Expected: commit, or: set <option> <value>", argv[0]);
	if (!READ_ONCE(s->started))
		return -EAGAIN;
	r = nc_stage_commit_sync(s, &epoch);
	if (r)
		return r;
	scnprintf(result, maxlen, "%llu", epoch);
	return 1;
}

/* Print the table line to @result, cut at @room bytes. */
void nc_stage_print(struct nc_stage *s, char *result, size_t room)
{
	size_t n = scnprintf(result, room, "%s %s", s->log->name, s->origin->name);

	nc_options_print(s->ti, stage_options, ARRAY_SIZE(stage_options), result + n, room - n);
}

/* The fields of the status line. */
struct stage_status {
#define STATUS_FIELD(name) u64 name;
	NEARCACHE_STAGE_STATUS(STATUS_FIELD)
#undef STATUS_FIELD
};

/* Context: @s->lock. */
static void fill_status(struct nc_stage *s, struct stage_status *st)
{
	const struct nc_ring *r = &s->ring;

	st->state = s->failed ? NEARCACHE_STAGE_LOG_BAD :
		    s->retrying ? NEARCACHE_STAGE_RETRIES : NEARCACHE_STAGE_NORMAL;
	st->behind_bytes = nc_ring_behind(r) * NEARCACHE_STAGE_BLOCK;
	st->retained_bytes = (r->marked.place - r->tail.place) * NEARCACHE_STAGE_BLOCK;
	st->open_epoch = r->open.epoch;
	st->committed_epoch = r->committed.epoch - 1;
	st->drained_epoch = r->marked.epoch - 1;
	st->behind_since = s->open_since;
	if (r->marked.record != r->open.record)
		st->behind_since = nc_ring_behind_since(r);
	st->drained_time = s->drained_time;
	st->entries = r->head_record - r->tail.record;
	st->entries_max = r->records_max;
	st->waiting = s->waiting_count;
	st->written_bytes = s->count.written_bytes;
	st->drained_bytes = s->count.drained_bytes;
	st->log_read_bytes = s->count.log_read_bytes;
	st->commits = s->count.commits;
	st->retries = s->count.retries;
}

/* Print the status line to @result, cut at @room bytes. */
void nc_stage_status(struct nc_stage *s, char *result, size_t room)
{
	struct stage_status st = {
		.version = NEARCACHE_STAGE_STATUS_VERSION,
		.ring_bytes = s->ring.blocks * NEARCACHE_STAGE_BLOCK,
	};
	const u64 *field = (const u64 *)&st;
	size_t n = 0;
	u32 i;

	if (READ_ONCE(s->started)) {
		spin_lock_irq(&s->lock);
		fill_status(s, &st);
		spin_unlock_irq(&s->lock);
	}
	for (i = 0; i < sizeof(st) / sizeof(*field); i++)
		n += scnprintf(result + n, room - n, i ? " %llu" : "%llu", field[i]);
}
