/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verbs that load, unload and show a BPF program: "nearcache WORD load|unload|show [FILE]".
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_BPF_LOAD_VERB_H
#define HELPER_BPF_LOAD_VERB_H

#include "cli/options.h"
#include "bpf/program.h"

/**
 * struct loading - a verb of this kind
 * @place: place of its program; its word is the verb
 * @files: programs from a file are allowed
 * @show: print the data of the program
 */
struct loading {
	const struct program_place *place;
	bool files;
	int (*show)(const struct program_place *place);
};

int loading_run(const struct loading *loading, const struct arguments *args);

#endif /* HELPER_BPF_LOAD_VERB_H */
