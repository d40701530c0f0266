/* SPDX-License-Identifier: GPL-2.0-only */
/* An origin and a formatted cache device: do they belong together? */
#ifndef HELPER_OPEN_ORIGIN_MATCH_H
#define HELPER_OPEN_ORIGIN_MATCH_H

#include "block/device.h"
#include "lib/onchange.h"
#include "ondisk/superblock.h"

/* In what an origin is not as its cache recorded it, bits. */
#define PAIR_SIZE	(1U << 0)
#define PAIR_ID		(1U << 1)
#define PAIR_CONTENT	(1U << 2)
#define PAIR_VERSION	(1U << 3)
/* Somebody may have written to it meanwhile, see gaps.h. */
#define PAIR_GAP	(1U << 4)

/* Room for words about that. */
#define PAIR_TEXT	512

/**
 * struct pair - two devices
 * @origin: open origin
 * @cache: open cache device
 * @super: what is on it
 * @size: bytes of the origin that are or will be in use
 * @may_grow: they may be more than the cache was made for
 * @version: the dataset's version as the user gave it, NULL when not given
 * @witness: path of the witness device to be recorded, "": none; NULL: as it was
 * @witness_now: then: its number, 0: none
 * @proven: cut off in a writing mode, and its witness says that the cache device
 *	was told of all that was written
 * @older: its witness knows of a session that the cache device does not
 * @session: number that the superblock is to have, if it has less: of that, or one that
 *	no copy of the cache device has
 * @regions: if @proven: regions of the origin that were being written, and are dropped
 * @on_change: what to do when they are not as recorded
 * @advice: what to do about a refusal, for messages
 * @gap: the result of pair_ask_gaps(): the origin could be written to without the cache
 * @differs: the result: in what the origin is not as recorded
 * @file_system: the result, of the content: the file system alone tells that
 * @drop: the result: nothing that is cached will be used, and what is recorded is
 *	to be renewed
 * @trust: the result: what is recorded is to be renewed, the rest stays
 */
struct pair {
	struct device origin;
	struct device cache;
	struct super super;
	u64 size;
	bool may_grow;
	const char *version;
	const char *witness;
	dev_t witness_now;
	bool proven;
	bool older;
	u64 session;
	u64 regions;
	enum on_change on_change;
	const char *advice;
	bool gap;
	unsigned int differs;
	bool file_system;
	bool drop;
	bool trust;
};

bool pair_is_cold(const struct pair *pair);
bool pair_was_writing(const struct pair *pair);
void pair_hear(struct pair *pair, const struct nearcache_witness *record,
	       bool named);
bool pair_hear_recorded(struct pair *pair);
void pair_take_session(struct pair *pair, u64 session);
void pair_come_back(struct pair *pair, const struct nearcache_witness *record);
int pair_check_free(const struct device *cache, const char *self);
int pair_find_origin(struct pair *pair);
int pair_compare(struct pair *pair);
const char *pair_content(const struct pair *pair);
int pair_refuse(const struct pair *pair);
int pair_check_origin(struct pair *pair);
int pair_ask_gaps(struct pair *pair);
int pair_check_gaps(struct pair *pair);
int pair_record(struct pair *pair, bool held);
bool pair_can_refresh(const struct pair *pair);
void pair_refresh(struct pair *pair);
const char *pair_changed(const struct pair *pair, char *text);
const char *pair_before(const struct pair *pair, char *text);

#endif /* HELPER_OPEN_ORIGIN_MATCH_H */
