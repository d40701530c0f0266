// SPDX-License-Identifier: GPL-2.0-only
/* Decides by the record on a witness whether the cached data may be used. */
#include "open/witness_proof.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "meta/recover.h"
#include "open/witness.h"

/* True if a write session was interrupted: only the witness can prove that the data is valid. */
bool match_was_writing(const struct origin_match *match)
{
	return le32_to_cpu(match->super.best->state) == NEARCACHE_STATE_WRITING;
}

/*
 * True if the next load will use no cached data. Either the cache device is an old copy, or a
 * writing mode was not stopped cleanly and match_read_witness() did not set @match->proven.
 */
bool match_is_cold(const struct origin_match *match)
{
	if (match->older)
		return true;
	return match_was_writing(match) ? !match->proven :
		le32_to_cpu(match->super.best->state) == NEARCACHE_STATE_ACTIVE;
}

static u64 count_regions(const struct nearcache_intent *area,
			 const struct nc_geometry *geo)
{
	u64 region, end = (geo->origin_size - 1) / geo->intent_region + 1;
	u64 count = 0;

	for (region = 0; region < end; region++) {
		u32 bit = region % NEARCACHE_INTENT_BITS;

		count += area[region / NEARCACHE_INTENT_BITS].bits[bit / 8] >>
			 bit % 8 & 1;
	}
	return count;
}

/*
 * Read the write intent; the caller frees it. NULL: no memory. A page that cannot be read becomes
 * zeros. nc_recover_intent(), as in the kernel, then takes all its regions as being written.
 */
static struct nearcache_intent *read_intent(const struct device *cache, u64 at)
{
	char *area = device_buffer(NEARCACHE_INTENT_AREA_SIZE);
	u64 page;

	for (page = 0; area && page < NEARCACHE_INTENT_AREA_SIZE;
	     page += NEARCACHE_PAGE_SIZE)
		if (device_read(cache, area + page, NEARCACHE_PAGE_SIZE,
				at + page)) {
			memset(area + page, 0, NEARCACHE_PAGE_SIZE);
			fail_reset();
		}
	return (void *)area;
}

/*
 * True if @record has a later session than the superblock, which is an old copy in this case. An
 * equal session suffices if @record says that the cache moved to another witness but the superblock
 * still names this one (@named): match_come_back() gives a later session to a cache that returns.
 */
static bool knows_more(const struct nearcache_super *sb,
		       const struct nearcache_witness *record, bool named)
{
	u64 known = le64_to_cpu(record->session);
	u64 has = le64_to_cpu(sb->session);

	if (witness_is_current(record))
		return nc_recover_older(sb, record);
	return named ? known >= has : known > has;
}

/*
 * Compare the cache with its witness record. Sets @match->proven, @older, @session and @regions.
 * @record: valid record of the cache, NULL: none.
 * @named: the record is on the witness that the superblock names.
 *
 * The record proves nothing if a write to the first or last 64 KiB of the origin was in flight.
 * Such a write changes the fingerprint, so a write that bypassed the cache could not be detected.
 */
void match_read_witness(struct origin_match *match, const struct nearcache_witness *record,
	       bool named)
{
	const struct super *super = &match->super;
	struct nearcache_intent *area;

	match->proven = false;
	match->older = record && knows_more(super->best, record, named);
	match->session = match->older ? le64_to_cpu(record->session) : 0;
	if (!match_was_writing(match) || !nc_recover_stayed(super->best, record))
		return;
	area = read_intent(&match->cache, super->geo.intent_offset);
	if (!area)
		return;
	nc_recover_intent(area, super->best, record);
	match->proven = !nc_recover_ends(area);
	match->regions = count_regions(area, &super->geo);
	free(match->written);
	match->written = match->sample ? area : NULL;
	if (!match->sample)
		free(area);
}

/* Make match_record() raise the session number of the superblock to at least @session. */
void match_take_session(struct origin_match *match, u64 session)
{
	if (session > match->session)
		match->session = session;
}

/*
 * The cache returns to a witness that has an old @record of it. Give the superblock, and then the
 * record, a higher session number than both have now, so that older copies are recognised.
 */
void match_come_back(struct origin_match *match, const struct nearcache_witness *record)
{
	u64 known = le64_to_cpu(record->session);
	u64 has = le64_to_cpu(match->super.best->session);

	match_take_session(match, (known > has ? known : has) + 1);
}

/*
 * Called before the witness in the superblock changes. Read the record on the witness that the
 * superblock names now, which may be a read-only device. If the record knows a later session than
 * the superblock, set @match->older and return true.
 */
bool match_read_recorded(struct origin_match *match)
{
	const struct nearcache_super *sb = match->super.best;
	struct witness before = WITNESS_CLOSED;
	struct nearcache_witness record;
	bool found, later;

	later = witness_named((const char *)sb->witness) &&
		!device_open(&before.dev, (const char *)sb->witness,
			     "witness device") &&
		!witness_look(&before, sb->uuid, &record, &found) && found &&
		knows_more(sb, &record, true);
	if (later) {
		match->older = true;
		match_take_session(match, le64_to_cpu(record.session));
	}
	witness_close(&before);
	fail_reset();
	return later;
}
