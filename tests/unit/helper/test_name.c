// SPDX-License-Identifier: GPL-2.0-only
/* lib/name.c: names that device-mapper accepts, and the name in an operand. */
#include "lib/name.h"
#include "unit.h"

static void good_names(void **state)
{
	static const char *const name[] = {
		"a", "imagenet", "imagenet-1k_v2.0", "#+.:=@_-", "...", "0",
		"123456789012345678901234567890123456789012345678901234567890123",
	};
	const char *why;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		assert_true(name_check(name[i], &why));
}

static void bad_names(void **state)
{
	static const char *const name[] = {
		"", ".", "..", "control", "-a", "a b", "a/b", "a\\b", "a\nb",
		"\xc3\xa4", "a%s", "a*", "~",
		"1234567890123456789012345678901234567890123456789012345678901234",
	};
	const char *why;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		why = NULL;
		assert_false(name_check(name[i], &why));
		assert_non_null(why);
	}
}

static void operands(void **state)
{
	(void)state;
	assert_string_equal(name_of_operand("a"), "a");
	assert_string_equal(name_of_operand("/dev/mapper/a"), "a");
	assert_string_equal(name_of_operand("/dev/a"), "/dev/a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_names),
		cmocka_unit_test(bad_names),
		cmocka_unit_test(operands),
	};

	return RUN(tests);
}
