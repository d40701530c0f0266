// SPDX-License-Identifier: GPL-2.0-only
/* Interprets the metadata that a session left on the medium; doc/format.md has the rules. */
#include "meta/recover.h"

#ifdef __KERNEL__
#include <linux/log2.h>
#include <linux/string.h>
#endif

/**
 * nc_recover_last() - find the last commit record
 * @ring: NC_RECOVER_RING records as read
 * @uuid: UUID of the cache, 16 bytes
 *
 * Return: the valid record with the highest number, or NULL if there is none.
 */
const struct nearcache_commit *
nc_recover_last(const struct nearcache_commit *ring, const u8 *uuid)
{
	const struct nearcache_commit *last = NULL;
	u32 i;

	for (i = 0; i < NC_RECOVER_RING; i++) {
		u64 sequence = le64_to_cpu(ring[i].sequence);

		if (nc_record_check(&ring[i], uuid) &&
		    sequence % NC_RECOVER_RING == i &&
		    (!last || sequence > le64_to_cpu(last->sequence)))
			last = &ring[i];
	}
	return last;
}

/**
 * nc_recover_listed() - does the last commit record name this page?
 * @last: last record, or NULL
 * @index: page number
 *
 * Return: the copy that this commit was to write, 0 or 1; NC_RECOVER_NONE if not named.
 */
int nc_recover_listed(const struct nearcache_commit *last, u64 index)
{
	u32 i, n = last ? le32_to_cpu(last->count) : 0;

	for (i = 0; i < n; i++) {
		u64 page = le64_to_cpu(last->page[i]);

		if ((page & ~NEARCACHE_COMMIT_COPY_1) == index)
			return !!(page & NEARCACHE_COMMIT_COPY_1);
	}
	return NC_RECOVER_NONE;
}

/**
 * nc_recover_page() - choose the valid copy of a slot table page
 * @p0: copy 0 as read
 * @p1: copy 1 as read
 * @uuid: UUID of the cache, 16 bytes
 * @index: page number
 * @epoch: the superblock's table_epoch
 * @last: from nc_recover_last()
 * @newest: raised to the highest sequence of the intact copies
 *
 * A damaged copy may have been the newer one, and slots that the older copy describes may
 * hold other blocks by now.  The older copy is safe only if the last commit names the
 * damaged one: that commit did not complete, so no slot that it freed was reused.
 *
 * Return: copy 0 or 1; NC_RECOVER_NONE if the page's slots are lost.
 */
int nc_recover_page(const struct nearcache_page *p0,
		    const struct nearcache_page *p1, const u8 *uuid, u64 index,
		    u64 epoch, const struct nearcache_commit *last,
		    u64 *newest)
{
	bool sound0 = nc_page_check(p0, uuid, index);
	bool sound1 = nc_page_check(p1, uuid, index);

	if (sound0)
		*newest = max(*newest, (u64)le64_to_cpu(p0->sequence));
	if (sound1)
		*newest = max(*newest, (u64)le64_to_cpu(p1->sequence));
	if (!sound0 && !sound1)
		return NC_RECOVER_NONE;
	if (sound0 != sound1)
		return nc_recover_listed(last, index) == sound0 ?
			       sound1 : NC_RECOVER_NONE;
	if (p0->epoch != p1->epoch)
		return le64_to_cpu(p1->epoch) == epoch;
	return le64_to_cpu(p1->sequence) > le64_to_cpu(p0->sequence);
}

/* Valid bits that @block may have: fewer in the last block of the origin, if that is shorter. */
static u64 possible_bits(const struct nc_geometry *geo, u64 block)
{
	u64 bytes = geo->origin_size - block * geo->block_size;
	u64 subs = geo->subblocks;

	if (bytes < geo->block_size)
		subs = (bytes + geo->subblock_size - 1) / geo->subblock_size;
	return ~0ULL >> (64 - subs);
}

/* Is a slot entry of an intact page plausible?  If not, the load drops it.  @slot is not free. */
bool nc_recover_slot(const struct nc_geometry *geo,
		     const struct nearcache_slot *slot)
{
	u64 block = le64_to_cpu(slot->origin_block);
	u64 valid = le64_to_cpu(slot->valid);

	return block <= (geo->origin_size - 1) / geo->block_size && valid &&
	       !(valid & ~possible_bits(geo, block)) &&
	       !(le32_to_cpu(slot->flags) & ~NEARCACHE_SLOT_FLAGS_KNOWN);
}

/* Does the witness know a later session than the superblock?  Then the medium is an older copy, or
 * was removed before that session.  If @record is invalid, the answer is no.
 */
bool nc_recover_older(const struct nearcache_super *sb,
		      const struct nearcache_witness *record)
{
	return nc_witness_check(record, sb->uuid) &&
	       le64_to_cpu(record->session) > le64_to_cpu(sb->session) &&
	       (!record->previous || record->previous != sb->session);
}

/**
 * nc_recover_stayed() - was the cache device present for all writes of the session?
 * @sb: superblock, in state writing
 * @record: from the witness; if it is NULL or invalid, the answer is no
 *
 * A removed cache device cannot record that it missed writes: only the witness can.
 */
bool nc_recover_stayed(const struct nearcache_super *sb,
		       const struct nearcache_witness *record)
{
	if (!record || !nc_witness_check(record, sb->uuid) ||
	    le32_to_cpu(record->state) != NEARCACHE_WITNESS_STAYED)
		return false;
	/* If @previous matches, the next session was about to begin, but wrote nothing. */
	return sb->session && (record->session == sb->session ||
			       record->previous == sb->session);
}

/**
 * nc_recover_intent() - evaluate the write-intent bitmap of the unfinished session
 * @area: the whole bitmap as read.  Sectors that do not verify or are of another session get all
 *	bits set; sectors of the session that was about to begin get all bits cleared
 * @sb: superblock
 * @record: from the witness, after nc_recover_stayed()
 *
 * An empty sector of a later session counts only if @record says that this session was about
 * to begin and relied on the slot table of @sb.  A session that started cold, or with another
 * witness, also writes an empty bitmap.
 */
void nc_recover_intent(struct nearcache_intent *area,
		       const struct nearcache_super *sb,
		       const struct nearcache_witness *record)
{
	bool begins = record->session != sb->session;
	u32 i;

	for (i = 0; i < NC_RECOVER_INTENT; i++) {
		bool sound = nc_intent_sector_check(&area[i], sb->uuid, i);
		__le64 of = area[i].session;

		if (sound && of == sb->session)
			continue;
		nc_intent_sector_init(&area[i], sb->uuid,
				      le64_to_cpu(sb->session), i);
		if (sound && begins && of == record->session)
			continue;
		area[i].flags = cpu_to_le32(NEARCACHE_INTENT_ENDS);
		memset(area[i].bits, 0xff, sizeof(area[i].bits));
	}
}

/* Are the first and last 64 KiB of the origin marked? */
bool nc_recover_ends(const struct nearcache_intent *area)
{
	return le32_to_cpu(area->flags) & NEARCACHE_INTENT_ENDS;
}

static bool region_written(const struct nc_geometry *geo,
			   const struct nearcache_intent *area, u64 at)
{
	u64 region = at >> ilog2(geo->intent_region);
	u32 bit = region % NEARCACHE_INTENT_BITS;

	return area[region / NEARCACHE_INTENT_BITS].bits[bit / 8] &
	       1U << bit % 8;
}

/* Bitmap of the sub-blocks of @block in marked regions; bits behind the origin's end are undefined.
 * A region is never shorter than a sub-block.
 */
u64 nc_recover_written(const struct nc_geometry *geo,
		       const struct nearcache_intent *area, u64 block)
{
	u64 at = block * geo->block_size;
	u64 bits = 0;
	u32 i;

	if (geo->intent_region >= geo->block_size)
		return region_written(geo, area, at) ? ~0ULL : 0;
	for (i = 0; i < geo->subblocks; i++, at += geo->subblock_size)
		if (at < geo->origin_size && region_written(geo, area, at))
			bits |= 1ULL << i;
	return bits;
}

/**
 * nc_recover_member() - does the data on a member match the slot table?
 * @member: superblock of the member
 * @epoch: the first member's table_epoch
 * @last: number of the first member's last commit record, from superblock or ring
 *
 * Before the first member records a commit, @member becomes live with the number of the commit's
 * first record.  After its last record, before freed slots are overwritten, @member becomes clean.
 */
bool nc_recover_member(const struct nearcache_super *member, u64 epoch, u64 last)
{
	u64 told = le64_to_cpu(member->commit_sequence);

	if (le64_to_cpu(member->table_epoch) != epoch)
		return false;
	switch (le32_to_cpu(member->state)) {
	case NEARCACHE_STATE_CLEAN:
		return last == told;
	case NEARCACHE_STATE_LIVE:
		return last + 1 == told || last == told || last == told + 1;
	default:
		return false;
	}
}
