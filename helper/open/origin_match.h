/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Check that an origin and a formatted cache device belong together and that the cached data is
 * current; decide whether to drop the data, and record the decision.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_OPEN_ORIGIN_MATCH_H
#define HELPER_OPEN_ORIGIN_MATCH_H

#include "block/device.h"
#include "lib/enum_words.h"
#include "ondisk/fingerprint_fs.h"
#include "ondisk/superblock.h"
#include "open/members.h"

/* Differences between an origin and the superblock's description of it. */
#define MATCH_SIZE	(1U << 0)
#define MATCH_ID		(1U << 1)
#define MATCH_CONTENT	(1U << 2)
#define MATCH_VERSION	(1U << 3)
/* The origin may have been written to without the cache, see uncached_writes.h. */
#define MATCH_GAP	(1U << 4)

/* Size of the buffer for match_changed() and match_before(), in bytes. */
#define MATCH_TEXT	512

/**
 * struct origin_match - an origin, a cache device and the result of their comparison
 * @origin: open origin
 * @cache: open cache device
 * @super: superblock of @cache
 * @size: bytes of the origin that the device uses or will use
 * @may_grow: a @size larger than recorded is not a difference
 * @version: dataset version given by the user, NULL: not given
 * @witness: path of the witness device to record, "": none, NULL: unchanged
 * @witness_now: device number of @witness, 0: none
 * @proven: a writing mode was not stopped cleanly, but the witness proves that the cache device
 *	took part in all writes
 * @older: a witness knows a later session than the superblock: the cache device is an old copy
 * @session: match_record() raises the session number of the superblock to at least this one
 * @regions: if @proven, number of origin regions whose data is dropped: they were being written
 * @on_change: what to do if the origin differs, from --on-change
 * @advice: end of the error message of match_refuse(), with the next step for the user
 * @gap: set by match_ask_gaps(): the origin may have been written to without the cache
 * @differs: MATCH_* bits, set by match_compare()
 * @file_system: MATCH_CONTENT is set only because the fingerprint of the file system differs
 * @sample: bytes of cached data that match_check_origin() compares with the origin, 0: none
 * @sample_ms: time limit of this comparison, 0: none
 * @members: if @sample is not 0, the cache devices besides @cache
 * @written: if @sample is not 0 and @proven, the regions that were being written
 * @sampled: bytes that were compared
 * @sample_differs: MATCH_CONTENT is set only because compared data differs
 * @sample_at: byte of the origin where it differs
 * @content: file systems on the origin, if @looked
 * @looked: match_look() has set @content
 * @outgrown: a fingerprint of @content covers more than the recorded one, which is unchanged
 * @blind: the file systems could not be compared with a recorded fingerprint
 * @drop: match_record() has to drop all cached data and update the superblock
 * @trust: match_record() has to update the superblock and keep the cached data
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
	u64 sample;
	unsigned int sample_ms;
	const struct members *members;
	struct nearcache_intent *written;
	u64 sampled;
	bool sample_differs;
	u64 sample_at;
	struct fsprint_result content;
	bool looked;
	bool outgrown;
	bool blind;
	bool drop;
	bool trust;
};

int match_check_free(const struct device *cache, const char *self);
int match_find_origin(struct origin_match *match);
int match_look(struct origin_match *match);
int match_compare(struct origin_match *match);
const char *match_content(const struct origin_match *match, char *text);
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
