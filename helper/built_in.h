/* SPDX-License-Identifier: GPL-2.0-only */
/* The BPF programs that this command carries, and where they go. */
#ifndef HELPER_BUILT_IN_H
#define HELPER_BUILT_IN_H

#include "program.h"

extern const struct program_place built_in_classifier;
extern const struct program_place built_in_latency;
extern const struct program_place built_in_heat;
extern const struct program_place built_in_reads;

#endif /* HELPER_BUILT_IN_H */
