/* SPDX-License-Identifier: GPL-2.0-only */
/* Save and load a model.  Only one value per sector is saved, so read_all() must run before. */
#ifndef NEARCACHE_TEST_STRESS_SAVED_H
#define NEARCACHE_TEST_STRESS_SAVED_H

#include <stdio.h>

#include "stress_model.h"

#define SAVED_MAGIC	0x6c65646f4d536e63ULL	/* "cnSModel" */

struct saved {
	uint64_t magic, sectors, seed, next_id;
};

static inline void model_load(struct model *m, struct saved *head,
			      const char *path, uint64_t sectors)
{
	FILE *file = fopen(path, "r");
	uint64_t i, id;

	if (!file || fread(head, sizeof(*head), 1, file) != 1 ||
	    head->magic != SAVED_MAGIC || head->sectors != sectors) {
		printf("%s is no model of a device of %llu sectors\n", path,
		       (unsigned long long)sectors);
		exit(1);
	}
	model_init(m, sectors);
	for (i = 0; i < sectors; i++) {
		if (fread(&id, sizeof(id), 1, file) != 1)
			exit(1);
		model_set(m, i, id);
	}
	fclose(file);
}

static inline void model_save(const struct model *m, const struct saved *head,
			      const char *path)
{
	FILE *file = fopen(path, "w");
	uint64_t i;

	if (!file || fwrite(head, sizeof(*head), 1, file) != 1)
		exit(1);
	for (i = 0; i < m->sectors; i++)
		if (fwrite(&m->sector[i]->id, sizeof(uint64_t), 1, file) != 1)
			exit(1);
	if (fclose(file)) {
		perror(path);
		exit(1);
	}
}

#endif /* NEARCACHE_TEST_STRESS_SAVED_H */
