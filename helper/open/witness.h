/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A witness: a device on another drive that knows whether a cache device was there
 * while its origin was written.  It has a record for each cache, which the kernel keeps.
 */
#ifndef HELPER_OPEN_WITNESS_H
#define HELPER_OPEN_WITNESS_H

#include "block/device.h"
#include "meta/format.h"

/* Room for the path that the superblock keeps. */
#define WITNESS_PATH	sizeof(((struct nearcache_super *)0)->witness)

/* In place of a device: without a witness. */
#define WITNESS_NONE	"none"

/**
 * struct witness - a witness device
 * @dev: open device
 * @path: of the device, one that outlives a reboot if there is one
 */
struct witness {
	struct device dev;
	char path[WITNESS_PATH];
};

#define WITNESS_CLOSED	{ .dev = DEVICE_CLOSED }

/**
 * struct witness_claim - whom a record is for
 * @uuid: of the cache
 * @replaced: uuid of a cache that this one takes the place of, NULL: of none
 * @session: number that its superblock has seen: a new record knows it, too
 * @ahead: a record that the cache had once gets a number that no copy of the cache has,
 *	before its superblock: it names that one, as the one before
 * @force: also on a device that carries something else
 */
struct witness_claim {
	const u8 *uuid;
	const u8 *replaced;
	u64 session;
	bool ahead;
	bool force;
};

int witness_open(struct witness *witness, const char *path);
int witness_open_number(struct witness *witness, dev_t number);
void witness_close(struct witness *witness);
int witness_check_place(const struct witness *witness,
			const struct device *cache,
			const struct device *origin);
int witness_look(const struct witness *witness, const u8 *uuid,
		 struct nearcache_witness *record, bool *found);
int witness_count(const struct device *dev, unsigned int *used);
int witness_prepare(const struct witness *witness,
		    const struct witness_claim *claim);
int witness_claim(struct witness *witness, const struct witness_claim *claim);
int witness_free(struct witness *witness, const u8 *uuid);
int witness_move(struct witness *witness, const u8 *uuid, u64 session);
int witness_end(struct witness *witness, const u8 *uuid, u64 session);
void witness_leave(const struct nearcache_super *sb, dev_t now);

/* Whether the cache of a sound record still has it. */
static inline bool witness_is_current(const struct nearcache_witness *record)
{
	return le32_to_cpu(record->state) != NEARCACHE_WITNESS_MOVED;
}

/* Whether a word of the user, or of a superblock, names a device. */
static inline bool witness_named(const char *word)
{
	return word && *word && strcmp(word, WITNESS_NONE);
}

#endif /* HELPER_OPEN_WITNESS_H */
