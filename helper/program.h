/* SPDX-License-Identifier: GPL-2.0-only */
/* BPF programs on the module's trace events: kept by pins in the BPF file system. */
#ifndef HELPER_PROGRAM_H
#define HELPER_PROGRAM_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROGRAM_ROOT	"/sys/fs/bpf"
#define PROGRAM_DIR	PROGRAM_ROOT "/nearcache"
/* A name as the kernel has it, with the zero: BPF_OBJ_NAME_LEN. */
#define PROGRAM_NAME	16

/**
 * struct program_place - where a program goes
 * @word: what it is for; also of its folder in PROGRAM_DIR, which holds its pins: "link" is the
 *	attachment, the rest are its maps by their names
 * @event: trace event whose raw tracepoint calls it
 */
struct program_place {
	const char *word;
	const char *event;
};

/**
 * struct program - one that is loaded
 * @name: as the kernel has it
 * @id: its number in the kernel
 * @age: nanoseconds since it was loaded
 */
struct program {
	char name[PROGRAM_NAME];
	uint32_t id;
	uint64_t age;
};

int program_look(const struct program_place *place, struct program *program,
		 bool *found);
int program_load(const struct program_place *place, struct bpf_object *object,
		 const char *path, bool dry_run, struct program *loaded);
int program_load_file(const struct program_place *place, const char *path,
		      bool dry_run, struct program *loaded);
int program_unload(const struct program_place *place, bool *found);
int program_open_map(const struct program_place *place, const char *name,
		     size_t key, size_t value);
void program_maps(const struct program_place *place,
		  void (*visit)(const char *name, void *arg), void *arg);
const char *program_folder(const struct program_place *place);

#endif /* HELPER_PROGRAM_H */
