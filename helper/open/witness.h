/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A witness: a device on another drive that knows whether a cache device was present while its
 * origin was written. It has one record per cache, which the kernel updates.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_OPEN_WITNESS_H
#define HELPER_OPEN_WITNESS_H

#include "block/device.h"
#include "meta/format.h"

/* Room for the path that the superblock keeps. */
#define WITNESS_PATH	sizeof(((struct nearcache_super *)0)->witness)

/* Given instead of a device: no witness. */
#define WITNESS_NONE	"none"

/**
 * struct witness - a witness device
 * @dev: open device
 * @path: path of the device, one that survives a reboot if there is one
 */
struct witness {
	struct device dev;
	char path[WITNESS_PATH];
};

#define WITNESS_CLOSED	{ .dev = DEVICE_CLOSED }

/**
 * struct witness_claim - the cache that needs a record
 * @uuid: uuid of the cache
 * @replaced: uuid of the cache that this one replaces, NULL: none
 * @session: session number of its superblock, stored in a new record
 * @ahead: the cache had a record here before: the record gets a session number that no copy of the
 *	cache has, before
 *		the superblock does, and stores the superblock's number as the previous one
 * @force: accept a device with other content
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

/* False if the cache has moved to another witness. The record must be valid. */
static inline bool witness_is_current(const struct nearcache_witness *record)
{
	return le32_to_cpu(record->state) != NEARCACHE_WITNESS_MOVED;
}

/* True if @word, from the user or a superblock, names a device. */
static inline bool witness_named(const char *word)
{
	return word && *word && strcmp(word, WITNESS_NONE);
}

#endif /* HELPER_OPEN_WITNESS_H */
