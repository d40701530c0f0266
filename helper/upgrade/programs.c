// SPDX-License-Identifier: GPL-2.0-only
/* The pinned BPF programs: attached to its trace events, they keep the module loaded. */
#include "bpf/builtin_programs.h"
#include "lib/error.h"
#include "upgrade/programs.h"
#include "upgrade/upgrade.h"

static const struct program_place *const places[] = {
	&built_in_classifier,
	&built_in_latency,
	&built_in_heat,
};

#define PLACES	(sizeof(places) / sizeof(places[0]))

/* Count the programs that are attached. Without a BPF file system there are none. */
unsigned int upgrade_programs_count(void)
{
	struct program program;
	unsigned int count = 0;
	bool found;
	size_t i;

	for (i = 0; i < PLACES; i++) {
		if (program_look(places[i], &program, &found))
			fail_reset();
		count += found;
	}
	return count;
}

/* Detach the programs. The places stay locked until the end of the process: no other load meanwhile. */
int upgrade_programs_detach(void)
{
	bool found;
	size_t i;

	for (i = 0; i < PLACES; i++)
		if (program_detach(places[i], &found))
			return fail_code();
	return 0;
}

/* Attach the programs again, as many as possible. */
int upgrade_programs_attach(void)
{
	size_t i;

	for (i = 0; i < PLACES; i++)
		program_attach_again(places[i]);
	return fail_code();
}
