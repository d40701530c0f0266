// SPDX-License-Identifier: GPL-2.0-only
/* cluster/homes.c, homes_find.c: which parts of ranges and shards have their home on the local node. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "block/device_sysfs.h"
#include "block/dm_unprivileged.h"
#include "block/lock.h"
#include "cluster/homes.h"
#include "lib/error.h"
#include "unit.h"

#define EXTENT	65536ULL
#define EXTENTS	32
/* A volume that ends inside its last extent. */
#define SIZE	(EXTENTS * EXTENT - 4096)

/* For each extent its first home, and the node that is not one of its first two homes. */
static const char first[] = "cccacacbccaccaccabbccbaaabbcccbc";
static const char not_in_pair[] = "abbcbbaabbcbababbaaaaabbbcababcb";

/* Table line of the only cluster device; NULL: there is none. */
static char *cluster_line;

int dm_all_clusters(struct dm_device **list, size_t *count)
{
	*count = !!cluster_line;
	*list = calloc(1, sizeof(**list));
	**list = (struct dm_device){ .name = "vol", .size = SIZE, .table = cluster_line };
	return 0;
}

void dm_device_free_all(struct dm_device *list, size_t count)
{
	(void)count;
	free(list);
}

/* For verbs that name a device: not called here. */
int dm_find(const char *name, struct dm_device *dev, bool *found)
{
	(void)name;
	(void)dev;
	*found = false;
	return 0;
}

int dm_need_ours(const char *name, struct dm_device *dev)
{
	(void)name;
	(void)dev;
	return CODE_DEVICE;
}

void dm_device_free(struct dm_device *dev)
{
	(void)dev;
}

bool identity_attribute(dev_t number, const char *attribute, char *text, size_t size)
{
	(void)number;
	(void)attribute;
	(void)text;
	(void)size;
	return false;
}

bool lock_held(void)
{
	return false;
}

void lock_name(const char *name)
{
	(void)name;
}

void lock_release(void)
{
}

int target_resolve_for(enum target_use use, const struct arguments *args,
		       const struct dm_device *dev, struct shards *shards)
{
	(void)use;
	(void)args;
	(void)dev;
	(void)shards;
	return 0;
}

static void take(struct homes *homes, const char *line)
{
	char status[] = "1 3 6 4 0 0 0 0 0 0 0 0 0 0 0 1 0 0 0 0 0";
	struct dm_device dev = { .name = "vol", .size = SIZE, .table = (char *)line,
				 .status = status };

	assert_int_equal(homes_take(homes, &dev), 0);
	assert_true(homes_divide(homes));
}

static void three_nodes(struct homes *homes, unsigned int replicas, char self)
{
	char line[128];

	snprintf(line, sizeof(line), "253:1 253:2 128 %u %c 3 a 10 - b 10 8:1 c 20 -", replicas, self);
	take(homes, line);
	/* The status: here, up, failed. */
	assert_int_equal(homes->down, 1);
}

static void whole_extents(void **state)
{
	struct homes homes;
	uint64_t extent;
	char self;

	(void)state;
	for (self = 'a'; self <= 'c'; self++) {
		three_nodes(&homes, 1, self);
		for (extent = 0; extent < EXTENTS; extent++)
			assert_int_equal(homes_are_here(&homes, extent), first[extent] == self);
		homes_free(&homes);
		three_nodes(&homes, 2, self);
		for (extent = 0; extent < EXTENTS; extent++)
			assert_int_equal(homes_are_here(&homes, extent), not_in_pair[extent] != self);
		homes_free(&homes);
		three_nodes(&homes, 3, self);
		for (extent = 0; extent < EXTENTS; extent++)
			assert_true(homes_are_here(&homes, extent));
		homes_free(&homes);
	}
}

/* Compare the pieces of a range, here and at peers, with the table for each sector. */
static void check_range(const struct homes *homes, struct range range)
{
	struct range *piece[2];
	size_t count[2], i, here, next[2] = { 0, 0 };
	uint64_t at, in[2] = { 0, 0 };

	for (here = 0; here < 2; here++)
		assert_int_equal(homes_select(homes, here, &range, 1, &piece[here], &count[here]), 0);
	for (at = range.start; at < range.start + range.length && at < SIZE; at += 512) {
		here = first[at / EXTENT] == 'a';
		i = next[here];
		assert_true(i < count[here]);
		assert_true(at == piece[here][i].start + in[here]);
		in[here] += 512;
		if (in[here] == piece[here][i].length) {
			in[here] = 0;
			next[here]++;
		}
	}
	for (here = 0; here < 2; here++) {
		assert_int_equal(next[here], count[here]);
		/* Pieces are as long as possible. */
		for (i = 1; i < count[here]; i++)
			assert_true(piece[here][i - 1].start + piece[here][i - 1].length <
				    piece[here][i].start);
		free(piece[here]);
	}
}

static void ranges_cut(void **state)
{
	static const struct range range[] = {
		{ 0, SIZE }, { 0, 512 }, { 3 * EXTENT, EXTENT }, { 3 * EXTENT - 512, 1024 },
		{ 4 * EXTENT - 512, 1024 }, { 22 * EXTENT + 512, 3 * EXTENT - 1024 },
		{ 22 * EXTENT, 3 * EXTENT }, { 5 * EXTENT + 4096, 11 * EXTENT + 512 },
		{ SIZE - 512, 512 }, { SIZE - 512, 4 * EXTENT }, { SIZE, 512 },
		{ 100 * EXTENT, EXTENT }, { 0, 100 * EXTENT },
	};
	struct homes homes;
	size_t i;

	(void)state;
	three_nodes(&homes, 1, 'a');
	for (i = 0; i < sizeof(range) / sizeof(range[0]); i++)
		check_range(&homes, range[i]);
	homes_free(&homes);
}

static void one_node(void **state)
{
	const struct range range = { 512, SIZE - 512 };
	struct range *piece;
	struct homes homes;
	size_t count;

	(void)state;
	take(&homes, "253:1 253:2 128 1 a 1 a 10 -");
	assert_int_equal(homes_select(&homes, true, &range, 1, &piece, &count), 0);
	assert_int_equal(count, 1);
	assert_memory_equal(piece, &range, sizeof(range));
	free(piece);
	assert_int_equal(homes_select(&homes, false, &range, 1, &piece, &count), 0);
	assert_int_equal(count, 0);
	free(piece);
	homes_free(&homes);
}

static void shards_kept(void **state)
{
	struct homes homes, none = { 0 };
	struct shards shards = { .size = SIZE };
	struct homes_part part;

	(void)state;
	three_nodes(&homes, 1, 'a');
	shard_add_range(shards_add(&shards, "mixed"), 2 * EXTENT, 4 * EXTENT);
	shard_add_range(shards_add(&shards, "elsewhere"), 0, EXTENT);
	shards_add(&shards, "empty");
	/* The name of a cache: everything is here. */
	assert_int_equal(homes_keep(&none, &shards, &part), 0);
	assert_true(part.here == 5 * EXTENT && part.all == 5 * EXTENT);
	assert_int_equal(homes_keep(&homes, &shards, &part), 0);
	assert_true(part.here == 2 * EXTENT && part.all == 5 * EXTENT);
	assert_int_equal(shards.count, 3);
	assert_int_equal(shards.shard[0].ranges, 2);
	assert_true(shards.shard[0].bytes == 2 * EXTENT);
	assert_true(shards.shard[0].range[1].start == 5 * EXTENT);
	assert_true(!shards.shard[1].ranges && !shards.shard[1].bytes && !shards.shard[2].ranges);
	shards_free(&shards);
	homes_free(&homes);
}

/* A refresh of pins: without the cluster device, no part is known, and all would be too much. */
static void part_unknown(void **state)
{
	struct dm_device left = { .name = "left", .number = makedev(253, 7) };
	struct dm_device home = { .name = "home", .number = makedev(253, 1) };
	char line[] = "253:1 253:2 128 1 a 3 a 10 - b 10 8:1 c 20 -";
	struct shards shards = { .size = SIZE };

	(void)state;
	shard_add_range(shards_add(&shards, "mixed"), 2 * EXTENT, 4 * EXTENT);
	assert_int_equal(homes_keep_live(&left, &shards), CODE_DEVICE);
	fail_reset();
	cluster_line = line;
	assert_int_equal(homes_keep_live(&left, &shards), CODE_DEVICE);
	assert_int_equal(shards.shard[0].bytes, 4 * EXTENT);
	fail_reset();
	assert_int_equal(homes_keep_live(&home, &shards), 0);
	assert_int_equal(shards.shard[0].bytes, 2 * EXTENT);
	shards_free(&shards);
}

static void bytes_of_nodes(void **state)
{
	const struct range range[] = { { 0, 4 * EXTENT }, { 7 * EXTENT + 512, 512 },
				       { SIZE - 512, EXTENT } };
	uint64_t bytes[3] = { 0 };
	struct homes homes;

	(void)state;
	three_nodes(&homes, 1, 'b');
	homes_add_bytes(&homes, range, 3, bytes);
	assert_true(bytes[0] == EXTENT && bytes[1] == 512 && bytes[2] == 3 * EXTENT + 512);
	homes_free(&homes);
	three_nodes(&homes, 2, 'b');
	memset(bytes, 0, sizeof(bytes));
	homes_add_bytes(&homes, range, 1, bytes);
	assert_true(bytes[0] == 3 * EXTENT && bytes[1] == 2 * EXTENT && bytes[2] == 3 * EXTENT);
	homes_free(&homes);
}

static void tables_refused(void **state)
{
	static const char *const line[] = {
		"253:1 253:2 128 1 x 1 a 10 -", "253:1 253:2 0 1 a 1 a 10 -",
		"253:1 253:2 128 0 a 1 a 10 -", "253:1 253:2 128 9 a 1 a 10 -", "253:1",
	};
	struct homes homes;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(line) / sizeof(line[0]); i++) {
		struct dm_device dev = { .name = "vol", .size = SIZE, .table = (char *)line[i] };

		assert_int_not_equal(homes_take(&homes, &dev), 0);
		homes_free(&homes);
	}
}

/* A user without access to device-mapper gets no table, and learns that. */
static void table_for_root(void **state)
{
	struct dm_device dev = { .name = "vol", .size = SIZE, .open_count = DM_OPEN_UNKNOWN };
	struct homes homes;

	(void)state;
	assert_int_equal(homes_take(&homes, &dev), CODE_PERMISSION);
	assert_non_null(strstr(fail_message(), "only root can read"));
	homes_free(&homes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_extents), cmocka_unit_test(ranges_cut),
		cmocka_unit_test(one_node), cmocka_unit_test(shards_kept),
		cmocka_unit_test(part_unknown), cmocka_unit_test(bytes_of_nodes),
		cmocka_unit_test(table_for_root), cmocka_unit_test(tables_refused),
	};

	return RUN(tests);
}
