// SPDX-License-Identifier: GPL-2.0-only
/* Restricts the extents of a shard to some samples or to its index. */
#include "files/sample_extents.h"

#include <stdlib.h>

#include "lib/error.h"
#include "shard/detect_format.h"
#include "shard/sample_select.h"

static int by_offset(const void *a, const void *b)
{
	const struct index_range *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Sorts the ranges and merges those that overlap or touch. Returns the new count. */
static size_t tidy_ranges(struct index_range *range, size_t count)
{
	size_t i, kept = 0;

	qsort(range, count, sizeof(*range), by_offset);
	for (i = 1; i < count; i++) {
		struct index_range *last = &range[kept];
		uint64_t last_end = last->offset + last->length;
		uint64_t end = range[i].offset + range[i].length;

		if (range[i].offset > last_end)
			range[++kept] = range[i];
		else if (end > last_end)
			last->length = end - last->offset;
	}
	return count ? kept + 1 : 0;
}

static int keep_samples(struct extents *extents, const struct shard_index *index,
			const struct index_selection *selection)
{
	size_t i, count = index->ranges;
	struct index_range *range;
	uint64_t number;
	int error;

	for (i = 0; i < selection->spans; i++)
		count += selection->span[i].end - selection->span[i].first;
	range = calloc(count, sizeof(*range));
	if (!range)
		return fail_memory();
	for (count = 0; count < index->ranges; count++)
		range[count] = index->range[count];
	for (i = 0; i < selection->spans; i++)
		for (number = selection->span[i].first;
		     number < selection->span[i].end; number++)
			range[count++] = index->sample[number].range;
	error = extents_keep(extents, range, tidy_ranges(range, count));
	free(range);
	return error;
}

/* Reduces @extents to the part of the shard that @narrowing selects. */
static int select_part(struct extents *extents, const struct shard_index *index,
		       const char *path, const struct narrowing *narrowing)
{
	struct index_selection selection = { 0 };
	int error = 0;

	if (narrowing->index_only && !index->ranges)
		return fail(CODE_DEVICE,
			    "'%s': a shard of format %s has no index: --index-only is for parquet, mds and npz",
			    path, index_format_word(index->format));
	if (narrowing->samples)
		error = index_select(&selection, index, path, narrowing->samples);
	if (!error)
		error = keep_samples(extents, index, &selection);
	index_select_free(&selection);
	return error;
}

/*
 * Reduces the extents of file @fd to the part that @narrowing selects; a @narrowing without options
 * selects the whole file. Reads headers of the file. Returns 0, or an exit code after recording an
 * error with fail(): then @extents is unchanged.
 *
 * @none: NULL if the user named the file. Otherwise set to true if the error is no reason to refuse
 * all TARGETs, because the file is no shard, or a shard without any part of the wanted kind. A
 * damaged file whose name claims a format is a shard, unless narrowing->skip_damaged.
 */
int narrow(struct extents *extents, int fd, const char *path,
	   const struct narrowing *narrowing, bool *none)
{
	struct shard_index index = { 0 };
	int error;

	if (!narrowing->samples && !narrowing->index_only)
		return 0;
	error = index_open_fd(&index, fd, path, narrowing->format,
			      narrowing->concatenated ? INDEX_CONCATENATED : 0);
	if (none && error)
		*none = index.damaged && (narrowing->skip_damaged ||
					  !index_name_claims(path, narrowing->format));
	else if (none)
		*none = narrowing->samples ? !index.samples : !index.ranges;
	else if (!error && narrowing->concatenated && !narrowing->quiet)
		error = index_check_concatenated(&index, path);
	if (!error)
		error = select_part(extents, &index, path, narrowing);
	if (!error && !narrowing->quiet)
		index_warn(&index, path);
	index_free(&index);
	return error;
}
