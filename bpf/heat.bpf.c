// SPDX-License-Identifier: GPL-2.0-only
/* Counts reads and hits for each region of a device. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "heat.h"
#include "nearcache_classify.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, HEAT_REGIONS);
	__type(key, struct heat_key);
	__type(value, struct heat);
} heats SEC(".maps");

/*
 * The event reports only some of the hits.  @accesses and @bytes include the unreported hits of the
 * stream since its last report.  These hits count for the region of the reported piece.  A hash of
 * a run's first sector selects the reported runs, so each region is sampled at the same rate.
 */
SEC("raw_tp.w/nearcache_classify")
int nc_heat(struct nearcache_classify **context)
{
	struct nearcache_classify *told = *context;
	struct heat_key key = {
		.dev = told->io.dev,
		.region = told->io.sector >> HEAT_REGION_SHIFT,
	};
	__u64 hits = told->accesses, hit_bytes = told->bytes, missed = 0;
	struct heat fresh = {}, *heat;

	if (told->io.op)
		return 0;
	if (told->why & NEARCACHE_WHY_MISS) {
		missed = (__u64)told->io.nr_sectors << 9;
		missed = missed < hit_bytes ? missed : hit_bytes;
		hits -= hits ? 1 : 0;
		hit_bytes -= missed;
	}
	heat = bpf_map_lookup_elem(&heats, &key);
	if (!heat) {
		bpf_map_update_elem(&heats, &key, &fresh, BPF_NOEXIST);
		heat = bpf_map_lookup_elem(&heats, &key);
		if (!heat)
			return 0;
	}
	__sync_fetch_and_add(&heat->reads, told->accesses);
	__sync_fetch_and_add(&heat->bytes, told->bytes);
	__sync_fetch_and_add(&heat->hits, hits);
	__sync_fetch_and_add(&heat->hit_bytes, hit_bytes);
	return 0;
}
