// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/hot_regions.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

/*
 * A region is pinned when its heat reaches this multiple of the mean heat, and unpinned when its
 * heat falls to the mean.  The gap avoids frequent changes.
 */
#define HOT_TIMES	4U

static int by_region(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* by_region() compares the first member of both structs. */
_Static_assert(!offsetof(struct hot_seen, region) && !offsetof(struct hot_region, region),
	       "by_region()");

static struct hot_region *find_region(const struct hot *hot, uint32_t region)
{
	return hot->count ? bsearch(&region, hot->region, hot->count, sizeof(*hot->region),
				    by_region) : NULL;
}

/* @known: the region in the last sample, or NULL.  !@begun: do not count @saved as growth. */
static void learn_region(struct hot_region *to, const struct hot_region *known, uint64_t saved,
			 bool begun)
{
	uint64_t before = known ? known->saved : begun ? 0 : saved;

	to->saved = saved;
	to->heat = (known ? known->heat / 2 : 0) + (saved > before ? saved - before : 0);
	to->pinned = known && known->pinned;
}

/* Update all heats by a sample.  Sorts the @count regions in @seen, and skips duplicates. */
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
	/* Keep pinned regions that are not in the sample, so that hot_judge() can unpin them. */
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

void hot_forget_pins(struct hot *hot)
{
	size_t i;

	for (i = 0; i < hot->count; i++)
		hot->region[i].pinned = false;
	hot->pinned = 0;
}

/* Mark a region as pinned.  A region that is not known yet is added with a heat of 0. */
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

/* Mean of all regions with a heat above 0: pinned regions without recent reads do not count. */
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

static struct hot_region *hottest_region(const struct hot *hot)
{
	struct hot_region *most = NULL;
	size_t i;

	for (i = 0; i < hot->count; i++)
		if (!hot->region[i].pinned && (!most || hot->region[i].heat > most->heat))
			most = &hot->region[i];
	return most;
}

/**
 * hot_judge() - choose regions to pin and to unpin
 * @hot: regions
 * @bytes: size of a region; no region with a heat below @bytes is pinned
 * @quota: maximum number of pinned regions
 * @advise: called for each region to pin or unpin; returns whether it pinned or unpinned the region.
 * After a refused pin no more regions are pinned
 * @arg: for @advise
 */
void hot_judge(struct hot *hot, uint64_t bytes, size_t quota,
	       bool (*advise)(const struct hot_advice *advice, void *arg), void *arg)
{
	struct hot_advice advice = { .mean = mean_of(hot) };
	struct hot_region *region;
	size_t i;

	/* A mean of 0: there were no recent hits to compare.  Leave all pins as they are. */
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
	while (advice.mean && hot->pinned < quota) {
		region = hottest_region(hot);
		if (!region || region->heat < bytes || region->heat < HOT_TIMES * advice.mean)
			break;
		advice.region = region->region;
		advice.heat = region->heat;
		if (!advise(&advice, arg))
			break;
		region->pinned = true;
		hot->pinned++;
	}
}

void hot_free(struct hot *hot)
{
	free(hot->region);
	memset(hot, 0, sizeof(*hot));
}
