/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Check that an origin and a formatted cache device belong together.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_OPEN_ORIGIN_MATCH_H
#define HELPER_OPEN_ORIGIN_MATCH_H

#include "block/device.h"
#include "lib/enum_words.h"
#include "ondisk/superblock.h"

/* How an origin differs from the cache's record of it, bits. */
#define MATCH_SIZE	(1U << 0)
#define MATCH_ID		(1U << 1)
#define MATCH_CONTENT	(1U << 2)
#define MATCH_VERSION	(1U << 3)
/* The origin may have been written to without the cache, see uncached_writes.h. */
#define MATCH_GAP	(1U << 4)

/* Room for a text about the differences. */
#define MATCH_TEXT	512

/**
 * struct origin_match - an origin, a cache device and the result of their comparison
 * @origin: open origin
 * @cache: open cache device
 * @super: superblock of @cache
 * @size: size of the origin in bytes, as it is or will be used
 * @may_grow: @size may be larger than recorded
 * @version: the dataset's version as the user gave it, NULL: not given
 * @witness: path of the witness device to record, "": none, NULL: unchanged
 * @witness_now: with @witness: its device number, 0: none
 * @proven: the cache was cut off in a writing mode, and its witness proves that the cache device
 *	saw all writes
 * @older: the witness knows a later session: the cache device is an old copy
 * @session: minimum session number of the superblock: the witness's, or one that no copy of the
 *	cache device has
 * @regions: if @proven: number of regions with writes in flight, which are dropped
 * @on_change: what to do if the origin differs
 * @advice: what to do about a refusal, for messages
 * @gap: result of match_ask_gaps(): the origin may have been written to without the cache
 * @differs: result: MATCH_* bits
 * @file_system: result: with MATCH_CONTENT: only the file system's fingerprint differs
 * @drop: result: drop all cached data and renew the record
 * @trust: result: renew the record and keep the cached data
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
