/* SPDX-License-Identifier: GPL-2.0-only */
/* An origin and a formatted cache device: do they belong together? */
#ifndef HELPER_OPEN_ORIGIN_MATCH_H
#define HELPER_OPEN_ORIGIN_MATCH_H

#include "block/device.h"
#include "lib/words.h"
#include "ondisk/superblock.h"

/* In what an origin is not as its cache recorded it, bits. */
#define MATCH_SIZE	(1U << 0)
#define MATCH_ID		(1U << 1)
#define MATCH_CONTENT	(1U << 2)
#define MATCH_VERSION	(1U << 3)
/* Somebody may have written to it meanwhile, see uncached_writes.h. */
#define MATCH_GAP	(1U << 4)

/* Room for words about that. */
#define MATCH_TEXT	512

/**
 * struct origin_match - two devices
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
 * @gap: the result of match_ask_gaps(): the origin could be written to without the cache
 * @differs: the result: in what the origin is not as recorded
 * @file_system: the result, of the content: the file system alone tells that
 * @drop: the result: nothing that is cached will be used, and what is recorded is
 *	to be renewed
 * @trust: the result: what is recorded is to be renewed, the rest stays
 */
struct origin_match {
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

bool match_is_cold(const struct origin_match *match);
bool match_was_writing(const struct origin_match *match);
void match_read_witness(struct origin_match *match, const struct nearcache_witness *record,
	       bool named);
bool match_read_recorded(struct origin_match *match);
void match_take_session(struct origin_match *match, u64 session);
void match_come_back(struct origin_match *match, const struct nearcache_witness *record);
int match_check_free(const struct device *cache, const char *self);
int match_find_origin(struct origin_match *match);
int match_compare(struct origin_match *match);
const char *match_content(const struct origin_match *match);
int match_refuse(const struct origin_match *match);
int match_check_origin(struct origin_match *match);
int match_ask_gaps(struct origin_match *match);
int match_check_gaps(struct origin_match *match);
int match_record(struct origin_match *match, bool held);
bool match_can_refresh(const struct origin_match *match);
void match_refresh(struct origin_match *match);
const char *match_changed(const struct origin_match *match, char *text);
const char *match_before(const struct origin_match *match, char *text);

#endif /* HELPER_OPEN_ORIGIN_MATCH_H */
