// SPDX-License-Identifier: GPL-2.0-only
#include "bpf/builtin_programs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "classify.skel.h"
#include "heat.skel.h"
#include "latency.skel.h"
#include "reads.skel.h"

#define SESSIONS	"/sys/fs/cgroup/user.slice"

/* systemd puts all user sessions into one control group.  Tell the program its id.  In a container,
 * or with version 1 of control groups, this finds no group or another one: a set then has the
 * runs of all programs of a session.  Static constants, which struct classify_bpf__rodata omits,
 * follow the struct in the map.
 */
static int tell_sessions(struct bpf_object *object)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, ".rodata");
	struct classify_bpf__rodata *constants;
	const void *given = NULL;
	struct stat folder;
	size_t size;
	int rc;

	if (stat(SESSIONS, &folder))
		return 0;
	if (map)
		given = bpf_map__initial_value(map, &size);
	if (!given || size < sizeof(*constants))
		return -EINVAL;
	constants = malloc(size);
	if (!constants)
		return -ENOMEM;
	memcpy(constants, given, size);
	constants->sessions_group = folder.st_ino;
	rc = bpf_map__set_initial_value(map, constants, size);
	free(constants);
	return rc;
}

const struct program_place built_in_classifier = {
	.word = "classifier",
	.event = "nearcache_classify",
	.own = classify_bpf__elf_bytes,
	.prepare = tell_sessions,
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
