// SPDX-License-Identifier: GPL-2.0-only
#include "files/residency.h"

#include "lib/error.h"
#include "netlink/client.h"

/* The queried range of a shard: @start on the device, @place in the shard, bytes. */
struct look {
	struct density *density;
	uint64_t start;
	uint64_t place;
};

static void take_run(const struct nl_run *run, void *arg)
{
	const struct look *look = arg;

	if (run->cached)
		density_add(look->density,
			    look->place + (run->start - look->start),
			    run->length);
}

/*
 * Counts the cached bytes of a shard on dm device @number in @density. The caller sets its @cells
 * and @cell (an array of zeros), and the other fields to 0. Returns 0 or an exit code of fail().
 */
int residency_of(dev_t number, const struct shard *shard, struct density *density)
{
	struct look look = { .density = density };
	size_t i;

	density->bytes = shard->bytes;
	for (i = 0; i < shard->ranges; i++) {
		look.start = shard->range[i].start;
		if (nl_residency(number, &shard->range[i], take_run, &look))
			return fail_code();
		look.place += shard->range[i].length;
	}
	return 0;
}
