// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fingerprint of a partition table: hashes its kind and each partition's number, place, type and
 * UUID, then the content of the partitions.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "ondisk/fingerprint_fs.h"

static void add_text(struct fsprint *print, const char *text)
{
	fsprint_add_data(print, text, strlen(text) + 1);
}

static void add_content(struct fsprint *print, const struct partition *part)
{
	struct volume_stripe stripe = { .here = true, .start = part->start };
	struct volume_segment segment = {
		.length = part->size, .unit = part->size, .stripe = &stripe, .stripes = 1,
	};
	struct volume volume = {
		.below = fsprint_volume(print), .size = part->size,
		.segment = &segment, .segments = 1,
	};
	uint64_t end = fsprint_size(print);

	/* A partition at byte 0 would have the same table again. */
	if (part->container || !part->start || part->start >= end)
		return;
	if (volume.size > end - part->start)
		volume.size = end - part->start;
	segment.length = segment.unit = volume.size;
	if (volume.size)
		fsprint_enter(print, &volume);
}

bool fsprint_partitions(struct fsprint *print)
{
	struct partition_table *table = malloc(sizeof(*table));
	bool found = table && fsprint_read_table(print, table);
	unsigned int i;

	if (!table)
		fail_memory();
	if (found)
		add_text(print, table->kind);
	for (i = 0; found && i < table->partitions; i++) {
		const struct partition *part = &table->partition[i];

		fsprint_add_number(print, part->number);
		fsprint_add_number(print, part->start);
		fsprint_add_number(print, part->size);
		add_text(print, part->type);
		add_text(print, part->id);
		add_content(print, part);
	}
	if (found && table->more) {
		fsprint_add_number(print, table->more);
		fsprint_skip(print, table->more);
	}
	free(table);
	return found;
}
