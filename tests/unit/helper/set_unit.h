/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests of 'set' and 'resize' (cmd/set.c, cmd/resize.c); fake_set.c fakes the devices. */
#ifndef HELPER_SET_UNIT_H
#define HELPER_SET_UNIT_H

#include <stdbool.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "cmd/commands.h"
#include "fake_dm.h"
#include "fake_remembered.h"
#include "lib/error.h"
#include "ondisk/superblock.h"
#include "said.h"

#define WRITING		"writethrough 8:0 8:16"
#define WRITING_32M	WRITING " 2 fill_memory 33554432"
#define READING		"read-only 8:0 8:16"

/* Size of the origin; number of waiting reads; the flags that the verb printed. */
extern uint64_t origin_bytes, waiting;
extern bool started, changed, resized;

/* Superblock, properties of the witness and faults; then calls: claims, device freed or moved. */
extern struct nearcache_super medium;
extern bool has_record, has_moved, witness_near, cache_dead;
extern unsigned int claims;
extern dev_t freed, moved;
extern uint64_t witness_state;

int call_verb(int (*verb)(const struct arguments *args), const char *setting, unsigned int options);
int set(const char *setting, unsigned int options);
int resize(unsigned int options);
void assert_live(const char *params, bool suspended);
void fail_cache(void);

#endif /* HELPER_SET_UNIT_H */
