// SPDX-License-Identifier: GPL-2.0-only
#include "open/content_sample.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/error.h"
#include "meta/recover.h"
#include "open/sample_choice.h"

/* Unit of comparison: a part of a block. A sub-block is never larger. */
#define PIECE	FSPRINT_PLACE

_Static_assert(NEARCACHE_BLOCK_MIN % PIECE == 0, "a block is a number of pieces");
_Static_assert(NEARCACHE_BLOCK_MAX / NEARCACHE_SUBBLOCKS_MAX <= PIECE, "sub-blocks");

/* The end of a part of the sample, in percent of its size and time: metadata, recent, random. */
#define METADATA_PERCENT	50
#define RECENT_PERCENT		75

/* After this many read errors the comparison ends: a failing device may need long for each. */
#define ERRORS_MAX	4

/**
 * struct comparison - state of a comparison
 * @sample: input and result
 * @data_offset: for each member the start of the slots, bytes
 * @choices: the blocks to compare
 * @done: set of pieces that were compared, a hash table of piece numbers + 1; 0: free
 * @room: entries of @done, a power of two
 * @used: entries of @done in use, at most half of @room
 * @ours: cached data, PIECE bytes
 * @theirs: data of the origin, PIECE bytes
 * @sums: a page of checksums
 * @start: time at the first comparison, nanoseconds
 * @errors: number of failed reads
 * @found: the block that differs
 */
struct comparison {
	struct content_sample *sample;
	u64 data_offset[NEARCACHE_MEMBERS_MAX];
	struct choices choices;
	u64 *done;
	u64 room;
	u64 used;
	unsigned char *ours;
	unsigned char *theirs;
	unsigned char *sums;
	u64 start;
	unsigned int errors;
	struct choice found;
};

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

/* True if @percent of the size or time is used up, or a difference was found. */
static bool is_over(const struct comparison *cmp, unsigned int percent)
{
	const struct content_sample *sample = cmp->sample;

	return sample->differs || cmp->errors >= ERRORS_MAX || cmp->used >= cmp->room / 2 ||
	       sample->compared >= sample->limit * percent / 100 ||
	       (sample->ms && now_ns() - cmp->start >= sample->ms * 10000ULL * percent);
}

/* Returns false if the piece is in the set already. */
static bool add_done(struct comparison *cmp, u64 piece)
{
	u64 at = piece * 0x9e3779b97f4a7c15ULL >> 20 & (cmp->room - 1);

	for (; cmp->done[at]; at = (at + 1) & (cmp->room - 1))
		if (cmp->done[at] == piece + 1)
			return false;
	cmp->done[at] = piece + 1;
	cmp->used++;
	return true;
}

static const struct device *member_of(const struct comparison *cmp, u64 slot)
{
	u64 index = slot % cmp->sample->super->geo.stripe_count;

	return index ? &cmp->sample->members->dev[index - 1] : cmp->sample->cache;
}

/* Byte of the member where the data of a slot begins. */
static u64 slot_offset(const struct comparison *cmp, u64 slot)
{
	const struct nc_geometry *geo = &cmp->sample->super->geo;

	return cmp->data_offset[slot % geo->stripe_count] +
	       slot / geo->stripe_count * geo->block_size;
}

/* Read. An error is counted and no more: the kernel reads the origin if the cache device fails. */
static bool read_quietly(struct comparison *cmp, const struct device *dev, void *buffer,
			 u64 bytes, u64 offset)
{
	if (!device_read(dev, buffer, bytes, offset))
		return true;
	fail_reset();
	cmp->errors++;
	return false;
}

/*
 * True if the cached data of a sub-block, at @data, is damaged as its checksum tells: then the
 * kernel never serves it, and a difference says nothing about the origin.
 */
static bool is_damaged(struct comparison *cmp, const struct choice *choice, u32 sub,
		       const unsigned char *data)
{
	const struct nc_geometry *geo = &cmp->sample->super->geo;
	u64 at = (choice->slot * geo->subblocks + sub) * sizeof(__le32);
	u64 page = at / NEARCACHE_PAGE_SIZE * NEARCACHE_PAGE_SIZE;
	__le32 sum;

	if (!geo->sums_length)
		return false;
	if (!read_quietly(cmp, cmp->sample->cache, cmp->sums, NEARCACHE_PAGE_SIZE,
			  geo->sums_offset + page))
		return true;
	memcpy(&sum, cmp->sums + (at - page), sizeof(sum));
	return le32_to_cpu(sum) != crc_extend(0, data, geo->subblock_size);
}

/* Compare @bytes of sub-block @sub: @offset is its place in both buffers. */
static void compare_subblock(struct comparison *cmp, const struct choice *choice, u32 sub,
			     u64 offset, u64 bytes)
{
	const struct nc_geometry *geo = &cmp->sample->super->geo;

	if (!memcmp(cmp->ours + offset, cmp->theirs + offset, bytes) ||
	    is_damaged(cmp, choice, sub, cmp->ours + offset))
		return;
	cmp->sample->differs = true;
	cmp->found = *choice;
	cmp->sample->at = choice->block * geo->block_size + (u64)sub * geo->subblock_size;
}

/* Compare the sub-blocks of @bits, which lie in one piece of the block from @first on. */
static void compare_bits(struct comparison *cmp, const struct choice *choice, u64 bits,
			 u32 first)
{
	const struct nc_geometry *geo = &cmp->sample->super->geo;
	u64 from = (u64)first * geo->subblock_size;
	u64 at = choice->block * geo->block_size + from;
	u64 bytes, offset = 0;
	u32 sub;

	if (at >= cmp->sample->size)
		return;
	bytes = cmp->sample->size - at < PIECE ? cmp->sample->size - at : PIECE;
	/* The slot has room for the whole piece, also behind the origin's end. */
	if (!read_quietly(cmp, member_of(cmp, choice->slot), cmp->ours, PIECE,
			  slot_offset(cmp, choice->slot) + from) ||
	    !read_quietly(cmp, cmp->sample->origin, cmp->theirs, bytes, at))
		return;
	for (sub = first; offset < bytes && !cmp->sample->differs; sub++) {
		u64 part = bytes - offset < geo->subblock_size ? bytes - offset :
								 geo->subblock_size;

		if (bits >> sub & 1) {
			compare_subblock(cmp, choice, sub, offset, part);
			cmp->sample->compared += part;
		}
		offset += geo->subblock_size;
	}
}

/* Compare the cached part of piece @index of a block, unless it was compared before. */
static void compare_piece(struct comparison *cmp, const struct choice *choice, u64 index)
{
	const struct content_sample *sample = cmp->sample;
	const struct nc_geometry *geo = &sample->super->geo;
	u32 subs = PIECE / geo->subblock_size;
	u32 first = (u32)index * subs;
	u64 bits = choice->valid & (~0ULL >> (64 - subs)) << first;

	if (sample->written)
		bits &= ~nc_recover_written(geo, sample->written, choice->block);
	if (bits && add_done(cmp, choice->block * (geo->block_size / PIECE) + index))
		compare_bits(cmp, choice, bits, first);
}

static void compare_places(struct comparison *cmp, const struct fsprint_places *list)
{
	u64 per_block = cmp->sample->super->geo.block_size / PIECE;
	unsigned int i;

	for (i = 0; i < list->places && !is_over(cmp, METADATA_PERCENT); i++) {
		const struct choice *choice = choices_find(&cmp->choices,
							   list->place[i] / per_block);

		if (choice)
			compare_piece(cmp, choice, list->place[i] % per_block);
	}
}

/* Compare a piece of each block; then, as long as the limits allow it, another one, and so on. */
static void compare_list(struct comparison *cmp, const struct choice_list *list,
			 unsigned int percent)
{
	u64 per_block = cmp->sample->super->geo.block_size / PIECE;
	u64 round, i;

	for (round = 0; round < per_block; round++)
		for (i = 0; i < list->choices && !is_over(cmp, percent); i++)
			compare_piece(cmp, &list->choice[i],
				      (list->choice[i].slot * 7 + round + cmp->start) % per_block);
}

/*
 * Find the places of the slots on all members. Returns false if the data of a member does not
 * belong to the slot table, so that the kernel will use no cached data, and after an error.
 */
static bool find_members(struct comparison *cmp)
{
	const struct content_sample *sample = cmp->sample;
	bool good = true;
	u32 i;

	cmp->data_offset[0] = sample->super->geo.data_offset;
	for (i = 1; good && i < sample->super->geo.stripe_count; i++) {
		struct super super;

		if (i > sample->members->count)
			return false;
		good = !super_read(&super, &sample->members->dev[i - 1]);
		good = good && super.best && nc_recover_member(super.best, sample->super->geo.table_epoch,
						       cmp->choices.last);
		cmp->data_offset[i] = super.geo.data_offset;
		super_free(&super);
	}
	return good;
}

static int allocate_buffers(struct comparison *cmp, u64 pieces)
{
	for (cmp->room = 1024; cmp->room < 4 * pieces; cmp->room *= 2)
		;
	cmp->done = calloc(cmp->room, sizeof(*cmp->done));
	if (!cmp->done)
		return fail_memory();
	cmp->ours = device_buffer(PIECE);
	cmp->theirs = device_buffer(PIECE);
	cmp->sums = device_buffer(NEARCACHE_PAGE_SIZE);
	return fail_code();
}

static void compare_all(struct comparison *cmp)
{
	compare_places(cmp, &cmp->sample->content->starts);
	compare_places(cmp, &cmp->sample->content->metadata);
	compare_list(cmp, &cmp->choices.recent, RECENT_PERCENT);
	compare_list(cmp, &cmp->choices.random, 100);
}

/* After a crash, a slot that differs proves nothing if the kernel will use a later one. */
static void confirm_difference(struct comparison *cmp)
{
	struct content_sample *sample = cmp->sample;
	bool latest = false;

	if (!sample->differs || !cmp->choices.unsettled)
		return;
	if (choices_check_latest(sample->cache, sample->super, &cmp->found, &latest))
		fail_reset();
	sample->differs = latest;
}

/*
 * Compare cached data with the origin: metadata of file systems, the blocks that were cached last,
 * and random ones, up to @sample->limit bytes or @sample->ms. Ends at the first difference. Data
 * that cannot be read is passed over. Fails only if there is no memory.
 */
int sample_compare(struct content_sample *sample)
{
	u64 pieces = sample->limit / PIECE + 1;
	struct comparison cmp = { .sample = sample };

	sample->compared = 0;
	sample->differs = false;
	if (!choices_make(&cmp.choices, sample->cache, sample->super, sample->content,
			  pieces / 4 + 1, pieces, sample->pages) &&
	    !allocate_buffers(&cmp, pieces) && find_members(&cmp)) {
		/* Start the clock here: a slow read of the slot table must not use up the time. */
		cmp.start = now_ns();
		compare_all(&cmp);
		confirm_difference(&cmp);
	}
	if (cmp.errors >= ERRORS_MAX)
		warn("the comparison of cached data with the origin ended after %u read errors, at %llu bytes",
		     cmp.errors, (unsigned long long)sample->compared);
	/* A cache device that fails is no reason not to open: the kernel bypasses it. */
	if (fail_code() && fail_code() != CODE_MEMORY)
		fail_reset();
	choices_free(&cmp.choices);
	free(cmp.done);
	free(cmp.ours);
	free(cmp.theirs);
	free(cmp.sums);
	return fail_code();
}
