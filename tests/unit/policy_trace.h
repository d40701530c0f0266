/* SPDX-License-Identifier: GPL-2.0-only */
/* Generator of the block reads of training jobs. */
#ifndef POLICY_TRACE_H
#define POLICY_TRACE_H

#include "meta/format_user.h"

enum order { SAME, SHUFFLED, SHARDS };

/* Order SHARDS shuffles pieces of SHARD blocks; the blocks of a piece stay in order. */
#define SHARD	40U

/**
 * struct trace - a list of reads
 * @random: state of trace_random()
 * @reads: block or sub-block numbers
 * @count: reads so far
 * @room: allocated entries in @reads
 */
struct trace {
	u64 random;
	u32 *reads;
	u32 count;
	u32 room;
};

struct trace *trace_new(u64 seed);
void trace_free(struct trace *t);
u32 trace_random(struct trace *t, u32 below);
void trace_read(struct trace *t, u32 block);
void trace_epoch(struct trace *t, u32 first, u32 blocks, enum order order);
void trace_half(struct trace *t, u32 blocks);
void trace_jobs(struct trace *t, u32 blocks, u32 epochs);
void trace_mixture(struct trace *t, u32 blocks, u32 epoch);

#endif /* POLICY_TRACE_H */
