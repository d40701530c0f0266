/* SPDX-License-Identifier: GPL-2.0-only */
/* Eviction policies for policy_table.c.  MIN knows all later reads: no policy has more hits. */
#ifndef POLICY_REFERENCE_H
#define POLICY_REFERENCE_H

#include "policy_trace.h"

/**
 * struct reference - a policy on whole blocks
 * @name: name in the table
 * @run: run all reads in @t (of blocks below @blocks) on a cache of @slots slots, empty at first;
 *	return the number of hits among the reads from read @from on
 */
struct reference {
	const char *name;
	u32 (*run)(const struct trace *t, u32 from, u32 blocks, u32 slots);
};

#define REFERENCES	5U
extern const struct reference references[REFERENCES];

#endif /* POLICY_REFERENCE_H */
