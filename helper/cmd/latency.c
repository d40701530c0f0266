// SPDX-License-Identifier: GPL-2.0-only
/* nearcache latency: latencies of reads and writes by path. */
#include <bpf/libbpf.h>
#include <string.h>

#include "bpf/builtin_programs.h"
#include "cmd/commands.h"
#include "lib/error.h"
#include "lib/histogram.h"
#include "latency.h"
#include "bpf/load_unload_verb.h"
#include "lib/enum_words.h"
#include "lib/print.h"

static void show_latency(const struct latency_key *key,
			 const struct latency *latency)
{
	print_record(NULL, NULL);
	print_string("path", "path", path_word(key->path));
	print_number("count", "count", latency->count);
	print_number("mean_ns", "mean ns",
		     latency->count ? latency->sum / latency->count : 0);
	print_number("p50_ns", "50 %", histogram_percentile(latency, 5000));
	print_number("p90_ns", "90 %", histogram_percentile(latency, 9000));
	print_number("p99_ns", "99 %", histogram_percentile(latency, 9900));
	print_number("p999_ns", "99.9 %", histogram_percentile(latency, 9990));
	print_number("major", NULL, key->dev >> 20);
	print_number("minor", NULL, key->dev & 0xfffff);
	print_number("cgroup", "cgroup", key->cgroup);
	print_end();
}

/* Sums up and shows an entry of the map: @value has one histogram per possible CPU. */
static int show_sum(const void *key, const void *value, void *arg)
{
	const struct latency *each = value;
	struct latency sum;

	(void)arg;
	memset(&sum, 0, sizeof(sum));
	histogram_add(&sum, each, libbpf_num_possible_cpus());
	show_latency(key, &sum);
	return 0;
}

static int show_maps(const struct program_place *place)
{
	print_table("latencies");
	program_each(place, "latencies", sizeof(struct latency_key),
		     sizeof(struct latency), show_sum, NULL);
	print_end();
	return fail_code();
}

int cmd_latency(const struct arguments *args)
{
	static const struct loading latency = {
		.place = &built_in_latency,
		.show = show_maps,
	};

	return loading_run(&latency, args);
}
