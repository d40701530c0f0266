// SPDX-License-Identifier: GPL-2.0-only
#include "pins/known.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

/* A list that is interrupted is asked for so often. */
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

/* Devices that come and go, and leases that end, interrupt a list. */
static int read_whole(struct known *known, dev_t number)
{
	int tries = TRIES;

	while (nl_range_each(number, take_range, known) == CODE_BUSY && --tries) {
		known_free(known);
		fail_reset();
	}
	return fail_code();
}

/**
 * known_read() - ask the kernel for all ranges of a device
 * @known: the result; known_free() is due also after a failure
 * @number: of the device
 *
 * Return: 0 or the exit code.
 */
int known_read(struct known *known, dev_t number)
{
	struct nl_room room;

	memset(known, 0, sizeof(*known));
	if (nl_range_room(number, &room))
		return fail_code();
	if (room.count && !read_whole(known, number) && known->count)
		qsort(known->range, known->count, sizeof(*known->range),
		      compare_ranges);
	return fail_code();
}

/**
 * known_has() - whether the kernel knows a range
 * @known: its ranges
 * @range: the range; when it expires is not looked at
 *
 * Return: whether it does.
 */
bool known_has(const struct known *known, const struct nl_range *range)
{
	return known->count && bsearch(range, known->range, known->count,
				       sizeof(*known->range), compare_ranges);
}

/**
 * known_has_pin() - whether the kernel knows all of what is wanted
 * @known: its ranges
 * @pins: of the device
 * @pin: one of them; when it expires is not looked at
 *
 * Return: whether it does, as far as that is on the device.
 */
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

/* Free all; harmless after that. */
void known_free(struct known *known)
{
	size_t i;

	for (i = 0; i < known->count; i++)
		free((char *)known->range[i].label);
	free(known->range);
	memset(known, 0, sizeof(*known));
}
