// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the list of gaps in a JSON file. */
#include "open/uncached_writes.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uuid/uuid.h>

#include "block/dm.h"
#include "lib/error.h"
#include "block/persistent_folder.h"
#include "block/device_sysfs.h"

#define FILE_NAME	"gaps.json"
#define FILE_NEW	"gaps.json.new"
#define SCHEMA		1
/* Maximum size of the file in bytes, more than GAPS_MAX full gaps need. */
#define BYTES_MAX	(4UL << 20)

const char *gaps_folder = GAPS_FOLDER;

/**
 * struct emptied - a cache that was emptied after a gap
 * @uuid: uuid of the cache
 * @epoch: new table epoch of the cache; a superblock with a smaller epoch is an old, stale copy
 */
struct emptied {
	uuid_t uuid;
	u64 epoch;
};

/**
 * struct gap - an origin that may have been written to without its cache
 * @name: name of the latest pass-through device
 * @origin: device id of the origin, "": unknown, so the gap concerns each cache
 * @cache: uuid of the missing cache, zeros: unknown
 * @run: of gaps_add(): the run that removes the gap if nothing was written, "": none
 * @emptied: caches that were emptied after the gap: the gap no longer concerns these
 * @count: entries of @emptied
 */
struct gap {
	char name[64];
	char run[UUID_STR_LEN];
	char origin[DEVICE_ID];
	uuid_t cache;
	struct emptied emptied[GAPS_EMPTIED];
	unsigned int count;
};

/**
 * struct gaps - content of the file
 * @gap: one per origin and missing cache, and those of gaps_add()
 * @count: entries of @gap
 * @missing: the file does not exist, so @gap has one gap that concerns each cache
 */
struct gaps {
	struct gap gap[GAPS_MAX];
	unsigned int count;
	bool missing;
};

static int damaged_file(const char *what)
{
	return fail(CODE_DEVICE,
		    "'%s/" FILE_NAME "' is damaged (%s): it lists the stale caches; after its removal each cache is emptied once",
		    gaps_folder, what);
}

static const char *text_of(struct json_object *object, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value) ||
	    !json_object_is_type(value, json_type_string))
		return NULL;
	return json_object_get_string(value);
}

static int take_text(struct json_object *object, const char *key, char *text,
		     size_t size)
{
	const char *value = text_of(object, key);

	if (!value || strlen(value) >= size)
		return damaged_file(key);
	strcpy(text, value);
	return 0;
}

static int take_emptied(struct gap *gap, struct json_object *object)
{
	struct emptied *emptied = &gap->emptied[gap->count];
	const char *uuid = text_of(object, "cache");
	struct json_object *epoch;

	if (!uuid || uuid_parse(uuid, emptied->uuid) ||
	    !json_object_object_get_ex(object, "epoch", &epoch) ||
	    !json_object_is_type(epoch, json_type_int) ||
	    json_object_get_int64(epoch) < 1)
		return damaged_file("emptied");
	emptied->epoch = (u64)json_object_get_int64(epoch);
	gap->count++;
	return 0;
}

static int take_gap(struct gaps *gaps, struct json_object *object)
{
	struct gap *gap = &gaps->gap[gaps->count];
	struct json_object *list;
	const char *uuid;
	size_t i;

	memset(gap, 0, sizeof(*gap));
	uuid = text_of(object, "cache");
	if ((uuid && uuid_parse(uuid, gap->cache)) ||
	    !json_object_object_get_ex(object, "emptied", &list) ||
	    !json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) > GAPS_EMPTIED)
		return damaged_file("gap");
	if (take_text(object, "name", gap->name, sizeof(gap->name)) ||
	    take_text(object, "origin", gap->origin, sizeof(gap->origin)) ||
	    (text_of(object, "run") && take_text(object, "run", gap->run, sizeof(gap->run))))
		return fail_code();
	for (i = 0; i < json_object_array_length(list); i++)
		if (take_emptied(gap, json_object_array_get_idx(list, i)))
			return fail_code();
	gaps->count++;
	return 0;
}

static int take_all(struct gaps *gaps, struct json_object *root)
{
	struct json_object *schema, *list;
	size_t i;

	if (!json_object_object_get_ex(root, "schema", &schema) ||
	    json_object_get_int(schema) != SCHEMA ||
	    !json_object_object_get_ex(root, "gaps", &list) ||
	    !json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) > GAPS_MAX)
		return damaged_file("schema");
	for (i = 0; i < json_object_array_length(list); i++)
		if (take_gap(gaps, json_object_array_get_idx(list, i)))
			return fail_code();
	return 0;
}

static int parse_gaps(struct gaps *gaps, const char *text)
{
	struct json_object *root = json_tokener_parse(text);

	if (root && json_object_is_type(root, json_type_object))
		take_all(gaps, root);
	else
		damaged_file("no JSON");
	json_object_put(root);
	return fail_code();
}

static int read_all(struct gaps *gaps, int fd)
{
	char *text = malloc(BYTES_MAX + 1);
	size_t bytes = 0;
	ssize_t n = 1;

	while (text && n > 0 && bytes < BYTES_MAX) {
		n = read(fd, text + bytes, BYTES_MAX - bytes);
		if (n > 0)
			bytes += (size_t)n;
	}
	if (!text) {
		fail_memory();
	} else if (n < 0) {
		fail_errno(errno, "cannot read '%s/" FILE_NAME "'", gaps_folder);
	} else {
		text[bytes] = '\0';
		parse_gaps(gaps, text);
	}
	free(text);
	return fail_code();
}

static bool is_absent(const char *path)
{
	struct stat st;

	return lstat(path, &st) && errno == ENOENT;
}

/*
 * Fail if a part of the path is a dangling link. The target may be on a file system that is mounted
 * later, so the file must not count as missing.
 */
static int check_links(const char *path)
{
	char part[PATH_MAX];
	struct stat st;
	size_t length;

	for (length = 1; path[length - 1]; length++) {
		if (path[length] && path[length] != '/')
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)length, path);
		if (!lstat(part, &st) && S_ISLNK(st.st_mode) && stat(part, &st))
			return fail_errno(errno,
					  "'%s' is a dangling link in the path of the list of stale caches",
					  part);
	}
	return 0;
}

/* If there is no file, assume one gap that concerns each cache until that cache is emptied. */
static int load_missing(struct gaps *gaps)
{
	memset(&gaps->gap[0], 0, sizeof(gaps->gap[0]));
	gaps->count = 1;
	gaps->missing = true;
	return 0;
}

static int load_gaps(struct gaps *gaps)
{
	char path[PATH_MAX];
	int fd;

	gaps->count = 0;
	snprintf(path, sizeof(path), "%s/" FILE_NAME, gaps_folder);
	if (check_links(path))
		return fail_code();
	if (is_absent(path))
		return load_missing(gaps);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail_errno(errno, "cannot open '%s'", path);
	read_all(gaps, fd);
	close(fd);
	return fail_code();
}

static void add_text(struct json_object *object, const char *key,
		     const char *text)
{
	json_object_object_add(object, key,
			       text ? json_object_new_string(text) : NULL);
}

static struct json_object *compose_gap(const struct gap *gap)
{
	struct json_object *object = json_object_new_object();
	struct json_object *list = json_object_new_array();
	char uuid[UUID_STR_LEN];
	unsigned int i;

	add_text(object, "name", gap->name);
	add_text(object, "origin", gap->origin);
	uuid_unparse_lower(gap->cache, uuid);
	add_text(object, "cache", uuid_is_null(gap->cache) ? NULL : uuid);
	if (*gap->run)
		add_text(object, "run", gap->run);
	for (i = 0; i < gap->count; i++) {
		struct json_object *one = json_object_new_object();

		uuid_unparse_lower(gap->emptied[i].uuid, uuid);
		add_text(one, "cache", uuid);
		json_object_object_add(one, "epoch",
				       json_object_new_int64((int64_t)gap->emptied[i].epoch));
		json_object_array_add(list, one);
	}
	json_object_object_add(object, "emptied", list);
	return object;
}

static struct json_object *compose_gaps(const struct gaps *gaps)
{
	struct json_object *root = json_object_new_object();
	struct json_object *list = json_object_new_array();
	unsigned int i;

	json_object_object_add(root, "schema", json_object_new_int(SCHEMA));
	for (i = 0; i < gaps->count; i++)
		json_object_array_add(list, compose_gap(&gaps->gap[i]));
	json_object_object_add(root, "gaps", list);
	return root;
}

static bool write_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		ssize_t n = write(fd, text, left);

		if (n <= 0)
			return false;
		text += n;
		left -= (size_t)n;
	}
	return true;
}

/* Replace the file: a crash leaves the old or the new one. */
static int replace_file_at(int folder, const char *text)
{
	int fd = openat(folder, FILE_NEW,
			O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
			0600);
	bool done = fd >= 0 && write_all(fd, text) && !fsync(fd);
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	if (done && !renameat(folder, FILE_NEW, folder, FILE_NAME) &&
	    !fsync(folder))
		return 0;
	return fail_errno(errno, "cannot write '%s/" FILE_NAME "'",
			  gaps_folder);
}

/*
 * Write the file. If @lasting, fail if the folder does not survive a reboot; a new gap needs this.
 * Any other change may be lost at a reboot: old gaps then return, which costs only cached data.
 */
static int save_gaps(const struct gaps *gaps, bool lasting)
{
	struct json_object *root;
	int folder;

	if (persistent_folder_make(gaps_folder))
		return fail_code();
	folder = open(gaps_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return fail_errno(errno, "cannot open '%s'", gaps_folder);
	if (!lasting || !persistent_folder_check(folder, gaps_folder)) {
		root = compose_gaps(gaps);
		replace_file_at(folder, json_object_to_json_string_ext(root,
								       JSON_C_TO_STRING_PRETTY));
		json_object_put(root);
	}
	close(folder);
	return fail_code();
}

/* For a dry run of gaps_begin(): fail if the file could not be written. Writes nothing. */
int gaps_check(void)
{
	char above[PATH_MAX];
	const char *path = gaps_folder;
	int fd;

	if (is_absent(path)) {
		snprintf(above, sizeof(above), "%s", gaps_folder);
		*strrchr(above, '/') = '\0';
		path = *above ? above : "/";
	}
	if (access(path, W_OK))
		return fail_errno(errno, "cannot write to '%s'", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fail_errno(errno, "cannot open '%s'", path);
	persistent_folder_check(fd, gaps_folder);
	close(fd);
	return fail_code();
}

/*
 * Find the gap of this origin and cache, or a free entry. If all entries are in use, forget all
 * gaps and return one gap of an unknown origin, which concerns each cache.
 */
static struct gap *place_for(struct gaps *gaps, struct gap *now)
{
	unsigned int i;

	for (i = 0; i < gaps->count; i++)
		if (!strcmp(gaps->gap[i].origin, now->origin) &&
		    (uuid_is_null(gaps->gap[i].cache) ||
		     uuid_is_null(now->cache) ||
		     !uuid_compare(gaps->gap[i].cache, now->cache)))
			return &gaps->gap[i];
	if (gaps->count == GAPS_MAX) {
		gaps->count = 0;
		*now->origin = '\0';
	}
	memset(&gaps->gap[gaps->count], 0, sizeof(*now));
	return &gaps->gap[gaps->count++];
}

/*
 * Record durably that a pass-through device will be able to write to an origin. The caller holds
 * lock_all(), and makes the device writable only after this has succeeded.
 * @name: name of the pass-through device.
 * @origin: device id, "": unknown.
 * @cache: uuid of the missing cache, NULL: unknown.
 */
int gaps_begin(const char *name, const char *origin, const u8 *cache)
{
	struct gaps *gaps = calloc(1, sizeof(*gaps));
	struct gap now = { 0 }, *gap;

	if (!gaps)
		return fail_memory();
	snprintf(now.name, sizeof(now.name), "%s", name);
	snprintf(now.origin, sizeof(now.origin), "%s", origin);
	if (cache)
		uuid_copy(now.cache, cache);
	if (!load_gaps(gaps)) {
		gap = place_for(gaps, &now);
		if (uuid_is_null(now.cache))
			uuid_copy(now.cache, gap->cache);
		*gap = now;
		save_gaps(gaps, true);
	}
	free(gaps);
	return fail_code();
}

/* Return the place in the list of the gap of gaps_add(); the end of the list if it is not there. */
static unsigned int place_of_run(const struct gaps *gaps, const char *run)
{
	unsigned int i = 0;

	while (i < gaps->count && strcmp(gaps->gap[i].run, run))
		i++;
	return i;
}

/*
 * As gaps_begin(), for an open cache that is closed for a moment: an entry of its own, which
 * gaps_remove() removes. @run: text of a uuid that no other gap has.
 */
int gaps_add(const char *name, const char *origin, const u8 *cache, const char *run)
{
	struct gaps *gaps = calloc(1, sizeof(*gaps));
	struct gap *gap;
	unsigned int i;

	if (!gaps)
		return fail_memory();
	i = load_gaps(gaps) ? 0 : place_of_run(gaps, run);
	if (i == GAPS_MAX) {
		fail(CODE_DEVICE, "'%s/" FILE_NAME "' has %d entries, and no room for another",
		     gaps_folder, GAPS_MAX);
	} else if (!fail_code()) {
		gap = &gaps->gap[i];
		gaps->count += i == gaps->count;
		memset(gap, 0, sizeof(*gap));
		snprintf(gap->name, sizeof(gap->name), "%s", name);
		snprintf(gap->origin, sizeof(gap->origin), "%s", origin);
		snprintf(gap->run, sizeof(gap->run), "%s", run);
		uuid_copy(gap->cache, cache);
		save_gaps(gaps, true);
	}
	free(gaps);
	return fail_code();
}

/*
 * Remove the gap of gaps_add(): nothing was written without the cache. The caller holds lock_all().
 * If this fails, the cache is emptied at its next open.
 */
int gaps_remove(const char *run)
{
	struct gaps *gaps = calloc(1, sizeof(*gaps));
	unsigned int i;

	if (!gaps)
		return fail_memory();
	if (!load_gaps(gaps)) {
		i = place_of_run(gaps, run);
		if (i < gaps->count) {
			gaps->count--;
			memmove(&gaps->gap[i], &gaps->gap[i + 1],
				(gaps->count - i) * sizeof(gaps->gap[0]));
			save_gaps(gaps, false);
		}
	}
	free(gaps);
	return fail_code();
}

static bool is_emptied(const struct gap *gap, const struct nearcache_super *sb)
{
	unsigned int i;

	for (i = 0; i < gap->count; i++)
		if (!uuid_compare(gap->emptied[i].uuid, sb->uuid))
			return le64_to_cpu(sb->table_epoch) >=
			       gap->emptied[i].epoch;
	return false;
}

static bool gap_concerns(const struct gap *gap, const struct nearcache_super *sb,
			 const char *origin)
{
	if (is_emptied(gap, sb))
		return false;
	return !uuid_compare(gap->cache, sb->uuid) ||
	       identity_may_be_same(gap->origin, origin) ||
	       identity_may_be_same(gap->origin, (const char *)sb->origin_id);
}

static void warn_of_loss(void)
{
	static bool told;

	if (!told)
		warn("'%s/" FILE_NAME "' is missing, so it is unknown which caches are stale: each cache is emptied once",
		     gaps_folder);
	told = true;
}

/*
 * Set @concern if a gap may have made the data of a cache stale, or if the file is missing. The
 * caller holds lock_all() until it has acted on @concern. @origin: present device id of the origin.
 */
int gaps_concern(const struct nearcache_super *sb, const char *origin,
		 bool *concern)
{
	struct gaps *gaps = calloc(1, sizeof(*gaps));
	unsigned int i;

	*concern = false;
	if (!gaps)
		return fail_memory();
	if (!load_gaps(gaps))
		for (i = 0; i < gaps->count && !*concern; i++)
			*concern = gap_concerns(&gaps->gap[i], sb, origin);
	if (gaps->missing)
		warn_of_loss();
	free(gaps);
	return fail_code();
}

static void add_emptied(struct gap *gap, const u8 *uuid, u64 epoch)
{
	unsigned int i = 0;

	while (i < gap->count && uuid_compare(gap->emptied[i].uuid, uuid))
		i++;
	if (i == GAPS_EMPTIED) {
		/* Forget the oldest entry: the next open empties its cache once more. */
		memmove(gap->emptied, gap->emptied + 1,
			sizeof(gap->emptied[0]) * --i);
		gap->count = i;
	}
	if (i == gap->count) {
		uuid_copy(gap->emptied[i].uuid, uuid);
		gap->emptied[i].epoch = 0;
		gap->count++;
	}
	if (epoch > gap->emptied[i].epoch)
		gap->emptied[i].epoch = epoch;
}

/*
 * True if the pass-through device of the gap can still write. For a gap of an unknown origin, any
 * writable pass-through device may be the one.
 */
static bool goes_on(const struct gap *gap, const struct dm_device *passing,
		    size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (passing[i].live && !passing[i].read_only &&
		    (!*gap->origin ||
		     !strcmp(gap->name, passing[i].uuid +
			     strlen(DM_PASSTHROUGH_PREFIX))))
			return true;
	return false;
}

static int end_gaps(struct gaps *gaps, const u8 *uuid, u64 epoch)
{
	struct dm_device *passing;
	size_t count;
	unsigned int i;

	if (dm_all_passing(&passing, &count))
		return fail_code();
	for (i = 0; i < gaps->count; i++)
		if (!goes_on(&gaps->gap[i], passing, count))
			add_emptied(&gaps->gap[i], uuid, epoch);
	dm_device_free_all(passing, count);
	return save_gaps(gaps, false);
}

/*
 * Record that a cache was emptied durably, so that past gaps no longer concern it. A gap whose
 * pass-through device can still write is not past. The caller took lock_all() before it emptied the
 * cache. If this fails, the cache is emptied again at its next open.
 * @epoch: the new table epoch of the cache.
 */
int gaps_emptied(const struct nearcache_super *sb, u64 epoch)
{
	struct gaps *gaps = calloc(1, sizeof(*gaps));

	if (!gaps)
		return fail_memory();
	if (!load_gaps(gaps) && gaps->count)
		end_gaps(gaps, sb->uuid, epoch);
	free(gaps);
	return fail_code();
}
