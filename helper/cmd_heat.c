// SPDX-License-Identifier: GPL-2.0-only
/* nearcache heat: where devices are read, and what of that is cached. */
#include <bpf/bpf.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands.h"
#include "fail.h"
#include "heat.h"
#include "heat.skel.h"
#include "loading.h"
#include "print.h"

/* As many as the map has. */
#define REGIONS_MOST	65536U
/* Sectors of a region, as a power of two: region_shift of the program. */
#define REGION_SHIFT	15

LOADING_OWN(heat)

/**
 * struct region - a region that was read
 * @key: where
 * @heat: how much
 */
struct region {
	struct heat_key key;
	struct heat heat;
};

static int by_place(const void *a, const void *b)
{
	const struct region *x = a, *y = b;

	if (x->key.dev != y->key.dev)
		return x->key.dev < y->key.dev ? -1 : 1;
	return (x->key.region > y->key.region) - (x->key.region < y->key.region);
}

static size_t collect(int map, struct region *region)
{
	struct heat_key key, next;
	size_t count = 0;
	bool first = true;

	while (count < REGIONS_MOST &&
	       !bpf_map_get_next_key(map, first ? NULL : &key, &next)) {
		first = false;
		key = next;
		region[count].key = key;
		if (!bpf_map_lookup_elem(map, &key, &region[count].heat))
			count++;
	}
	qsort(region, count, sizeof(*region), by_place);
	return count;
}

static void show_region(const struct region *region)
{
	const struct heat *heat = &region->heat;

	print_record(NULL, NULL);
	print_number("major", "major", region->key.dev >> 20);
	print_number("minor", "minor", region->key.dev & 0xfffff);
	print_bytes("start", "start", (uint64_t)region->key.region << (REGION_SHIFT + 9));
	print_bytes("length", NULL, 1ULL << (REGION_SHIFT + 9));
	print_number("reads", "reads", heat->reads);
	print_bytes("bytes", "bytes", heat->bytes);
	print_ratio("hit_ratio", "hits", heat->hit_bytes, heat->bytes);
	print_bytes("hit_bytes", NULL, heat->hit_bytes);
	print_end();
}

static int show_map(int map)
{
	struct region *region = calloc(REGIONS_MOST, sizeof(*region));
	size_t count, i;

	if (!region)
		return fail_memory();
	count = collect(map, region);
	for (i = 0; i < count; i++)
		/* One that went while they were read may be there twice. */
		if (!i || by_place(&region[i - 1], &region[i]))
			show_region(&region[i]);
	free(region);
	return 0;
}

static int show(const struct program_place *place)
{
	int map = program_open_map(place, "heats", sizeof(struct heat_key),
				   sizeof(struct heat));

	print_table("regions");
	if (map >= 0) {
		show_map(map);
		close(map);
	}
	print_end();
	return fail_code();
}

int cmd_heat(const struct arguments *args)
{
	static const struct loading heat = {
		.place = { "heat", "nearcache_classify" },
		.load_own = load_own,
		.show = show,
	};

	return loading_run(&heat, args);
}
