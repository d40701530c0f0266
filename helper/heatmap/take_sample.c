// SPDX-License-Identifier: GPL-2.0-only
#include "heatmap/take_sample.h"

#include <sys/sysmacros.h>
#include <unistd.h>

#include "bpf/builtin_programs.h"
#include "lib/error.h"
#include "heat.h"
#include "files/residency.h"
#include "lib/periodic_wait.h"

#define MAP	"heats"

/* Argument of collect_count(). @dev: number of the device as in the map's keys. */
struct collecting {
	uint32_t dev;
	struct counts *counts;
};

static int collect_count(const void *key, const void *value, void *arg)
{
	const struct collecting *collecting = arg;
	const struct heat_key *place = key;
	const struct heat *heat = value;

	if (place->dev != collecting->dev)
		return 0;
	return counts_add(collecting->counts, place->region, heat->reads);
}

/* Returns whether the heat program is loaded now: users load and unload it at any time. */
static bool is_loaded(void)
{
	int map = program_open_map(&built_in_heat, MAP, sizeof(struct heat_key),
				   sizeof(struct heat));

	if (map < 0)
		return false;
	close(map);
	return true;
}

static int read_counts(const struct dm_device *dev, struct counts *counts, bool *counted)
{
	struct collecting collecting = {
		.dev = major(dev->number) << 20 | minor(dev->number),
		.counts = counts,
	};

	*counted = is_loaded();
	if (*counted &&
	    program_each(&built_in_heat, MAP, sizeof(struct heat_key),
			 sizeof(struct heat), collect_count, &collecting))
		return fail_code();
	counts_sort(counts);
	return fail_code();
}

/*
 * Starts the first sample. The caller has set @dev and @moment and zeroed the rest, and calls
 * gather_end() after success and failure.
 */
int gather_begin(struct gather *gather)
{
	gather->started = watch_now();
	gather->last = gather->started;
	if (gather->moment) {
		gather->counted = is_loaded();
		return 0;
	}
	return read_counts(gather->dev, &gather->counts, &gather->counted);
}

/* Takes a sample into @sample, which is empty. The caller must have set @gather->grid. */
int gather_take(struct gather *gather, struct sample *sample)
{
	const struct grid *grid = &gather->grid;
	struct counts now = { 0 }, since = { 0 };
	uint64_t time = watch_now();
	size_t i;

	if (!gather->moment) {
		sample->time = time - gather->started;
		sample->span = time - gather->last;
	}
	sample->looks = 1;
	gather->last = time;
	if (read_counts(gather->dev, &now, &sample->counted) || counts_copy(&since, &now))
		goto out;
	counts_since(&since, &gather->counts);
	for (i = 0; i < grid->shards->count; i++) {
		struct density line = sample_line(sample, grid, i);

		if (residency_of(gather->dev->number, &grid->shards->shard[i], &line))
			break;
		counts_spread(&since, &grid->shards->shard[i], gather->dev->size, &line,
			      sample->reads + i * grid->cells);
	}
out:
	counts_free(&since);
	counts_free(&gather->counts);
	gather->counts = now;
	gather->counted = sample->counted;
	return fail_code();
}

/* May be called twice. */
void gather_end(struct gather *gather)
{
	counts_free(&gather->counts);
}
