// SPDX-License-Identifier: GPL-2.0-only
/* lib/range.c: texts that are ranges of a device, and the message for those that are not. */
#include "lib/range.h"
#include "unit.h"

static void good(void **state)
{
	static const struct {
		const char *text;
		uint64_t start, length;
	} row[] = {
		{ "0:512", 0, 512 }, { "512:1K", 512, 1024 },
		{ "1G:64M", 1ULL << 30, 64ULL << 20 },
		{ "0K:1536B", 0, 1536 }, { "8E:4E", 8ULL << 60, 4ULL << 60 },
		{ "15E:15E", 15ULL << 60, 15ULL << 60 },
	};
	char why[RANGE_WHY];
	struct range range;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		assert_true(range_parse(row[i].text, &range, why));
		assert_int_equal(range.start, row[i].start);
		assert_int_equal(range.length, row[i].length);
	}
}

static void bad(void **state)
{
	/* The text, and the words that the message must quote. */
	static const struct {
		const char *text, *quoted;
	} row[] = {
		{ "", "START:LENGTH" }, { "512", "START:LENGTH" },
		{ ":512", "start ''" }, { "512:", "length ''" },
		{ "-512:512", "start '-512'" }, { "0:1Q", "length '1Q'" },
		{ "1:512", "start '1' is not a multiple of 512" },
		{ "0:1000", "length '1000' is not a multiple of 512" },
		{ "0:1KB", "length '1KB' is not a multiple" },
		{ "0:0", "0" }, { "0:512:512", "length '512:512'" },
		{ "16E:512", "64 bits" },
		{ "0000000000000000000000000000000000000000000000000000000000000000:512",
		  "START:LENGTH" },
	};
	char why[RANGE_WHY];
	struct range range;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		assert_false(range_parse(row[i].text, &range, why));
		if (!strstr(why, row[i].quoted))
			fail_msg("'%s': %s", row[i].text, why);
	}
}

static void words(void **state)
{
	static const struct {
		const char *text;
		uint64_t start, length;
	} row[] = {
		{ "0-512", 0, 512 }, { "512-1K", 512, 512 },
		{ "1G-2G", 1ULL << 30, 1ULL << 30 },
		{ "1G+64M", 1ULL << 30, 64ULL << 20 }, { "1M:1M", 1 << 20, 1 << 20 },
		{ "1KiB+1kb-", 0, 0 }, { "0-", 0, 0 }, { "-512", 0, 0 },
		{ "0-512.tar", 0, 0 }, { "./0-512", 0, 0 }, { "a-b", 0, 0 },
		{ "0-512-1024", 0, 0 }, { "512", 0, 0 }, { "", 0, 0 }, { "0-a", 0, 0 },
		{ "00000000000000000000000000000000000000000000000000000000000000000-1", 0, 0 },
	};
	struct range range;
	char why[RANGE_WHY];
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		assert_int_equal(range_like(row[i].text), row[i].length != 0);
		if (!row[i].length)
			continue;
		assert_true(range_parse_word(row[i].text, &range, why));
		assert_int_equal(range.start, row[i].start);
		assert_int_equal(range.length, row[i].length);
	}
}

static void bad_words(void **state)
{
	static const struct {
		const char *text, *quoted;
	} row[] = {
		{ "2024-01", "start '2024' is not a multiple of 512" },
		{ "1024-512", "ends before it begins" }, { "512-512", "is 0" },
		{ "512+0", "is 0" }, { "0-1Q", "end '1Q'" }, { "0+1Q", "length '1Q'" },
		{ "0-17E", "64 bits" },
	};
	struct range range;
	char why[RANGE_WHY];
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		assert_true(range_like(row[i].text));
		assert_false(range_parse_word(row[i].text, &range, why));
		if (!strstr(why, row[i].quoted))
			fail_msg("'%s': %s", row[i].text, why);
	}
}

static void inside(void **state)
{
	char why[RANGE_WHY];

	(void)state;
	assert_true(range_inside(&(struct range){ 0, 4096 }, 4096, why));
	assert_true(range_inside(&(struct range){ 3584, 512 }, 4096, why));
	assert_false(range_inside(&(struct range){ 3584, 1024 }, 4096, why));
	assert_non_null(strstr(why, "at 4096"));
	assert_false(range_inside(&(struct range){ 4096, 512 }, 4096, why));
	/* The range is outside, although start + length overflows to a small number. */
	assert_false(range_inside(&(struct range){ 15ULL << 60, 15ULL << 60 },
				  1ULL << 60, why));
	assert_false(range_inside(&(struct range){ 512, UINT64_MAX - 511 },
				  4096, why));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(bad),
		cmocka_unit_test(words),
		cmocka_unit_test(bad_words),
		cmocka_unit_test(inside),
	};

	return RUN(tests);
}
