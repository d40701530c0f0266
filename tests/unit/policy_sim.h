/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A cache reduced to what the eviction policy sees of it: which block is in
 * which slot, the clock of bytes read, fills into free slots only, and the
 * reclaim worker (here run at once, where kmod/ queues it).
 */
#ifndef POLICY_SIM_H
#define POLICY_SIM_H

#include "policy.h"

/**
 * struct sim - a simulated cache
 * @ops: policy under test
 * @policy: its state
 * @slots: cache blocks
 * @blocks: origin blocks
 * @slot_of: per origin block: its slot or -1
 * @block_of: per slot: its origin block or -1
 * @stamp: per slot
 * @free: stack of free slots
 * @free_count: entries in it
 * @clock: blocks read
 * @tick_blocks: blocks per tick
 * @now: tick
 * @hand: next slot that reclaim looks at
 * @reclaim_tick: tick of the last pass that found nothing, plus one
 * @evictions: since sim_new()
 * @random: state of sim_random()
 */
struct sim {
	const struct nc_policy_ops *ops;
	struct nc_policy policy;
	u32 slots;
	u32 blocks;
	int *slot_of;
	int *block_of;
	u16 *stamp;
	u32 *free;
	u32 free_count;
	u64 clock;
	u64 tick_blocks;
	u32 now;
	u32 hand;
	u32 reclaim_tick;
	u64 evictions;
	u64 random;
};

struct sim *sim_new(const struct nc_policy_ops *ops, u32 slots, u32 blocks,
		    u64 seed);
void sim_free(struct sim *s);
bool sim_read(struct sim *s, u32 block);
u32 sim_random(struct sim *s, u32 below);
void sim_shuffle(struct sim *s, u32 *order, u32 count);

#endif /* POLICY_SIM_H */
