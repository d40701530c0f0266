// SPDX-License-Identifier: GPL-2.0-only
/* shard/partition.c: shuffled orders, and shares of the nodes that are disjoint and complete. */
#include "shard/shard_split.h"
#include "unit.h"

#define COUNT	1000

static void fill(size_t *order, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		order[i] = i;
}

/* Orders that another program computed.  They must never change: all nodes shuffle alike. */
static void fixed_orders(void **state)
{
	static const struct {
		uint64_t seed, epoch;
		size_t order[10];
	} row[] = {
		{ 0, 0, { 1, 2, 5, 7, 0, 8, 4, 3, 9, 6 } },
		{ 0, 1, { 2, 5, 6, 9, 0, 4, 7, 3, 8, 1 } },
		{ 42, 0, { 1, 7, 2, 5, 6, 4, 0, 9, 8, 3 } },
		{ UINT64_MAX, 7, { 3, 5, 0, 9, 7, 8, 4, 6, 2, 1 } },
	};
	size_t i, order[10];

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		fill(order, 10);
		share_shuffle(order, 10, row[i].seed, row[i].epoch);
		assert_memory_equal(order, row[i].order, sizeof(order));
	}
}

/* Check that the shares of all ranks are disjoint and cover the list. */
static void covers(size_t count, uint64_t nodes, bool shuffled,
		   enum share_split split)
{
	static size_t order[COUNT];
	static unsigned char seen[COUNT];
	size_t i, kept, all = 0;
	uint64_t rank;

	memset(seen, 0, sizeof(seen));
	for (rank = 0; rank < nodes; rank++) {
		const struct share share = { rank, nodes, shuffled, 42, 3,
					     split };

		fill(order, count);
		kept = share_select(&share, order, count);
		assert_in_range(kept, count / nodes, count / nodes + 1);
		for (i = 0; i < kept; i++) {
			assert_in_range(order[i], 0, count - 1);
			assert_int_equal(seen[order[i]]++, 0);
		}
		all += kept;
	}
	assert_int_equal(all, count);
}

static void disjoint_and_complete(void **state)
{
	static const size_t counts[] = { 1, 2, 7, 64, 1000 };
	static const uint64_t nodes[] = { 1, 2, 3, 8, 64, 1001 };
	size_t c, n;

	(void)state;
	for (c = 0; c < 5; c++)
		for (n = 0; n < 6; n++) {
			covers(counts[c], nodes[n], false, SHARE_STRIDED);
			covers(counts[c], nodes[n], true, SHARE_STRIDED);
			covers(counts[c], nodes[n], false, SHARE_BLOCKED);
			covers(counts[c], nodes[n], true, SHARE_BLOCKED);
		}
}

static void splits(void **state)
{
	struct share share = { .rank = 1, .world_size = 3 };
	size_t order[8];
	enum share_split split;

	(void)state;
	fill(order, 8);
	assert_int_equal(share_select(&share, order, 8), 3);
	assert_int_equal(order[0], 1);
	assert_int_equal(order[1], 4);
	assert_int_equal(order[2], 7);
	share.split = SHARE_BLOCKED;
	fill(order, 8);
	assert_int_equal(share_select(&share, order, 8), 3);
	assert_int_equal(order[0], 2);
	assert_int_equal(order[2], 4);
	assert_int_equal(share_select(&share, order, 0), 0);
	assert_true(share_split_parse("blocked", &split));
	assert_int_equal(split, SHARE_BLOCKED);
	assert_true(share_split_parse("strided", &split));
	assert_int_equal(split, SHARE_STRIDED);
	assert_false(share_split_parse("", &split));
	assert_false(share_split_parse("block", &split));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_orders),
		cmocka_unit_test(disjoint_and_complete),
		cmocka_unit_test(splits),
	};

	return RUN(tests);
}
