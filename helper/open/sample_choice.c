// SPDX-License-Identifier: GPL-2.0-only
#include "open/sample_choice.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "lib/error.h"
#include "meta/recover.h"
#include "ondisk/slot_table.h"

/**
 * struct choosing - state of a pass over the slot table
 * @super: of the cache device
 * @choices: the lists
 * @block: numbers of the blocks that have metadata, sorted
 * @blocks: entries of @block
 */
struct choosing {
	const struct super *super;
	struct choices *choices;
	u64 *block;
	u64 blocks;
};

static int compare_numbers(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* The block number is the first member of struct choice. */
static int compare_choices(const void *a, const void *b)
{
	return compare_numbers(&((const struct choice *)a)->block,
			       &((const struct choice *)b)->block);
}

static int make_list(struct choice_list *list, u64 room)
{
	list->room = room;
	list->choice = calloc(room + 1, sizeof(*list->choice));
	return list->choice ? 0 : fail_memory();
}

/* Sort the metadata's places and turn them into block numbers. */
static int list_blocks(struct choosing *choosing, const struct fsprint_result *content)
{
	const struct fsprint_places *part[] = { &content->starts, &content->metadata };
	u64 per_block = choosing->super->geo.block_size / FSPRINT_PLACE;
	unsigned int i, j;

	choosing->block = calloc(2 * FSPRINT_PLACES, sizeof(*choosing->block));
	if (!choosing->block)
		return fail_memory();
	for (i = 0; i < 2; i++)
		for (j = 0; j < part[i]->places; j++)
			choosing->block[choosing->blocks++] = part[i]->place[j] / per_block;
	qsort(choosing->block, choosing->blocks, sizeof(u64), compare_numbers);
	return 0;
}

static void offer_metadata(struct choosing *choosing, const struct choice *choice)
{
	struct choice_list *list = &choosing->choices->metadata;

	if (list->choices < list->room &&
	    bsearch(&choice->block, choosing->block, choosing->blocks, sizeof(u64),
		    compare_numbers))
		list->choice[list->choices++] = *choice;
}

/* As when the kernel loads the slot table: of equal generations it keeps the first slot. */
static bool is_later(const struct choice *a, const struct choice *b)
{
	return a->generation > b->generation ||
	       (a->generation == b->generation && a->slot < b->slot);
}

/* Restore the heap, in which no entry is later than those below it, after a change of the first. */
static void sink_first(struct choice_list *list)
{
	u64 at = 0, child;

	while ((child = 2 * at + 1) < list->choices) {
		struct choice moved = list->choice[at];

		if (child + 1 < list->choices &&
		    is_later(&list->choice[child], &list->choice[child + 1]))
			child++;
		if (!is_later(&moved, &list->choice[child]))
			return;
		list->choice[at] = list->choice[child];
		list->choice[child] = moved;
		at = child;
	}
}

static void offer_recent(struct choice_list *list, const struct choice *choice)
{
	u64 at = list->choices, above;

	if (list->choices == list->room) {
		if (!list->room || !is_later(choice, &list->choice[0]))
			return;
		list->choice[0] = *choice;
		sink_first(list);
		return;
	}
	list->choice[list->choices++] = *choice;
	for (; at && is_later(&list->choice[above = (at - 1) / 2], choice); at = above) {
		list->choice[at] = list->choice[above];
		list->choice[above] = *choice;
	}
}

static u64 random_below(u64 limit)
{
	return ((u64)random() << 31 | (u64)random()) % limit;
}

/* Reservoir sampling: at any time each block that was offered is in the list with equal chance. */
static void offer_random(struct choice_list *list, const struct choice *choice)
{
	u64 at = list->choices;

	list->seen++;
	if (list->choices < list->room)
		list->choices++;
	else
		at = random_below(list->seen);
	if (at < list->room)
		list->choice[at] = *choice;
}

static void offer_slot(void *data, u64 slot, const struct nearcache_slot *entry)
{
	struct choosing *choosing = data;
	struct choice choice = {
		.block = le64_to_cpu(entry->origin_block),
		.slot = slot,
		.valid = le64_to_cpu(entry->valid),
		.generation = le32_to_cpu(entry->generation),
	};

	if (!nc_recover_slot(&choosing->super->geo, entry))
		return;
	offer_metadata(choosing, &choice);
	offer_recent(&choosing->choices->recent, &choice);
	offer_random(&choosing->choices->random, &choice);
}

static void shuffle_list(struct choice_list *list)
{
	u64 i, other;

	for (i = 1; i < list->choices; i++) {
		struct choice choice = list->choice[i];

		other = random_below(i + 1);
		list->choice[i] = list->choice[other];
		list->choice[other] = choice;
	}
}

static struct choice *find_block(const struct choice_list *list, u64 block)
{
	struct choice key = { .block = block };

	return bsearch(&key, list->choice, list->choices, sizeof(key), compare_choices);
}

/* Forget all but the latest of the choices of a block. The list is sorted by block. */
static void drop_doubles(struct choice_list *list)
{
	u64 i, kept = 0;

	for (i = 0; i < list->choices; i++) {
		struct choice *before = kept ? &list->choice[kept - 1] : NULL;

		if (!before || before->block != list->choice[i].block)
			list->choice[kept++] = list->choice[i];
		else if (is_later(&list->choice[i], before))
			*before = list->choice[i];
	}
	list->choices = kept;
}

/* If @data's lists have the block with an earlier slot, put this slot in its place. */
static void replace_slot(void *data, u64 slot, const struct nearcache_slot *entry)
{
	struct choosing *choosing = data;
	struct choice_list *list[] = { &choosing->choices->metadata, &choosing->choices->recent,
				       &choosing->choices->random };
	struct choice choice = {
		.block = le64_to_cpu(entry->origin_block),
		.slot = slot,
		.valid = le64_to_cpu(entry->valid),
		.generation = le32_to_cpu(entry->generation),
	};
	unsigned int i;

	if (!nc_recover_slot(&choosing->super->geo, entry))
		return;
	for (i = 0; i < 3; i++) {
		struct choice *found = find_block(list[i], choice.block);

		if (found && is_later(&choice, found))
			*found = choice;
	}
}

/*
 * A crash may leave two slots of a block; the kernel uses the later one. A second pass over the
 * slot table replaces earlier slots in the lists, since their data may be out of date. Unless @all of
 * it may be read: then choices_check_latest() tells.
 */
static int settle_doubles(struct choosing *choosing, const struct device *cache, bool all)
{
	struct choices *choices = choosing->choices;
	struct choice_list *list[] = { &choices->metadata, &choices->recent, &choices->random };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		qsort(list[i]->choice, list[i]->choices, sizeof(struct choice), compare_choices);
		drop_doubles(list[i]);
	}
	if (le32_to_cpu(choosing->super->best->state) != NEARCACHE_STATE_CLEAN) {
		choices->unsettled = !all;
		if (all && table_walk(cache, choosing->super, 0, replace_slot, choosing,
				      &choices->last))
			return fail_code();
	}
	shuffle_list(&choices->random);
	return 0;
}

/*
 * Choose blocks of the cache on @cache and its other members. @recent, @random: most entries of
 * these lists. @pages: if the slot table has more pages, choose from random ones, about so many; 0: no
 * limit. The caller calls choices_free(), even after a failure.
 */
int choices_make(struct choices *choices, const struct device *cache, const struct super *super,
		 const struct fsprint_result *content, u64 recent, u64 random, u64 pages)
{
	struct choosing choosing = { .super = super, .choices = choices };

	unsigned int seed = (unsigned int)time(NULL);

	memset(choices, 0, sizeof(*choices));
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed ^= (unsigned int)getpid();
	srandom(seed);
	if (!make_list(&choices->metadata, 2 * FSPRINT_PLACES) &&
	    !make_list(&choices->recent, recent) && !make_list(&choices->random, random) &&
	    !list_blocks(&choosing, content) &&
	    !table_walk(cache, super, pages, offer_slot, &choosing, &choices->last))
		settle_doubles(&choosing, cache, !pages || pages >= super->geo.table_pages);
	free(choosing.block);
	return fail_code();
}

/* The latest slot of a block that find_latest() has seen. */
struct latest {
	const struct nc_geometry *geo;
	struct choice choice;
};

static void find_latest(void *data, u64 slot, const struct nearcache_slot *entry)
{
	struct latest *latest = data;
	struct choice choice = {
		.block = le64_to_cpu(entry->origin_block),
		.slot = slot,
		.generation = le32_to_cpu(entry->generation),
	};

	if (choice.block == latest->choice.block && is_later(&choice, &latest->choice) &&
	    nc_recover_slot(latest->geo, entry))
		latest->choice = choice;
}

/* Read the whole slot table, and set @latest to whether it has no later slot of the block. */
int choices_check_latest(const struct device *cache, const struct super *super,
			 const struct choice *choice, bool *latest)
{
	struct latest found = { .geo = &super->geo, .choice = *choice };
	u64 last;

	if (table_walk(cache, super, 0, find_latest, &found, &last))
		return fail_code();
	*latest = found.choice.slot == choice->slot;
	return 0;
}

/* Find a block with metadata. NULL: it is not cached. */
const struct choice *choices_find(const struct choices *choices, u64 block)
{
	return find_block(&choices->metadata, block);
}

void choices_free(struct choices *choices)
{
	free(choices->metadata.choice);
	free(choices->recent.choice);
	free(choices->random.choice);
	memset(choices, 0, sizeof(*choices));
}
