// SPDX-License-Identifier: GPL-2.0-only
/*
 * cluster/link.c ends the connections to a subsystem, and no other one that gets the number of such
 * a controller meanwhile. The controllers are folders here, and a new one takes the name at one of
 * the steps.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/link.h"
#include "said.h"

#define OURS	"nqn.2014-08.org.example:ours"
#define OTHER	"nqn.2014-08.org.example:other"

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...);

/* The step at which the other controller takes the number: before its folder, or a file of it, opens. */
static enum { NEVER, FOLDER, FILE_OF } reuse;

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void make_controller(const char *folder, const char *nqn)
{
	mkdir(folder, 0700);
	write_file(folder, "subsysnqn", nqn);
	write_file(folder, "hostnqn", "host");
	write_file(folder, "state", "live");
	write_file(folder, "delete_controller", "");
}

static void reuse_number(void)
{
	reuse = NEVER;
	assert_int_equal(rename("nvme/nvme0", "gone"), 0);
	assert_int_equal(rename("other", "nvme/nvme0"), 0);
}

int __wrap_open(const char *path, int flags, ...)
{
	if (reuse == FOLDER && flags & O_PATH)
		reuse_number();
	return __real_open(path, flags);
}

int __wrap_openat(int folder, const char *path, int flags, ...)
{
	if (reuse == FILE_OF)
		reuse_number();
	return __real_openat(folder, path, flags);
}

static bool is_deleted(const char *folder)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "%s/delete_controller", folder);
	assert_int_equal(stat(path, &st), 0);
	return st.st_size;
}

static int start_over(void **state)
{
	(void)state;
	if (system("rm -rf nvme gone other") || mkdir("nvme", 0700))
		return -1;
	make_controller("nvme/nvme0", OURS);
	make_controller("nvme/nvme1", OTHER);
	make_controller("other", OTHER);
	return 0;
}

static void only_ours_ends(void **state)
{
	(void)state;
	assert_int_equal(link_disconnect(OURS), 0);
	assert_true(is_deleted("nvme/nvme0"));
	assert_false(is_deleted("nvme/nvme1"));
}

static void reused_number_stays(void **state)
{
	(void)state;
	reuse = FOLDER;
	assert_int_equal(link_disconnect(OURS), 0);
	assert_int_equal(reuse, NEVER);
	assert_false(is_deleted("nvme/nvme0"));
}

static void number_reused_last_stays(void **state)
{
	(void)state;
	reuse = FILE_OF;
	assert_int_equal(link_disconnect(OURS), 0);
	assert_int_equal(reuse, NEVER);
	assert_true(is_deleted("gone"));
	assert_false(is_deleted("nvme/nvme0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(only_ours_ends, start_over),
		cmocka_unit_test_setup(reused_number_stays, start_over),
		cmocka_unit_test_setup(number_reused_last_stays, start_over),
	};
	char folder[] = "/tmp/nearcache-link-XXXXXX";
	int failed;

	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	failed = RUN(tests);
	return system("rm -rf nvme gone other") || rmdir(folder) || failed;
}
