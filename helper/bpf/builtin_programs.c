// SPDX-License-Identifier: GPL-2.0-only
#include "bpf/builtin_programs.h"

#include "classify.skel.h"
#include "heat.skel.h"
#include "latency.skel.h"
#include "reads.skel.h"

const struct program_place built_in_classifier = {
	.word = "classifier",
	.event = "nearcache_classify",
	.own = classify_bpf__elf_bytes,
};

const struct program_place built_in_latency = {
	.word = "latency",
	.event = "nearcache_latency",
	.own = latency_bpf__elf_bytes,
};

const struct program_place built_in_heat = {
	.word = "heat",
	.event = "nearcache_classify",
	.own = heat_bpf__elf_bytes,
};

/* Never pinned: program_hold_own() keeps this program loaded until the recording process ends. */
const struct program_place built_in_reads = {
	.word = "reads",
	.event = "nearcache_access",
	.own = reads_bpf__elf_bytes,
};
