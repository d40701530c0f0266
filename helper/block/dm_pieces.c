// SPDX-License-Identifier: GPL-2.0-only
#include "block/dm_pieces.h"

#include <libdevmapper.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "block/dm.h"
#include "lib/error.h"

#define SECTOR	512

static void take_piece(struct dm_piece *piece, uint64_t start, uint64_t length,
		       const char *type, const char *params)
{
	unsigned long long offset = start;
	unsigned int major_number, minor_number;

	memset(piece, 0, sizeof(*piece));
	piece->start = start * SECTOR;
	piece->length = length * SECTOR;
	snprintf(piece->type, sizeof(piece->type), "%s", type);
	if (!strcmp(type, "linear"))
		piece->linear = sscanf(params, "%u:%u %llu", &major_number, &minor_number,
				       &offset) == 3;
	else if (!strcmp(type, DM_CLUSTER_TARGET))
		piece->linear = sscanf(params, "%u:%u", &major_number, &minor_number) == 2;
	if (!piece->linear)
		return;
	piece->under = makedev(major_number, minor_number);
	piece->offset = offset * SECTOR;
}

static int take_pieces(struct dm_task *task, struct dm_piece **list,
		       size_t *count)
{
	uint64_t start, length;
	void *next = NULL;

	do {
		char *type = NULL, *params = NULL;
		struct dm_piece *longer;

		next = dm_get_next_target(task, next, &start, &length, &type,
					  &params);
		if (!type)
			break;
		longer = reallocarray(*list, *count + 1, sizeof(**list));
		if (!longer)
			return fail_memory();
		*list = longer;
		take_piece(&longer[(*count)++], start, length, type, params);
	} while (next);
	return 0;
}

/*
 * Get the lines of a dm device's table in ascending order. The caller frees @list with free(), even
 * after a failure. @count: lines, 0 if the device has no table.
 */
int dm_pieces(dev_t number, struct dm_piece **list, size_t *count)
{
	struct dm_task *task = dm_task_create(DM_DEVICE_TABLE);
	int error;

	*list = NULL;
	*count = 0;
	if (!task)
		return fail_memory();
	dm_task_set_major(task, (int)major(number));
	dm_task_set_minor(task, (int)minor(number));
	/* Reading the table must not cause I/O. */
	dm_task_no_flush(task);
	dm_task_no_open_count(task);
	if (dm_task_run(task))
		error = take_pieces(task, list, count);
	else
		error = fail_errno(dm_task_get_errno(task),
				   "cannot ask for the table of the device-mapper device %u:%u",
				   major(number), minor(number));
	dm_task_destroy(task);
	return error;
}
