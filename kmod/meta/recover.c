// SPDX-License-Identifier: GPL-2.0-only
/* Judging what a session left in the slot table; doc/format.md says why it is so. */
#include "meta/recover.h"

#ifdef __KERNEL__
#include <linux/log2.h>
#include <linux/string.h>
#endif

/**
 * nc_recover_last() - the last commit record that was written
 * @ring: NC_RECOVER_RING records as read
 * @uuid: of the cache, 16 bytes
 *
 * Return: record, or NULL when there is none.
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
 * nc_recover_listed() - was the last commit about to rewrite this page?
 * @last: its record, or NULL
 * @index: page number
 *
 * Return: the copy that it was about to rewrite, or NC_RECOVER_NONE.
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
 * nc_recover_page() - which copy of a page counts
 * @p0: copy 0 as read
 * @p1: copy 1 as read
 * @uuid: of the cache, 16 bytes
 * @index: page number
 * @epoch: the superblock's table_epoch
 * @last: from nc_recover_last()
 * @newest: raised to the sequence of each sound copy
 *
 * The copy that does not verify may have been the newer one, and slots that the
 * older one knows may hold something else by now.  They do not only if the commit
 * that was writing this very copy never ended.
 *
 * Return: 0 or 1; NC_RECOVER_NONE when that cannot be told.
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

/* Valid bits that a block may have: the origin's last one is shorter. */
static u64 possible_bits(const struct nc_geometry *geo, u64 block)
{
	u64 bytes = geo->origin_size - block * geo->block_size;
	u64 subs = geo->subblocks;

	if (bytes < geo->block_size)
		subs = (bytes + geo->subblock_size - 1) / geo->subblock_size;
	return ~0ULL >> (64 - subs);
}

/**
 * nc_recover_slot() - may an entry of a sound page be what it says?
 * @geo: geometry
 * @slot: entry, not a free one
 */
bool nc_recover_slot(const struct nc_geometry *geo,
		     const struct nearcache_slot *slot)
{
	u64 block = le64_to_cpu(slot->origin_block);
	u64 valid = le64_to_cpu(slot->valid);

	return block <= (geo->origin_size - 1) / geo->block_size && valid &&
	       !(valid & ~possible_bits(geo, block)) &&
	       !(le32_to_cpu(slot->flags) & ~NEARCACHE_SLOT_FLAGS_KNOWN);
}

/**
 * nc_recover_older() - does the witness know of a session that the medium does not?
 * @sb: superblock
 * @record: of the witness; need not be sound
 *
 * Then the medium is a copy from before, or was taken out before.
 */
bool nc_recover_older(const struct nearcache_super *sb,
		      const struct nearcache_witness *record)
{
	return nc_witness_check(record, sb->uuid) &&
	       le64_to_cpu(record->session) > le64_to_cpu(sb->session) &&
	       (!record->previous || record->previous != sb->session);
}

/**
 * nc_recover_stayed() - was the medium told of all that a writing session wrote?
 * @sb: superblock, in state writing
 * @record: of the witness, or NULL; need not be sound
 *
 * A device that was taken out keeps what it says.  Only another one knows.
 */
bool nc_recover_stayed(const struct nearcache_super *sb,
		       const struct nearcache_witness *record)
{
	if (!record || !nc_witness_check(record, sb->uuid) ||
	    le32_to_cpu(record->state) != NEARCACHE_WITNESS_STAYED)
		return false;
	/* The next session was about to begin: nothing was written in it. */
	return sb->session && (record->session == sb->session ||
			       record->previous == sb->session);
}

/**
 * nc_recover_intent() - what a session's write-intent bitmap says
 * @area: all of it as read; of each sector that does not verify, or is of another
 *	session, all bits get set; of one of the session that was about to begin, none
 * @sb: superblock
 * @record: of the witness, after nc_recover_stayed()
 *
 * Only the witness tells which session was about to begin, and that it began with the
 * slot table that the superblock speaks of: one that began with nothing, or on another
 * witness, emptied the area all the same.
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

/* Were the first or last 64 KiB of the origin being written? */
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

/**
 * nc_recover_written() - what of a block was being written
 * @geo: geometry
 * @area: after nc_recover_intent()
 * @block: origin block, inside the origin
 *
 * A region is at least as long as a sub-block.
 *
 * Return: sub-blocks that overlap such a region; bits past the origin's end say
 * nothing.
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
 * nc_recover_member() - is the data on a member that which the slot table speaks of?
 * @member: its superblock
 * @epoch: table_epoch of the first member's
 * @last: number of the last commit record there, as the superblock or the ring has it
 *
 * A member is told that a commit begins before the first member is, and that it is over
 * after that, and before slots that it freed are overwritten.
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
