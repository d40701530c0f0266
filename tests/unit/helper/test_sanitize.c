// SPDX-License-Identifier: GPL-2.0-only
/* lib/sanitize.c: bytes that are no printable UTF-8 become '?'. */
#include <string.h>

#include "lib/sanitize.h"
#include "unit.h"

static void cleaned(const char *text, const char *expected)
{
	char copy[64];

	strcpy(copy, text);
	assert_string_equal(text_clean(copy), expected);
	assert_int_equal(text_check(text) == strlen(text),
			 !strcmp(text, expected));
}

static void good(void **state)
{
	static const char *const text[] = {
		"", "a b~", "v1 \xc3\xbc", "\xc2\xa0", "\xe2\x82\xac",
		"\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		cleaned(text[i], text[i]);
}

static void control(void **state)
{
	(void)state;
	cleaned("a\nb\t\x1b[31m\x7f", "a?b??[31m?");
	cleaned("\xc2\x9b" "31m", "??31m");
}

static void no_utf8(void **state)
{
	(void)state;
	cleaned("\xff", "?");
	cleaned("a\x80z", "a?z");
	cleaned("\xc3", "?");
	cleaned("\xe2\x82", "??");
	cleaned("\xe2\x82z", "??z");
	/* Overlong forms, surrogates and code points beyond the last one are no UTF-8. */
	cleaned("\xc0\xaf", "??");
	cleaned("\xe0\x80\xaf", "???");
	cleaned("\xed\xa0\x80", "???");
	cleaned("\xf4\x90\x80\x80", "????");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(control),
		cmocka_unit_test(no_utf8),
	};

	return RUN(tests);
}
