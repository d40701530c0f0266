// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"
#include "replace.h"
#include "unit.h"

static char folder[] = "/tmp/replace.XXXXXX";
static char path[64], new[96], link_to[64];

static int setup(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(new, sizeof(new), "%s.new", path);
	snprintf(link_to, sizeof(link_to), "%s/link", folder);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	unlink(link_to);
	return rmdir(folder);
}

static void holds(const char *expected)
{
	char text[64] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_int_equal(fread(text, 1, sizeof(text) - 1, file), strlen(expected));
	fclose(file);
	assert_string_equal(text, expected);
	assert_int_equal(access(new, F_OK), -1);
}

static void replaced(void **state)
{
	(void)state;
	assert_int_equal(replace_check(path), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access(new, F_OK), -1);
	assert_int_equal(replace_file(path, "one", 3, false), 0);
	holds("one");
	assert_int_equal(replace_check(path), 0);
	holds("one");
	assert_int_equal(replace_file(path, "two", 3, true), 0);
	holds("two");
}

static void refused(const char *what, enum exit_code code, const char *why)
{
	fail_reset();
	assert_int_equal(replace_check(what), code);
	if (!strstr(fail_message(), why))
		fail_msg("'%s' does not say '%s'", fail_message(), why);
	fail_reset();
}

static void not_replaced(void **state)
{
	char long_name[5000];

	(void)state;
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	assert_int_equal(symlink(path, link_to), 0);
	refused("", CODE_USAGE, "'' is no file");
	refused("/dev/null", CODE_DEVICE, "'/dev/null' is not a regular file");
	refused(folder, CODE_DEVICE, "is not a regular file");
	refused(link_to, CODE_DEVICE, "is not a regular file");
	refused("/nowhere/file", CODE_DEVICE, "cannot write '/nowhere/file.new'");
	refused(long_name, CODE_USAGE, "the name is too long");
	assert_int_equal(replace_file("/nowhere/file", "x", 1, false), CODE_DEVICE);
	fail_reset();
	/* Another process has replaced the file with a folder. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(replace_file(path, "x", 1, true), CODE_DEVICE);
	assert_int_equal(access(new, F_OK), -1);
	fail_reset();
	assert_int_equal(rmdir(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replaced),
		cmocka_unit_test(not_replaced),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
