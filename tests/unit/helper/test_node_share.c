// SPDX-License-Identifier: GPL-2.0-only
/* files/node_share.c: nodes sort shards alike, and a checksum shows whether their lists differ. */
#include "files/node_share.h"
#include "unit.h"

static void add(struct shards *shards, const char *name, uint64_t bytes)
{
	struct shard *shard = shards_add(shards, name);

	assert_non_null(shard);
	shard->bytes = bytes;
}

static uint32_t sum(struct shards *shards, size_t *order)
{
	size_t i;

	for (i = 0; i < shards->count; i++)
		order[i] = i;
	node_share_sort(shards, order, shards->count);
	return node_share_checksum(shards, order, shards->count);
}

/* Names are sorted as bytes, independent of the locale. */
static void sorted(void **state)
{
	static const char *const names[] = { "b", "B", "\xc3\xa4", "a.tar", "a-b", "a" };
	static const size_t expected[] = { 1, 5, 4, 3, 0, 2 };
	struct shards shards = { 0 };
	size_t i, order[6];

	(void)state;
	for (i = 0; i < 6; i++)
		add(&shards, names[i], 0);
	sum(&shards, order);
	assert_memory_equal(order, expected, sizeof(order));
	shards_free(&shards);
}

/* Values that zlib computed.  They must never change: nodes of different versions compare them. */
static void fixed_checksums(void **state)
{
	struct shards shards = { 0 };
	size_t order[2];

	(void)state;
	assert_int_equal(sum(&shards, order), 0);
	add(&shards, "s2.tar", 1 << 20);
	assert_int_equal(sum(&shards, order), 0xe7de1118);
	add(&shards, "s1.tar", UINT64_MAX);
	assert_int_equal(sum(&shards, order), 0x6fac1c77);
	shards_free(&shards);
}

/* Each list has its own checksum, whatever the order in which a node found the shards. */
static void tells_apart(void **state)
{
	static const struct {
		const char *name[2];
		uint64_t bytes[2];
	} row[] = {
		{ { "a", "b" }, { 512, 1024 } },
		{ { "a", "b" }, { 1024, 512 } },
		{ { "a", "b" }, { 512, 1025 } },
		{ { "a", "c" }, { 512, 1024 } },
		{ { "a5", "b" }, { 12, 1024 } },
		{ { "a", "b1" }, { 512, 24 } },
		{ { "ab", "" }, { 512, 1024 } },
	};
	uint32_t seen[sizeof(row) / sizeof(row[0])];
	size_t i, j, order[2];

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct shards shards = { 0 }, turned = { 0 };

		for (j = 0; j < 2; j++) {
			add(&shards, row[i].name[j], row[i].bytes[j]);
			add(&turned, row[i].name[!j], row[i].bytes[!j]);
		}
		seen[i] = sum(&shards, order);
		assert_int_equal(sum(&turned, order), seen[i]);
		for (j = 0; j < i; j++)
			assert_int_not_equal(seen[i], seen[j]);
		shards_free(&shards);
		shards_free(&turned);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorted),
		cmocka_unit_test(fixed_checksums),
		cmocka_unit_test(tells_apart),
	};

	return RUN(tests);
}
