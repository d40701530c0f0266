// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/hot.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

/* What is read so many times as much as others is hot; what is read no more than they are is not
 * any more.
 */
#define HOT_TIMES	4U

static int by_region(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Numbers are first in both. */
_Static_assert(!offsetof(struct hot_seen, region) && !offsetof(struct hot_region, region),
	       "by_region()");

static struct hot_region *find_region(const struct hot *hot, uint32_t region)
{
	return hot->count ? bsearch(&region, hot->region, hot->count, sizeof(*hot->region),
				    by_region) : NULL;
}

/* What was saved before the first look does not count; half of what was learnt does. */
static void learn_region(struct hot_region *to, const struct hot_region *known, uint64_t saved,
			 bool begun)
{
	uint64_t before = known ? known->saved : begun ? 0 : saved;

	to->saved = saved;
	to->heat = (known ? known->heat / 2 : 0) + (saved > before ? saved - before : 0);
	to->pinned = known && known->pinned;
}

/**
 * hot_look() - learn what was read since the last look
 * @hot: regions
 * @seen: all that were read, in any order; one that is there twice counts once
 * @count: how many
 *
 * Return: 0 or the exit code.
 */
int hot_look(struct hot *hot, struct hot_seen *seen, size_t count)
{
	size_t most = count + hot->pinned, i, k = 0;
	struct hot_region *now = calloc(most + 1, sizeof(*now));

	if (!now)
		return fail_memory();
	qsort(seen, count, sizeof(*seen), by_region);
	for (i = 0; i < count; i++) {
		if (k && now[k - 1].region == seen[i].region)
			continue;
		now[k].region = seen[i].region;
		learn_region(&now[k++], find_region(hot, seen[i].region), seen[i].saved,
			     hot->begun);
	}
	count = k;
	/* What is pinned stays known. */
	for (i = 0; i < hot->count; i++)
		if (hot->region[i].pinned &&
		    !bsearch(&hot->region[i].region, now, count, sizeof(*now), by_region)) {
			now[k].region = hot->region[i].region;
			learn_region(&now[k++], &hot->region[i], 0, true);
		}
	qsort(now, k, sizeof(*now), by_region);
	free(hot->region);
	hot->region = now;
	hot->count = k;
	hot->begun = true;
	return 0;
}

/**
 * hot_forget_pins() - no region is pinned, as far as is known
 * @hot: regions
 */
void hot_forget_pins(struct hot *hot)
{
	size_t i;

	for (i = 0; i < hot->count; i++)
		hot->region[i].pinned = false;
	hot->pinned = 0;
}

/**
 * hot_take_pin() - a region is pinned already
 * @hot: regions
 * @region: its number
 *
 * Return: 0 or the exit code.
 */
int hot_take_pin(struct hot *hot, uint32_t region)
{
	struct hot_region *there = find_region(hot, region), *more;

	if (!there) {
		more = reallocarray(hot->region, hot->count + 1, sizeof(*more));
		if (!more)
			return fail_memory();
		hot->region = more;
		more[hot->count++] = (struct hot_region) { .region = region };
		qsort(more, hot->count, sizeof(*more), by_region);
		there = find_region(hot, region);
	}
	hot->pinned += !there->pinned;
	there->pinned = true;
	return 0;
}

/* Of all that are read: pinned ones that are not have no say. */
static uint64_t mean_of(const struct hot *hot)
{
	uint64_t sum = 0, count = 0;
	size_t i;

	for (i = 0; i < hot->count; i++) {
		sum += hot->region[i].heat;
		count += !!hot->region[i].heat;
	}
	return count ? sum / count : 0;
}

static struct hot_region *hottest_region(const struct hot *hot, const bool *tried)
{
	struct hot_region *most = NULL;
	size_t i;

	for (i = 0; i < hot->count; i++)
		if (!hot->region[i].pinned && !tried[i] &&
		    (!most || hot->region[i].heat > most->heat))
			most = &hot->region[i];
	return most;
}

/**
 * hot_judge() - which regions are to be pinned, and which not any more
 * @hot: regions
 * @bytes: of a region; one that saved less is not hot
 * @quota: regions that may be pinned
 * @advise: called for each; returns whether it was done
 * @arg: for it
 */
void hot_judge(struct hot *hot, uint64_t bytes, size_t quota,
	       bool (*advise)(const struct hot_advice *advice, void *arg), void *arg)
{
	bool *tried = calloc(hot->count + 1, sizeof(*tried));
	struct hot_advice advice = { .mean = mean_of(hot) };
	struct hot_region *region;
	size_t i;

	/* Nothing was read of late, or nobody looked. */
	for (i = 0; advice.mean && i < hot->count; i++) {
		region = &hot->region[i];
		advice.region = region->region;
		advice.heat = region->heat;
		if (region->pinned && region->heat <= advice.mean && advise(&advice, arg)) {
			region->pinned = false;
			hot->pinned--;
		}
	}
	advice.pin = true;
	while (tried && advice.mean && hot->pinned < quota) {
		region = hottest_region(hot, tried);
		if (!region || region->heat < bytes || region->heat < HOT_TIMES * advice.mean)
			break;
		tried[region - hot->region] = true;
		advice.region = region->region;
		advice.heat = region->heat;
		if (!advise(&advice, arg))
			break;
		region->pinned = true;
		hot->pinned++;
	}
	free(tried);
}

void hot_free(struct hot *hot)
{
	free(hot->region);
	memset(hot, 0, sizeof(*hot));
}
