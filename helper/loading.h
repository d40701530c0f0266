/* SPDX-License-Identifier: GPL-2.0-only */
/* Verbs that load, unload and show a BPF program: "nearcache WORD load|unload|show [FILE]". */
#ifndef HELPER_LOADING_H
#define HELPER_LOADING_H

#include "arguments.h"
#include "program.h"

/**
 * struct loading - such a verb
 * @place: where its program goes; its word is the verb
 * @files: other programs than our own may be loaded
 * @load_own: load our own; returns 0 or the exit code
 * @show: print what it knows; returns 0 or the exit code
 */
struct loading {
	struct program_place place;
	bool files;
	int (*load_own)(const struct program_place *place, bool dry_run,
			struct program *loaded);
	int (*show)(const struct program_place *place);
};

/* Of @load_own, from what bpftool made of the object. */
#define LOADING_OWN(object)						\
static int load_own(const struct program_place *place, bool dry_run,	\
		    struct program *loaded)				\
{									\
	struct object##_bpf *own = object##_bpf__open();		\
									\
	if (!own)							\
		return fail(CODE_DEVICE, "cannot open the built-in program"); \
	program_load(place, own->obj, "built in", dry_run, loaded);	\
	object##_bpf__destroy(own);					\
	return fail_code();						\
}

int loading_run(const struct loading *loading, const struct arguments *args);

#endif /* HELPER_LOADING_H */
