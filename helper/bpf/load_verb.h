/* SPDX-License-Identifier: GPL-2.0-only */
/* Verbs that load, unload and show a BPF program: "nearcache WORD load|unload|show [FILE]". */
#ifndef HELPER_BPF_LOAD_VERB_H
#define HELPER_BPF_LOAD_VERB_H

#include "cli/options.h"
#include "bpf/program.h"

/**
 * struct loading - such a verb
 * @place: where its program goes; its word is the verb
 * @files: other programs than our own may be loaded
 * @show: print what it knows; returns 0 or the exit code
 */
struct loading {
	const struct program_place *place;
	bool files;
	int (*show)(const struct program_place *place);
};

int loading_run(const struct loading *loading, const struct arguments *args);

#endif /* HELPER_BPF_LOAD_VERB_H */
