// SPDX-License-Identifier: GPL-2.0-only
/* nearcache latency: how long reads and writes take, by the way they went. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "fail.h"
#include "latency.h"
#include "latency.skel.h"
#include "loading.h"
#include "print.h"

/* Twice as many as there can be. */
#define KEYS_MOST	512U

LOADING_OWN(latency)

static const char *const path_words[PATHS] = {
	[PATH_HIT] = "hit",
	[PATH_MISS] = "miss",
	[PATH_JOIN] = "join",
	[PATH_ORIGIN] = "origin",
	[PATH_WRITE] = "write",
};

static void add(struct latency *sum, const struct latency *one)
{
	int i;

	sum->count += one->count;
	sum->sum += one->sum;
	for (i = 0; i < LATENCY_BUCKETS; i++)
		sum->bucket[i] += one->bucket[i];
}

/* Of 10,000 so many took no longer, as far as buckets tell. */
static uint64_t percentile(const struct latency *latency, uint64_t of)
{
	uint64_t count = 0, seen = 0;
	uint32_t i;

	for (i = 0; i < LATENCY_BUCKETS; i++)
		count += latency->bucket[i];
	for (i = 0; i < LATENCY_BUCKETS - 1; i++) {
		seen += latency->bucket[i];
		if (10000 * seen >= of * count)
			break;
	}
	return latency_upper(i < LATENCY_BUCKETS - 1 ? i : LATENCY_BUCKETS - 2);
}

static void show_latency(const struct latency_key *key,
			 const struct latency *latency)
{
	print_record(NULL, NULL);
	print_string("path", "path",
		     key->path < PATHS ? path_words[key->path] : "unknown");
	print_number("count", "count", latency->count);
	print_number("mean_ns", "mean ns",
		     latency->count ? latency->sum / latency->count : 0);
	print_number("p50_ns", "50 %", percentile(latency, 5000));
	print_number("p90_ns", "90 %", percentile(latency, 9000));
	print_number("p99_ns", "99 %", percentile(latency, 9900));
	print_number("p999_ns", "99.9 %", percentile(latency, 9990));
	print_number("major", NULL, key->dev >> 20);
	print_number("minor", NULL, key->dev & 0xfffff);
	print_number("cgroup", "cgroup", key->cgroup);
	print_end();
}

/* A histogram for each processor that there may be. */
static int show_map(int map)
{
	int processors = libbpf_num_possible_cpus(), i;
	struct latency_key key, next;
	unsigned int left = KEYS_MOST;
	struct latency *each, sum;
	bool first = true;

	each = processors > 0 ? calloc((size_t)processors, sizeof(*each)) : NULL;
	if (!each)
		return fail_memory();
	while (left-- && !bpf_map_get_next_key(map, first ? NULL : &key, &next)) {
		first = false;
		key = next;
		if (bpf_map_lookup_elem(map, &key, each))
			continue;
		memset(&sum, 0, sizeof(sum));
		for (i = 0; i < processors; i++)
			add(&sum, &each[i]);
		show_latency(&key, &sum);
	}
	free(each);
	return 0;
}

static int show(const struct program_place *place)
{
	int map = program_open_map(place, "latencies", sizeof(struct latency_key),
				   sizeof(struct latency));

	print_table("latencies");
	if (map >= 0) {
		show_map(map);
		close(map);
	}
	print_end();
	return fail_code();
}

int cmd_latency(const struct arguments *args)
{
	static const struct loading latency = {
		.place = { "latency", "nearcache_latency" },
		.load_own = load_own,
		.show = show,
	};

	return loading_run(&latency, args);
}
