// SPDX-License-Identifier: GPL-2.0-only
#include "pins/kernel_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

/* Maximum number of attempts to read the ranges. An attempt fails if a range changes meanwhile. */
#define TRIES	16

static void take_range(const struct nl_range *range, void *arg)
{
	struct known *known = arg;
	struct nl_range *own;

	if (known->count == known->room) {
		size_t room = known->room ? 2 * known->room : 256;

		own = reallocarray(known->range, room, sizeof(*own));
		if (!own) {
			fail_memory();
			return;
		}
		known->range = own;
		known->room = room;
	}
	own = &known->range[known->count];
	*own = *range;
	own->label = strdup(range->label);
	if (own->label)
		known->count++;
	else
		fail_memory();
}

#define ORDER(a, b)	(((a) > (b)) - ((a) < (b)))

static int compare_ranges(const void *x, const void *y)
{
	const struct nl_range *a = x, *b = y;
	int order = ORDER(a->range.start, b->range.start);

	if (!order)
		order = ORDER(a->range.length, b->range.length);
	if (!order)
		order = ORDER(a->flags, b->flags);
	if (!order)
		order = ORDER(a->priority, b->priority);
	return order ? order : strcmp(a->label, b->label);
}

/* Sort @known->range, which the caller filled, for known_has(). */
void known_sort(struct known *known)
{
	if (known->count)
		qsort(known->range, known->count, sizeof(*known->range), compare_ranges);
}

/* Read all ranges. Retry after CODE_BUSY: meanwhile a device came or went, or a range expired. */
static int read_whole(struct known *known, dev_t number)
{
	int tries = TRIES;

	while (nl_range_each(number, take_range, known) == CODE_BUSY && --tries) {
		known_free(known);
		fail_reset();
	}
	return fail_code();
}

/* Read all ranges of a device from the kernel. known_free() is needed even after a failure. */
int known_read(struct known *known, dev_t number)
{
	struct nl_room room;

	memset(known, 0, sizeof(*known));
	if (nl_range_room(number, &room))
		return fail_code();
	if (room.count && !read_whole(known, number))
		known_sort(known);
	return fail_code();
}

/* True if the kernel has a range equal to @range, except for the time of expiry. */
bool known_has(const struct known *known, const struct nl_range *range)
{
	return known->count && bsearch(range, known->range, known->count,
				       sizeof(*known->range), compare_ranges);
}

static int compare_labels(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* List the labels in a record, also of dropped pins, for labels_have() and free(). */
int pins_labels(const struct pins *pins, const char ***label, size_t *count)
{
	size_t i;

	*count = 0;
	*label = calloc(pins->count + pins->file.labels + 1, sizeof(**label));
	if (!*label)
		return fail_memory();
	for (i = 0; i < pins->count; i++)
		(*label)[(*count)++] = pins->pin[i].label;
	for (i = 0; i < pins->file.labels; i++)
		(*label)[(*count)++] = pins->file.label[i];
	qsort(*label, *count, sizeof(**label), compare_labels);
	return 0;
}

bool labels_have(const char *const *label, size_t count, const char *wanted)
{
	return bsearch(&wanted, label, count, sizeof(*label), compare_labels);
}

/*
 * List the ranges of all pins, even dropped ones, for known_is_unrecorded(). The labels belong to
 * @pins: the caller frees only recorded->range.
 */
int pins_recorded(const struct pins *pins, struct known *recorded)
{
	memset(recorded, 0, sizeof(*recorded));
	if (!pins_ranges(pins, pin_is_any, 0, &recorded->range, &recorded->count))
		known_sort(recorded);
	return fail_code();
}

/* True if a range of the kernel is not on record. The daemon does not record its ranges. */
bool known_is_unrecorded(const struct known *recorded, const struct nl_range *range)
{
	return strcmp(range->label, HOT_LABEL) && !known_has(recorded, range);
}

/* True if known_has() holds for all ranges of a pin, cut to the part that is on the device. */
bool known_has_pin(const struct known *known, const struct pins *pins,
		   const struct pin *pin)
{
	struct nl_range key = {
		.label = pin->label,
		.flags = pin->flags,
		.priority = pin->priority,
	};
	size_t i;

	for (i = 0; i < pin->ranges; i++)
		if (pins_inside(pins, &pin->range[i], &key.range) &&
		    !known_has(known, &key))
			return false;
	return true;
}

void known_free(struct known *known)
{
	size_t i;

	for (i = 0; i < known->count; i++)
		free((char *)known->range[i].label);
	free(known->range);
	memset(known, 0, sizeof(*known));
}
