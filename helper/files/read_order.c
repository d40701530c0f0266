// SPDX-License-Identifier: GPL-2.0-only
#include "files/read_order.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "shard/detect_format.h"

/**
 * struct samples - the samples of a file
 * @places: of the whole file
 * @range: ranges of the samples in the file; NULL if they have a fixed size
 * @count: number of samples
 * @index: parts of the file that a reader reads to open it
 * @parts: entries in @index
 */
struct samples {
	struct places places;
	struct index_range *range;
	uint64_t count;
	struct index_range index[INDEX_RANGES_MAX];
	unsigned int parts;
};

/**
 * struct ordered_file - a file or range of the list
 * @shard: index of the file in resolving.shards, or NO_SHARD; valid if @mapped
 * @mapped: the file was mapped, at its first read
 * @samples: NULL, or the list has reads of its samples
 */
struct ordered_file {
	size_t shard;
	bool mapped;
	struct samples *samples;
};

/**
 * struct ordering - state while reads are mapped
 * @r: has the shards of the files
 * @list: the reads
 * @fixed: samples of fixed size
 * @file: one for each word of @list
 * @order: the result: the ranges of all reads
 * @end: byte of the device after the last read
 */
struct ordering {
	struct resolving *r;
	const struct read_list *list;
	const struct fixed_samples *fixed;
	struct ordered_file *file;
	struct shard *order;
	uint64_t end;
};

/* Adds a read of the device. If the read begins where the last one ends, extends the last range. */
static int add_bytes(struct ordering *o, uint64_t start, uint64_t length)
{
	bool again = start < o->end;

	o->end = start + length;
	return again ? shard_append_range(o->order, start, length) :
		       shard_add_range(o->order, start, length);
}

/* Adds the reads of a part of a file. */
static int add_part(struct ordering *o, const struct places *places, uint64_t offset,
		    uint64_t length)
{
	size_t from = 0, to = places->count;

	/* Find the first place that ends behind @offset. */
	while (from < to) {
		size_t mid = from + (to - from) / 2;
		const struct place *place = &places->place[mid];

		if (place->offset + place->range.length <= offset)
			from = mid + 1;
		else
			to = mid;
	}
	for (; from < places->count && places->place[from].offset < offset + length; from++) {
		const struct place *place = &places->place[from];
		uint64_t skip = offset > place->offset ? offset - place->offset : 0;
		uint64_t end = offset + length - place->offset;

		if (end > place->range.length)
			end = place->range.length;
		if (add_bytes(o, place->range.start + skip, end - skip))
			return fail_code();
	}
	return 0;
}

static int add_whole(struct ordering *o, const struct ordered_file *file)
{
	const struct shard *shard = &o->r->shards->shard[file->shard];
	size_t i;

	for (i = 0; i < shard->ranges; i++)
		if (add_bytes(o, shard->range[i].start, shard->range[i].length))
			return fail_code();
	return 0;
}

static int check_numbers(const struct ordering *o, const struct listed_read *read,
			 const struct samples *samples)
{
	const char *path = o->list->words.word[read->word].text;

	if (read->end <= samples->count)
		return 0;
	if (!samples->count && o->fixed->size)
		return fail(CODE_USAGE,
			    "'%s' is too small for a sample of %llu bytes after a header of %llu bytes",
			    path, (unsigned long long)o->fixed->size,
			    (unsigned long long)o->fixed->header);
	if (!samples->count)
		return fail(CODE_USAGE, "'%s' has no samples", path);
	return fail(CODE_USAGE, "'%s' has samples 0 to %llu, not %llu", path,
		    (unsigned long long)samples->count - 1, (unsigned long long)read->end - 1);
}

static int add_samples(struct ordering *o, const struct listed_read *read,
		       const struct samples *samples)
{
	const struct fixed_samples *fixed = o->fixed;
	uint64_t n;

	if (check_numbers(o, read, samples))
		return fail_code();
	if (!samples->range)
		return add_part(o, &samples->places,
				fixed->header + read->first * fixed->size,
				(read->end - read->first) * fixed->size);
	for (n = read->first; n < read->end; n++)
		if (add_part(o, &samples->places, samples->range[n].offset,
			     samples->range[n].length))
			return fail_code();
	return 0;
}

/* Copies the places of the samples, which take less memory than the index with its names. */
static int copy_index(struct samples *samples, const struct shard_index *index)
{
	uint64_t i;

	samples->range = calloc(index->samples + 1, sizeof(*samples->range));
	if (!samples->range)
		return fail_memory();
	for (i = 0; i < index->samples; i++)
		samples->range[i] = index->sample[i].range;
	samples->count = index->samples;
	memcpy(samples->index, index->range, sizeof(samples->index));
	samples->parts = index->ranges;
	return 0;
}

static int read_index(const struct ordering *o, const char *path, struct samples *samples)
{
	const struct narrowing *narrowing = &o->r->narrowing;
	struct shard_index index;

	if (!index_open(&index, path, narrowing->format,
			narrowing->concatenated ? INDEX_CONCATENATED : 0) &&
	    (!narrowing->concatenated || !index_check_concatenated(&index, path)) &&
	    !copy_index(samples, &index))
		index_warn(&index, path);
	index_free(&index);
	return fail_code();
}

/* Maps a file with reads of samples, and plans the reads that open it. */
static int open_samples(struct ordering *o, struct ordered_file *file,
			const struct glob_word *word)
{
	const struct fixed_samples *fixed = o->fixed;
	struct samples *samples = file->samples;
	uint64_t size = 0;
	unsigned int i;

	if (resolving_places(o->r, word, &samples->places, &size, &file->shard))
		return fail_code();
	if (fixed->size) {
		samples->count = size > fixed->header ? (size - fixed->header) / fixed->size : 0;
		return 0;
	}
	if (read_index(o, word->text, samples))
		return fail_code();
	for (i = 0; i < samples->parts; i++)
		if (add_part(o, &samples->places, samples->index[i].offset,
			     samples->index[i].length))
			return fail_code();
	return 0;
}

/* Maps a file or range at its first read. */
static int map_word(struct ordering *o, struct ordered_file *file, const struct glob_word *word)
{
	file->mapped = true;
	if (file->samples)
		return open_samples(o, file, word);
	if (!word->range.length)
		return resolving_file(o->r, word, &file->shard);
	file->shard = o->r->shards->count;
	return resolving_range(o->r, word);
}

static int map_read(struct ordering *o, const struct listed_read *read)
{
	struct ordered_file *file = &o->file[read->word];

	if (!file->mapped && map_word(o, file, &o->list->words.word[read->word]))
		return fail_code();
	if (read->end)
		return add_samples(o, read, file->samples);
	return file->shard == NO_SHARD ? 0 : add_whole(o, file);
}

/* Marks the files with reads of samples. */
static int find_sampled(struct ordering *o)
{
	size_t i;

	for (i = 0; i < o->list->reads; i++) {
		struct ordered_file *file = &o->file[o->list->read[i].word];

		if (!o->list->read[i].end || file->samples)
			continue;
		file->samples = calloc(1, sizeof(*file->samples));
		if (!file->samples)
			return fail_memory();
	}
	return 0;
}

static void free_files(struct ordered_file *file, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!file[i].samples)
			continue;
		free(file[i].samples->places.place);
		free(file[i].samples->range);
		free(file[i].samples);
	}
	free(file);
}

/*
 * Maps the reads of @list to ranges in their order, as one new shard of @order. @order is empty,
 * but its size is set. A range that is read twice is added twice. Before the first sample of a
 * file, adds the parts that a reader needs to open the file. Also adds each file to @r->shards,
 * once.
 */
int read_order_resolve(struct resolving *r, const struct read_list *list,
		       const struct fixed_samples *fixed, struct shards *order)
{
	struct ordering o = { .r = r, .list = list, .fixed = fixed };
	const struct listed_read *read = list->read;
	size_t i;

	o.file = calloc(list->words.count + 1, sizeof(*o.file));
	if (!o.file)
		return fail_memory();
	o.order = shards_add(order, "the list");
	if (o.order && !find_sampled(&o))
		for (i = 0; i < list->reads && !fail_code(); i++)
			if (map_read(&o, &read[i]) && read[i].line)
				fail_add("it is line %u of the list", read[i].line);
	order->omitted = r->shards->omitted;
	free_files(o.file, list->words.count);
	return fail_code();
}
