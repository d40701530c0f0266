// SPDX-License-Identifier: GPL-2.0-only
/* TARGET words (files/glob.c): files, patterns, folders and ranges, in a temporary folder. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "unit.h"
#include "files/glob.h"

static char top[] = "/tmp/words.XXXXXX";

static void make(const char *path, const void *content, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, bytes), bytes);
	close(fd);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(top) || chdir(top) || mkdir("dir", 0700) || mkdir("dir/b", 0700) ||
	    mkdir("bare", 0700) || mkdir("linked", 0700) || symlink("../a", "linked/link") ||
	    mkdir("loop", 0700) || symlink(".", "loop/self") || mkdir("mixed", 0700) ||
	    symlink("nothing", "mixed/link") || mkfifo("mixed/pipe", 0600) ||
	    symlink(".", "mixed/self") || mkdir("few", 0700) || mkdir("few/empty", 0700) ||
	    mkdir("few/dead", 0700) || symlink("none", "few/dead/link") ||
	    symlink("../a/x", "few/notdir") || symlink("loop", "few/loop"))
		return -1;
	make("mixed/a", "", 0);
	make("few/file", "", 0);
	make("a", "", 0);
	make("a[1]", "", 0);
	make("2024-01", "", 0);
	make("dir/z", "", 0);
	make("dir/b/y", "", 0);
	make("dir/b/x", "", 0);
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", top);
	return chdir("/") || system(command);
}

static void are(const struct glob_words *words, const char *const *text, size_t count)
{
	size_t i;

	if (fail_code())
		fail_msg("%s", fail_message());
	for (i = 0; i < count && i < words->count; i++)
		assert_string_equal(words->word[i].text, text[i]);
	assert_int_equal(words->count, count);
}

#define ARE(words, ...)								\
	are(words, (const char *const[]){ __VA_ARGS__ },			\
	    sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void found(void **state)
{
	struct glob_words words = { 0 };

	(void)state;
	glob_add(&words, "1K-2K");
	glob_add(&words, "./2024-01");
	glob_add(&words, "dir");
	glob_add(&words, "a*");
	/* A file of this name exists, so the word is no pattern. */
	glob_add(&words, "a[1]");
	glob_add(&words, "linked");
	ARE(&words, "1K-2K", "./2024-01", "dir/b/x", "dir/b/y", "dir/z", "a", "a[1]", "a[1]",
	    "linked/link");
	assert_int_equal(words.word[0].range.start, 1024);
	assert_int_equal(words.word[0].range.length, 1024);
	assert_int_equal(words.word[1].range.length, 0);
	glob_free(&words);

	glob_add(&words, "[ab]");
	glob_add(&words, "di?/*");
	ARE(&words, "a", "dir/b/x", "dir/b/y", "dir/z");
	glob_free(&words);
}

static void refused(const char *text, enum exit_code code, const char *what)
{
	struct glob_words words = { 0 };

	fail_reset();
	assert_int_equal(glob_add(&words, text), code);
	glob_free(&words);
	if (!strstr(fail_message(), what))
		fail_msg("'%s': no '%s' in: %s", text, what, fail_message());
	fail_reset();
}

static void not_found(void **state)
{
	(void)state;
	refused("", CODE_USAGE, "'' is not a TARGET");
	refused("2024-01", CODE_USAGE, "'./2024-01'");
	refused("none", CODE_DEVICE, "'none': No such file");
	refused("none*", CODE_DEVICE, "'none*' matches no file");
	refused("bare", CODE_DEVICE, "'bare' has no files");
	refused("loop", CODE_DEVICE, "'loop' has no files");
}

/* Entries without data do not refuse a directory or a pattern: they are counted. */
static void passed_over(void **state)
{
	struct glob_words words = { 0 };

	(void)state;
	fail_reset();
	glob_add(&words, "mixed");
	ARE(&words, "mixed/a");
	assert_true(words.word[0].found);
	assert_int_equal(words.passed_over, 3);
	assert_string_equal(words.passed_first, "mixed/link");
	glob_add(&words, "mixed/[alp]*");
	assert_int_equal(words.count, 2);
	glob_add(&words, "a");
	assert_false(words.word[2].found);
	/* A pipe that the user named is a word: the caller refuses it. */
	glob_add(&words, "mixed/pipe");
	assert_int_equal(words.count, 4);
	glob_free(&words);
	/* Directories and links that a pattern matches and that lead to no file. */
	glob_add(&words, "few/*");
	ARE(&words, "few/file");
	assert_int_equal(words.passed_over, 4);
	assert_string_equal(words.passed_first, "few/dead/link");
	glob_free(&words);
	glob_add(&words, "few/e*");
	assert_int_equal(fail_code(), 0);
	assert_int_equal(words.count, 0);
	assert_int_equal(words.passed_over, 1);
	glob_free(&words);
	refused("few/empty", CODE_DEVICE, "'few/empty' has no files");
}

static void listed(void **state)
{
	struct glob_words words = { 0 };

	(void)state;
	fail_reset();
	make("list", "a\n\n0+512\ndir", 12);
	glob_add_list(&words, "list");
	ARE(&words, "a", "0+512", "dir/b/x", "dir/b/y", "dir/z");
	glob_free(&words);
	make("a\nb", "", 0);
	make("list", "a\nb\0a[1]\0", 9);
	glob_add_list(&words, "list");
	ARE(&words, "a\nb", "a[1]");
	glob_free(&words);
	make("list", "\n\n", 2);
	assert_int_equal(glob_add_list(&words, "list"), CODE_USAGE);
	fail_reset();
	/* Some editors write a byte order mark, and CR LF at the end of each line. */
	make("list", "\xef\xbb\xbf" "a\r\n\r\n0+512\r\n\\\\\\2024-01\r\n", 27);
	make("\\2024-01", "", 0);
	glob_add_list(&words, "list");
	ARE(&words, "a", "0+512", "\\2024-01");
	glob_free(&words);
	/* A newline and a carriage return in a name. */
	make("list", "\\a\\x0ab\na\n", 10);
	glob_add_list(&words, "list");
	ARE(&words, "a\nb", "a");
	glob_free(&words);
	make("c\r", "", 0);
	make("list", "\\c\\x0d\r\n", 8);
	glob_add_list(&words, "list");
	ARE(&words, "c\r");
	glob_free(&words);
	make("list", "\\\\x\n", 4);
	assert_int_equal(glob_add_list(&words, "list"), CODE_USAGE);
	assert_non_null(strstr(fail_message(), "invalid escape behind its first backslash"));
	fail_reset();
	/* Lines of a list are not patterns: no file is named 'a*'. */
	make("list", "a*\n", 3);
	assert_int_equal(glob_add_list(&words, "list"), CODE_DEVICE);
	fail_reset();
	assert_int_equal(glob_add_list(&words, "none"), CODE_DEVICE);
	glob_free(&words);
}

/* A list longer than one read is read completely. */
static void long_list(void **state)
{
	struct glob_words words = { 0 };
	size_t i, count = 100000;
	char *text = malloc(2 * count);

	(void)state;
	fail_reset();
	for (i = 0; i < count; i++)
		memcpy(text + 2 * i, "a\n", 2);
	make("list", text, 2 * count);
	free(text);
	assert_int_equal(glob_add_list(&words, "list"), 0);
	assert_int_equal(words.count, count);
	glob_free(&words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found),
		cmocka_unit_test(not_found),
		cmocka_unit_test(passed_over),
		cmocka_unit_test(listed),
		cmocka_unit_test(long_list),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
