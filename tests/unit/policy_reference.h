/* SPDX-License-Identifier: GPL-2.0-only */
/* Reference policies, which cache every block that is read, and the theoretical bound. */
#ifndef POLICY_REFERENCE_H
#define POLICY_REFERENCE_H

#include "policy_trace.h"

/**
 * struct reference - a policy on whole blocks
 * @name: for the table
 * @run: count the hits from read @from of @t on, in a cache of @slots that starts empty
 */
struct reference {
	const char *name;
	u32 (*run)(const struct trace *t, u32 from, u32 blocks, u32 slots);
};

#define REFERENCES	5U
extern const struct reference references[REFERENCES];

#endif /* POLICY_REFERENCE_H */
