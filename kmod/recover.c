// SPDX-License-Identifier: GPL-2.0-only
/* Judging what a session left in the slot table; doc/format.md says why it is so. */
#include "recover.h"

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
 */
bool nc_recover_listed(const struct nearcache_commit *last, u64 index)
{
	u32 i, n = last ? le32_to_cpu(last->count) : 0;

	for (i = 0; i < n; i++)
		if (le64_to_cpu(last->page[i]) == index)
			return true;
	return false;
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
 * that was writing it never ended.
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
		return nc_recover_listed(last, index) ? sound1 :
							NC_RECOVER_NONE;
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
