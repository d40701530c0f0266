// SPDX-License-Identifier: GPL-2.0-only
/* Latency histograms of reads and writes by device, control group and path. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "latency.h"
#include "nearcache_trace.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 256);
	__type(key, struct latency_key);
	__type(value, struct latency);
} latencies SEC(".maps");

/* Initial value of a histogram.  Static, because a histogram is too large for the BPF stack. */
static const struct latency none;

static __always_inline __u32 path_of(const struct nearcache_io *io)
{
	if (io->op)
		return PATH_WRITE;
	switch (io->verdict) {
	case NEARCACHE_VERDICT_HIT:
	case NEARCACHE_VERDICT_PARTIAL:
		return PATH_HIT;
	case NEARCACHE_VERDICT_MISS:
		return PATH_MISS;
	case NEARCACHE_VERDICT_JOIN:
		return PATH_JOIN;
	default:
		return PATH_ORIGIN;
	}
}

/* Create the histogram of @key.  If the map is full, return that of cgroup 0, or NULL if there is
 * none.  It is created before @key's, so that it gets room.  Entries are never deleted, so readers
 * of the map see sums that only grow.
 */
static __always_inline struct latency *need(struct latency_key *key)
{
	struct latency_key nobody = { .dev = key->dev, .path = key->path };
	struct latency *latency;

	bpf_map_update_elem(&latencies, &nobody, &none, BPF_NOEXIST);
	bpf_map_update_elem(&latencies, key, &none, BPF_NOEXIST);
	latency = bpf_map_lookup_elem(&latencies, key);
	return latency ? latency : bpf_map_lookup_elem(&latencies, &nobody);
}

SEC("raw_tp.w/nearcache_latency")
int nc_latency(struct nearcache_io **context)
{
	struct nearcache_io *io = *context;
	struct latency_key key = {
		.cgroup = io->cgroup,
		.dev = io->dev,
		.path = path_of(io),
	};
	struct latency *latency = bpf_map_lookup_elem(&latencies, &key);
	__u64 bucket;

	if (!latency) {
		latency = need(&key);
		if (!latency)
			return 0;
	}
	latency->count += io->weight;
	latency->sum += io->latency * io->weight;
	bucket = latency_bucket(io->latency);
	/* The verifier of Linux 6.1 bounds only the register that is compared: make the compiler
	 * use the same register as the index.
	 */
	__asm__ volatile("" : "+r"(bucket));
	if (bucket < LATENCY_BUCKETS)
		latency->bucket[bucket] += io->weight;
	return 0;
}
