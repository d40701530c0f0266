// SPDX-License-Identifier: GPL-2.0-only
/* lib/size.c: sizes, bandwidths and durations as text. */
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

static void exact_sizes(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} row[] = {
		{ 0, "0" }, { 1, "1" }, { 512, "512" }, { 1024, "1K" }, { 1536, "1536" },
		{ 1536 << 20, "1536M" }, { (1ULL << 40) + 4096, "1073741828K" }, { 1ULL << 60, "1E" },
		{ UINT64_MAX, "18446744073709551615" },
	};
	char text[SIZE_TEXT];
	const char *why;
	uint64_t bytes;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		assert_string_equal(size_exact(row[i].bytes, text), row[i].text);
		assert_true(size_parse(text, &bytes, &why));
		assert_true(bytes == row[i].bytes);
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

static void bandwidths(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} row[] = {
		{ "40Gb/s", 5000000000 }, { "40Gb", 5000000000 },
		{ "400Mbit/s", 50000000 }, { "8Gibit/s", 1ULL << 30 },
		{ "5GB/s", 5000000000 }, { "64M", 64 << 20 },
		{ "64MiB/s", 64 << 20 }, { "1K/s", 1024 }, { "8b/s", 1 },
		{ "9bit/s", 1 }, { "100", 100 }, { "100B/s", 100 },
		{ "40gb/s", 5000000000 },
	};
	uint64_t bytes;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		assert_null(bandwidth_parse(row[i].text, &bytes));
		assert_int_equal(bytes, row[i].bytes);
	}
}

static void no_bandwidths(void **state)
{
	static const char *const bad[] = {
		"", "b", "bit", "/s", "Gb/s", "7b/s", "0", "1.5Gb/s", "4Qb/s",
		"-1", "1Gb/h", "1Gbb/s", "20Ebit/s0", "99999999999Eb/s",
		"1000000000000000000000000000000000000000000000000b/s",
	};
	uint64_t bytes;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_non_null(bandwidth_parse(bad[i], &bytes));
}

static void durations(void **state)
{
	static const char *const bad[] = {
		"", "0", "0h", "-1", "1y", "1hh", "h", "1.5h", "4294967296",
		"7102w", "99999999999999999999s",
	};
	unsigned int seconds;
	size_t i;

	(void)state;
	assert_null(duration_parse("90", &seconds));
	assert_int_equal(seconds, 90);
	assert_null(duration_parse("90s", &seconds));
	assert_int_equal(seconds, 90);
	assert_null(duration_parse("30m", &seconds));
	assert_int_equal(seconds, 1800);
	assert_null(duration_parse("12h", &seconds));
	assert_int_equal(seconds, 43200);
	assert_null(duration_parse("7d", &seconds));
	assert_int_equal(seconds, 604800);
	assert_null(duration_parse("7101w", &seconds));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_non_null(duration_parse(bad[i], &seconds));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_sizes),
		cmocka_unit_test(bad_sizes),
		cmocka_unit_test(printed_sizes),
		cmocka_unit_test(exact_sizes),
		cmocka_unit_test(bandwidths),
		cmocka_unit_test(no_bandwidths),
		cmocka_unit_test(durations),
	};

	return RUN(tests);
}
