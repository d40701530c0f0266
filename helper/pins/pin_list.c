// SPDX-License-Identifier: GPL-2.0-only
/* The pins of a device in memory: adds, drops and lists them. */
#include "pins/pin_list.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

static char *copy_text(const char *text)
{
	return text ? strdup(text) : NULL;
}

static void free_pin(struct pin *pin)
{
	free(pin->path);
	free(pin->handle);
	free(pin->label);
	free(pin->samples);
	free(pin->range);
}

/*
 * Append a copy of @like without its ranges. Returns the new pin, valid until the next append, or
 * NULL after recording an error.
 * @path: absolute path of the file or folder; NULL: the pin is for a range.
 */
struct pin *pins_append(struct pins *pins, const struct pin *like,
			const char *path)
{
	struct pin *pin;

	if (pins->count == pins->room) {
		size_t room = pins->room ? 2 * pins->room : 16;

		pin = reallocarray(pins->pin, room, sizeof(*pin));
		if (!pin) {
			fail_memory();
			return NULL;
		}
		pins->pin = pin;
		pins->room = room;
	}
	pin = &pins->pin[pins->count];
	*pin = *like;
	pin->path = copy_text(path);
	pin->handle = copy_text(like->handle);
	pin->label = copy_text(like->label);
	pin->samples = copy_text(like->samples);
	pin->range = NULL;
	pin->ranges = 0;
	pin->fresh = false;
	pin->dropped = false;
	pin->number = 0;
	pin->changed = false;
	pin->gone = false;
	if ((path && !pin->path) || !pin->label ||
	    (like->handle && !pin->handle) || (like->samples && !pin->samples)) {
		free_pin(pin);
		fail_memory();
		return NULL;
	}
	pins->count++;
	return pin;
}

/* Give a pin the ranges of @shard, and mark it as fresh. A failure leaves the pin unchanged. */
int pin_place(struct pin *pin, const struct shard *shard)
{
	struct range *range = calloc(shard->ranges ? shard->ranges : 1,
				     sizeof(*range));

	if (!range)
		return fail_memory();
	memcpy(range, shard->range, shard->ranges * sizeof(*range));
	free(pin->range);
	pin->range = range;
	pin->ranges = shard->ranges;
	pin->fresh = true;
	return 0;
}

static int compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return !!a - !!b;
	return strcmp(a, b);
}

static int compare_ranges(const struct pin *a, const struct pin *b)
{
	if (a->ranges != b->ranges)
		return a->ranges < b->ranges ? -1 : 1;
	return memcmp(a->range, b->range, a->ranges * sizeof(*a->range));
}

/* Compare path, label and part of the file; for pins without a file compare label and ranges. */
static int compare_pins(const void *x, const void *y)
{
	const struct pin *a = x, *b = y;
	int order = compare_text(a->path, b->path);

	if (!order)
		order = compare_text(a->label, b->label);
	if (!order)
		order = compare_text(a->samples, b->samples);
	if (!order)
		order = a->index_only - b->index_only;
	if (!order && !a->path)
		order = compare_ranges(a, b);
	return order;
}

static void leave_pin(void *pin)
{
	(void)pin;
}

/*
 * Mark the pins that are equal to one of @added as dropped. Remove from @added all but the first of
 * equal pins: two names may lead to one file, for example after 'rm a; mv b a' with both pinned.
 */
static int drop_replaced(struct pins *pins, struct pins *added)
{
	size_t i, kept = 0;
	void *known = NULL;

	for (i = 0; i < added->count; i++) {
		struct pin *pin = &added->pin[kept], **found;

		*pin = added->pin[i];
		found = tsearch(pin, &known, compare_pins);
		if (!found)
			fail_memory();
		if (found && *found != pin)
			free_pin(pin);
		else
			kept++;
	}
	added->count = kept;
	for (i = 0; i < pins->count; i++)
		if (tfind(&pins->pin[i], &known, compare_pins))
			pins->pin[i].dropped = true;
	tdestroy(known, leave_pin);
	return fail_code();
}

/* Remove from @added the pins that are equal to one of @pins that is not dropped. */
int pins_keep_new(struct pins *added, const struct pins *pins)
{
	void *known = NULL;
	size_t i, kept = 0;

	for (i = 0; i < pins->count && !fail_code(); i++)
		if (!pins->pin[i].dropped && !tsearch(&pins->pin[i], &known, compare_pins))
			fail_memory();
	for (i = 0; i < added->count; i++)
		if (tfind(&added->pin[i], &known, compare_pins))
			free_pin(&added->pin[i]);
		else
			added->pin[kept++] = added->pin[i];
	added->count = kept;
	tdestroy(known, leave_pin);
	return fail_code();
}

/* Move the pins of @added to the end of @pins, and mark equal earlier pins as dropped. */
int pins_replace(struct pins *pins, struct pins *added)
{
	size_t room = pins->count + added->count;
	struct pin *pin;

	if (!added->count)
		return 0;
	pin = reallocarray(pins->pin, room, sizeof(*pin));
	if (!pin)
		return fail_memory();
	pins->pin = pin;
	pins->room = room;
	if (drop_replaced(pins, added))
		return fail_code();
	memcpy(pin + pins->count, added->pin, added->count * sizeof(*pin));
	pins->count += added->count;
	added->count = 0;
	return 0;
}

bool pin_is_any(const struct pin *pin)
{
	(void)pin;
	return true;
}

bool pin_is_fresh(const struct pin *pin)
{
	return pin->fresh && !pin->dropped;
}

bool pin_is_dropped(const struct pin *pin)
{
	return pin->dropped;
}

static bool pin_meant(const struct pin *pin, bool (*chosen)(const struct pin *pin))
{
	return chosen ? chosen(pin) : !pin->dropped;
}

bool pin_stays(const struct pin *pin)
{
	return !pin->fresh && !pin->dropped;
}

/*
 * Get the part of a recorded range that is on the device. Returns false if there is none, because
 * the device shrank. While the size of the device is unknown, @part is the whole range.
 */
bool pins_inside(const struct pins *pins, const struct range *range,
		 struct range *part)
{
	*part = *range;
	if (!pins->size)
		return true;
	if (range->start >= pins->size)
		return false;
	if (range->length > pins->size - range->start)
		part->length = pins->size - range->start;
	return true;
}

static bool lies_in(const struct pins *pins, const struct range *range,
		    const char *label, const struct spans *spans)
{
	struct range part;

	return spans_hold(spans, range, label) ||
	       (pins_inside(pins, range, &part) &&
		spans_hold(spans, &part, label));
}

/* Remove the pins' ranges inside @spans. A pin that loses its last range is dropped. */
void pins_drop(struct pins *pins, const struct spans *spans)
{
	const struct range all = { 0 };
	size_t i, r, kept;

	for (i = 0; i < pins->count; i++) {
		struct pin *pin = &pins->pin[i];

		if (pin->dropped)
			continue;
		kept = 0;
		for (r = 0; r < pin->ranges; r++)
			if (!lies_in(pins, &pin->range[r], pin->label, spans))
				pin->range[kept++] = pin->range[r];
		pin->dropped = !kept &&
			       (pin->ranges ||
				spans_hold(spans, &all, pin->label));
		pin->changed |= kept < pin->ranges;
		pin->ranges = kept;
	}
}

/* Drop the expired pins. @now: seconds since 1970. */
void pins_drop_old(struct pins *pins, int64_t now)
{
	size_t i;

	for (i = 0; i < pins->count; i++)
		if (pins->pin[i].expires && pins->pin[i].expires <= now)
			pins->pin[i].dropped = true;
}

/* Remove the dropped pins from the list, and mark the others as not fresh. */
void pins_settle(struct pins *pins)
{
	size_t i, kept = 0;

	for (i = 0; i < pins->count; i++) {
		if (pins->pin[i].dropped) {
			free_pin(&pins->pin[i]);
			continue;
		}
		pins->pin[kept] = pins->pin[i];
		pins->pin[kept++].fresh = false;
	}
	pins->count = kept;
}

static uint32_t seconds_left(const struct pin *pin, int64_t now)
{
	int64_t left = pin->expires - now;

	if (!pin->expires)
		return 0;
	if (left < 1)
		return 1;
	return left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
}

/*
 * List the ranges of the chosen pins, cut to the device, as the kernel takes them. The caller frees
 * @range; the labels in it belong to @pins.
 * @chosen: selects pins; NULL: all pins that are not dropped.
 * @now: seconds since 1970.
 */
int pins_ranges(const struct pins *pins, bool (*chosen)(const struct pin *pin),
		int64_t now, struct nl_range **range, size_t *count)
{
	size_t i, r, most = 1;

	*count = 0;
	for (i = 0; i < pins->count; i++)
		most += pins->pin[i].ranges;
	*range = calloc(most, sizeof(**range));
	if (!*range)
		return fail_memory();
	for (i = 0; i < pins->count; i++) {
		const struct pin *pin = &pins->pin[i];

		if (!pin_meant(pin, chosen))
			continue;
		for (r = 0; r < pin->ranges; r++) {
			struct range part;

			if (!pins_inside(pins, &pin->range[r], &part))
				continue;
			(*range)[(*count)++] = (struct nl_range){
				.range = part,
				.label = pin->label,
				.flags = pin->flags,
				.priority = pin->priority,
				.expires = seconds_left(pin, now),
			};
		}
	}
	return 0;
}

/* Like pins_ranges(), but list only the ranges of pins with @load, for a prefetch job. */
int pins_pieces(const struct pins *pins, bool (*chosen)(const struct pin *pin),
		struct range **piece, size_t *count)
{
	size_t i, r, most = 1;

	*count = 0;
	for (i = 0; i < pins->count; i++)
		most += pins->pin[i].ranges;
	*piece = calloc(most, sizeof(**piece));
	if (!*piece)
		return fail_memory();
	for (i = 0; i < pins->count; i++) {
		const struct pin *pin = &pins->pin[i];

		if (!pin->load || !pin_meant(pin, chosen))
			continue;
		for (r = 0; r < pin->ranges; r++)
			if (pins_inside(pins, &pin->range[r],
					&(*piece)[*count]))
				(*count)++;
	}
	return 0;
}

void pins_free(struct pins *pins)
{
	size_t i;

	for (i = 0; i < pins->count; i++)
		free_pin(&pins->pin[i]);
	free(pins->pin);
	for (i = 0; i < pins->file.labels; i++)
		free(pins->file.label[i]);
	free(pins->file.label);
	memset(pins, 0, sizeof(*pins));
}
