// SPDX-License-Identifier: GPL-2.0-only
#include "ondisk/volume_map.h"

#include <stddef.h>

static void shorten_run(uint64_t *run, uint64_t limit)
{
	if (*run > limit)
		*run = limit;
}

static const struct volume_segment *find_segment(const struct volume *volume, uint64_t offset)
{
	unsigned int i;

	for (i = 0; i < volume->segments; i++)
		if (offset >= volume->segment[i].start &&
		    offset - volume->segment[i].start < volume->segment[i].length)
			return &volume->segment[i];
	return NULL;
}

/* Translate @offset to the volume below, and shorten @run to the bytes that stay together there. */
static bool step_down(const struct volume *volume, uint64_t *offset, uint64_t *run)
{
	const struct volume_segment *segment = find_segment(volume, *offset);
	const struct volume_stripe *stripe;
	uint64_t at, chunk, within;

	if (!segment)
		return false;
	at = *offset - segment->start;
	chunk = at / segment->unit;
	within = at % segment->unit;
	stripe = &segment->stripe[chunk % segment->stripes];
	shorten_run(run, segment->length - at);
	shorten_run(run, segment->unit - within);
	return stripe->here &&
	       !__builtin_add_overflow(stripe->start,
				       chunk / segment->stripes * segment->unit + within, offset);
}

/*
 * Find byte @offset of @volume on the device: sets @place (bytes from the device's start) and @run
 * (bytes from there that are consecutive on the device as well, at least 1). Returns false if the
 * byte is behind the end of a volume, or on another device.
 */
bool volume_place(const struct volume *volume, uint64_t offset, uint64_t *place,
		  uint64_t *run)
{
	*run = UINT64_MAX;
	for (; offset < volume->size; volume = volume->below) {
		shorten_run(run, volume->size - offset);
		if (!volume->below) {
			*place = offset;
			return true;
		}
		if (!step_down(volume, &offset, run))
			return false;
	}
	return false;
}
