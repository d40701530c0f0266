// SPDX-License-Identifier: GPL-2.0-only
/* lib/sanitize.c: bytes that are no printable UTF-8 become '?', or in JSON an escape. */
#include <stdlib.h>
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

static void escaped(void **state)
{
	static const struct {
		const char *text, *json;
	} row[] = {
		{ "", "" }, { "a b", "a b" }, { "a\nb\t", "a\nb\t" }, { "v1 \xc3\xbc", "v1 \xc3\xbc" },
		{ "C:\\x", "C:\\x" }, { "\\x", "\\\\\\x" }, { "\\", "\\\\\\" },
		{ "a\xff.x", "\\a\\xff.x" }, { "\\\xff", "\\\\\\\\xff" },
		{ "a\\\xff", "\\a\\\\\\xff" }, { "\x7f", "\\\\x7f" },
		{ "\xc2\x9b", "\\\\xc2\\x9b" }, { "\xc3\xbc\xc3", "\\\xc3\xbc\\xc3" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		char *text = text_escape(row[i].text);

		assert_string_equal(text, row[i].json);
		/*
		 * The form is unambiguous: it begins with a backslash if and only if it is escaped.
		 */
		if (*text == '\\')
			assert_true(text_unescape(text));
		assert_string_equal(text, row[i].text);
		free(text);
	}
}

static void one_word(void **state)
{
	static const struct {
		const char *text, *word;
	} row[] = {
		{ "", "-" }, { "-", "\\x2d" }, { "--", "--" }, { "a b\t", "a\\x20b\\x09" },
		{ "C:\\x", "C:\\x5cx" }, { "\xc3\xbc", "\xc3\xbc" }, { "a\xff", "a\\xff" },
		{ "\xc2\x9b\x7f\n", "\\xc2\\x9b\\x7f\\x0a" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		char *word = text_escape_word(row[i].text);

		assert_string_equal(word, row[i].word);
		free(word);
	}
}

static void unescaped(void **state)
{
	static const char *const bad[] = {
		"\\a\\", "\\\\x", "\\\\x4", "\\\\xg0", "\\\\x00", "\\a\\b",
		/* text_escape() leaves newlines and tabs to JSON. */
		"\\a\\n", "\\new\\text",
	};
	char text[24] = "\\a\\x2cb\\x0a\\x0d", copy[16];
	size_t i;

	(void)state;
	assert_true(text_unescape(text));
	assert_string_equal(text, "a,b\n\r");
	/* text_escape() does not make such a text: it is meant as it is. */
	assert_true(text_unescape(strcpy(copy, "\\x.npz")));
	assert_string_equal(copy, "\\x.npz");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(text_unescape(strcpy(copy, bad[i])));
		assert_string_equal(copy, bad[i]);
	}
}

static void lines(void **state)
{
	char text[][8] = { "a\r\n", "a\n", "a\r", "\xef\xbb\xbf" "a", "\r\n", "\r\r\n" };

	(void)state;
	assert_string_equal(text_line(text[0], true), "a");
	assert_string_equal(text_line(text[1], false), "a");
	assert_string_equal(text_line(text[2], false), "a");
	assert_string_equal(text_line(text[3], false), "\xef\xbb\xbf" "a");
	assert_string_equal(text_line(text[3], true), "a");
	assert_string_equal(text_line(text[4], true), "");
	assert_string_equal(text_line(text[5], true), "\r");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(control),
		cmocka_unit_test(no_utf8),
		cmocka_unit_test(escaped),
		cmocka_unit_test(one_word),
		cmocka_unit_test(unescaped),
		cmocka_unit_test(lines),
	};

	return RUN(tests);
}
