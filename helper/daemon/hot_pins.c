// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/hot_pins.h"

#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "bpf/builtin_programs.h"
#include "lib/error.h"
#include "heat.h"
#include "netlink/client.h"
#include "bpf/program.h"

#define REGION_BYTES	(512ULL << HEAT_REGION_SHIFT)

/* Regions of one device in the map of the heat program.  @dev: major << 20 | minor. */
struct heats {
	uint32_t dev;
	struct hot_seen *seen;
	size_t count;
};

struct advising {
	const struct dm_device *dev;
	const struct hot_pins *what;
};

static int take_heat(const void *key_, const void *value, void *arg)
{
	const struct heat_key *key = key_;
	const struct heat *heat = value;
	struct heats *heats = arg;

	if (key->dev != heats->dev)
		return 0;
	if (heats->count == HEAT_REGIONS)
		return 1;
	heats->seen[heats->count++] = (struct hot_seen) { key->region, heat->hit_bytes };
	return 0;
}

static struct range region_at(const struct dm_device *dev, uint64_t start)
{
	uint64_t left = dev->size > start ? dev->size - start : 0;

	return (struct range) { start, left < REGION_BYTES ? left : REGION_BYTES };
}

/* Pin the region at byte @start.  Fails with CODE_DEVICE if the cache has no room for the pin. */
int hot_pins_pin(const struct dm_device *dev, uint64_t start)
{
	const struct nl_range range = {
		.range = region_at(dev, start),
		.label = HOT_LABEL,
		.flags = NEARCACHE_RANGE_PIN,
	};
	struct nl_replacement rp = { .add = &range, .add_count = 1 };

	if (nl_range_replace(dev->number, &rp))
		return fail_code();
	return rp.refused ? fail(CODE_DEVICE, "no room to pin a hot region of '%s'", dev->name) :
			    0;
}

/* Unpin the region at byte @start.  Ranges with other labels in this region stay pinned. */
int hot_pins_unpin(const struct dm_device *dev, uint64_t start)
{
	const struct nl_range which = {
		.range = region_at(dev, start),
		.label = HOT_LABEL,
	};
	struct nl_replacement rp = { .drop = &which, .drop_count = 1 };

	return nl_range_replace(dev->number, &rp);
}

/* Mark the region at @range as pinned if this daemon or an earlier one pinned it. */
static void take_pin(const struct nl_range *range, void *arg)
{
	if (!strcmp(range->label, HOT_LABEL) && !(range->range.start % REGION_BYTES) &&
	    !fail_code())
		hot_take_pin(arg, (uint32_t)(range->range.start / REGION_BYTES));
}

static bool advise_region(const struct hot_advice *advice, void *arg)
{
	const struct advising *advising = arg;
	uint64_t start = advice->region * REGION_BYTES;

	if (!advising->what->observe &&
	    (advice->pin ? hot_pins_pin(advising->dev, start) :
			   hot_pins_unpin(advising->dev, start)))
		return false;
	advising->what->told(start, advice, advising->what->arg);
	return true;
}

/* Take a sample of the heat of all regions, then pin and unpin as hot_judge() advises. */
int hot_pins_look(struct hot *hot, const struct dm_device *dev, const struct hot_pins *what)
{
	struct advising advising = { dev, what };
	struct heats heats = {
		.dev = major(dev->number) << 20 | minor(dev->number),
		.seen = calloc(HEAT_REGIONS, sizeof(*heats.seen)),
	};

	if (!heats.seen)
		return fail_memory();
	/* Read the pins again: a user or a reload of the device may have removed some. */
	if (!what->observe) {
		hot_forget_pins(hot);
		nl_range_each(dev->number, take_pin, hot);
	}
	if (!fail_code() &&
	    !program_each(&built_in_heat, "heats", sizeof(struct heat_key), sizeof(struct heat),
			  take_heat, &heats) &&
	    !hot_look(hot, heats.seen, heats.count))
		hot_judge(hot, REGION_BYTES, what->quota / REGION_BYTES, advise_region, &advising);
	free(heats.seen);
	return fail_code();
}
