// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table line is parsed into a struct nc_target and printed from it, so that a reload of the
 * printed line changes nothing.  Format: kmod/doc/interface.md.
 */
#include "dm/table_line.h"
#include "cache.h"

#define FILL_MEMORY_DEFAULT	67108864ULL	/* bytes: 64 MiB */

/* In milliseconds.  With this value reads bypass a hung cache device within 1 s. */
#define CACHE_TIMEOUT_DEFAULT	700U

/* Report a bad word of the table line; returns -EINVAL.  Cuts @value: a record of the kernel log
 * has room for about 1000 bytes, and must hold the complete @error behind it.
 */
static int bad_word(struct nc_target *t, char *error, const char *value)
{
	DMERR("%s: '%.128s': %s", dm_device_name(dm_table_get_md(t->ti->table)),
	      value, error);
	t->ti->error = error;
	return -EINVAL;
}

static int parse_fill_memory(struct nc_target *t, const char *name,
			     const char *value)
{
	if (t->fill_memory_given)
		return bad_word(t, "Option given twice", name);
	if (kstrtou64(value, 10, &t->fill_memory_max) ||
	    t->fill_memory_max < NEARCACHE_FILL_MEMORY_MIN ||
	    t->fill_memory_max > NEARCACHE_FILL_MEMORY_MAX)
		return bad_word(t, "fill_memory must be 1048576 to 1099511627776 bytes",
				value);
	t->fill_memory_given = true;
	return 0;
}

static int parse_cache_timeout(struct nc_target *t, const char *name,
			       const char *value)
{
	if (t->cache_timeout_given)
		return bad_word(t, "Option given twice", name);
	if (kstrtou32(value, 10, &t->cache_timeout) ||
	    (t->cache_timeout && (t->cache_timeout < NEARCACHE_CACHE_TIMEOUT_MIN ||
				  t->cache_timeout > NEARCACHE_CACHE_TIMEOUT_MAX)))
		return bad_word(t, "cache_timeout must be 0 or 100 to 600000 milliseconds",
				value);
	t->cache_timeout_given = true;
	return 0;
}

static int parse_origin_timeout(struct nc_target *t, const char *name,
				const char *value)
{
	if (t->origin_timeout_given)
		return bad_word(t, "Option given twice", name);
	if (kstrtou32(value, 10, &t->origin_timeout) ||
	    t->origin_timeout > NEARCACHE_ORIGIN_TIMEOUT_MAX)
		return bad_word(t, "origin_timeout must be 0 to 86400 seconds",
				value);
	t->origin_timeout_given = true;
	return 0;
}

static int parse_verify(struct nc_target *t, const char *name,
			const char *value)
{
	if (t->verify_given)
		return bad_word(t, "Option given twice", name);
	if (kstrtou32(value, 10, &t->verify))
		return bad_word(t, "verify must be 0 to 4294967295 hits", value);
	t->verify_given = true;
	return 0;
}

static int parse_witness(struct nc_target *t, const char *name,
			 const char *value)
{
	if (t->witness_path)
		return bad_word(t, "Option given twice", name);
	t->witness_path = value;
	return 0;
}

static int parse_member(struct nc_target *t, const char *value)
{
	if (t->others == ARRAY_SIZE(t->other_path))
		return bad_word(t, "A cache has at most 16 cache devices", value);
	t->other_path[t->others++] = value;
	return 0;
}

static int parse_option(struct nc_target *t, const char *name,
			const char *value)
{
	if (!strcmp(name, "fill_memory"))
		return parse_fill_memory(t, name, value);
	if (!strcmp(name, "cache_timeout"))
		return parse_cache_timeout(t, name, value);
	if (!strcmp(name, "origin_timeout"))
		return parse_origin_timeout(t, name, value);
	if (!strcmp(name, "verify"))
		return parse_verify(t, name, value);
	if (!strcmp(name, "witness"))
		return parse_witness(t, name, value);
	if (!strcmp(name, "member"))
		return parse_member(t, value);
	return bad_word(t, "Unknown option", name);
}

static int parse_options(struct nc_target *t, unsigned int argc, char **argv)
{
	unsigned int count, i;
	int r;

	if (!argc)
		return 0;
	if (kstrtouint(argv[0], 10, &count))
		return bad_word(t, "Number of option words expected", argv[0]);
	if (count != argc - 1)
		return bad_word(t, "Number of option words does not match the words that follow",
				argv[0]);
	if (count % 2)
		return bad_word(t, "Options are pairs of name and value", argv[0]);
	for (i = 1; i <= count; i += 2) {
		r = parse_option(t, argv[i], argv[i + 1]);
		if (r)
			return r;
	}
	return 0;
}

static const char *const mode_names[] = {
	[NEARCACHE_READ_ONLY]		= "read-only",
	[NEARCACHE_WRITEAROUND]		= "writearound",
	[NEARCACHE_WRITETHROUGH]	= "writethrough",
};

/* Return the word for an enum nearcache_mode in the table line. */
const char *nc_args_mode(int mode)
{
	return mode_names[mode];
}

static int parse_mode(struct nc_target *t, const char *word)
{
	t->mode = match_string(mode_names, ARRAY_SIZE(mode_names), word);
	if (t->mode < 0)
		return bad_word(t, "Mode must be read-only, writearound or writethrough",
				word);
	if (nc_target_writes(t) &&
	    !(dm_table_get_mode(t->ti->table) & NC_MODE_WRITE))
		return bad_word(t, "A table loaded read-only needs mode read-only",
				word);
	return 0;
}

static int open_device(struct nc_target *t, const char *path, bool write,
		       struct dm_dev **dev, char *error)
{
	int r = dm_get_device(t->ti, path,
			      NC_MODE_READ | (write ? NC_MODE_WRITE : 0), dev);

	if (r) {
		bad_word(t, error, path);
		return r;
	}
	if (write && bdev_read_only((*dev)->bdev)) {
		bad_word(t, error, path);
		return -EROFS;
	}
	if (bdev_is_zoned((*dev)->bdev))
		return bad_word(t, "Zoned devices are not supported", path);
	return 0;
}

/* Open the cache devices after the first one.  If two of them overlapped, the data of two
 * slots would overwrite each other.
 */
static int open_others(struct nc_target *t)
{
	u32 i, j;
	int r;

	for (i = 0; i < t->others; i++) {
		r = open_device(t, t->other_path[i], true, &t->other[i],
				"Cache device cannot be opened for writing");
		if (r)
			return r;
		if (nc_overlap(t->other[i]->bdev, t->dev->bdev))
			return bad_word(t, "Two cache devices are the same device",
					t->other_path[i]);
		for (j = 0; j < i; j++)
			if (nc_overlap(t->other[i]->bdev, t->other[j]->bdev))
				return bad_word(t, "Two cache devices are the same device",
						t->other_path[i]);
	}
	return 0;
}

static bool on_others(const struct nc_target *t, struct block_device *bdev)
{
	u32 i;

	for (i = 0; i < t->others; i++)
		if (nc_overlap(bdev, t->other[i]->bdev))
			return true;
	return false;
}

/* Open the witness.  It must detect that the cache device left, so it has to be another device. */
static int open_witness(struct nc_target *t, const char *path)
{
	struct block_device *bdev;
	int r = open_device(t, path, nc_target_writes(t), &t->witness,
			    "Witness device cannot be opened");

	if (r)
		return r;
	bdev = t->witness->bdev;
	if (nc_overlap(bdev, t->dev->bdev) || on_others(t, bdev) ||
	    nc_overlap(bdev, t->origin->bdev))
		return bad_word(t, "Witness is on the origin or the cache device", path);
	if (bdev_nr_bytes(bdev) < NEARCACHE_WITNESS_SIZE ||
	    bdev_logical_block_size(bdev) > NEARCACHE_WITNESS_SIZE)
		return bad_word(t, "Witness needs 4096 bytes, in logical blocks of at most 4096",
				path);
	return 0;
}

/**
 * nc_args_parse() - parse a table line and open its devices
 * @t: zeroed except @t->ti; after an error the caller closes the devices that are not NULL
 * @argc: number of words
 * @argv: words behind the name of the target
 *
 * Context: constructor; may sleep.
 * Return: 0, -EINVAL or the error of opening a device; t->ti->error is set and the kernel
 * log has the bad value.
 */
int nc_args_parse(struct nc_target *t, unsigned int argc, char **argv)
{
	int r;

	if (argc < 3)
		return bad_word(t, "Expected: <mode> <origin> <cache> [<#words> <options>]",
				argc ? argv[0] : "");
	t->fill_memory_max = FILL_MEMORY_DEFAULT;
	t->cache_timeout = CACHE_TIMEOUT_DEFAULT;
	r = parse_mode(t, argv[0]);
	if (!r)
		r = parse_options(t, argc - 3, argv + 3);
	if (r)
		return r;
	/* Open the origin after the cache device: if they were the same device, device-mapper
	 * would upgrade the mode of the first open and free its struct dm_dev.
	 */
	r = open_device(t, argv[2], true, &t->dev,
			"Cache device cannot be opened for writing");
	if (!r)
		r = open_others(t);
	if (r)
		return r;
	r = open_device(t, argv[1], nc_target_writes(t), &t->origin,
			nc_target_writes(t) ?
				"Origin cannot be written: use mode read-only" :
				"Origin device cannot be opened");
	if (r)
		return r;
	if (nc_overlap(t->origin->bdev, t->dev->bdev) ||
	    on_others(t, t->origin->bdev))
		return bad_word(t, "Origin and cache device are the same device", argv[2]);
	return t->witness_path ? open_witness(t, t->witness_path) : 0;
}

/* Print the table line as given, but with the current settings, to @result, cut at @room bytes. */
void nc_args_print(const struct nc_target *t, char *result, size_t room)
{
	/* live_settings.c may set these flags concurrently: count and print the same words. */
	bool fill_memory = READ_ONCE(t->fill_memory_given);
	bool cache_timeout = READ_ONCE(t->cache_timeout_given);
	bool origin_timeout = READ_ONCE(t->origin_timeout_given);
	bool verify = READ_ONCE(t->verify_given);
	unsigned int words, i;
	size_t n;

	n = scnprintf(result, room, "%s %s %s", nc_args_mode(t->mode),
		      t->origin->name, t->dev->name);
	words = 2 * (fill_memory + cache_timeout + origin_timeout + verify +
		     !!t->witness + t->others);
	if (words)
		n += scnprintf(result + n, room - n, " %u", words);
	if (fill_memory)
		n += scnprintf(result + n, room - n, " fill_memory %llu",
			       READ_ONCE(t->fill_memory_max));
	if (cache_timeout)
		n += scnprintf(result + n, room - n, " cache_timeout %u",
			       READ_ONCE(t->cache_timeout));
	if (origin_timeout)
		n += scnprintf(result + n, room - n, " origin_timeout %u",
			       READ_ONCE(t->origin_timeout));
	if (verify)
		n += scnprintf(result + n, room - n, " verify %u",
			       READ_ONCE(t->verify));
	if (t->witness)
		n += scnprintf(result + n, room - n, " witness %s",
			       t->witness->name);
	for (i = 0; i < t->others; i++)
		n += scnprintf(result + n, room - n, " member %s",
			       t->other[i]->name);
}
