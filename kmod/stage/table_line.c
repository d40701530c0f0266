// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table line of the target nearcache-stage, its messages and its status line.  A reload of the
 * printed table line changes nothing.  Format: kmod/doc/stage.md.
 */
#include <linux/log2.h>
#include <linux/ktime.h>

#include "core/compat.h"
#include "stage/stage.h"

#define STAGE_RATE_MIN		65536ULL
#define STAGE_RATE_MAX		(1024ULL << 30)
#define STAGE_BEHIND_MIN	(1024ULL << 10)
#define STAGE_TIME_MAX		86400U
#define STAGE_MEMORY_MIN	(1024ULL << 10)
#define STAGE_MEMORY_MAX	(1024ULL << 30)
/* Default of map_memory: this part of the ring. */
#define STAGE_MEMORY_PART	1024

/* Longest epoch, in blocks: 1 GiB. */
#define STAGE_EPOCH_BLOCKS	(256ULL << 10)

/* Report a bad word of the table line or message; returns -EINVAL. */
static int stage_refuse(struct nc_stage *s, char *error, const char *value)
{
	DMERR("%s: '%.128s': %s", nc_stage_name(s), value, error);
	s->ti->error = error;
	return -EINVAL;
}

/* Limit the length of an epoch, so that the ring and max_behind have room for several. */
static void set_epoch_limit(struct nc_stage *s)
{
	u64 blocks = min(div_u64(s->ring.blocks, 8), STAGE_EPOCH_BLOCKS);

	if (s->max_behind)
		blocks = min(blocks, div_u64(s->max_behind, 4 * NEARCACHE_STAGE_BLOCK));
	spin_lock_irq(&s->lock);
	s->ring.epoch_blocks_max = blocks;
	spin_unlock_irq(&s->lock);
}

static int set_rate(struct nc_stage *s, const char *value)
{
	u64 rate;

	if (kstrtou64(value, 10, &rate) ||
	    (rate && (rate < STAGE_RATE_MIN || rate > STAGE_RATE_MAX)))
		return stage_refuse(s, "rate must be 0 or 65536 to 1099511627776 bytes/s", value);
	WRITE_ONCE(s->rate, rate);
	wake_up(&s->drain.wait);
	return 0;
}

static int set_max_behind(struct nc_stage *s, const char *value)
{
	u64 bytes;

	if (kstrtou64(value, 10, &bytes) || (bytes && bytes < STAGE_BEHIND_MIN))
		return stage_refuse(s, "max_behind must be 0 or at least 1048576 bytes", value);
	WRITE_ONCE(s->max_behind, bytes);
	set_epoch_limit(s);
	return 0;
}

static int set_max_behind_time(struct nc_stage *s, const char *value)
{
	u32 seconds;

	if (kstrtou32(value, 10, &seconds) || seconds > STAGE_TIME_MAX)
		return stage_refuse(s, "max_behind_time must be 0 to 86400 seconds", value);
	WRITE_ONCE(s->max_behind_time, seconds);
	return 0;
}

static int set_keep_retained(struct nc_stage *s, const char *value)
{
	return kstrtobool(value, &s->keep_retained) ?
	       stage_refuse(s, "keep_retained must be 0 or 1", value) : 0;
}

static int set_map_memory(struct nc_stage *s, const char *value)
{
	u64 bytes;

	if (kstrtou64(value, 10, &bytes) || bytes < STAGE_MEMORY_MIN || bytes > STAGE_MEMORY_MAX)
		return stage_refuse(s, "map_memory must be 1048576 to 1099511627776 bytes", value);
	s->map_memory = bytes;
	return 0;
}

static const struct {
	const char *name;
	int (*set)(struct nc_stage *s, const char *value);
	bool constant;
} stage_options[] = {
	{ "rate", set_rate },
	{ "max_behind", set_max_behind },
	{ "max_behind_time", set_max_behind_time },
	{ "map_memory", set_map_memory, true },
	{ "keep_retained", set_keep_retained, true },
};

/* Set an option.  @given: bit mask of the options given so far; NULL: the table is live. */
static int set_stage_option(struct nc_stage *s, const char *name, const char *value, u32 *given)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(stage_options); i++)
		if (!strcmp(name, stage_options[i].name))
			break;
	if (i == ARRAY_SIZE(stage_options))
		return stage_refuse(s, "Unknown option", name);
	if (!given && stage_options[i].constant)
		return stage_refuse(s, "Option can only be given in the table", name);
	if (given && *given & BIT(i))
		return stage_refuse(s, "Option given twice", name);
	if (given)
		*given |= BIT(i);
	return stage_options[i].set(s, value);
}

static int parse_stage_options(struct nc_stage *s, unsigned int argc, char **argv)
{
	unsigned int count, i;
	u32 given = 0;
	int r = 0;

	if (!argc)
		return 0;
	if (kstrtouint(argv[0], 10, &count) || count != argc - 1 || count % 2)
		return stage_refuse(s, "Number of option words expected, pairs of name and value",
				    argv[0]);
	for (i = 1; i <= count && !r; i += 2)
		r = set_stage_option(s, argv[i], argv[i + 1], &given);
	return r;
}

static int open_stage_device(struct nc_stage *s, const char *path, struct dm_dev **dev, char *error)
{
	int r = dm_get_device(s->ti, path, dm_table_get_mode(s->ti->table), dev);

	if (r) {
		*dev = NULL;
		stage_refuse(s, error, path);
		return r;
	}
	if (bdev_logical_block_size((*dev)->bdev) > NEARCACHE_STAGE_BLOCK)
		return stage_refuse(s, "Logical block size must be at most 4096 bytes", path);
	if (bdev_is_zoned((*dev)->bdev))
		return stage_refuse(s, "Zoned devices are not supported", path);
	return 0;
}

static int check_devices(struct nc_stage *s)
{
	char *error;
	int r;

	if (s->ti->begin || s->ti->len != bdev_nr_sectors(s->origin->bdev))
		return stage_refuse(s, "The table must cover the whole origin, from sector 0",
				    s->origin->name);
	if (s->log->bdev->bd_dev == s->origin->bdev->bd_dev)
		return stage_refuse(s, "Log and origin are one device", s->log->name);
	r = nc_stage_super_read(s, &error);
	if (r) {
		stage_refuse(s, error, s->log->name);
		return r;
	}
	if (le64_to_cpu(s->super.block->volume_sectors) > s->ti->len)
		return stage_refuse(s, "Log is for a larger origin", s->log->name);
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
		return stage_refuse(s, "Expected: log, origin", argc ? argv[0] : "");
	if (!(dm_table_get_mode(s->ti->table) & NC_MODE_WRITE))
		return stage_refuse(s, "A stage cannot be read-only", argv[0]);
	r = open_stage_device(s, argv[0], &s->log, "Cannot open the log device") ?:
	    open_stage_device(s, argv[1], &s->origin, "Cannot open the origin") ?:
	    check_devices(s) ?: parse_stage_options(s, argc - 2, argv + 2);
	if (r)
		return r;
	if (!s->map_memory)
		s->map_memory = max(div_u64(s->ring.blocks * NEARCACHE_STAGE_BLOCK,
					    STAGE_MEMORY_PART), STAGE_MEMORY_MIN);
	set_epoch_limit(s);
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
		r = set_stage_option(s, argv[1], argv[2], NULL);
		if (!r)
			queue_work(s->queue, &s->room);
		return r;
	}
	if (argc != 1 || strcasecmp(argv[0], "commit"))
		return stage_refuse(s, "Expected: commit, or: set <option> <value>", argv[0]);
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
	u64 rate = READ_ONCE(s->rate), behind = READ_ONCE(s->max_behind);
	u32 time = READ_ONCE(s->max_behind_time);
	size_t n;

	n = scnprintf(result, room, "%s %s %u", s->log->name, s->origin->name,
		      2 + 2 * (!!rate + !!behind + !!time + s->keep_retained));
	if (rate)
		n += scnprintf(result + n, room - n, " rate %llu", rate);
	if (behind)
		n += scnprintf(result + n, room - n, " max_behind %llu", behind);
	if (time)
		n += scnprintf(result + n, room - n, " max_behind_time %u", time);
	n += scnprintf(result + n, room - n, " map_memory %llu", s->map_memory);
	if (s->keep_retained)
		scnprintf(result + n, room - n, " keep_retained 1");
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
