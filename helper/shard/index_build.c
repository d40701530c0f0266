// SPDX-License-Identifier: GPL-2.0-only
/* The lists of an index, which grow as the file is looked at. */
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "shard/reader.h"

#define ROOM_FIRST	64

/*
 * Room for @more members of @bytes each behind @used.  Return: the list, perhaps
 * elsewhere; NULL after recording that memory ran out, the list stays.
 */
static void *grow(void *list, uint64_t used, uint64_t more, uint64_t *room,
		  size_t bytes)
{
	uint64_t need = used + more, next = *room ? *room : ROOM_FIRST;

	if (need <= *room)
		return list;
	while (next < need)
		next *= 2;
	list = reallocarray(list, next, bytes);
	if (!list) {
		fail_memory();
		return NULL;
	}
	*room = next;
	return list;
}

/**
 * scan_add_name() - keep a name
 * @scan: the file
 * @name: up to a NUL
 * @bytes: or so many
 * @place: the result, for scan_add_sample() and scan_add_part()
 *
 * Return: 0 or the exit code.
 */
int scan_add_name(struct index_scan *scan, const char *name, size_t bytes,
		  uint64_t *place)
{
	struct shard_index *index = scan->index;
	size_t length = strnlen(name, bytes);
	char *names = grow(index->names, index->names_size, length + 1,
			   &scan->names_room, 1);

	if (!names)
		return fail_code();
	index->names = names;
	*place = index->names_size;
	memcpy(names + *place, name, length);
	names[*place + length] = '\0';
	index->names_size += length + 1;
	return 0;
}

static int too_many(const struct index_scan *scan, uint64_t offset,
		    const char *what)
{
	return scan_damage(scan, offset, "more than %u %s", INDEX_SAMPLES_MAX,
			   what);
}

/**
 * scan_add_sample() - the parts that are added next are of this one
 * @scan: the file
 * @name: from scan_add_name(), or INDEX_NO_NAME
 * @offset: bytes; inside the file
 * @length: bytes; as well
 *
 * Return: 0 or the exit code.
 */
int scan_add_sample(struct index_scan *scan, uint64_t name, uint64_t offset,
		    uint64_t length)
{
	struct shard_index *index = scan->index;
	struct index_sample *list;

	if (index->samples == INDEX_SAMPLES_MAX)
		return too_many(scan, offset, "samples");
	list = grow(index->sample, index->samples, 1, &scan->sample_room,
		    sizeof(*list));
	if (!list)
		return fail_code();
	index->sample = list;
	list[index->samples++] = (struct index_sample){
		{ offset, length }, name, index->parts
	};
	return 0;
}

/**
 * scan_add_part() - a part of the last sample
 * @scan: the file
 * @name: from scan_add_name()
 * @offset: bytes; inside the file
 * @length: bytes; as well
 *
 * Return: 0 or the exit code.
 */
int scan_add_part(struct index_scan *scan, uint64_t name, uint64_t offset,
		  uint64_t length)
{
	struct shard_index *index = scan->index;
	struct index_part *list;

	if (index->parts == INDEX_SAMPLES_MAX)
		return too_many(scan, offset, "parts of samples");
	list = grow(index->part, index->parts, 1, &scan->part_room,
		    sizeof(*list));
	if (!list)
		return fail_code();
	index->part = list;
	list[index->parts++] = (struct index_part){ { offset, length }, name };
	return 0;
}

/**
 * scan_add_range() - what is read to open the file
 * @scan: the file
 * @offset: bytes; inside the file, behind the range before
 * @length: bytes; as well, not 0
 */
void scan_add_range(struct index_scan *scan, uint64_t offset, uint64_t length)
{
	struct shard_index *index = scan->index;

	index->range[index->ranges++] = (struct index_range){ offset, length };
}
