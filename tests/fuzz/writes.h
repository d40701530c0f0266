/* SPDX-License-Identifier: GPL-2.0-only */
/* Simulates writers of a live cache, and runs the module's work items that serve them. */
#ifndef NEARCACHE_FUZZ_WRITES_H
#define NEARCACHE_FUZZ_WRITES_H

#include "kernel.h"

struct nc_cache;

void writes_begin(struct nc_cache *c, bool witness, bool breaks);
void writes_step(u64 *random);
void writes_end(void);
bool writes_touched(u64 from, u64 to);
bool writes_held_at(u64 from, u64 bytes);
bool writes_touched_ends(void);
void writes_sweep(void);
bool writes_broken(void);

#endif /* NEARCACHE_FUZZ_WRITES_H */
