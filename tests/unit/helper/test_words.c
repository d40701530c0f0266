// SPDX-License-Identifier: GPL-2.0-only
/* lib/words.c: words for modes are printed and parsed; other words are refused. */
#include "lib/enum_words.h"
#include "unit.h"

static void words(void **state)
{
	static const char *const word[] = {
		"read-only", "writearound", "writethrough",
	};
	enum nearcache_mode mode;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
		assert_string_equal(mode_word(i), word[i]);
		assert_true(mode_parse(word[i], &mode));
		assert_int_equal(mode, i);
		assert_int_equal(mode_writes(mode), i > 0);
		/* MODE_WORDS, the list in messages, has each accepted word. */
		assert_non_null(strstr(MODE_WORDS, word[i]));
	}
	assert_string_equal(mode_word(i), "unknown");
	assert_string_equal(mode_word(UINT64_MAX), "unknown");
}

static void no_words(void **state)
{
	static const char *const word[] = {
		"", "readonly", "read-only ", "Writethrough", "writeback", "0",
		"unknown", "write",
	};
	enum nearcache_mode mode = NEARCACHE_WRITEAROUND;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(word) / sizeof(word[0]); i++)
		assert_false(mode_parse(word[i], &mode));
	assert_int_equal(mode, NEARCACHE_WRITEAROUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(no_words),
	};

	return RUN(tests);
}
