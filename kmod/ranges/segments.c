// SPDX-License-Identifier: GPL-2.0-only
/*
 * Segments of ranges.  Ranges may overlap, because files share extents and a dataset may be pinned
 * twice.  For look-ups they are cut into segments that do not overlap, so that the same set of
 * ranges covers all sectors of a segment.
 */
#include "ranges/segments.h"

/* Order for sort(): by first sector, then by serial. */
int nc_want_compare(const void *a, const void *b)
{
	const struct nc_want *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/**
 * struct sweep - state of a pass over the ranges by ascending sector
 * @at: current sector
 * @open: ranges that cover @at, in the order of nc_want_compare()
 * @count: number of ranges in @open
 * @out: segments made so far
 * @made: number of segments in @out
 */
struct sweep {
	u64 at;
	const struct nc_want *open[NC_RANGES_DEEP];
	u32 count;
	struct nc_segment *out;
	u32 made;
};

/* Add the segment from @at to @end, covered by @open, or extend the last segment if it is alike. */
static void emit_segment(struct sweep *s, u64 end)
{
	const struct nc_want *best = s->open[0];
	struct nc_segment *last = s->made ? &s->out[s->made - 1] : NULL;
	struct nc_segment next = { .first = s->at, .end = end };
	u32 i;

	for (i = 0; i < s->count; i++) {
		next.flags |= s->open[i]->flags;
		/* With equal priority, a later entry wins: higher start, or higher serial. */
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

/* Advance to sector @to: emit the segments before @to, and close the ranges that end there. */
static void advance_sweep(struct sweep *s, u64 to)
{
	u32 i, left;
	u64 end;

	while (s->count && s->at < to) {
		end = first_end(s);
		if (end > to)
			end = to;
		if (end > s->at)
			emit_segment(s, end);
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
 * @want: ranges, in the order of nc_want_compare(), none empty
 * @ranges: number of ranges
 * @out: array of nc_rangemap_segments_max(@ranges); filled ascending
 *
 * Return: number of segments, or NC_RANGEMAP_TOO_DEEP if more than NC_RANGES_DEEP ranges overlap.
 */
int nc_rangemap_make(const struct nc_want *want, u32 ranges, struct nc_segment *out)
{
	struct sweep s = { .out = out };
	u32 i;

	for (i = 0; i < ranges; i++) {
		advance_sweep(&s, want[i].first);
		if (s.count == NC_RANGES_DEEP)
			return NC_RANGEMAP_TOO_DEEP;
		s.open[s.count++] = &want[i];
	}
	advance_sweep(&s, ~0ULL);
	return (int)s.made;
}

/* Return the first segment with sectors at or behind @sector, or NULL. */
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

/* Number of blocks that segments with any of @flags overlap, each block counted once. */
u64 nc_rangemap_blocks(const struct nc_segment *segment, u32 count, u8 flags,
		       unsigned int block_shift)
{
	u64 next = 0, blocks = 0;	/* @next: first block not counted yet */
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
