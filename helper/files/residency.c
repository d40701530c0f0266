// SPDX-License-Identifier: GPL-2.0-only
#include "files/residency.h"

#include "lib/error.h"
#include "netlink/client.h"

/**
 * struct look - a range of a shard that is looked at
 * @density: of the shard
 * @start: first byte of the range, of the device
 * @place: the same, of the shard
 */
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

/**
 * residency_of() - find out what of a shard is cached
 * @number: dm device that it is on
 * @shard: the shard
 * @density: the result, of the shard's bytes in their order; zeroed before but for its cells
 *
 * Return: 0 or the exit code.
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
