// SPDX-License-Identifier: GPL-2.0-only
/*
 * pins/pinned_file.c: a pinned file is gone only with proof. Handles are inode numbers here; the
 * permissions of a file are its generation.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "block/mounts.h"
#include "lib/error.h"
#include "pins/pinned_file.h"
#include "unit.h"

#define M	(1ULL << 20)

static char top[64];
static struct pins pins;
/* The mounts of the file system, its folder that they show, and whether inodes can be read. */
static unsigned int mounts;
static const char *root;
static bool unreadable;
/* A handle; generation 0 stands for any. */
static struct wanted {
	ino_t inode;
	mode_t generation;
} wanted;
static char found[128];

void mounts_each(void (*visit)(dev_t device, const char *where, const char *root, void *arg),
		 void *arg)
{
	struct stat st;
	unsigned int i;

	assert_int_equal(stat(top, &st), 0);
	visit(0, top, "/", arg);
	for (i = 0; i < mounts; i++)
		visit(st.st_dev, top, root, arg);
}

/* The file system is on the second MiB of the device. */
int layers_resolve(struct layers *layers, dev_t upper, dev_t lower)
{
	static struct layer_piece piece = { .length = M, .at = M, .below = true };

	*layers = (struct layers){ upper, lower, &piece, 1 };
	return 0;
}

bool layers_touch(const struct layers *layers)
{
	return layers->count;
}

void layers_free(struct layers *layers)
{
	layers->count = 0;
}

int __wrap_fstatfs(int fd, struct statfs *fs)
{
	(void)fd;
	fs->f_type = 0xEF53;
	return 0;
}

int __wrap_name_to_handle_at(int fd, const char *name, struct file_handle *handle, int *mount,
			     int flags)
{
	struct wanted now;
	struct stat st;

	memset(&now, 0, sizeof(now));
	(void)name;
	(void)mount;
	(void)flags;
	assert_int_equal(fstat(fd, &st), 0);
	handle->handle_type = 1;
	handle->handle_bytes = sizeof(now);
	now.inode = st.st_ino;
	now.generation = st.st_mode & 0777;
	memcpy(handle->f_handle, &now, sizeof(now));
	return 0;
}

static int compare_inode(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)type;
	(void)ftw;
	if (st->st_ino != wanted.inode ||
	    (wanted.generation && wanted.generation != (st->st_mode & 0777)))
		return 0;
	snprintf(found, sizeof(found), "%s", path);
	return 1;
}

int __wrap_open_by_handle_at(int mount, struct file_handle *handle, int flags)
{
	(void)mount;
	memcpy(&wanted, handle->f_handle, sizeof(wanted));
	if (!unreadable && nftw(top, compare_inode, 8, FTW_PHYS) == 1)
		return open(found, flags);
	errno = ESTALE;
	return -1;
}

static void make(const char *name)
{
	fclose(fopen(name, "w"));
}

static int setup(void **state)
{
	struct range range = { M, 4096 };
	struct shard shard = { .name = "set/a", .range = &range, .ranges = 1, .device = 1 };

	(void)state;
	strcpy(top, "/tmp/pinned.XXXXXX");
	assert_non_null(mkdtemp(top));
	assert_int_equal(chdir(top), 0);
	assert_int_equal(mkdir("set", 0700) | mkdir("other", 0700), 0);
	make("set/a");
	mounts = 1;
	root = "/";
	unreadable = false;
	return pin_file(&pins, &(struct pin){ .label = "l" }, &shard);
}

static int teardown(void **state)
{
	char command[80];

	(void)state;
	pins_free(&pins);
	snprintf(command, sizeof(command), "rm -r '%s'", top);
	return chdir("/") || system(command);
}

/* Return the state; @path: the expected new path below @top, or NULL. */
static enum file_state look(const char *path)
{
	struct mounted_all all;
	char *now, expected[128];
	enum file_state state;

	assert_int_equal(mounted_find(&all, 7), 0);
	state = mounted_look(&all, pins.pin, &now);
	mounted_free(&all);
	snprintf(expected, sizeof(expected), "%s/%s", top, path);
	if (path)
		assert_string_equal(now, expected);
	else
		assert_null(now);
	free(now);
	return state;
}

/* Look without the handle, as for a record of an old version. */
static enum file_state look_by_path(void)
{
	free(pins.pin->handle);
	pins.pin->handle = NULL;
	return look(NULL);
}

static void deleted(void **state)
{
	(void)state;
	assert_int_equal(look(NULL), FILE_EXISTS);
	assert_int_equal(unlink("set/a"), 0);
	assert_int_equal(look(NULL), FILE_GONE);
	assert_int_equal(look_by_path(), FILE_GONE);
}

static void folder_deleted(void **state)
{
	(void)state;
	assert_int_equal(unlink("set/a") | rmdir("set"), 0);
	assert_int_equal(look(NULL), FILE_GONE);
	/* The file system may be mounted at another place than before. */
	assert_int_equal(look_by_path(), FILE_UNSURE);
}

static void renamed(void **state)
{
	(void)state;
	assert_int_equal(rename("set/a", "other/b"), 0);
	assert_int_equal(look("other/b"), FILE_EXISTS);
	/* Another file with the old name does not change that. */
	make("set/a");
	assert_int_equal(look("other/b"), FILE_EXISTS);
	assert_int_equal(unlink("other/b"), 0);
	assert_int_equal(look(NULL), FILE_GONE);
	assert_int_equal(look_by_path(), FILE_UNSURE);
}

/* A file of 'mkfs.ext4 -d' has generation 0: its handle also opens a newer file with its inode. */
static void generation_0(void **state)
{
	(void)state;
	assert_int_equal(chmod("set/a", 0), 0);
	free(pins.pin->handle);
	pins.pin->handle = file_handle("set/a");
	assert_int_equal(rename("set/a", "other/b"), 0);
	assert_int_equal(look("other/b"), FILE_EXISTS);
	assert_int_equal(chmod("other/b", 0640), 0);
	assert_int_equal(look(NULL), FILE_GONE);
	/* A handle of another type proves nothing. */
	*pins.pin->handle = '2';
	assert_int_equal(look("other/b"), FILE_EXISTS);
}

/* A link in the path may lead elsewhere than before. */
static void linked(void **state)
{
	(void)state;
	assert_int_equal(rename("set", "real") | symlink("other", "set"), 0);
	assert_int_equal(look(NULL), FILE_EXISTS);
	unreadable = true;
	assert_int_equal(look(NULL), FILE_UNSURE);
	assert_int_equal(look_by_path(), FILE_UNSURE);
}

/* The kernel says ESTALE also for an inode that it cannot read. */
static void not_readable(void **state)
{
	(void)state;
	unreadable = true;
	assert_int_equal(look(NULL), FILE_UNSURE);
}

static void elsewhere(void **state)
{
	(void)state;
	assert_int_equal(unlink("set/a"), 0);
	mounts = 0;
	assert_int_equal(look(NULL), FILE_UNSURE);
	mounts = 1;
	/* The pin is on another file system of the device. */
	pins.pin->range[0].start = 2 * M;
	assert_int_equal(look(NULL), FILE_UNSURE);
	pins.pin->range[0].start = M;
	/* Without a handle, a second mount or one of a folder may hide the file. */
	free(pins.pin->handle);
	pins.pin->handle = NULL;
	mounts = 2;
	assert_int_equal(look(NULL), FILE_UNSURE);
	mounts = 1;
	root = "/folder";
	assert_int_equal(look(NULL), FILE_UNSURE);
	root = "/";
	assert_int_equal(look(NULL), FILE_GONE);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(deleted),
		TEST(folder_deleted),
		TEST(renamed),
		TEST(generation_0),
		TEST(linked),
		TEST(not_readable),
		TEST(elsewhere),
	};

	return RUN(tests);
}
