/* SPDX-License-Identifier: GPL-2.0-only */
/* A simulated cache with the parts that matter to the eviction policy: which block is in which
 * slot, the clock of bytes read, fills (only into free slots), and reclaim.  Here a fill calls
 * reclaim; the module queues a worker.
 */
#ifndef POLICY_SIM_H
#define POLICY_SIM_H

#include "evict/default_policy.h"

/**
 * struct sim - a simulated cache
 * @ops: policy under test
 * @policy: its state
 * @ghost: entries of its ghost
 * @slots: number of slots
 * @blocks: number of origin blocks
 * @subs: sub-blocks per block; each is read separately
 * @slot_of: per origin block: its slot or -1
 * @block_of: per slot: its origin block or -1
 * @valid: per slot: valid bits
 * @stamp: per slot: stamp of the last use
 * @free: stack of free slots
 * @free_count: entries in @free
 * @clock: sub-blocks read
 * @tick_reads: sub-block reads per tick
 * @now: current tick, @clock / @tick_reads
 * @hand: next slot that reclaim looks at
 * @reclaim_tick: 1 + tick of the last reclaim pass that found no victim; 0: no such pass so far
 * @evictions: evictions since sim_new()
 */
struct sim {
	const struct nc_policy_ops *ops;
	struct nc_policy policy;
	u64 *ghost;
	u32 slots;
	u32 blocks;
	u32 subs;
	int *slot_of;
	int *block_of;
	u64 *valid;
	u16 *stamp;
	u32 *free;
	u32 free_count;
	u64 clock;
	u64 tick_reads;
	u32 now;
	u32 hand;
	u32 reclaim_tick;
	u64 evictions;
};

struct sim *sim_new(const struct nc_policy_ops *ops, u32 slots, u32 blocks,
		    u64 seed);
struct sim *sim_new_subs(const struct nc_policy_ops *ops, u32 slots, u32 blocks,
			 u32 subs, u64 seed);
void sim_free(struct sim *s);
bool sim_read(struct sim *s, u32 block);
bool sim_read_sub(struct sim *s, u32 block, u32 sub);
void sim_evict(struct sim *s, u32 slot);
u32 sim_cached(const struct sim *s, u32 first, u32 count);
u32 sim_run(struct sim *s, const u32 *reads, u32 count);

#endif /* POLICY_SIM_H */
