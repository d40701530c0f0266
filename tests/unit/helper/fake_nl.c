// SPDX-License-Identifier: GPL-2.0-only
/* Fake of netlink/range.c and netlink/job.c; see fake_nl.h. */
#include "fake_nl.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
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

/* Remove the ranges that begin at @start; fake_nl.changes does not count this. */
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

/* Return the pinned bytes, counting overlaps once.  Set @watched if a pin covers fake_nl.watch. */
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

int nl_range_room(dev_t number, struct nl_room *room)
{
	bool watched;

	(void)number;
	*room = (struct nl_room){ fake_nl.count, pinned(&watched),
				  fake_nl.available };
	return 0;
}

static bool is_equal(const struct nl_range *a, const struct nl_range *b)
{
	return a->range.start == b->range.start && a->range.length == b->range.length &&
	       a->flags == b->flags && a->priority == b->priority && !strcmp(a->label, b->label);
}

static bool has_equal(const struct nl_range *list, size_t count, const struct nl_range *range)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (is_equal(&list[i], range))
			return true;
	return false;
}

static bool matches(const struct nl_range *which, const struct nl_range *own)
{
	return own->range.start >= which->range.start &&
	       (!which->range.length ||
		end_of(&own->range) <= end_of(&which->range)) &&
	       (!which->label || !strcmp(which->label, own->label));
}

static bool is_dropped(const struct nl_replacement *change, const struct nl_range *own)
{
	size_t i;

	for (i = 0; i < change->drop_count; i++)
		if (matches(&change->drop[i], own))
			return !has_equal(change->keep, change->keep_count, own);
	return false;
}

/* Fill @next with the ranges that exist after @change (labels are copied); return their number. */
static size_t replaced(struct nl_replacement *change, struct nl_range *next)
{
	size_t i, count = 0;

	for (i = 0; i < fake_nl.count; i++) {
		const struct nl_range *own = &fake_nl.range[i];
		bool equal = has_equal(change->add, change->add_count, own);
		bool dropped = is_dropped(change, own);

		change->deleted += dropped && !equal;
		if (!dropped && !equal)
			next[count++] = *own;
	}
	for (i = 0; i < change->add_count; i++)
		next[count++] = change->add[i];
	assert_true(count <= FAKE_RANGES);
	for (i = 0; i < count; i++)
		next[i].label = strdup(next[i].label);
	return count;
}

static void swap(struct nl_range *next, size_t count)
{
	static struct nl_range old[FAKE_RANGES];
	size_t before = fake_nl.count;

	memcpy(old, fake_nl.range, before * sizeof(*old));
	memcpy(fake_nl.range, next, count * sizeof(*next));
	memcpy(next, old, before * sizeof(*old));
	fake_nl.count = count;
}

int nl_range_replace(dev_t number, struct nl_replacement *change)
{
	static struct nl_range next[2 * FAKE_RANGES];
	size_t i, count, left = fake_nl.count;
	bool pins = false;

	change->deleted = 0;
	change->refused = false;
	if (!change->drop_count && !change->add_count)
		return nl_range_room(number, &change->room);
	assert_true(change->drop_count <= NEARCACHE_RANGES_MAX);
	assert_true(change->keep_count <= NEARCACHE_RANGES_MAX);
	if (change->add_count > NEARCACHE_RANGES_MAX)
		return (fail)(CODE_DEVICE, "TOO MANY");
	fake_nl.added += change->add_count;
	if (++fake_nl.changes == fake_nl.fail_change)
		return (fail)(CODE_BUSY, "BUSY");
	for (i = 0; i < change->add_count; i++) {
		if (end_of(&change->add[i].range) > fake_nl.size)
			return (fail)(CODE_DEVICE, "RANGE");
		pins |= change->add[i].flags & NEARCACHE_RANGE_PIN;
	}
	count = replaced(change, next);
	swap(next, count);
	nl_range_room(number, &change->room);
	change->refused = pins && change->room.needed > change->room.available;
	if (change->refused) {
		swap(next, left);
		left = count;
		change->deleted = 0;
	}
	for (i = 0; i < left; i++)
		free((char *)next[i].label);
	look();
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
