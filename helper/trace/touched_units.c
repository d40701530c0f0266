// SPDX-License-Identifier: GPL-2.0-only
/* A sparse bitmap of the units of a device that were read. */
#include "trace/touched_units.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

/* Bits in a page of 4 KiB, and in a word of a page. */
#define PART_UNITS	32768U
#define WORD_BITS	64U

/*
 * Create an empty set. It grows to at most one bit per unit: 32 MiB for 1 TiB in units of 4 KiB.
 * touched_free() may be called even after a failure.
 */
int touched_init(struct touched *touched, uint64_t units)
{
	touched->units = units;
	touched->part = calloc(units / PART_UNITS + 1, sizeof(*touched->part));
	return touched->part ? 0 : fail_memory();
}

static bool is_touched(const struct touched *touched, uint64_t unit)
{
	const uint64_t *part = touched->part[unit / PART_UNITS];
	uint64_t bit = unit % PART_UNITS;

	return part && part[bit / WORD_BITS] >> bit % WORD_BITS & 1;
}

static int touch_unit(struct touched *touched, uint64_t unit)
{
	uint64_t **part = &touched->part[unit / PART_UNITS];
	uint64_t bit = unit % PART_UNITS;

	if (!*part) {
		*part = calloc(PART_UNITS / WORD_BITS, sizeof(**part));
		if (!*part)
			return fail_memory();
		touched->parts++;
	}
	(*part)[bit / WORD_BITS] |= 1ULL << bit % WORD_BITS;
	return 0;
}

/*
 * Add the units from @first up to @end (exclusive); ignore units beyond the device. Call @visit for
 * each run of new units, ascending. Stop when @visit has recorded an error and returns nonzero.
 */
int touched_add(struct touched *touched, uint64_t first, uint64_t end,
		int (*visit)(uint64_t first, uint64_t end, void *arg), void *arg)
{
	uint64_t new;

	if (end > touched->units)
		end = touched->units;
	while (first < end) {
		if (is_touched(touched, first)) {
			first++;
			continue;
		}
		for (new = first; new < end && !is_touched(touched, new); new++)
			if (touch_unit(touched, new))
				return fail_code();
		if (visit(first, new, arg))
			return fail_code();
		first = new;
	}
	return 0;
}

void touched_free(struct touched *touched)
{
	uint64_t i;

	for (i = 0; touched->part && i <= touched->units / PART_UNITS; i++)
		free(touched->part[i]);
	free(touched->part);
	memset(touched, 0, sizeof(*touched));
}
