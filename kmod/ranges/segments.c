// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ranges may overlap: files share extents, and one dataset may be pinned twice.  For a look-up
 * they are cut into segments that do not: between two neighbouring ends of ranges the same
 * ones hold.
 */
#include "ranges/segments.h"

/**
 * nc_want_compare() - the order of ranges, for a sort
 * @a: struct nc_want
 * @b: struct nc_want
 *
 * Return: less than 0 if @a comes first: by its first sector, then by its serial.
 */
int nc_want_compare(const void *a, const void *b)
{
	const struct nc_want *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/**
 * struct sweep - ranges that hold at the sector that was come to
 * @at: the sector
 * @open: those, in the order in which they began
 * @count: how many
 * @out: segments made
 * @made: how many
 */
struct sweep {
	u64 at;
	const struct nc_want *open[NC_RANGES_DEEP];
	u32 count;
	struct nc_segment *out;
	u32 made;
};

/* Up to @end the same ranges hold. */
static void emit(struct sweep *s, u64 end)
{
	const struct nc_want *best = s->open[0];
	struct nc_segment *last = s->made ? &s->out[s->made - 1] : NULL;
	struct nc_segment next = { .first = s->at, .end = end };
	u32 i;

	for (i = 0; i < s->count; i++) {
		next.flags |= s->open[i]->flags;
		/* Later in the list is later begun, or given. */
		if (s->open[i]->priority >= best->priority)
			best = s->open[i];
	}
	next.id = best->id;
	next.priority = best->priority;
	if (last && last->end == next.first && last->id == next.id &&
	    last->flags == next.flags && last->priority == next.priority)
		last->end = end;
	else
		s->out[s->made++] = next;
}

static u64 first_end(const struct sweep *s)
{
	u64 end = s->open[0]->end;
	u32 i;

	for (i = 1; i < s->count; i++)
		if (s->open[i]->end < end)
			end = s->open[i]->end;
	return end;
}

/* Go on to a sector: what ends before it ends. */
static void advance(struct sweep *s, u64 to)
{
	u32 i, left;
	u64 end;

	while (s->count && s->at < to) {
		end = first_end(s);
		if (end > to)
			end = to;
		if (end > s->at)
			emit(s, end);
		s->at = end;
		for (i = 0, left = 0; i < s->count; i++)
			if (s->open[i]->end > end)
				s->open[left++] = s->open[i];
		s->count = left;
	}
	s->at = to;
}

/**
 * nc_rangemap_make() - cut ranges into segments
 * @want: ranges, in the order of nc_want_compare(), none of them empty
 * @ranges: how many
 * @out: room for nc_rangemap_segments_max(); filled in, ascending
 *
 * Return: segments, or NC_RANGEMAP_TOO_DEEP when more than NC_RANGES_DEEP ranges overlap.
 */
int nc_rangemap_make(const struct nc_want *want, u32 ranges, struct nc_segment *out)
{
	struct sweep s = { .out = out };
	u32 i;

	for (i = 0; i < ranges; i++) {
		advance(&s, want[i].first);
		if (s.count == NC_RANGES_DEEP)
			return NC_RANGEMAP_TOO_DEEP;
		s.open[s.count++] = &want[i];
	}
	advance(&s, ~0ULL);
	return (int)s.made;
}

/**
 * nc_rangemap_find() - what holds at a sector, or next behind it
 * @segment: segments
 * @count: how many
 * @sector: sector
 *
 * Return: the first segment that ends behind @sector, or NULL.
 */
const struct nc_segment *nc_rangemap_find(const struct nc_segment *segment, u32 count,
					  u64 sector)
{
	u32 low = 0, high = count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (segment[middle].end <= sector)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count ? &segment[low] : NULL;
}

/**
 * nc_rangemap_blocks() - how many blocks segments with a flag touch
 * @segment: segments
 * @count: how many
 * @flags: any of these
 * @block_shift: log2 of a block, in sectors
 *
 * Return: blocks; one that several touch counts once.
 */
u64 nc_rangemap_blocks(const struct nc_segment *segment, u32 count, u8 flags,
		       unsigned int block_shift)
{
	u64 next = 0, blocks = 0;	/* @next: first block that was not counted */
	u32 i;

	for (i = 0; i < count; i++) {
		u64 first = segment[i].first >> block_shift;
		u64 last = (segment[i].end - 1) >> block_shift;

		if (!(segment[i].flags & flags))
			continue;
		if (first < next)
			first = next;
		if (last >= first)
			blocks += last - first + 1;
		if (last >= next)
			next = last + 1;
	}
	return blocks;
}
