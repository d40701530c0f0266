/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A witness is a device on another drive that records whether a cache device took part in all
 * writes to its origin. It has one record per cache, which the kernel updates.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_OPEN_WITNESS_H
#define HELPER_OPEN_WITNESS_H

#include "block/device.h"
#include "meta/ondisk_check.h"

/* Size of the path in the superblock, in bytes with NUL. */
#define WITNESS_PATH	sizeof(((struct nearcache_super *)0)->witness)

/* Given by the user in place of a path: the cache has no witness. */
#define WITNESS_NONE	"none"

/**
 * struct witness - a witness device
 * @dev: open device
 * @path: path for the superblock; if possible one that means the same device after a reboot
 */
struct witness {
	struct device dev;
	char path[WITNESS_PATH];
};

#define WITNESS_CLOSED	{ .dev = DEVICE_CLOSED }

/**
 * struct witness_claim - the cache that needs a record
 * @uuid: uuid of the cache
 * @replaced: uuid of an overwritten cache, whose record the new cache may take, NULL: none
 * @session: session number in the superblock of the cache, stored in a new record
 * @ahead: if the cache has an old record here, write @session + 1 to the record before the
 *	superblock gets that number; @session becomes the previous number in the record
 * @force: overwrite other content of the device
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
int witness_first(const struct device *dev, u8 *uuid, bool *found);
int witness_prepare(const struct witness *witness,
		    const struct witness_claim *claim);
int witness_claim(struct witness *witness, const struct witness_claim *claim);
int witness_free(struct witness *witness, const u8 *uuid);
int witness_move(struct witness *witness, const u8 *uuid, u64 session);
int witness_end(struct witness *witness, const u8 *uuid, u64 session);
void witness_leave(const struct nearcache_super *sb, dev_t now);

/*
 * False if the record says that its cache has moved to another witness. The record must be valid.
 */
static inline bool witness_is_current(const struct nearcache_witness *record)
{
	return le32_to_cpu(record->state) != NEARCACHE_WITNESS_MOVED;
}

/* True if @word, from the user or a superblock, is the path of a witness. */
static inline bool witness_named(const char *word)
{
	return word && *word && strcmp(word, WITNESS_NONE);
}

#endif /* HELPER_OPEN_WITNESS_H */
