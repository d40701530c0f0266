/* SPDX-License-Identifier: GPL-2.0-only */
/* Policies to compare with, which cache each block that is read, and the bound. */
#ifndef POLICY_REFERENCE_H
#define POLICY_REFERENCE_H

#include "policy_trace.h"

/**
 * struct reference - a policy on whole blocks
 * @name: of it
 * @run: reads of @t from @from on that hit in a cache of @slots, begun empty
 */
struct reference {
	const char *name;
	u32 (*run)(const struct trace *t, u32 from, u32 blocks, u32 slots);
};

#define REFERENCES	5U
extern const struct reference references[REFERENCES];

#endif /* POLICY_REFERENCE_H */
