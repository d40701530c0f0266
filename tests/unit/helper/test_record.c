// SPDX-License-Identifier: GPL-2.0-only
/* 'unpin' of files (pins/record.c): a word finds files by a present path or the recorded one. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/path.h"
#include "pins/record_owner.h"
#include "unit.h"

static char top[64];
static struct pins pins;
static struct recorded recorded;

/* The pinned files in the record; "d.x" is not in "d" but begins with the same letter. */
static const char *const file[] = { "d/a", "d/b", "d/e/c", "other/f", "d.x" };

#define FILES	(sizeof(file) / sizeof(file[0]))

static char *below(const char *name)
{
	static char path[2][128];
	static int next;

	next = !next;
	snprintf(path[next], sizeof(path[0]), "%s/%s", top, name);
	return path[next];
}

static int setup(void **state)
{
	size_t i;

	(void)state;
	strcpy(top, "/tmp/recorded.XXXXXX");
	assert_non_null(mkdtemp(top));
	assert_int_equal(chdir(top), 0);
	assert_int_equal(mkdir("d", 0700) | mkdir("d/e", 0700) |
			 mkdir("other", 0700), 0);
	for (i = 0; i < FILES; i++) {
		struct pin like = { .label = "l" };
		FILE *made = fopen(file[i], "w");
		char *path = path_absolute(file[i]);

		fclose(made);
		assert_non_null(pins_append(&pins, &like, path));
		free(path);
	}
	/* A pin of a range has no path, so no word drops it. */
	assert_non_null(pins_append(&pins, &(struct pin){ .label = "l" }, NULL));
	assert_int_equal(recorded_make(&recorded, &pins), 0);
	return 0;
}

static int teardown(void **state)
{
	char command[80];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", top);
	recorded_free(&recorded);
	pins_free(&pins);
	return chdir("/") || system(command);
}

/* Return the numbers of the files in @file that @word drops, as digits. */
static const char *dropped(const char *word)
{
	static char digits[FILES + 1];
	size_t i, count = 0;
	bool found = recorded_drop(&recorded, word);

	assert_int_equal(fail_code(), 0);
	for (i = 0; i < FILES; i++)
		if (pins.pin[i].dropped)
			digits[count++] = (char)('0' + i);
	digits[count] = '\0';
	assert_false(pins.pin[FILES].dropped);
	assert_int_equal(found, count > 0);
	for (i = 0; i < FILES; i++)
		pins.pin[i].dropped = false;
	return digits;
}

static void there(void **state)
{
	(void)state;
	assert_string_equal(dropped("d"), "012");
	assert_string_equal(dropped("./d//"), "012");
	assert_string_equal(dropped("d/a"), "0");
	assert_string_equal(dropped("d/e/../b"), "1");
	assert_string_equal(dropped(below("d/e")), "2");
	assert_string_equal(dropped("/"), "01234");
	assert_string_equal(dropped("."), "01234");
	assert_string_equal(dropped("d/"), "012");
	assert_string_equal(dropped("none"), "");
	assert_string_equal(dropped(""), "");
	assert_int_equal(chdir("d"), 0);
	assert_string_equal(dropped("."), "012");
	assert_string_equal(dropped(".."), "01234");
	assert_string_equal(dropped("../other"), "3");
	assert_int_equal(chdir("e"), 0);
	assert_string_equal(dropped("."), "2");
}

/* Files are found through a link to their folder, and through a link inside the named folder. */
static void linked(void **state)
{
	(void)state;
	assert_int_equal(symlink("d", "link"), 0);
	assert_string_equal(dropped("link"), "012");
	assert_string_equal(dropped("link/"), "012");
	assert_string_equal(dropped("link/e"), "2");
	assert_string_equal(dropped("link/a"), "0");
	assert_int_equal(symlink("../other", "d/link"), 0);
	assert_string_equal(dropped("d"), "0123");
	/* A dangling link in the folder does not keep other files from being found. */
	assert_int_equal(symlink("nowhere", "d/bad"), 0);
	assert_string_equal(dropped(below("link/e")), "2");
}

static void gone(void **state)
{
	(void)state;
	assert_int_equal(symlink("d", "link"), 0);
	assert_int_equal(unlink("d/e/c") | rmdir("d/e") | unlink("d/a"), 0);
	assert_string_equal(dropped("d/a"), "0");
	assert_string_equal(dropped("d/e"), "2");
	assert_string_equal(dropped("d/e/c"), "2");
	assert_string_equal(dropped("link//e/c"), "2");
	assert_string_equal(dropped(below("d/e/")), "2");
	assert_int_equal(unlink("d/b") | rmdir("d"), 0);
	assert_string_equal(dropped("d/e/c"), "2");
	assert_string_equal(dropped(below("d//e/c")), "2");
	assert_string_equal(dropped(below("d")), "012");
	assert_string_equal(dropped("d"), "012");
	/* "d" is now a link to "other": word "d" drops file "other/f", word "d/e" drops "d/e/c". */
	assert_int_equal(symlink("other", "d"), 0);
	assert_string_equal(dropped(below("d/e")), "2");
	assert_string_equal(dropped(below("d")), "3");
	assert_int_equal(unlink("d") | rename("other", "elsewhere"), 0);
	assert_int_equal(symlink("elsewhere", "other"), 0);
	assert_string_equal(dropped(below("other/")), "3");
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(there),
		TEST(linked),
		TEST(gone),
	};

	return RUN(tests);
}
