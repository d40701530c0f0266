// SPDX-License-Identifier: GPL-2.0-only
#include "lib/size.h"
#include "unit.h"

static void good_sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} row[] = {
		{ "0", 0 }, { "1", 1 }, { "4096", 4096 }, { "512B", 512 },
		{ "64M", 64ULL << 20 }, { "64m", 64ULL << 20 },
		{ "64MiB", 64ULL << 20 }, { "64mib", 64ULL << 20 },
		{ "64MB", 64000000 }, { "200G", 200ULL << 30 },
		{ "1T", 1ULL << 40 }, { "1P", 1ULL << 50 },
		{ "15E", 15ULL << 60 }, { "007K", 7168 },
		{ "18446744073709551615", UINT64_MAX },
	};
	const char *why;
	uint64_t bytes;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		assert_true(size_parse(row[i].text, &bytes, &why));
		assert_int_equal(bytes, row[i].bytes);
	}
}

static void bad_sizes(void **state)
{
	static const char *const text[] = {
		"", "M", "-1", "+1", " 1", "1 ", "1 M", "1Q", "1MM", "1Mi",
		"1.5G", "0x10", "64M,", "18446744073709551616", "16E",
		"99999999999999999999K", "18014398509481984K", "K1",
	};
	const char *why;
	uint64_t bytes;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		why = NULL;
		assert_false(size_parse(text[i], &bytes, &why));
		assert_non_null(why);
	}
}

static void printed_sizes(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} row[] = {
		{ 0, "0 B" }, { 1, "1 B" }, { 1023, "1023 B" },
		{ 1024, "1 KiB" }, { 1536, "1.5 KiB" },
		{ 262144, "256 KiB" }, { 1ULL << 40, "1 TiB" },
		{ 200ULL << 30, "200 GiB" },
		{ 4000000000000, "3.6 TiB" },
		{ UINT64_MAX, "16.0 EiB" },
	};
	char text[SIZE_TEXT];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		assert_string_equal(size_print(row[i].bytes, text),
				    row[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_sizes),
		cmocka_unit_test(bad_sizes),
		cmocka_unit_test(printed_sizes),
	};

	return RUN(tests);
}
