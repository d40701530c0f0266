/* SPDX-License-Identifier: GPL-2.0-only */
/* Which sectors of the volume are in the log: extents in an rbtree, in memory of fixed size. */
#ifndef NEARCACHE_STAGE_OVERLAY_H
#define NEARCACHE_STAGE_OVERLAY_H

#include <linux/rbtree.h>
#include <linux/types.h>

/**
 * struct nc_extent - consecutive sectors of the volume whose newest version is in the log
 * @node: in nc_overlay.root
 * @next: in nc_overlay.free
 * @sector: first sector of the volume
 * @at: position of the data in the ring, in sectors counted without end (place * 8 + offset).
 *	Zeros and discards: place of the entry * 8.  Later entries have higher positions
 * @sectors: number of sectors
 * @kind: enum nearcache_stage_kind
 */
struct nc_extent {
	union {
		struct rb_node node;
		struct nc_extent *next;
	};
	u64 sector;
	u64 at;
	u32 sectors;
	u8 kind;
};

/**
 * struct nc_overlay - extents that do not overlap, in the order of their sectors
 * @root: the extents
 * @free: extents that are not in use
 * @pool: memory of all extents
 * @wrap: sectors of the ring; an extent does not continue beyond its end.  Constant
 * @count: number of extents in @root
 * @overflow: an insertion found no free extent
 *
 * The owner's lock protects all other fields.
 */
struct nc_overlay {
	struct rb_root root;
	struct nc_extent *free;
	struct nc_extent *pool;
	u64 wrap;
	u32 count;
	bool overflow;
};

int nc_overlay_init(struct nc_overlay *o, u32 capacity, u64 wrap);
void nc_overlay_destroy(struct nc_overlay *o);
void nc_overlay_insert(struct nc_overlay *o, const struct nc_extent *entry);
void nc_overlay_drop(struct nc_overlay *o, const struct nc_extent *entry);
void nc_overlay_clear(struct nc_overlay *o);
struct nc_extent *nc_overlay_find(const struct nc_overlay *o, u64 sector);

static inline u64 nc_extent_end(const struct nc_extent *x)
{
	return x->sector + x->sectors;
}

static inline struct nc_extent *nc_extent_next(const struct nc_extent *x)
{
	return rb_entry_safe(rb_next(&x->node), struct nc_extent, node);
}

#endif /* NEARCACHE_STAGE_OVERLAY_H */
