// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads and writes the files of settings. Each change replaces a file: a crash leaves the old one or
 * the new one. A command reads, changes and writes a file under lock_name(LOCK), so that two
 * commands at once lose no change.
 */
#include "open/remembered.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uuid/uuid.h>

#include "block/lock.h"
#include "lib/atomic_file.h"
#include "lib/error.h"
#include "lib/settings_file.h"

/* No device has such a name. The lock is held for one change of a file. */
#define LOCK	"/settings"

const char *remembered_folder = REMEMBERED_FOLDER;

/* Print the path of the file of a cache to @path (PATH_MAX bytes) and return it. */
const char *remembered_path(const char *uuid, char *path)
{
	snprintf(path, PATH_MAX, "%s/%s", remembered_folder, uuid);
	return path;
}

static bool is_missing(const char *path)
{
	return access(path, F_OK) && (errno == ENOENT || errno == ENOTDIR);
}

static int read_file(struct remembered *r, const char *path)
{
	static char text[SETTINGS_BYTES_MAX + 2];

	memset(r, 0, sizeof(*r));
	if (is_missing(path))
		return 0;
	if (settings_read(path, text))
		return fail_add("remove the file, or drop the settings with 'nearcache open --forget'");
	if (!remembered_parse(r, path, text))
		r->exists = true;
	return fail_code();
}

/* Read the settings of a cache. There are none if there is no file. */
int remembered_load(struct remembered *r, const char *uuid)
{
	char path[PATH_MAX];

	return read_file(r, remembered_path(uuid, path));
}

/*
 * Find the settings of the cache that device @name had last, for a cache device that is missing, and
 * copy the uuid of the cache to @uuid (SUPER_UUID_TEXT bytes). A cache that has no settings has no
 * file: then these are the settings of an older cache. Ignores files that cannot be read. Returns
 * false if there are none.
 */
bool remembered_find(struct remembered *r, const char *name, char *uuid)
{
	DIR *folder = opendir(remembered_folder);
	struct timespec latest = { 0 };
	struct dirent *entry;
	bool found = false;

	while (folder && (entry = readdir(folder))) {
		struct remembered one;
		char path[PATH_MAX];
		struct stat st;
		uuid_t parsed;

		if (uuid_parse(entry->d_name, parsed) || stat(remembered_path(entry->d_name, path), &st))
			continue;
		if (read_file(&one, path))
			fail_reset();
		if (strcmp(one.name, name) || st.st_mtim.tv_sec < latest.tv_sec ||
		    (st.st_mtim.tv_sec == latest.tv_sec && st.st_mtim.tv_nsec < latest.tv_nsec))
			continue;
		latest = st.st_mtim;
		*r = one;
		uuid_unparse_lower(parsed, uuid);
		found = true;
	}
	if (folder)
		closedir(folder);
	return found;
}

/* Do nothing if there is no file, so that a read-only file system is no error then. */
static int remove_file(const char *path)
{
	bool found;

	return is_missing(path) ? 0 : atomic_file_remove(path, &found);
}

/* Write a file, or remove it if there are no settings. Keeps a file that has this content already. */
static int replace_file(const char *path, const struct remembered *before,
			const struct remembered *now)
{
	char text[REMEMBERED_TEXT], old[REMEMBERED_TEXT];

	remembered_print(now, text);
	if (!*text)
		return remove_file(path);
	if (before->exists && !strcmp(text, remembered_print(before, old)))
		return 0;
	return atomic_file_prepare(path, text) || atomic_file_commit(path) ? fail_code() : 0;
}

/* Read the settings for a change, and print the path of their file to @path. */
static int load_base(struct remembered *r, const char *uuid, enum remembered_base base, char *path)
{
	char attached[SUPER_UUID_TEXT];

	memset(r, 0, sizeof(*r));
	remembered_path(uuid, path);
	if (base == REMEMBERED_NONE || read_file(r, path) || base == REMEMBERED_FILE || !*r->attached)
		return fail_code();
	strcpy(attached, r->attached);
	return read_file(r, remembered_path(attached, path));
}

/*
 * Change the settings of a cache. A failure only warns: the device has its settings until it is
 * closed. The caller has recorded no error.
 */
void remembered_change(const char *uuid, const char *name, enum remembered_base base,
		       void (*change)(struct remembered *r, const void *arg), const void *arg)
{
	struct remembered before, now;
	char path[PATH_MAX];

	lock_name(LOCK);
	if (!load_base(&before, uuid, base, path)) {
		now = before;
		snprintf(now.name, sizeof(now.name), "%s", name);
		change(&now, arg);
		replace_file(path, &before, &now);
	}
	lock_release();
	if (fail_code())
		warn("%s; the settings of '%s' are not remembered, and last until it is closed",
		     fail_message(), name);
	fail_reset();
}

/* Remove the settings of a cache. A failure only warns, or adds to an error that is recorded. */
void remembered_forget(const char *uuid)
{
	bool failed = fail_code();
	char path[PATH_MAX];

	lock_name(LOCK);
	remove_file(remembered_path(uuid, path));
	lock_release();
	if (failed)
		return;
	if (fail_code())
		warn("%s; the settings of the cache are still remembered", fail_message());
	fail_reset();
}
