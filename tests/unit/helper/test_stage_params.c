// SPDX-License-Identifier: GPL-2.0-only
/* block/stage_params.c: table line, limits and status line of nearcache-stage. */
#include <sys/sysmacros.h>

#include "block/stage_params.h"
#include "unit.h"

static void table_round_trip(void **state)
{
	static const char *const line[] = {
		"259:1 253:4", "259:1 253:4 2 rate 65536",
		"259:1 253:4 6 rate 65536 max_behind 1048576 max_behind_time 600",
		"259:1 253:4 4 rate 65536 on_full writethrough",
		"259:1 253:4 2 keep_retained 1",
	};
	char text[STAGE_PARAMS_TEXT];
	struct stage_params params;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(line) / sizeof(line[0]); i++) {
		assert_true(stage_params_parse(line[i], &params));
		assert_true(params.log == makedev(259, 1) && params.origin == makedev(253, 4));
		assert_string_equal(stage_params_print(&params, text), line[i]);
	}
	/* The kernel prints all options, and a newer one more of them. */
	assert_true(stage_params_parse("259:1 253:4 6 map_memory 9 rate 70000 sort x", &params));
	assert_int_equal(params.rate, 70000);
}

/* To another origin: options that are not known stay, the proof of keep_retained does not hold. */
static void table_moved(void **state)
{
	static const char *const line[][2] = {
		{ "259:1 253:4", "259:1 8:16" },
		{ "259:1 253:4 2 keep_retained 1", "259:1 8:16" },
		{ "259:1 253:4 6 rate 70000 keep_retained 1 sort x", "259:1 8:16 4 rate 70000 sort x" },
	};
	char text[STAGE_PARAMS_TEXT];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(line) / sizeof(line[0]); i++)
		assert_string_equal(stage_params_move(line[i][0], makedev(8, 16), text), line[i][1]);
}

static void table_refused(void **state)
{
	static const char *const line[] = {
		"", "259:1", "259:1 x", "259:1x 253:4", "259:1 253:4 x", "259:1 253:4 2 rate",
		"259:1 253:4 1 rate",
	};
	struct stage_params params;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(line) / sizeof(line[0]); i++)
		assert_false(stage_params_parse(line[i], &params));
}

static void limits_parsed(void **state)
{
	static const char *const refused[] = {
		"", "x", "1048575", "2d", "0s", "1.5m", "-1", "9223372036854775808", "512K",
	};
	struct stage_limit limit;
	uint64_t rate;
	size_t i;

	(void)state;
	assert_null(stage_limit_parse("50G", &limit));
	assert_true(limit.bytes == 50ULL << 30 && !limit.seconds);
	assert_null(stage_limit_parse("10m", &limit));
	assert_true(!limit.bytes && limit.seconds == 600);
	assert_null(stage_limit_parse("10M", &limit));
	assert_true(limit.bytes == 10 << 20 && !limit.seconds);
	assert_null(stage_limit_parse("0", &limit));
	assert_true(!limit.bytes && !limit.seconds);
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_non_null(stage_limit_parse(refused[i], &limit));
	assert_null(stage_rate_parse("0", &rate));
	assert_null(stage_rate_parse("64K", &rate));
	assert_int_equal(rate, 65536);
	assert_non_null(stage_rate_parse("65535", &rate));
	assert_null(stage_rate_parse("1T", &rate));
	assert_non_null(stage_rate_parse("2T", &rate));
}

static void status_parsed(void **state)
{
	static const char line[] = "1 0 1000 20 30 7 6 4 50 60 70 80 0 90 91 92 93 94 95 96 1 97 52";
	struct stage_status status;

	(void)state;
	assert_true(stage_status_parse(line, &status));
	assert_int_equal(status.ring_bytes, 1000);
	assert_int_equal(status.retries, 94);
	assert_int_equal(status.origin_error, 52);
	assert_int_equal(stage_epochs_behind(&status), 2);
	assert_false(stage_all_drained(&status));
	status.drained_epoch = 6;
	assert_int_equal(stage_epochs_behind(&status), 1);
	assert_false(stage_all_drained(&status));
	status.behind_bytes = 0;
	assert_true(stage_all_drained(&status));
	assert_int_equal(stage_epochs_behind(&status), 0);
	assert_true(stage_status_parse("1 2 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 99", &status));
	assert_string_equal(stage_state_word(status.state), "log failed");
	assert_string_equal(stage_state_word(9), "unknown");
	assert_false(stage_status_parse("2 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", &status));
	assert_false(stage_status_parse("1 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", &status));
	assert_false(stage_status_parse("1 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 x", &status));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_round_trip),
		cmocka_unit_test(table_moved),
		cmocka_unit_test(table_refused),
		cmocka_unit_test(limits_parsed),
		cmocka_unit_test(status_parsed),
	};

	return RUN(tests);
}
