/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verbs that load, unload and show a BPF program: 'nearcache WORD load|unload|show [FILE]'.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_BPF_LOAD_UNLOAD_VERB_H
#define HELPER_BPF_LOAD_UNLOAD_VERB_H

#include "cli/options.h"
#include "bpf/program.h"

/**
 * struct loading - one of these verbs
 * @place: place of its program; place->word is also the name of the verb
 * @files: 'load' accepts the FILE of a program, not only the built-in program
 * @show: called last by 'show', even if no program is loaded, to print the data of the program
 */
struct loading {
	const struct program_place *place;
	bool files;
	int (*show)(const struct program_place *place, const struct arguments *args);
};

int loading_run(const struct loading *loading, const struct arguments *args);

#endif /* HELPER_BPF_LOAD_UNLOAD_VERB_H */
