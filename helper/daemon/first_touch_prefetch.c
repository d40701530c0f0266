// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/first_touch_prefetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/name.h"

/* Deadline of a job, seconds: its reader reads now, so a job that waits for long is useless. */
#define DEADLINE	60U
/* Maximum shards prefetched per sample.  Further ones wait for their next read from the origin. */
#define TOUCHED_MOST	64U

/* @label: labels of the @count shards that were first read from the origin in this sample. */
struct touched {
	struct opening *opening;
	const struct first_touch *what;
	char label[TOUCHED_MOST][LABEL_SIZE];
	size_t count;
};

/*
 * The ranges of the shard with the label @label, ascending.
 *
 * @bytes: total length of the ranges
 * @refused: one of the ranges is pinned or bypasses the cache, so the shard is not prefetched
 */
struct shard_ranges {
	const char *label;
	struct range *range;
	size_t count;
	size_t room;
	uint64_t bytes;
	bool refused;
};

static void see_label(const struct nl_label *label, void *arg)
{
	struct touched *t = arg;
	uint64_t room = t->count < TOUCHED_MOST ? t->what->room : 0;

	if (opening_see(t->opening, label, t->what->time, room))
		snprintf(t->label[t->count++], LABEL_SIZE, "%s", label->name);
}

static void take_range(const struct nl_range *range, void *arg)
{
	struct shard_ranges *s = arg;
	size_t room = s->room ? 2 * s->room : 16;
	struct range *more;

	if (strcmp(range->label, s->label) || fail_code())
		return;
	s->refused |= range->flags & (NEARCACHE_RANGE_PIN | NEARCACHE_RANGE_BYPASS);
	if (s->count == s->room) {
		more = reallocarray(s->range, room, sizeof(*more));
		if (!more) {
			fail_memory();
			return;
		}
		s->range = more;
		s->room = room;
	}
	s->range[s->count++] = range->range;
	s->bytes += range->range.length;
}

static int bring_rest(struct opening *opening, const struct dm_device *dev, const char *label,
		      const struct first_touch *what)
{
	struct shard_ranges s = { .label = label };
	struct nl_job wishes = { .deadline = DEADLINE };
	uint32_t id = 0;

	snprintf(wishes.label, sizeof(wishes.label), "%s", label);
	nl_range_each(dev->number, take_range, &s);
	if (fail_code())
		opening_shut(opening, label, false);
	else if (!s.count || s.refused)
		opening_shut(opening, label, true);
	else if (what->observe || !nl_job_submit(dev->number, &wishes, s.range, s.count, &id))
		what->told(label, s.bytes, id, what->arg);
	else
		opening_shut(opening, label, false);
	free(s.range);
	return fail_code();
}

/*
 * Sample all labels, and prefetch each shard that opening_see() opens meanwhile.  Returns 0, or an
 * exit code after recording an error with fail().
 */
int first_touch_look(struct opening *opening, const struct dm_device *dev,
		     const struct first_touch *what)
{
	struct touched *t = calloc(1, sizeof(*t));
	size_t i;

	if (!t)
		return fail_memory();
	t->opening = opening;
	t->what = what;
	nl_label_each(dev->number, see_label, t);
	for (i = 0; i < t->count; i++)
		if (fail_code())
			opening_shut(opening, t->label[i], false);
		else
			bring_rest(opening, dev, t->label[i], what);
	free(t);
	return fail_code();
}
