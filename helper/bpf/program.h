/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Load BPF programs that the trace events of the kernel module call. Pins in the BPF file system
 * keep a program loaded after this process.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_BPF_PROGRAM_H
#define HELPER_BPF_PROGRAM_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROGRAM_ROOT	"/sys/fs/bpf"
#define PROGRAM_DIR	PROGRAM_ROOT "/nearcache"
/* Room for a name in the kernel, with the terminating zero: BPF_OBJ_NAME_LEN. */
#define PROGRAM_NAME	16

/**
 * struct program_place - a use of BPF programs, for which at most one program is pinned
 * @word: name of the use and of its folder in PROGRAM_DIR. The folder has the pins of the loaded
 *	program: "link" attaches it to the event, the other pins are its maps
 * @event: trace event whose raw tracepoint calls the program
 * @own: returns the ELF object of the built-in program and its size in bytes
 * @prepare: sets constants of the built-in program before it is loaded, returns 0 or a negative
 *	error number; or NULL
 */
struct program_place {
	const char *word;
	const char *event;
	const void *(*own)(size_t *size);
	int (*prepare)(struct bpf_object *object);
};

/**
 * struct program - a loaded program
 * @name: name in the kernel
 * @id: id in the kernel
 * @age: nanoseconds since it was loaded
 */
struct program {
	char name[PROGRAM_NAME];
	uint32_t id;
	uint64_t age;
};

/**
 * struct program_held - a program that is unloaded at the end of this process
 * @object: its libbpf object, which has the maps
 * @link: attaches the program to its trace event
 */
struct program_held {
	struct bpf_object *object;
	struct bpf_link *link;
};

/* Called by program_each() with one element; returns nonzero to stop. */
typedef int program_visit(const void *key, const void *value, void *arg);

int program_look(const struct program_place *place, struct program *program,
		 bool *found);
int program_load_file(const struct program_place *place, const char *path,
		      bool dry_run, struct program *loaded);
int program_load_own(const struct program_place *place, bool dry_run,
		     struct program *loaded);
int program_hold_own(const struct program_place *place, struct program_held *held);
void program_let_go(struct program_held *held);
int program_unload(const struct program_place *place, bool *found);
int program_detach(const struct program_place *place, bool *found);
int program_attach_again(const struct program_place *place);
int program_open_map(const struct program_place *place, const char *name,
		     size_t key, size_t value);
int program_each(const struct program_place *place, const char *name, size_t key,
		 size_t value, program_visit *visit, void *arg);
void program_maps(const struct program_place *place,
		  void (*visit)(const char *name, void *arg), void *arg);
const char *program_folder(const struct program_place *place);

#endif /* HELPER_BPF_PROGRAM_H */
