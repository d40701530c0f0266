// SPDX-License-Identifier: GPL-2.0-only
/* block/table_params.c: parameters of a table line as text and as a struct. */
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "block/table_params.h"
#include "unit.h"

/* Parsing and printing must not change a line: the helper compares its line with the kernel's. */
static void there_and_back(void **state)
{
	static const char *const line[] = {
		"read-only 259:3 259:0",
		"writearound 259:3 259:0",
		"writethrough 4095:1048575 8:16 2 fill_memory 67108864",
		"writethrough 8:0 8:16 4 fill_memory 1048576 later 7",
		"read-only 8:0 8:16 4 later 7 other x=y",
		"read-only 8:0 8:16 2 cache_timeout 0",
		"read-only 8:0 8:16 6 fill_memory 1048576 cache_timeout 700 later 7",
		"read-only 8:0 8:16 2 origin_timeout 0",
		"read-only 8:0 8:16 6 cache_timeout 700 origin_timeout 86400 later 7",
		"writethrough 8:0 8:16 2 witness 254:3",
		"read-only 8:0 8:16 2 member 8:32",
		"read-only 8:0 8:16 8 witness 254:3 member 8:32 member 8:48 later 7",
		"writethrough 8:0 8:16 6 verify 9 witness 254:3 later 7",
	};
	char text[PARAMS_TEXT];
	struct params params;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(line) / sizeof(line[0]); i++) {
		assert_true(params_parse(line[i], &params));
		assert_string_equal(params_print(&params, text), line[i]);
	}
}

static void parts(void **state)
{
	char text[PARAMS_TEXT];
	struct params params;

	(void)state;
	assert_true(params_parse("writearound 259:3 8:16 4 later 7 fill_memory 2097152",
				 &params));
	assert_int_equal(params.mode, NEARCACHE_WRITEAROUND);
	assert_int_equal(params.origin, makedev(259, 3));
	assert_int_equal(params.cache, makedev(8, 16));
	assert_int_equal(params.fill_memory, 2097152);
	/* Options that the helper does not know stay in the line when other options change. */
	params.mode = NEARCACHE_READ_ONLY;
	params.fill_memory = 0;
	assert_string_equal(params_print(&params, text),
			    "read-only 259:3 8:16 2 later 7");
}

static void not_understood(void **state)
{
	static const char *const line[] = {
		"", "read-only", "read-only 8:0", "read-only 8:0 8",
		"writeback 8:0 8:16", "read-only /dev/sda 8:16",
		"read-only 8:0 8:16 x", "read-only 8:0 8:16 2 fill_memory",
		"read-only 8:0 8:16 2 fill_memory x",
		"read-only 8:0 8:16 2 fill_memory 1x",
		"read-only 8:0 8:16 2 cache_timeout x",
		"read-only 8:0 8:16 2 cache_timeout -1",
		"read-only 8:0 8:16 2 origin_timeout 86401",
		"read-only 8:0 8:16 2 origin_timeout 1s",
		"read-only 8:0 8:16 2 member 8",
		"read-only 8:0 8:16 2 witness 8",
		"read-only 8:0 8:16 2 witness 8:1x",
		"read-only 8:0 8:16 2 witness /dev/sda",
	};
	char longest[600] = "read-only 8:0 8:16 8";
	struct params params;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(line) / sizeof(line[0]); i++)
		assert_false(params_parse(line[i], &params));
	/* A line that is too long is refused, not cut. */
	for (i = 0; i < 4; i++)
		strcat(longest, " later 12345678901234567890123456789012345678901234567890");
	assert_false(params_parse(longest, &params));
}

static void longest(void **state)
{
	char text[PARAMS_TEXT];
	struct params params = {
		.mode = NEARCACHE_WRITETHROUGH,
		.origin = makedev(0xffffffff, 0xffffffff),
		.cache = makedev(0xffffffff, 0xffffffff),
		.fill_memory = UINT64_MAX,
		.cache_timeout_given = true,
		.cache_timeout = 600000,
		.origin_timeout_given = true,
		.origin_timeout = 86400,
		.verify_given = true,
		.verify = 0xffffffff,
		.witness = makedev(0xffffffff, 0xffffffff),
		.members = NEARCACHE_MEMBERS_MAX - 1,
		.other_words = 0xffffffff - 10 - 30,
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < params.members; i++)
		params.member[i] = makedev(0xffffffff, 0xffffffff);
	memset(params.others, 'x', sizeof(params.others) - 1);
	assert_int_equal(strlen(params_print(&params, text)),
			 strlen("writethrough 4294967295:4294967295 4294967295:4294967295 4294967295 fill_memory 18446744073709551615 cache_timeout 600000 origin_timeout 86400 verify 4294967295 witness 4294967295:4294967295") +
			 15 * strlen(" member 4294967295:4294967295") +
			 sizeof(params.others) - 1);
}

static void fill_memory(void **state)
{
	(void)state;
	assert_false(params_fill_memory_ok(0));
	assert_false(params_fill_memory_ok((1 << 20) - 1));
	assert_true(params_fill_memory_ok(1 << 20));
	assert_true(params_fill_memory_ok(1ULL << 40));
	assert_false(params_fill_memory_ok((1ULL << 40) + 1));
}

static void cache_timeout(void **state)
{
	static const char *const good[] = { "0", "100", "700", "600000" };
	static const char *const bad[] = {
		"", "x", "1x", "-1", " 1", "1", "99", "600001", "18446744073709551616",
	};
	struct params params;
	unsigned int ms, i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(params_cache_timeout_parse(good[i], &ms));
		assert_int_equal(ms, atoi(good[i]));
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(params_cache_timeout_parse(bad[i], &ms));
	assert_true(params_parse("read-only 8:0 8:16 4 cache_timeout 0 fill_memory 1048576",
				 &params));
	assert_int_equal(params_cache_timeout(&params), 0);
	assert_int_equal(params.fill_memory, 1 << 20);
	assert_true(params_parse("read-only 8:0 8:16", &params));
	assert_int_equal(params_cache_timeout(&params), 700);
}

static void origin_timeout(void **state)
{
	static const char *const good[] = { "0", "1", "60", "86400" };
	static const char *const bad[] = {
		"", "x", "1x", "-1", " 1", "86401", "18446744073709551616",
	};
	struct params params;
	unsigned int seconds, i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(params_origin_timeout_parse(good[i], &seconds));
		assert_int_equal(seconds, atoi(good[i]));
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(params_origin_timeout_parse(bad[i], &seconds));
	assert_true(params_parse("read-only 8:0 8:16", &params));
	assert_int_equal(params.origin_timeout, 0);
	assert_false(params_same("read-only 8:0 8:16 2 origin_timeout 1",
				 "read-only 8:0 8:16 2 origin_timeout 2"));
}

static void same(void **state)
{
	(void)state;
	assert_true(params_same("read-only 8:0 8:16 4 verify 9 fill_memory 1",
				"read-only 8:0 8:16 4 fill_memory 1 verify 9"));
	assert_false(params_same("read-only 8:0 8:16 2 verify 9", "read-only 8:0 8:16"));
	assert_false(params_same("read-only 8:0 8:16 2 witness 8:1",
				 "read-only 8:0 8:16"));
	assert_false(params_same("read-only 8:0 8:16 2 witness 8:1",
				 "read-only 8:0 8:16 2 witness 8:2"));
	assert_true(params_same("read-only 8:0 8:16 4 witness 8:1 verify 9",
				"read-only 8:0 8:16 4 verify 9 witness 8:1"));
	assert_false(params_same("read-only 8:0 8:16 2 verify 9",
				 "read-only 8:0 8:16 2 verify 8"));
	assert_true(params_same("read-only 8:0 8:16", "read-only 8:0 8:16"));
	assert_true(params_same("read-only 8:0 8:16 4 fill_memory 1 later 7",
				"read-only 8:0 8:16 4 later 7 fill_memory 1"));
	assert_false(params_same("read-only 8:0 8:16", "writethrough 8:0 8:16"));
	assert_false(params_same("read-only 8:0 8:16", "read-only 8:0 8:17"));
	assert_false(params_same("read-only 8:0 8:16", "read-only 8:1 8:16"));
	assert_false(params_same("read-only 8:0 8:16",
				 "read-only 8:0 8:16 2 fill_memory 1"));
	assert_false(params_same("read-only 8:0 8:16",
				 "read-only 8:0 8:16 2 later 7"));
	assert_true(params_same("read-only 8:0 8:16 4 cache_timeout 0 fill_memory 1",
				"read-only 8:0 8:16 4 fill_memory 1 cache_timeout 0"));
	assert_false(params_same("read-only 8:0 8:16",
				 "read-only 8:0 8:16 2 cache_timeout 0"));
	assert_false(params_same("read-only 8:0 8:16 2 cache_timeout 100",
				 "read-only 8:0 8:16 2 cache_timeout 200"));
	assert_false(params_same("", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(parts),
		cmocka_unit_test(not_understood),
		cmocka_unit_test(longest),
		cmocka_unit_test(fill_memory),
		cmocka_unit_test(cache_timeout),
		cmocka_unit_test(origin_timeout),
		cmocka_unit_test(same),
	};

	return RUN(tests);
}
