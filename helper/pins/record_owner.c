// SPDX-License-Identifier: GPL-2.0-only
/* Decides to which device a record of pins belongs, and finds pins by the path of the file. */
#include "pins/record_owner.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "block/device_sysfs.h"
#include "files/glob.h"
#include "lib/error.h"
#include "lib/path.h"

void owner_of(const struct dm_device *dev, struct owner *owner)
{
	size_t prefix = strlen(DM_UUID_PREFIX);

	memset(owner, 0, sizeof(*owner));
	if (!strncmp(dev->uuid, DM_UUID_PREFIX, prefix))
		snprintf(owner->uuid, sizeof(owner->uuid), "%s",
			 dev->uuid + prefix);
	if (dev->origin)
		identity_read(dev->origin, owner->origin_id);
}

bool owner_known(const struct owner *owner)
{
	return *owner->uuid || *owner->origin_id;
}

/*
 * True if pins recorded for @before apply to @now, because the origin is the same; the cache may be
 * another one. An origin may have no device id, or another id on another transport: then the same
 * cache uuid proves that the origin is the same.
 */
bool owner_same(const struct owner *before, const struct owner *now)
{
	if (!identity_may_be_same(before->origin_id, now->origin_id))
		return false;
	if (*now->uuid && (!strcmp(before->uuid, now->uuid) ||
			   !strcmp(before->attached, now->uuid)))
		return true;
	return *now->origin_id && !strcmp(before->origin_id, now->origin_id);
}

/* Warn of ranges beyond the end of an origin that shrank, or that replaced a larger one. */
static void warn_of_end(const struct pins *pins, const char *name)
{
	const char *label = NULL;
	struct range part;
	size_t i, r, count = 0;

	for (i = 0; i < pins->count; i++) {
		const struct pin *pin = &pins->pin[i];

		for (r = 0; r < pin->ranges; r++) {
			if (pins_inside(pins, &pin->range[r], &part) &&
			    part.length == pin->range[r].length)
				continue;
			label = label ? label : pin->label;
			count++;
		}
	}
	if (count)
		warn("%zu pinned ranges of '%s' are partly or completely beyond its end at %llu and are ignored there: 'nearcache pin %s --refresh' finds files that moved, 'nearcache unpin %s --label' removes a label, for example '%s'",
		     count, name, (unsigned long long)pins->size, name, name,
		     label);
}

/* Warn of what a crash left at the end of the record. The next write cuts it off. */
static void warn_of_torn(const struct pins *pins, const char *name)
{
	char path[PINS_PATH];

	if (pins->file.torn)
		warn("the last change of the record of pins '%s' is incomplete (%zu bytes) and ignored: a crash interrupted it; pin or unpin again what the last command named",
		     pins_path(name, path), pins->file.torn);
}

/*
 * Read the record of a device. pins_free() is needed even after a failure. A record of another
 * device (@foreign) keeps its owner. In any other record @dev becomes the owner at the next write.
 */
int record_open(struct pins *pins, const struct dm_device *dev)
{
	struct owner owner;

	if (pins_load(pins, dev->name))
		return fail_code();
	pins->size = dev->size;
	warn_of_torn(pins, dev->name);
	owner_of(dev, &owner);
	pins->foreign = owner_known(&pins->owner) &&
			!owner_same(&pins->owner, &owner);
	if (pins->foreign)
		return 0;
	if (!strcmp(pins->owner.uuid, owner.uuid))
		strcpy(owner.attached, pins->owner.attached);
	pins->owner = owner;
	warn_of_end(pins, dev->name);
	return 0;
}

/* Fail if the record belongs to another device. */
int record_require(const struct pins *pins, const struct dm_device *dev)
{
	char path[PINS_PATH];

	if (!pins->foreign)
		return 0;
	return fail(CODE_DEVICE,
		    "the record of pins '%s' belongs to another '%s', with cache '%s' and origin '%s': 'nearcache pin %s --refresh' takes it over, 'nearcache unpin %s --all' removes it",
		    pins_path(dev->name, path), dev->name, pins->owner.uuid,
		    pins->owner.origin_id, dev->name, dev->name);
}

/* True if the record of pins under @name is that of the device. */
static bool is_record_of(const struct dm_device *dev, const char *name)
{
	struct owner owner;
	struct pins pins;
	bool same;

	owner_of(dev, &owner);
	same = !pins_load(&pins, name) && *owner.uuid && !strcmp(pins.owner.uuid, owner.uuid);
	pins_free(&pins);
	fail_reset();
	return same;
}

static bool is_device(const char *name)
{
	struct dm_device dev;
	bool found = false;

	if (dm_find(name, &dev, &found))
		fail_reset();
	else if (found)
		dm_device_free(&dev);
	return found;
}

/*
 * Look for a record of the device's pins under another name, which it had before 'dmsetup rename'.
 * @name: receives that name, NEARCACHE_NAME_MAX + 1 bytes. @taken: another device has it now.
 */
bool record_elsewhere(const struct dm_device *dev, char *name, bool *taken)
{
	static const char end[] = ".json";
	DIR *folder = opendir(PINS_DIR);
	struct dirent *entry;
	bool found = false;

	*taken = false;
	while (folder && !found && (entry = readdir(folder))) {
		size_t length = strlen(entry->d_name);

		if (length <= strlen(end) || length - strlen(end) > NEARCACHE_NAME_MAX ||
		    strcmp(entry->d_name + length - strlen(end), end))
			continue;
		snprintf(name, NEARCACHE_NAME_MAX + 1, "%.*s", (int)(length - strlen(end)),
			 entry->d_name);
		found = strcmp(name, dev->name) && is_record_of(dev, name);
	}
	if (folder)
		closedir(folder);
	if (found)
		*taken = is_device(name);
	return found;
}

/* Make @dev the owner of the record. */
void record_adopt(struct pins *pins, const struct dm_device *dev)
{
	owner_of(dev, &pins->owner);
	pins->foreign = false;
}

/*
 * Remove the record of device @name after its cache was destroyed, unless the record names another
 * cache. @uuid: uuid of the destroyed cache, or of the cache with which the device was opened.
 */
int record_forget(const char *name, const char *uuid)
{
	const struct owner *owner;
	struct pins pins;
	bool other, found;

	/* An unreadable record may belong to this cache: ignore the error and remove the record. */
	if (pins_load(&pins, name))
		fail_reset();
	owner = &pins.owner;
	other = *owner->uuid && strcmp(owner->uuid, uuid) &&
		strcmp(owner->attached, uuid);
	pins_free(&pins);
	return other ? 0 : pins_forget(name, &found);
}

static int compare_paths(const void *a, const void *b)
{
	const struct pin *const *x = a, *const *y = b;

	return strcmp((*x)->path, (*y)->path);
}

/*
 * Sort the pins of files by path. No pin may be added to @pins before recorded_free(), which is
 * needed even after a failure.
 */
int recorded_make(struct recorded *recorded, const struct pins *pins)
{
	size_t i;

	*recorded = (struct recorded){ 0 };
	recorded->pin = calloc(pins->count + 1, sizeof(*recorded->pin));
	if (!recorded->pin)
		return fail_memory();
	for (i = 0; i < pins->count; i++)
		if (pins->pin[i].path)
			recorded->pin[recorded->count++] = &pins->pin[i];
	qsort(recorded->pin, recorded->count, sizeof(*recorded->pin), compare_paths);
	return 0;
}

/* Index of the first pin whose path is not before @path. */
static size_t find_path(const struct recorded *recorded, const char *path)
{
	size_t low = 0, high = recorded->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(recorded->pin[middle]->path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Drop all pins of one file. False if the file has no pin. */
static bool drop_file(const struct recorded *recorded, const char *path)
{
	size_t first = find_path(recorded, path), i;

	for (i = first; i < recorded->count &&
	     !strcmp(recorded->pin[i]->path, path); i++)
		recorded->pin[i]->dropped = true;
	return i > first;
}

/* Drop the pins of all files of a folder; their paths are adjacent. @path ends with a slash. */
static bool drop_folder(const struct recorded *recorded, const char *path)
{
	size_t first = find_path(recorded, path), i;

	for (i = first; i < recorded->count &&
	     !strncmp(recorded->pin[i]->path, path, strlen(path)); i++)
		recorded->pin[i]->dropped = true;
	return i > first;
}

static bool drop_path(const struct recorded *recorded, char *path)
{
	bool found = drop_file(recorded, path);
	size_t length = strlen(path);
	char *folder = malloc(length + 2);

	if (!folder) {
		fail_memory();
		return found;
	}
	memcpy(folder, path, length + 1);
	/* Only "/" ends with a slash already. */
	if (length && path[length - 1] != '/')
		strcpy(folder + length, "/");
	found |= drop_folder(recorded, folder);
	free(folder);
	return found;
}

/*
 * Drop the pins of files that @folder contains through links: the record has their real paths.
 * Records an error only if memory is short.
 */
static void drop_linked(const struct recorded *recorded, const char *folder)
{
	struct glob_words words = { 0 };
	size_t i;

	glob_add(&words, folder);
	for (i = 0; i < words.count && fail_code() != CODE_MEMORY; i++) {
		char *path;

		fail_reset();
		path = path_absolute(words.word[i].text);
		if (path)
			drop_file(recorded, path);
		free(path);
	}
	if (fail_code() != CODE_MEMORY)
		fail_reset();
	glob_free(&words);
}

/*
 * Drop the pins of a file or of all files of a folder; neither need exist any more. @word: path as
 * the user wrote it. Returns false if no such pin is recorded or if the path cannot be resolved.
 * Records an error only if memory is short.
 */
bool recorded_drop(const struct recorded *recorded, const char *word)
{
	char *path = path_once(word);
	bool found = false;
	struct stat st;

	if (path)
		found = drop_path(recorded, path);
	else if (fail_code() != CODE_MEMORY)
		fail_reset();
	free(path);
	if (found && !stat(word, &st) && S_ISDIR(st.st_mode))
		drop_linked(recorded, word);
	/* If a folder of @word became a link after the pin was made, the record has @word. */
	if (found || *word != '/' || fail_code())
		return found;
	path = path_tidy(word);
	if (path)
		found = drop_path(recorded, path);
	free(path);
	return found;
}

void recorded_free(struct recorded *recorded)
{
	free(recorded->pin);
	*recorded = (struct recorded){ 0 };
}
