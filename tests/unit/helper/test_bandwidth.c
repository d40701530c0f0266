// SPDX-License-Identifier: GPL-2.0-only
#include "lib/bandwidth.h"
#include "lib/duration.h"
#include "unit.h"

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
		cmocka_unit_test(bandwidths),
		cmocka_unit_test(no_bandwidths),
		cmocka_unit_test(durations),
	};

	return RUN(tests);
}
