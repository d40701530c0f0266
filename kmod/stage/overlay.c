// SPDX-License-Identifier: GPL-2.0-only
/*
 * The overlay map.  Its extents never overlap.  For a sector, the entry with the latest place in
 * the ring wins, in whatever order the entries are inserted.
 *
 * n entries make at most 2 * n - 1 extents: each border of an extent is a border of an entry.  An
 * entry may be inserted in pieces.  Pieces that are neighbours on the volume and in the ring are
 * joined, so that each piece that is still missing adds at most two extents.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/vmalloc.h>

#include "nearcache_stage.h"
#include "stage/overlay.h"

/* @capacity: extents; @wrap: sectors of the ring.  May sleep.  Return: 0 or -ENOMEM. */
int nc_overlay_init(struct nc_overlay *o, u32 capacity, u64 wrap)
{
	u32 i;

	o->wrap = wrap;
	o->root = RB_ROOT;
	o->count = 0;
	o->overflow = false;
	o->free = NULL;
	o->pool = vmalloc(array_size(capacity, sizeof(*o->pool)));
	if (!o->pool)
		return -ENOMEM;
	for (i = capacity; i--;) {
		o->pool[i].next = o->free;
		o->free = &o->pool[i];
	}
	return 0;
}

void nc_overlay_destroy(struct nc_overlay *o)
{
	vfree(o->pool);
}

static void extent_free(struct nc_overlay *o, struct nc_extent *x)
{
	x->next = o->free;
	o->free = x;
	o->count--;
}

static void extent_erase(struct nc_overlay *o, struct nc_extent *x)
{
	rb_erase(&x->node, &o->root);
	extent_free(o, x);
}

/* Position in the ring of the data of sector @sector of @x, as nc_extent.at. */
static u64 extent_at(const struct nc_extent *x, u64 sector)
{
	return x->kind == NEARCACHE_STAGE_DATA ? x->at + (sector - x->sector) : x->at;
}

/* Do the sectors and the data of @b follow those of @a? */
static bool extents_join(const struct nc_overlay *o, const struct nc_extent *a,
			 const struct nc_extent *b)
{
	u64 offset;

	if (a->kind != b->kind || nc_extent_end(a) != b->sector ||
	    extent_at(a, b->sector) != b->at || a->sectors + b->sectors < a->sectors)
		return false;
	div64_u64_rem(b->at, o->wrap, &offset);
	return offset || b->kind != NEARCACHE_STAGE_DATA;
}

/* Insert the sectors from @from to @end of @entry, which are in no extent. */
static void extent_add(struct nc_overlay *o, const struct nc_extent *entry, u64 from, u64 end)
{
	struct rb_node **link = &o->root.rb_node, *parent = NULL;
	struct nc_extent piece = {
		.sector = from,
		.sectors = end - from,
		.at = extent_at(entry, from),
		.kind = entry->kind,
	};
	struct nc_extent *x, *before = NULL, *behind = NULL;

	while (*link) {
		parent = *link;
		x = rb_entry(parent, struct nc_extent, node);
		if (from < x->sector) {
			behind = x;
			link = &parent->rb_left;
		} else {
			before = x;
			link = &parent->rb_right;
		}
	}
	if (before && extents_join(o, before, &piece)) {
		before->sectors += piece.sectors;
		if (behind && extents_join(o, before, behind)) {
			before->sectors += behind->sectors;
			extent_erase(o, behind);
		}
		return;
	}
	if (behind && extents_join(o, &piece, behind)) {
		behind->sector = piece.sector;
		behind->at = piece.at;
		behind->sectors += piece.sectors;
		return;
	}
	x = o->free;
	if (!x) {
		o->overflow = true;
		return;
	}
	o->free = x->next;
	o->count++;
	*x = piece;
	rb_link_node(&x->node, parent, link);
	rb_insert_color(&x->node, &o->root);
}

/* Take the sectors from @from to @end out of @x, which overlaps them. */
static void extent_cut(struct nc_overlay *o, struct nc_extent *x, u64 from, u64 end)
{
	struct nc_extent whole = *x;

	if (whole.sector >= from && nc_extent_end(&whole) <= end) {
		extent_erase(o, x);
		return;
	}
	/* The order in the tree stays right: all other extents are outside of @x. */
	if (whole.sector < from) {
		x->sectors = from - whole.sector;
		if (nc_extent_end(&whole) > end)
			extent_add(o, &whole, end, nc_extent_end(&whole));
		return;
	}
	x->at = extent_at(&whole, end);
	x->sector = end;
	x->sectors = nc_extent_end(&whole) - end;
}

/* Find the extent with @sector, otherwise the first one after it.  NULL: none. */
struct nc_extent *nc_overlay_find(const struct nc_overlay *o, u64 sector)
{
	struct rb_node *node = o->root.rb_node;
	struct nc_extent *x, *found = NULL;

	while (node) {
		x = rb_entry(node, struct nc_extent, node);
		if (sector < nc_extent_end(x)) {
			found = x;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

/* Insert an entry, except sectors for which the map has a later entry.  Sets @o->overflow if it
 * finds no free extent; the map is then wrong.
 */
void nc_overlay_insert(struct nc_overlay *o, const struct nc_extent *entry)
{
	u64 from = entry->sector, end = nc_extent_end(entry);
	struct nc_extent *x;

	while ((x = nc_overlay_find(o, from)) && x->sector < end) {
		if (x->at < entry->at) {
			extent_cut(o, x, from, end);
			continue;
		}
		if (x->sector > from)
			extent_add(o, entry, from, x->sector);
		from = nc_extent_end(x);
		if (from >= end)
			return;
	}
	extent_add(o, entry, from, end);
}

/* Remove all extents whose data is that of an entry. */
void nc_overlay_drop(struct nc_overlay *o, const struct nc_extent *entry)
{
	u64 from = entry->sector, end = nc_extent_end(entry);
	struct nc_extent *x;

	while (from < end && (x = nc_overlay_find(o, from)) && x->sector < end) {
		from = max(from, x->sector);
		if (extent_at(x, from) == extent_at(entry, from)) {
			u64 next = min(nc_extent_end(x), end);

			extent_cut(o, x, from, next);
			from = next;
		} else {
			from = nc_extent_end(x);
		}
	}
}

void nc_overlay_clear(struct nc_overlay *o)
{
	struct nc_extent *x, *next;

	rbtree_postorder_for_each_entry_safe(x, next, &o->root, node)
		extent_free(o, x);
	o->root = RB_ROOT;
}
