// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "durable.h"
#include "fail.h"
#include "unit.h"

static char folder[] = "/tmp/durable.XXXXXX";
static char path[64], new[96];
static int fsyncs, fail_at;

int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	(void)fd;
	if (++fsyncs != fail_at)
		return 0;
	errno = EIO;
	return -1;
}

static int durable_write(const char *to, const char *text)
{
	return durable_prepare(to, text) ? (int)fail_code() :
					   durable_commit(to);
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

static int setup(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/a/b/file", folder);
	snprintf(new, sizeof(new), "%s.new", path);
	return 0;
}

static void written(void **state)
{
	bool found;

	(void)state;
	assert_int_equal(durable_remove(path, &found), 0);
	assert_false(found);
	fsyncs = fail_at = 0;
	assert_int_equal(durable_write(path, "one"), 0);
	/* fsync of the file, its folder, and the parents of new folders. */
	assert_int_equal(fsyncs, 4);
	fsyncs = 0;
	assert_int_equal(durable_write(path, "one"), 0);
	assert_int_equal(fsyncs, 2);
	holds("one");
	/* If fsync fails, the old file stays. */
	fsyncs = 0;
	fail_at = 1;
	assert_int_equal(durable_write(path, "two"), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), path));
	fail_reset();
	holds("one");
	fail_at = 0;
	assert_int_equal(durable_write(path, "three"), 0);
	holds("three");
	/* Before commit the new file exists beside the old one. */
	assert_int_equal(durable_prepare(path, "four"), 0);
	assert_int_equal(access(new, F_OK), 0);
	durable_abandon(path);
	holds("three");
	/* If fsync of the folder fails, the file exists, maybe not durably: no error. */
	fsyncs = 0;
	fail_at = 2;
	assert_int_equal(durable_write(path, "five"), 0);
	fail_at = 0;
	holds("five");
	assert_int_equal(durable_remove(path, &found), 0);
	assert_true(found);
	assert_int_equal(access(path, F_OK), -1);
}

static void no_place(void **state)
{
	(void)state;
	assert_int_equal(durable_write(path, "x"), 0);
	snprintf(new, sizeof(new), "%s/below/it", path);
	assert_int_equal(durable_write(new, "x"), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), "below"));
	fail_reset();
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written),
		cmocka_unit_test(no_place),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
