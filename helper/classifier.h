/* SPDX-License-Identifier: GPL-2.0-only */
/* The BPF program that classifies streams: one for all caches, kept by pins in the BPF file system. */
#ifndef HELPER_CLASSIFIER_H
#define HELPER_CLASSIFIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify.h"

/* Holds the pins: its link is the attachment, the rest are maps by their names. */
#define CLASSIFIER_DIR	"/sys/fs/bpf/nearcache/classifier"
/* A name as the kernel has it, with the zero: BPF_OBJ_NAME_LEN. */
#define CLASSIFIER_NAME	16

/**
 * struct classifier - a program that is loaded
 * @name: as the kernel has it
 * @id: its number in the kernel
 * @age: nanoseconds since it was loaded
 * @streams: it has streams as our own program has them
 */
struct classifier {
	char name[CLASSIFIER_NAME];
	uint32_t id;
	uint64_t age;
	bool streams;
};

int classifier_load(const char *path, bool dry_run, struct classifier *loaded);
int classifier_look(struct classifier *loaded, bool *found);
int classifier_unload(bool *found);
int classifier_streams(void (*visit)(const struct stream_key *key,
				     const struct stream *stream, void *arg),
		       void *arg);
void classifier_maps(void (*visit)(const char *name, void *arg), void *arg);
const char *class_word(uint32_t class);

#endif /* HELPER_CLASSIFIER_H */
