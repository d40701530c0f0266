// SPDX-License-Identifier: GPL-2.0-only
#include "files/resolve_file.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/fiemap.h"
#include "lib/error.h"

/*
 * A file that is a shard already, and @shard is its index, or a file that was passed over.
 * @refusable: the user did not name the file so far, otherwise it would have been refused.
 */
struct seen {
	dev_t device;
	ino_t inode;
	size_t shard;
	bool refusable;
};

static int compare_seen(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return x->inode < y->inode ? -1 : x->inode > y->inode;
}

/*
 * Renames a file's shard to @path if @path precedes the shard's name in strcmp() order. So for a
 * file with several names all nodes use the same one, in whatever order they find the names.
 */
static void rename_shard(struct shard *shard, const char *path)
{
	char *name;

	if (strcmp(path, shard->name) >= 0)
		return;
	name = strdup(path);
	if (!name) {
		fail_memory();
		return;
	}
	free(shard->name);
	shard->name = name;
}

/*
 * Returns true if the file already has a shard, perhaps by another name, or after recording an
 * error. Otherwise adds the file to @r->seen and returns false: the caller then makes the shard and
 * sets seen->shard. @result receives the entry.
 */
static bool is_twin(struct resolving *r, const struct stat *st,
		    const struct glob_word *word, struct seen **result)
{
	struct seen *seen = malloc(sizeof(*seen));
	struct seen **found;

	if (!seen) {
		fail_memory();
		return true;
	}
	*seen = (struct seen){ st->st_dev, st->st_ino, NO_SHARD, false };
	found = tsearch(seen, &r->seen, compare_seen);
	if (!found || *found != seen)
		free(seen);
	if (!found) {
		fail_memory();
		return true;
	}
	*result = *found;
	/* A file that was found may be named as well: then it is judged again, and refused. */
	if ((*found)->shard == NO_SHARD || ((*found)->refusable && !word->found))
		return false;
	rename_shard(&r->shards->shard[(*found)->shard], word->text);
	return true;
}

static int need_layers(struct resolving *r, dev_t upper)
{
	if (r->layers.piece && r->layers.upper == upper)
		return 0;
	layers_free(&r->layers);
	return layers_resolve(&r->layers, upper, r->dev->number);
}

static int add_place(struct places *places, uint64_t offset, const struct range *range)
{
	if (places->count == places->room) {
		size_t room = places->room ? 2 * places->room : 1;
		struct place *more = reallocarray(places->place, room, sizeof(*more));

		if (!more)
			return fail_memory();
		places->place = more;
		places->room = room;
	}
	places->place[places->count++] = (struct place){ offset, *range };
	return 0;
}

/* Adds the pieces of an extent on @r->dev to @shard. Fails if a piece is on another device. */
static int map_extent(struct resolving *r, struct shard *shard,
		      const struct extent *extent)
{
	uint64_t done = 0;

	while (done < extent->length) {
		struct range piece;
		const char *why;

		if (!layers_map(&r->layers, extent->start + done,
				extent->length - done, &piece, &why))
			return fail(CODE_DEVICE,
				    "'%s', byte %llu, is not on device '%s': %s",
				    shard->name,
				    (unsigned long long)(extent->offset + done),
				    r->dev->name, why);
		if (piece.start + piece.length > r->shards->size)
			return fail(CODE_DEVICE,
				    "'%s', byte %llu, is beyond the end of device '%s' at %llu: is its file system larger than the device?",
				    shard->name,
				    (unsigned long long)(extent->offset + done),
				    r->dev->name,
				    (unsigned long long)r->shards->size);
		if (shard_add_range(shard, piece.start, piece.length) ||
		    (r->places && add_place(r->places, extent->offset + done, &piece)))
			return fail_code();
		done += piece.length;
	}
	return 0;
}

static int refuse_unlocated(const char *path, const struct extent *extent)
{
	return fail(CODE_DEVICE, "'%s': bytes %llu to %llu: the data %s", path,
		    (unsigned long long)extent->offset,
		    (unsigned long long)(extent->offset + extent->length) - 1, extent->why);
}

/* Returns the bytes of an extent inside the file. */
static uint64_t length_inside(const struct extents *extents, const struct extent *extent)
{
	uint64_t left = extents->size - extent->offset;

	if (extent->offset >= extents->size)
		return 0;
	return extent->length < left ? extent->length : left;
}

static void note_holes(struct resolving *r, const char *path, uint64_t bytes)
{
	if (!bytes)
		return;
	if (!r->hole_files++)
		r->hole_first = path;
	r->holes += bytes;
}

/* Another host may have allocated blocks for a hole; this host does not know where. */
void resolving_warn_holes(const struct resolving *r)
{
	char have[64] = "has";

	if (!r->hole_files)
		return;
	if (r->hole_files > 1)
		snprintf(have, sizeof(have), "and %zu other files have", r->hole_files - 1);
	warn("'%s' %s %llu bytes of holes: if another host has filled them, drop all data with 'nearcache invalidate %s'",
	     r->hole_first, have, (unsigned long long)r->holes, r->dev->name);
}

/*
 * Adds the ranges of a file to @shard, and counts the rest. This is the rule of all verbs: holes
 * and unwritten data need nothing. Data without a known location is left out, except in two cases:
 * the verb drops data, or the user named a file that has no other data.
 */
static int map_extents(struct resolving *r, struct shard *shard, const struct extents *extents,
		       const struct glob_word *word, struct seen *seen)
{
	struct omitted *omitted = &r->shards->omitted;
	uint64_t with_data = 0, unlocated = 0, unwritten = 0;
	const struct extent *first = NULL;
	bool refusable;
	size_t i;

	for (i = 0; i < extents->count; i++) {
		const struct extent *extent = &extents->extent[i];
		bool written = extent->kind != EXTENT_UNWRITTEN;

		*(written ? &with_data : &unwritten) += length_inside(extents, extent);
		if (extent->kind == EXTENT_UNLOCATED) {
			unlocated += extent->length;
			first = first ? first : extent;
		} else if ((written || r->use == TARGET_DROP) &&
			   map_extent(r, shard, extent)) {
			return fail_code();
		}
	}
	refusable = r->use == TARGET_BRING && first && !shard->ranges;
	if (first && (r->strict || r->use == TARGET_DROP || (refusable && !word->found)))
		return refuse_unlocated(shard->name, first);
	seen->refusable = refusable;
	if (r->strict && with_data < extents->selected)
		return fail(CODE_DEVICE,
			    "'%s': %llu of %llu bytes are holes or unwritten, which --strict refuses",
			    shard->name, (unsigned long long)(extents->selected - with_data),
			    (unsigned long long)extents->selected);
	if (r->use == TARGET_DROP)
		note_holes(r, word->text, extents->selected - with_data - unwritten);
	omitted->empty_bytes += extents->selected - with_data;
	omitted->unlocated_bytes += unlocated;
	omitted->unlocated_files += !!first;
	return 0;
}

/* Returns whether a file may be passed over, instead of refusing all TARGETs because of it. */
static bool may_pass_over(const struct resolving *r, const struct glob_word *word)
{
	return word->found && !r->strict && r->use != TARGET_DROP;
}

/* Passes over a file because of the recorded error, which is then none. */
static int pass_over_file(struct resolving *r)
{
	free(r->why);
	r->why = strdup(fail_message());
	fail_reset();
	r->shards->omitted.passed_over++;
	return r->why ? 0 : fail_memory();
}

/*
 * Passes over a file on a file system of which nothing is on the device. A recorded error about
 * mapping the file is the better reason.
 */
static int pass_elsewhere(struct resolving *r, const char *path)
{
	if (fail_code() == CODE_MEMORY)
		return fail_code();
	if (!fail_code())
		fail(CODE_DEVICE, "'%s' is not on device '%s'", path, r->dev->name);
	return pass_over_file(r);
}

static int map_file(struct resolving *r, int fd, const struct stat *st,
		    const struct glob_word *word, struct seen *seen)
{
	struct extents extents;
	struct shard *shard;
	bool none = false;

	if (need_layers(r, st->st_dev))
		return fail_code();
	if (r->use == TARGET_DROP)
		extents_read_allocated(&extents, fd, word->text);
	else
		extents_read(&extents, fd, word->text);
	if (may_pass_over(r, word) && !layers_touch(&r->layers)) {
		pass_elsewhere(r, word->text);
		goto out;
	}
	if (fail_code())
		goto out;
	if (narrow(&extents, fd, word->text, &r->narrowing,
		   may_pass_over(r, word) ? &none : NULL)) {
		if (none)
			pass_over_file(r);
		goto out;
	}
	shard = shards_add(r->shards, word->text);
	if (!shard)
		goto out;
	seen->shard = r->shards->count - 1;
	shard->device = st->st_dev;
	shard->inode = st->st_ino;
	map_extents(r, shard, &extents, word, seen);
out:
	extents_free(&extents);
	return fail_code();
}

/* Opens a file that can be mapped. Returns its descriptor, or -1 after recording an error. */
static int open_file(const struct resolving *r, const char *path, struct stat *st)
{
	/* O_NONBLOCK: opening a FIFO would block until a writer opens it. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0) {
		fail_errno(errno, "cannot open '%s'", path);
		return -1;
	}
	if (fstat(fd, st))
		fail_errno(errno, "'%s'", path);
	else if (S_ISBLK(st->st_mode))
		fail(CODE_DEVICE,
		     "'%s' is a block device: give a range of '%s', like 0-1G",
		     path, r->dev->name);
	else if (!S_ISREG(st->st_mode))
		fail(CODE_DEVICE, "'%s' is not a regular file", path);
	else
		return fd;
	close(fd);
	return -1;
}

/*
 * Adds a file as a shard, unless it has one. @number receives the number of its shard, or NO_SHARD
 * if the file was passed over.
 */
int resolving_file(struct resolving *r, const struct glob_word *word, size_t *number)
{
	struct seen *seen = NULL;
	struct stat st;
	int fd = open_file(r, word->text, &st);

	if (fd < 0)
		return fail_code();
	if (!is_twin(r, &st, word, &seen))
		map_file(r, fd, &st, word, seen);
	if (!fail_code())
		*number = seen->shard;
	close(fd);
	return fail_code();
}

/*
 * Adds a file as a shard, even if it has one, and gets its places and its size in bytes. The
 * caller frees @places->place after success and failure.
 */
int resolving_places(struct resolving *r, const struct glob_word *word, struct places *places,
		   uint64_t *size, size_t *number)
{
	struct seen seen = { .shard = NO_SHARD };
	struct stat st;
	int fd = open_file(r, word->text, &st);

	if (fd < 0)
		return fail_code();
	r->places = places;
	map_file(r, fd, &st, word, &seen);
	r->places = NULL;
	*number = seen.shard;
	*size = (uint64_t)st.st_size;
	close(fd);
	return fail_code();
}

/* Adds a range that the user named as a shard. */
int resolving_range(struct resolving *r, const struct glob_word *word)
{
	struct shard *shard;
	char why[RANGE_WHY];

	if (!range_inside(&word->range, r->shards->size, why))
		return fail(CODE_DEVICE, "'%s': %s", word->text, why);
	shard = shards_add(r->shards, word->text);
	if (!shard)
		return fail_code();
	return shard_add_range(shard, word->range.start, word->range.length);
}

void resolving_free(struct resolving *r)
{
	free(r->why);
	tdestroy(r->seen, free);
	layers_free(&r->layers);
}
