// SPDX-License-Identifier: GPL-2.0-only
/* Collects the ranges of a plan, submits it and prints its progress. */
#include "files/read_plan.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/print.h"

/* Appends ranges. Zero @plan before the first call. Call plan_free() after success and failure. */
int plan_add(struct plan *plan, const struct range *range, size_t count)
{
	size_t i;

	if (count > plan->room - plan->count) {
		size_t room = 2 * plan->room + count;
		struct range *more = reallocarray(plan->range, room, sizeof(*more));

		if (!more)
			return fail_memory();
		plan->range = more;
		plan->room = room;
	}
	for (i = 0; i < count; i++) {
		plan->bytes += range[i].length;
		plan->range[plan->count++] = range[i];
	}
	return 0;
}

/*
 * Submits @plan to the kernel; a plan without ranges is an error. @flags: see nl_plan_submit().
 * @now receives its new state.
 */
int plan_submit(const struct plan *plan, const struct dm_device *dev, unsigned int flags,
		struct nl_plan *now)
{
	if (!plan->count)
		return fail(CODE_DEVICE, "nothing to plan: the files are empty, or none of them belongs to this node");
	return nl_plan_submit(dev->number, plan->range, plan->count, flags, now);
}

static const char *state_word(uint32_t state)
{
	static const char *const words[] = {
		[NEARCACHE_PLAN_NONE] = "none",
		[NEARCACHE_PLAN_RUNNING] = "running",
		[NEARCACHE_PLAN_OVER] = "over",
		[NEARCACHE_PLAN_LOST] = "lost",
		[NEARCACHE_PLAN_CLEARED] = "cleared",
	};

	return state < sizeof(words) / sizeof(words[0]) ? words[state] : "unknown";
}

/* Prints the fields of a plan. The caller has called print_record(). */
void plan_print(const struct nl_plan *now)
{
	bool any = now->state != NEARCACHE_PLAN_NONE;

	print_string("state", "plan", state_word(now->state));
	print_number("visits", any ? "visits of blocks" : NULL, now->visits);
	print_number("blocks", any ? "different blocks" : NULL, now->blocks);
	print_number("ranges", NULL, now->ranges);
	print_number("position", any ? "over" : NULL, now->position);
	print_ratio("done", NULL, now->position, now->visits);
	print_number("hits", any ? "began with a hit" : NULL, now->hits);
	print_number("misses", any ? "with a miss" : NULL, now->misses);
	print_ratio("hit_ratio", any ? "hit ratio" : NULL, now->hits, now->hits + now->misses);
	print_number("skipped", any ? "skipped" : NULL, now->skipped);
	print_number("astray", any ? "reads astray" : NULL, now->astray);
	print_number("refused", any ? "reads not cached" : NULL, now->refused);
	print_number("sought", now->sought ? "searches for position" : NULL, now->sought);
	print_bytes("memory_bytes", now->memory ? "memory" : NULL, now->memory);
	print_flag("no_prefetch", now->no_prefetch ? "prefetch off" : NULL, now->no_prefetch);
	print_number("coming_ranges", now->coming ? "ranges of next plan" : NULL, now->coming);
}

void plan_free(struct plan *plan)
{
	free(plan->range);
	memset(plan, 0, sizeof(*plan));
}
