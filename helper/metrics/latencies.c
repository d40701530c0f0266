// SPDX-License-Identifier: GPL-2.0-only
#include "metrics/latencies.h"

#include <bpf/libbpf.h>
#include <math.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "bpf/builtin_programs.h"
#include "lib/error.h"
#include "lib/histogram.h"
#include "latency.h"
#include "lib/enum_words.h"
#include "bpf/program.h"

#define SECOND	1e9

/* Latencies of a device, summed over all control groups. @dev: its number as in the map's keys. */
struct sums {
	uint32_t dev;
	struct latency path[PATHS];
};

static int add_latency(const void *key_, const void *value, void *arg)
{
	const struct latency_key *key = key_;
	struct sums *sums = arg;

	if (key->dev == sums->dev && key->path < PATHS)
		histogram_add(&sums->path[key->path], value,
			      libbpf_num_possible_cpus());
	return 0;
}

/* Writes a histogram with one bucket per octave; the BPF program has four buckets per octave. */
static void write_path(struct exposition *e, const struct label_pair *labels,
		       const struct latency *latency)
{
	uint64_t count = 0;
	unsigned int b;

	for (b = 0; b < LATENCY_BUCKETS; b++) {
		count += latency->bucket[b];
		if (b % 4 == 0 && b < LATENCY_BUCKETS - 1)
			exposition_bucket(e, labels,
					  (double)latency_upper(b) / SECOND, count);
	}
	exposition_bucket(e, labels, INFINITY, count);
	exposition_sum(e, labels, (double)latency->sum / SECOND, count);
}

void latencies_begin(struct exposition *exposition)
{
	exposition_family(exposition, METRIC_HISTOGRAM, "latency_seconds", "seconds",
			  "latency of pieces of reads and writes by path; one in 16 hits is measured");
}

/* Returns 0, or an exit code after recording an error with fail(). */
int latencies_write(struct exposition *exposition, const struct dm_device *dev)
{
	struct sums *sums = calloc(1, sizeof(*sums));
	unsigned int path;

	if (!sums)
		return fail_memory();
	sums->dev = major(dev->number) << 20 | minor(dev->number);
	program_each(&built_in_latency, "latencies", sizeof(struct latency_key),
		     sizeof(struct latency), add_latency, sums);
	for (path = 0; !fail_code() && path < PATHS; path++) {
		const struct label_pair labels[] = {
			{ "device", dev->name }, { "path", path_word(path) },
			{ NULL, NULL },
		};

		write_path(exposition, labels, &sums->path[path]);
	}
	free(sums);
	return fail_code();
}
