// SPDX-License-Identifier: GPL-2.0-only
/* block/status_line.c: the numbers of a status line, by position, and the words for them. */
#include <stdio.h>

#include "block/status_line.h"
#include "unit.h"

#define NUMBERS	(NEARCACHE_STATUS_FIELD_COUNT + NEARCACHE_COUNTER_COUNT)

/* Return a line with @count numbers: the version, then 101, 102 and so on. */
static char *line_of(unsigned int count)
{
	static char line[4096];
	unsigned int i;
	int used = sprintf(line, "%d", NEARCACHE_STATUS_VERSION_NOW);

	for (i = 1; i < count; i++)
		used += sprintf(line + used, " %u", 100 + i);
	return line;
}

static void by_position(void **state)
{
	struct status status;
	char why[STATUS_WHY];
	unsigned int i;

	(void)state;
	assert_true(status_parse(line_of(NUMBERS), &status, why));
	assert_int_equal(status.field[0], NEARCACHE_STATUS_VERSION_NOW);
	for (i = 1; i < NEARCACHE_STATUS_FIELD_COUNT; i++)
		assert_int_equal(status.field[i], 100 + i);
	for (i = 0; i < NEARCACHE_COUNTER_COUNT; i++)
		assert_int_equal(status.counter[i],
				 100 + NEARCACHE_STATUS_FIELD_COUNT + i);
}

static void newer_kernel(void **state)
{
	struct status status;
	char why[STATUS_WHY], line[4200];

	(void)state;
	assert_true(status_parse(line_of(NUMBERS + 1), &status, why));
	assert_true(status_parse(line_of(NUMBERS + 40), &status, why));
	snprintf(line, sizeof(line), "%s some words", line_of(NUMBERS));
	assert_true(status_parse(line, &status, why));
}

static void older_kernel(void **state)
{
	struct status status;
	char why[STATUS_WHY];
	unsigned int i;

	(void)state;
	for (i = 1; i < NUMBERS; i++) {
		assert_false(status_parse(line_of(i), &status, why));
		assert_non_null(strstr(why, "older"));
	}
	assert_false(status_parse("", &status, why));
}

static void broken_lines(void **state)
{
	static const char *const start[] = {
		"x ", "-1 ", "1x ", "0x1 ", "18446744073709551616 ", "1,",
	};
	struct status status;
	char why[STATUS_WHY], line[4200];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(start) / sizeof(start[0]); i++) {
		snprintf(line, sizeof(line), "%s%s", start[i],
			 line_of(NUMBERS));
		assert_false(status_parse(line, &status, why));
		assert_non_null(strstr(why, "status_version"));
	}
	snprintf(line, sizeof(line), "1%s", line_of(NUMBERS) + 1);
	assert_false(status_parse(line, &status, why));
}

static void words(void **state)
{
	(void)state;
	assert_string_equal(status_word(NEARCACHE_FIELD_MODE,
					NEARCACHE_READ_ONLY), "read-only");
	assert_string_equal(status_word(NEARCACHE_FIELD_MODE,
					NEARCACHE_WRITETHROUGH),
			    "writethrough");
	assert_string_equal(status_word(NEARCACHE_FIELD_STATE,
					NEARCACHE_NORMAL), "normal");
	assert_string_equal(status_word(NEARCACHE_FIELD_LOADED,
					NEARCACHE_LOADED_WARM), "warm");
	assert_string_equal(status_word(NEARCACHE_FIELD_LOADED, 1ULL << 40),
			    "unknown");
	assert_null(status_word(NEARCACHE_FIELD_BLOCKS, 0));
}

/* Each reason for BYPASS has its own text; a normal state has none. */
static void explained(void **state)
{
	struct status status = { 0 };
	const char *last = "", *why;
	uint64_t reason;

	(void)state;
	assert_null(status_explain(&status));
	status.field[NEARCACHE_FIELD_STATE] = NEARCACHE_DEGRADED;
	assert_non_null(strstr(status_explain(&status), "does not answer"));
	status.field[NEARCACHE_FIELD_STATE] = NEARCACHE_BYPASS;
	for (reason = 0; reason <= NEARCACHE_REASON_WRITE_INTENT + 1; reason++) {
		status.field[NEARCACHE_FIELD_REASON] = reason;
		why = status_explain(&status);
		assert_string_not_equal(why, last);
		last = why;
	}
	assert_string_equal(status_word(NEARCACHE_FIELD_REASON,
					NEARCACHE_REASON_SLOW), "slow");
	assert_string_equal(status_word(NEARCACHE_FIELD_STATE,
					NEARCACHE_DEGRADED), "degraded");
}

/* status_crash(): in a writing mode the witness decides which data a crash would leave cached. */
static void crash(void **state)
{
	static const char *const said[] = {
		[NEARCACHE_WITNESS_NONE] = "there is no witness",
		[NEARCACHE_WITNESS_WARM] = "would leave it warm",
		[NEARCACHE_WITNESS_COLD] = "the witness has no record",
	};
	struct status status = { 0 };
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		status.field[NEARCACHE_FIELD_WITNESS] = i;
		status.field[NEARCACHE_FIELD_STATE] = NEARCACHE_NORMAL;
		status.field[NEARCACHE_FIELD_MODE] = NEARCACHE_READ_ONLY;
		assert_null(status_crash(&status));
		status.field[NEARCACHE_FIELD_MODE] = NEARCACHE_WRITEAROUND;
		assert_non_null(strstr(status_crash(&status), said[i]));
		status.field[NEARCACHE_FIELD_STATE] = NEARCACHE_DEGRADED;
		assert_non_null(strstr(status_crash(&status), said[i]));
		status.field[NEARCACHE_FIELD_STATE] = NEARCACHE_BYPASS;
		assert_string_equal(status_crash(&status),
				    "would leave nothing cached");
	}
}

/* Exactly the fields with unit "enum" in the table have words. */
static void words_match_table(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < NEARCACHE_STATUS_FIELD_COUNT; i++)
		assert_int_equal(!strcmp(status_field_row[i].unit, "enum"),
				 !!status_word(i, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_position),
		cmocka_unit_test(newer_kernel),
		cmocka_unit_test(older_kernel),
		cmocka_unit_test(broken_lines),
		cmocka_unit_test(words),
		cmocka_unit_test(explained),
		cmocka_unit_test(crash),
		cmocka_unit_test(words_match_table),
	};

	return RUN(tests);
}
