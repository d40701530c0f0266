/* SPDX-License-Identifier: GPL-2.0-only */
/* The built-in BPF programs and the trace events that call them. */
#ifndef HELPER_BPF_BUILTIN_PROGRAMS_H
#define HELPER_BPF_BUILTIN_PROGRAMS_H

#include "bpf/program.h"

extern const struct program_place built_in_classifier;
extern const struct program_place built_in_latency;
extern const struct program_place built_in_heat;
extern const struct program_place built_in_reads;

#endif /* HELPER_BPF_BUILTIN_PROGRAMS_H */
