// SPDX-License-Identifier: GPL-2.0-only
/* lib/atomic_file.c: the new file replaces the old one durably and completely, or not at all. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/atomic_file.h"
#include "lib/error.h"
#include "unit.h"

static char folder[] = "/tmp/atomic_file.XXXXXX";
static char path[64], new[96], link_to[64];
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
	return atomic_file_prepare(to, text) ? (int)fail_code() :
					   atomic_file_commit(to);
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
	assert_int_equal(atomic_file_remove(path, &found), 0);
	assert_false(found);
	fsyncs = fail_at = 0;
	assert_int_equal(durable_write(path, "one"), 0);
	/* Four calls: for the file, its folder, and the parents of the two new folders. */
	assert_int_equal(fsyncs, 4);
	fsyncs = 0;
	assert_int_equal(durable_write(path, "one"), 0);
	assert_int_equal(fsyncs, 2);
	holds("one");
	/* If fsync() of the new file fails, the old file stays. */
	fsyncs = 0;
	fail_at = 1;
	assert_int_equal(durable_write(path, "two"), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), path));
	fail_reset();
	holds("one");
	fail_at = 0;
	assert_int_equal(durable_write(path, "three"), 0);
	holds("three");
	/* Until the commit the new file exists beside the old one. */
	assert_int_equal(atomic_file_prepare(path, "four"), 0);
	assert_int_equal(access(new, F_OK), 0);
	atomic_file_abandon(path);
	holds("three");
	/* If fsync() of the folder fails, the file is replaced, maybe not durably: no error. */
	fsyncs = 0;
	fail_at = 2;
	assert_int_equal(durable_write(path, "five"), 0);
	fail_at = 0;
	holds("five");
	assert_int_equal(atomic_file_remove(path, &found), 0);
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
	rmdir(folder);
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	return 0;
}

/* Like setup(), but the file is in the temporary folder itself. */
static int setup_flat(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(new, sizeof(new), "%s.new", path);
	snprintf(link_to, sizeof(link_to), "%s/link", folder);
	fail_at = 0;
	return 0;
}

static int teardown_flat(void **state)
{
	(void)state;
	unlink(path);
	unlink(link_to);
	if (rmdir(folder))
		return -1;
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	return 0;
}

static void replaced(void **state)
{
	(void)state;
	assert_int_equal(atomic_file_check(path), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access(new, F_OK), -1);
	assert_int_equal(atomic_file_write(path, "one", 3, false), 0);
	holds("one");
	assert_int_equal(atomic_file_check(path), 0);
	holds("one");
	assert_int_equal(atomic_file_write(path, "two", 3, true), 0);
	holds("two");
}

static void is_mode(mode_t mode, uid_t owner)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, mode);
	assert_int_equal(st.st_uid, owner);
}

/* A new file has its mode whatever the umask is; an existing one keeps owner and mode. */
static void modes(void **state)
{
	uid_t other = geteuid() ? geteuid() : 65534;
	mode_t before = umask(077);

	(void)state;
	if (geteuid())
		print_message("# not root: the test keeps its own owner only\n");
	assert_int_equal(atomic_file_write(path, "one", 3, false), 0);
	is_mode(0644, geteuid());
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(chown(path, other, (gid_t)-1), 0);
	assert_int_equal(atomic_file_write(path, "two", 3, true), 0);
	is_mode(0640, other);
	assert_int_equal(unlink(path), 0);
	umask(0);
	assert_int_equal(durable_write(path, "one"), 0);
	is_mode(0600, geteuid());
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(durable_write(path, "two"), 0);
	is_mode(0640, geteuid());
	umask(before);
}

/* If the owner cannot be kept, the mode stays, but group and others lose the right to write. */
static void other_owner(void **state)
{
	static const mode_t mode[][2] = {
		{ 0600, 0600 }, { 0640, 0640 }, { 0644, 0644 }, { 0664, 0644 },
	};
	size_t i;

	(void)state;
	if (geteuid()) {
		print_message("# this test needs root: only root gives a file to another user\n");
		skip();
	}
	assert_int_equal(chmod(folder, 0777), 0);
	for (i = 0; i < sizeof(mode) / sizeof(mode[0]); i++) {
		assert_int_equal(atomic_file_write(path, "one", 3, false), 0);
		assert_int_equal(chmod(path, mode[i][0]), 0);
		assert_int_equal(seteuid(65534), 0);
		assert_int_equal(atomic_file_write(path, "two", 3, false), 0);
		assert_int_equal(seteuid(0), 0);
		is_mode(mode[i][1], 65534);
		assert_int_equal(unlink(path), 0);
	}
}

static void check_refuses(const char *what, enum exit_code code, const char *why)
{
	fail_reset();
	assert_int_equal(atomic_file_check(what), code);
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
	check_refuses("", CODE_USAGE, "'' is not a file");
	check_refuses("/dev/null", CODE_DEVICE, "'/dev/null' is not a regular file");
	check_refuses(folder, CODE_DEVICE, "is not a regular file");
	check_refuses(link_to, CODE_DEVICE, "is not a regular file");
	check_refuses("/nowhere/file", CODE_DEVICE, "cannot write '/nowhere/file.new'");
	check_refuses(long_name, CODE_USAGE, "the name is too long");
	assert_int_equal(atomic_file_write("/nowhere/file", "x", 1, false), CODE_DEVICE);
	fail_reset();
	/* A folder stands in the file's place: the call fails and removes its ".new" file. */
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(atomic_file_write(path, "x", 1, true), CODE_DEVICE);
	assert_int_equal(access(new, F_OK), -1);
	fail_reset();
	assert_int_equal(rmdir(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(written, setup, teardown),
		cmocka_unit_test_setup_teardown(no_place, setup, teardown),
		cmocka_unit_test_setup_teardown(modes, setup_flat, teardown_flat),
		cmocka_unit_test_setup_teardown(other_owner, setup_flat, teardown_flat),
		cmocka_unit_test_setup_teardown(replaced, setup_flat, teardown_flat),
		cmocka_unit_test_setup_teardown(not_replaced, setup_flat, teardown_flat),
	};

	return RUN(tests);
}
