// SPDX-License-Identifier: GPL-2.0-only
/* Puts the reads of one device, wanted.dev, into a ring buffer in the order of their arrival. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "nearcache_trace.h"
#include "reads.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wanted);
} wanted SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, READS_RING);
} pieces SEC(".maps");

SEC("raw_tp.w/nearcache_access")
int nc_reads(struct nearcache_io **context)
{
	struct nearcache_io *io = *context;
	__u32 zero = 0;
	struct wanted *this = bpf_map_lookup_elem(&wanted, &zero);
	struct piece *piece;

	if (!this || this->dev != io->dev || io->op)
		return 0;
	piece = bpf_ringbuf_reserve(&pieces, sizeof(*piece), 0);
	if (!piece) {
		__sync_fetch_and_add(&this->lost, 1);
		return 0;
	}
	piece->sector = io->sector;
	piece->nr_sectors = io->nr_sectors;
	piece->reserved = 0;
	/* helper/trace/recorder.c polls at a fixed interval and needs no wake-up. */
	bpf_ringbuf_submit(piece, BPF_RB_NO_WAKEUP);
	return 0;
}
