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

/* Sets @none to the reason why a shard has nothing that @narrowing could select, or to NULL. */
static void find_none(const struct shard_index *index, const struct narrowing *narrowing,
		      const char **none)
{
	*none = NULL;
	if (narrowing->index_only && !index->ranges)
		*none = "a shard of this format has no index: --index-only is for parquet, mds and npz";
	else if (narrowing->samples && !index->samples)
		*none = "the shard has no samples";
}

/*
 * Reduces the extents of file @fd to the part that @narrowing selects; a @narrowing without options
 * selects the whole file. Reads headers of the file. Returns 0, or an exit code after recording an
 * error with fail().
 *
 * If @none is not NULL, a file that is no shard, or a shard that has nothing of the kind, is not an
 * error: @none receives the reason, and @extents is unchanged.
 */
int narrow(struct extents *extents, int fd, const char *path,
	   const struct narrowing *narrowing, const char **none)
{
	struct index_selection selection = { 0 };
	struct shard_index index = { 0 };
	int error;

	if (!narrowing->samples && !narrowing->index_only)
		return 0;
	if (none && !index_is_shard(fd, path, narrowing->format)) {
		*none = "the file is no shard of a known format";
		return fail_code();
	}
	error = index_open_fd(&index, fd, path, narrowing->format,
			      narrowing->concatenated ? INDEX_CONCATENATED : 0);
	if (!error)
		index_warn(&index, path);
	if (!error && none) {
		find_none(&index, narrowing, none);
		if (*none)
			goto out;
	}
	if (!error && narrowing->index_only && !index.ranges)
		error = fail(CODE_DEVICE,
			     "'%s': a shard of format %s has no index: --index-only is for parquet, mds and npz",
			     path, index_format_word(index.format));
	if (!error && narrowing->samples)
		error = index_select(&selection, &index, path,
				     narrowing->samples);
	if (!error)
		error = keep_samples(extents, &index, &selection);
out:
	index_select_free(&selection);
	index_free(&index);
	return error;
}
