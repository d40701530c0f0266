// SPDX-License-Identifier: GPL-2.0-only
/* The growing arrays of an index under construction. */
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "shard/reader.h"

#define ROOM_FIRST	64

/*
 * Makes room for @more entries behind @used. Returns the array, perhaps moved. If memory runs
 * out, returns NULL, records the error and leaves the old array valid.
 */
static void *grow_list(void *list, uint64_t used, uint64_t more, uint64_t *room,
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

/*
 * Copies @name up to @bytes or a NUL. @place receives the value to pass as @name to
 * scan_add_sample() or scan_add_part().
 */
int scan_add_name(struct index_scan *scan, const char *name, size_t bytes,
		  uint64_t *place)
{
	struct shard_index *index = scan->index;
	size_t length = strnlen(name, bytes);
	char *names = grow_list(index->names, index->names_size, length + 1,
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

/*
 * Adds a sample, to which scan_add_part() then adds parts. The caller has checked that the range
 * lies inside the file.
 */
int scan_add_sample(struct index_scan *scan, uint64_t name, uint64_t offset,
		    uint64_t length)
{
	struct shard_index *index = scan->index;
	struct index_sample *list;

	if (index->samples == INDEX_SAMPLES_MAX)
		return too_many(scan, offset, "samples");
	list = grow_list(index->sample, index->samples, 1, &scan->sample_room,
			 sizeof(*list));
	if (!list)
		return fail_code();
	index->sample = list;
	list[index->samples++] = (struct index_sample){
		{ offset, length }, name, index->parts
	};
	return 0;
}

/* Adds a part to the last sample. The caller has checked that the range lies inside the file. */
int scan_add_part(struct index_scan *scan, uint64_t name, uint64_t offset,
		  uint64_t length)
{
	struct shard_index *index = scan->index;
	struct index_part *list;

	if (index->parts == INDEX_SAMPLES_MAX)
		return too_many(scan, offset, "parts of samples");
	list = grow_list(index->part, index->parts, 1, &scan->part_room,
			 sizeof(*list));
	if (!list)
		return fail_code();
	index->part = list;
	list[index->parts++] = (struct index_part){ { offset, length }, name };
	return 0;
}

/*
 * Adds a range that a reader reads to open the file. The caller makes sure that the range is not
 * empty, lies inside the file and behind the previous one, and that INDEX_RANGES_MAX suffices.
 */
void scan_add_range(struct index_scan *scan, uint64_t offset, uint64_t length)
{
	struct shard_index *index = scan->index;

	index->range[index->ranges++] = (struct index_range){ offset, length };
}
