// SPDX-License-Identifier: GPL-2.0-only
#include "fake_nl.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "unit.h"

struct fake_nl fake_nl;

static uint64_t end_of(const struct range *range)
{
	return range->start + range->length;
}

void fake_nl_reset(uint64_t size)
{
	while (fake_nl.count)
		free((char *)fake_nl.range[--fake_nl.count].label);
	memset(&fake_nl, 0, sizeof(fake_nl));
	fake_nl.size = size;
	fake_nl.available = size;
	fail_reset();
}

static void give(const struct nl_range *range)
{
	assert_true(fake_nl.count < FAKE_RANGES);
	fake_nl.range[fake_nl.count] = *range;
	fake_nl.range[fake_nl.count++].label = strdup(range->label);
}

void fake_nl_give(uint64_t start, uint64_t length, const char *label,
		  uint32_t flags)
{
	const struct nl_range range = { { start, length }, label, flags, 0, 0 };

	give(&range);
}

/* Remove a range from the fake kernel without a request. */
void fake_nl_take(uint64_t start)
{
	size_t i, left = 0;

	for (i = 0; i < fake_nl.count; i++)
		if (fake_nl.range[i].range.start == start)
			free((char *)fake_nl.range[i].label);
		else
			fake_nl.range[left++] = fake_nl.range[i];
	fake_nl.count = left;
}

size_t fake_nl_count(uint64_t start, uint64_t length, const char *label,
		     uint32_t flags)
{
	size_t i, count = 0;

	for (i = 0; i < fake_nl.count; i++)
		count += fake_nl.range[i].range.start == start &&
			 fake_nl.range[i].range.length == length &&
			 fake_nl.range[i].flags == flags &&
			 !strcmp(fake_nl.range[i].label, label);
	return count;
}

static int by_start(const void *x, const void *y)
{
	const struct range *a = x, *b = y;

	return (a->start > b->start) - (a->start < b->start);
}

/* Pinned bytes, overlaps counted once; @watched: all of @fake_nl.watch is pinned. */
static uint64_t pinned(bool *watched)
{
	static struct range pin[FAKE_RANGES];
	uint64_t bytes = 0, end = 0;
	size_t i, count = 0;

	*watched = !fake_nl.watch.length;
	for (i = 0; i < fake_nl.count; i++)
		if (fake_nl.range[i].flags & NEARCACHE_RANGE_PIN)
			pin[count++] = fake_nl.range[i].range;
	qsort(pin, count, sizeof(*pin), by_start);
	for (i = 0; i < count; i++) {
		if (pin[i].start <= fake_nl.watch.start &&
		    end_of(&pin[i]) >= end_of(&fake_nl.watch))
			*watched = true;
		if (end_of(&pin[i]) <= end)
			continue;
		bytes += end_of(&pin[i]) -
			 (pin[i].start > end ? pin[i].start : end);
		end = end_of(&pin[i]);
	}
	return bytes;
}

static void look(void)
{
	bool watched;

	pinned(&watched);
	fake_nl.unpinned += !watched;
}

static void forget_from(size_t count)
{
	while (fake_nl.count > count)
		free((char *)fake_nl.range[--fake_nl.count].label);
}

int nl_range_room(dev_t number, struct nl_room *room)
{
	bool watched;

	(void)number;
	*room = (struct nl_room){ fake_nl.count, pinned(&watched),
				  fake_nl.available };
	return 0;
}

int nl_range_add(dev_t number, const struct nl_range *range, size_t count,
		 struct nl_room *room, bool *refused)
{
	size_t before = fake_nl.count, i;
	bool pins = false;

	*refused = false;
	assert_true(count > 0);
	fake_nl.added += count;
	if (++fake_nl.adds == fake_nl.fail_add)
		return (fail)(CODE_BUSY, "BUSY");
	for (i = 0; i < count; i++) {
		if (end_of(&range[i].range) > fake_nl.size) {
			forget_from(before);
			return (fail)(CODE_DEVICE, "RANGE");
		}
		give(&range[i]);
		pins |= range[i].flags & NEARCACHE_RANGE_PIN;
	}
	nl_range_room(number, room);
	*refused = pins && room->needed > room->available;
	if (*refused)
		forget_from(before);
	look();
	return 0;
}

static bool is_meant(const struct nl_range *own, const struct nl_range *which)
{
	return own->range.start >= which->range.start &&
	       (!which->range.length ||
		end_of(&own->range) <= end_of(&which->range)) &&
	       (!which->label || !strcmp(which->label, own->label));
}

static void delete_meant(const struct nl_range *which, size_t count,
			 uint64_t *deleted)
{
	size_t i, k, left = 0;

	for (i = 0; i < fake_nl.count; i++) {
		bool meant = false;

		for (k = 0; k < count && !meant; k++)
			meant = is_meant(&fake_nl.range[i], &which[k]);
		*deleted += meant;
		if (meant)
			free((char *)fake_nl.range[i].label);
		else
			fake_nl.range[left++] = fake_nl.range[i];
	}
	fake_nl.count = left;
}

int nl_range_delete(dev_t number, const struct nl_range *which, size_t count,
		    uint64_t *deleted)
{
	size_t done, some, i;

	(void)number;
	*deleted = 0;
	for (done = 0; done < count; done += some) {
		some = count - done < FAKE_CHUNK ? count - done : FAKE_CHUNK;
		if (++fake_nl.deletes == fake_nl.fail_delete)
			return (fail)(CODE_BUSY, "BUSY");
		for (i = 0; i < some; i++)
			if (end_of(&which[done + i].range) > fake_nl.size)
				return (fail)(CODE_DEVICE, "RANGE");
		delete_meant(which + done, some, deleted);
		look();
	}
	return 0;
}

int nl_range_each(dev_t number,
		  void (*visit)(const struct nl_range *range, void *arg),
		  void *arg)
{
	size_t i;

	(void)number;
	for (i = 0; i < fake_nl.count; i++) {
		visit(&fake_nl.range[i], arg);
		if (fake_nl.interrupts) {
			fake_nl.interrupts--;
			return (fail)(CODE_BUSY, "INTERRUPTED");
		}
	}
	return 0;
}

int nl_job_submit(dev_t number, const struct nl_job *wishes,
		  const struct range *range, size_t count, uint32_t *id)
{
	size_t i;

	(void)number;
	(void)wishes;
	if (fake_nl.no_jobs)
		return (fail)(CODE_MEMORY, "NO JOBS");
	for (i = 0; i < count; i++) {
		if (end_of(&range[i]) > fake_nl.size)
			return (fail)(CODE_DEVICE, "RANGE");
		fake_nl.piece[i] = range[i];
	}
	fake_nl.pieces = count;
	*id = ++fake_nl.jobs;
	return 0;
}
