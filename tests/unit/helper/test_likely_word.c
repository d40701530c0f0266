// SPDX-License-Identifier: GPL-2.0-only
/* lib/likely_word.c: the word that a misspelled one stands for. */
#include <string.h>

#include "lib/likely_word.h"
#include "unit.h"

static const char *const words[] = {
	"create", "open", "close", "destroy", "pin", "unpin", "list", "status", "stats", "stage",
	"prefetch", "heat", "heatmap", "verify", "dataset-version",
};

static const char *meant(const char *typed)
{
	struct likely_word likely = likely_start(typed, strlen(typed));
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		likely_try(&likely, words[i]);
	return likely.best ? likely.best : "nothing";
}

static void errors_are_found(void **state)
{
	static const char *const row[][2] = {
		/* swapped, missing, added, wrong */
		{ "stauts", "status" }, { "prefech", "prefetch" }, { "oopen", "open" },
		{ "clsoe", "close" }, { "varify", "verify" }, { "destory", "destroy" },
		{ "lst", "list" }, { "lits", "list" }, { "unpni", "unpin" },
		/* two errors in a long word */
		{ "datset-verson", "dataset-version" }, { "prfetc", "prefetch" },
		/* the nearest of several, and the beginning of a word */
		{ "sttas", "stats" }, { "statuss", "status" }, { "prefe", "prefetch" },
		{ "heatm", "heat" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		assert_string_equal(meant(row[i][0]), row[i][1]);
}

static void other_words_are_left(void **state)
{
	static const char *const typed[] = {
		"", "x", "pqrs", "mount", "frobnicate", "lsst2", "remove",
		"a-word-that-is-longer-than-each-of-the-verbs-of-nearcache",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(typed) / sizeof(typed[0]); i++)
		assert_string_equal(meant(typed[i]), "nothing");
}

/* Only @length bytes count: a value stands behind the name of an option. */
static void length_counts(void **state)
{
	struct likely_word likely = likely_start("orign=/dev/x", 5);

	(void)state;
	likely_try(&likely, "origin");
	assert_string_equal(likely.best, "origin");
	assert_int_equal(likely.distance, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_are_found),
		cmocka_unit_test(other_words_are_left),
		cmocka_unit_test(length_counts),
	};

	return RUN(tests);
}
