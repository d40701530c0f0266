// SPDX-License-Identifier: GPL-2.0-only
/* Collects the ranges of shards, and merges, sums and labels them. */
#include "files/shard_ranges.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/name.h"
#include "lib/path.h"
#include "lib/sanitize.h"

#define SECTOR	512U

/*
 * Adds a shard without ranges. Before the first call, set @shards->size and zero the rest of
 * @shards. Returns the shard, valid until the next call, or NULL after recording an error.
 */
struct shard *shards_add(struct shards *shards, const char *name)
{
	struct shard *shard;

	if (shards->count == shards->room) {
		size_t room = shards->room ? 2 * shards->room : 16;

		shard = reallocarray(shards->shard, room, sizeof(*shard));
		if (!shard) {
			fail_memory();
			return NULL;
		}
		shards->shard = shard;
		shards->room = room;
	}
	shard = &shards->shard[shards->count];
	memset(shard, 0, sizeof(*shard));
	shard->name = strdup(name);
	if (!shard->name) {
		fail_memory();
		return NULL;
	}
	shards->count++;
	return shard;
}

/* Appends a range of the device (bytes, not empty), widened to whole sectors. */
int shard_append_range(struct shard *shard, uint64_t start, uint64_t length)
{
	uint64_t end = (start + length + SECTOR - 1) / SECTOR * SECTOR;

	start -= start % SECTOR;
	if (shard->ranges == shard->room) {
		/* Most files have one range, and there may be millions of files. */
		size_t room = shard->room ? 2 * shard->room : 1;
		struct range *more = reallocarray(shard->range, room, sizeof(*more));

		if (!more)
			return fail_memory();
		shard->range = more;
		shard->room = room;
	}
	shard->range[shard->ranges++] = (struct range){ start, end - start };
	shard->bytes += end - start;
	return 0;
}

/*
 * As shard_append_range(), but if the range begins within the last range or at its end, extends the
 * last range instead.
 */
int shard_add_range(struct shard *shard, uint64_t start, uint64_t length)
{
	uint64_t end = (start + length + SECTOR - 1) / SECTOR * SECTOR;
	struct range *last = shard->ranges ? &shard->range[shard->ranges - 1] :
					     NULL;

	start -= start % SECTOR;
	if (!last || start < last->start || start > last->start + last->length)
		return shard_append_range(shard, start, end - start);
	if (end > last->start + last->length) {
		shard->bytes += end - (last->start + last->length);
		last->length = end - last->start;
	}
	return 0;
}

/* Returns the sum of the shards' bytes. Bytes that two shards share count twice. */
uint64_t shards_bytes(const struct shards *shards)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < shards->count; i++)
		bytes += shards->shard[i].bytes;
	return bytes;
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Copies all shards' ranges, widened to multiples of @grain, to @ranges. Returns their number. */
static size_t collect_ranges(const struct shards *shards, uint64_t grain,
			     struct range *ranges)
{
	size_t i, r, count = 0;

	for (i = 0; i < shards->count; i++)
		for (r = 0; r < shards->shard[i].ranges; r++) {
			struct range range = shards->shard[i].range[r];
			uint64_t end = range.start + range.length;

			range.start -= range.start % grain;
			end += (grain - end % grain) % grain;
			if (end > shards->size)
				end = shards->size;
			range.length = end - range.start;
			ranges[count++] = range;
		}
	return count;
}

/* Merges sorted ranges that overlap or are at most @gap bytes apart. Returns the new count. */
static size_t merge_ranges(struct range *ranges, size_t count, uint64_t gap)
{
	size_t i, kept = 0;

	for (i = 1; i < count; i++) {
		struct range *last = &ranges[kept];
		uint64_t last_end = last->start + last->length;
		uint64_t end = ranges[i].start + ranges[i].length;

		if (ranges[i].start > last_end &&
		    ranges[i].start - last_end > gap)
			ranges[++kept] = ranges[i];
		else if (end > last_end)
			last->length = end - last->start;
	}
	return count ? kept + 1 : 0;
}

/*
 * Finds the parts of the device that the shards cover. Widens the ranges to multiples of @grain
 * (bytes, multiple of 512), but not beyond the end of the device. Merges ranges that are at most
 * @gap bytes apart. @ranges receives an ascending, disjoint array, for free().
 */
int shards_ranges(const struct shards *shards, uint64_t grain, uint64_t gap,
		  struct range **ranges, size_t *count)
{
	size_t i, most = 0;

	*count = 0;
	for (i = 0; i < shards->count; i++)
		most += shards->shard[i].ranges;
	*ranges = calloc(most ? most : 1, sizeof(**ranges));
	if (!*ranges)
		return fail_memory();
	most = collect_ranges(shards, grain, *ranges);
	qsort(*ranges, most, sizeof(**ranges), by_start);
	*count = merge_ranges(*ranges, most, gap);
	return 0;
}

/* Shortens the path @folder to the deepest folder that @folder and @path have in common. */
static void folder_join(char *folder, const char *path)
{
	size_t i, last = 0;

	for (i = 0; folder[i] && folder[i] == path[i]; i++)
		if (folder[i] == '/')
			last = i;
	if (!folder[i] && path[i] == '/')
		last = i;
	folder[last] = '\0';
}

/* Copies @text to @label, cut to LABEL_SIZE. text_clean() replaces a character that was cut. */
static const char *label_cut(const char *text, char *label)
{
	snprintf(label, LABEL_SIZE, "%s", text);
	return text_clean(label);
}

/*
 * Fills @label (LABEL_SIZE bytes) with the default label of @shards, which is not empty: the name
 * of a single file, the name of the deepest folder that contains all of several files, or, without
 * files, the first range as the user wrote it. Returns @label, or NULL after recording an error.
 */
const char *shards_label(const struct shards *shards, char *label)
{
	char *folder = NULL;
	size_t i, files = 0;

	for (i = 0; i < shards->count; i++) {
		char *path;

		if (!shards->shard[i].device)
			continue;
		path = path_absolute(shards->shard[i].name);
		if (!path) {
			free(folder);
			return NULL;
		}
		if (files++) {
			folder_join(folder, path);
			free(path);
		} else {
			folder = path;
		}
	}
	if (folder && strrchr(folder, '/') && strrchr(folder, '/')[1])
		label_cut(strrchr(folder, '/') + 1, label);
	else
		label_cut(folder ? "/" : shards->shard[0].name, label);
	free(folder);
	return label;
}

void shards_free(struct shards *shards)
{
	size_t i;

	for (i = 0; i < shards->count; i++) {
		free(shards->shard[i].name);
		free(shards->shard[i].range);
	}
	free(shards->shard);
	memset(shards, 0, sizeof(*shards));
}
