// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy "keep": a cached block stays until it is provably idle.
 *
 * Training reads every block once per epoch, in a new order each time.  Then no policy
 * that fills on demand beats never evicting, and every policy that evicts by recency does
 * worse.  So a slot is evicted only when the bytes read through the device since its last use
 * exceed the observed reuse distances, which reach twice the dataset under reshuffling.
 *
 * The ghost measures the reuse distances of cached and uncached blocks.  A distance is the number
 * of bytes read through the device between two reads of one block; in between, the block was live.
 * So the sum of the distances that end in an interval, divided by the interval's length, is the
 * number of live blocks: blocks that are read again and again.  A few hot blocks (file system
 * metadata) count as few, however often they are read; a block that is read once does not count.
 *
 * - Blocks grow idle only while the number of live blocks is at least a quarter of the slots.  So a
 *   scan makes no block idle, because the blocks of the scan are not read again.
 * - The limit of idleness is learnt from the distances of all blocks: from those of cached blocks
 *   alone, a cache full of dead blocks would learn nothing.  Each distance weighs as much as it
 *   is long, so a few hot blocks have no weight.
 * - Readers have left a dataset if its cached blocks were not live for an interval in which nearly
 *   all of them should have been read, and if in this interval as many blocks as a quarter of the
 *   slots were read twice.  One read in the interval is no evidence: blocks of an evaluation set
 *   are read again as well, but their previous read was while the training set was live.
 *
 * The last resort is the size of the origin.  A program that reads all of it has distances of up to
 * twice the origin, so a block that was not read for longer is idle.  Several programs, or one
 * that reads a part in each epoch, have longer distances.  These raise the last resort, up to a
 * bound: random reads over the whole origin have no longest distance, all slots are equally good
 * then, and the cache must keep adapting.  Long distances do not raise the last resort if a block
 * of that age is read again much later than an uncached block, as when some blocks are read more
 * often.
 */
#include "evict/default_policy.h"

#define LIMIT_MAX	NC_STAMP_FAR
/* Shortest window in ticks: four cache sizes. */
#define WINDOW_MIN	64U
/* Number of sampled blocks that may be hot by chance: fewer are no evidence. */
#define FEW		8ULL
/* Ticks between two calls of nc_ghost_expire(): 64 cache sizes. */
#define EXPIRE		1024U
/* Factor by which observed distances may raise the last resort: enough for four programs, or for
 * a program that reads half of the origin in each epoch.
 */
#define RESORTS		4U
/* A late cut catches up with the clock by at most this many ticks per tick of the clock. */
#define CATCH_UP	4U

static void keep_init(struct nc_policy *p, u64 slots, u64 origin_ticks, u64 *ghost, u64 seed)
{
	memset(p, 0, sizeof(*p));
	p->slots = slots;
	p->never_seen = LIMIT_MAX;
	if (origin_ticks < LIMIT_MAX / 2)
		p->never_seen = 2 * (u32)origin_ticks + 2;
	p->resort = p->never_seen;
	p->cut = 0U - LIMIT_MAX;
	p->left = 0U - LIMIT_MAX;
	p->beat = 1;
	nc_ghost_init(&p->ghost, ghost, seed);
}

static u32 class_of(u32 d)
{
	u32 shift;

	if (d < 8)
		return d;
	d = min(d, NC_STAMP_TICK);
	shift = ilog2(d) - 3;
	return 8 * shift + (d >> shift);
}

/* Longest distance, in ticks, that class_of() puts into a class. */
static u32 class_end(u32 class)
{
	u32 shift;

	if (class < 16)
		return class;
	shift = class / 8 - 1;
	return ((class % 8 + 9) << shift) - 1;
}

/* Do distances that sum up to @mass within @ticks mean at least this many live blocks? */
static bool are_alive(u64 mass, u32 ticks, u64 blocks)
{
	return mass && mass >= blocks * ticks;
}

/* A quarter of the slots, but more than the few hot blocks that a sample may contain by chance. */
static u64 quarter_slots(const struct nc_policy *p)
{
	return max(p->slots / 4, p->ghost.shift ? FEW << p->ghost.shift : 0);
}

static void add_distances(struct nc_distances *to, const struct nc_distances *from)
{
	u32 i;

	for (i = 0; i < NC_DISTANCES; i++)
		to->mass[i] += from->mass[i];
	to->total += from->total;
	to->blocks += from->blocks;
	to->longest = max(to->longest, from->longest);
}

static void add_reuses(struct nc_reuses *to, const struct nc_reuses *from)
{
	to->ticks += from->ticks;
	add_distances(&to->of[NC_CACHED], &from->of[NC_CACHED]);
	add_distances(&to->of[NC_OUTSIDE], &from->of[NC_OUTSIDE]);
}

/* Distance in ticks that is exceeded by at most 1 / @part of the distances, weighted by length. */
static u32 distance_quantile(const struct nc_distances *seen, u32 part)
{
	u64 above = 0, most = seen->total / part;
	u32 i = NC_DISTANCES;

	while (i-- > 1) {
		above += seen->mass[i];
		if (above > most)
			break;
	}
	return min(class_end(i), seen->longest);
}

/* Add this beat to the window.  A window that was long enough to learn the limit ends after twice
 * the limit: it becomes the previous window, and the beat starts a new one.
 */
static void keep_beat(struct nc_policy *p)
{
	if (p->ripe && p->seen[0].ticks > max(2 * p->limit, WINDOW_MIN)) {
		p->seen[1] = p->seen[0];
		memset(&p->seen[0], 0, sizeof(p->seen[0]));
		p->patience -= p->patience / 8;
	}
	add_reuses(&p->seen[0], &p->now);
}

/* Learn the limit from @all, the distances seen in @ticks.  Until the windows are nearly as long as
 * the distances, the limit may only grow: an early window has seen only short distances, because
 * long ones end later.
 */
static void learn_limit(struct nc_policy *p, const struct nc_distances *all, u32 ticks)
{
	u32 d = distance_quantile(all, 512), limit = d + d / 4 + 2;

	p->ripe = d && ticks >= distance_quantile(all, 2) / 4 * 3;
	if (!p->ripe && !(p->limit && limit > p->limit))
		return;
	WRITE_ONCE(p->limit, limit);
	p->beat = max(limit / 32, 1U);
}

/* Mean distance in ticks; 0: no distance was seen. */
static u32 mean_of(const struct nc_distances *seen)
{
	return seen->blocks ? seen->total / seen->blocks : 0;
}

/* Mean number of ticks until a block that was not read for @ticks is read again; 0: unknown. */
static u32 rest_after(const struct nc_policy *p, const struct nc_distances *seen, u32 ticks)
{
	u64 mass = 0, blocks = 0;
	u32 i;

	for (i = class_of(ticks) + 1; i < NC_DISTANCES; i++) {
		mass += seen->mass[i];
		/* Number of distances, if each is as long as the middle of its class. */
		blocks += 2 * seen->mass[i] / (class_end(i - 1) + 1 + class_end(i));
	}
	if (blocks >> p->ghost.shift < FEW)
		return 0;
	mass /= blocks;
	return mass > ticks ? mass - ticks : 0;
}

/* Learn the last resort.  @instead: mean distance of uncached blocks.  The last resort is at most
 * half a turn of the tick, so that an older stamp can be recognized for some time before it wraps.
 */
static void learn_resort(struct nc_policy *p, const struct nc_distances *all, u32 instead)
{
	u32 most = min(RESORTS * p->never_seen, LIMIT_MAX / 2);
	u32 resort = max(p->never_seen, min(p->limit, most));

	if (!p->ripe || !p->limit)
		return;
	if (instead && rest_after(p, all, p->never_seen) > instead + instead / 4)
		resort = p->never_seen;
	WRITE_ONCE(p->resort, resort);
}

/* Check whether readers left the cached dataset.  @usual: usual distances of its blocks. */
static void look_for_collapse(struct nc_policy *p, const struct nc_distances *usual, u32 now)
{
	u32 dead = now - p->alive;

	if (!p->limit || p->slots >> p->ghost.shift < 2 * FEW ||
	    !are_alive(p->evidence, dead, quarter_slots(p)) ||
	    dead <= max(distance_quantile(usual, 8), p->patience) + 1)
		return;
	WRITE_ONCE(p->left, p->alive);
	p->collapses++;
	p->evidence = 0;
}

static void review_sample(struct nc_policy *p, u32 now)
{
	struct nc_distances *all = &p->sum.of[NC_OUTSIDE], *cached = &p->sum.of[NC_CACHED];
	u32 instead;

	p->sum = p->seen[0];
	add_reuses(&p->sum, &p->seen[1]);
	instead = mean_of(all);
	add_distances(all, cached);
	learn_limit(p, all, p->sum.ticks);
	learn_resort(p, all, instead);
	look_for_collapse(p, cached->total ? cached : all, now);
}

/* Number of live cached blocks that proves the cached dataset to be live: more than the slots that
 * reclaim keeps free, because new blocks fill these.  In a small cache a larger part is free.
 */
static u64 enough_alive(const struct nc_policy *p)
{
	return max(max(p->slots / 8, min(p->slots / 4, 64ULL)), 1ULL);
}

/* Ticks over which look_for_life() averages, as one beat may have no sampled reuse: time for FEW
 * reuses in a dataset with just enough live blocks, but at most half the mean distance.
 */
static u32 living_ticks(const struct nc_policy *p)
{
	u64 mean = mean_of(&p->sum.of[NC_CACHED]);

	return min((FEW << p->ghost.shift) * mean / enough_alive(p), mean / 2);
}

/* Check whether the cached dataset as a whole is being read. */
static void look_for_life(struct nc_policy *p, u32 now)
{
	u32 ticks = p->now.ticks, window = max(ticks, living_ticks(p));

	p->living -= p->living / window * ticks;
	p->living += p->now.of[NC_CACHED].total;
	if (!are_alive(p->living, window, enough_alive(p)))
		return;
	/* One tick later than the last reuse: if readers left, blocks of that tick go as well. */
	p->alive = p->living_last + (p->living_last != now);
	p->evidence = 0;
}

static void end_beat(struct nc_policy *p, u32 now)
{
	p->now.ticks = now - p->beat_start;
	p->behind += p->now.ticks;
	if (are_alive(p->regret, p->now.ticks, quarter_slots(p)))
		p->patience = max(p->patience, p->regret_longest);
	look_for_life(p, now);
	if (are_alive(p->now.of[NC_CACHED].total + p->now.of[NC_OUTSIDE].total,
		      p->now.ticks, quarter_slots(p))) {
		keep_beat(p);
		review_sample(p, now);
		p->behind -= min(p->behind, CATCH_UP * p->now.ticks);
	}
	p->behind = max(p->behind, p->limit);
	/* keep_idle() may see a new limit with the old cut: see struct nc_policy. */
	WRITE_ONCE(p->cut, now - (p->limit ? p->behind : LIMIT_MAX));
	if (now - p->expired > EXPIRE) {
		nc_ghost_expire(&p->ghost, now, max(8 * p->limit, 4 * EXPIRE));
		p->expired = now;
	}
	p->beat_start = now;
	memset(&p->now, 0, sizeof(p->now));
	p->regret = 0;
	p->regret_longest = 0;
}

/* Count a sampled block that was read again after @d ticks. */
static void count_reuse(struct nc_policy *p, u32 d, u32 now, bool cached)
{
	struct nc_distances *seen = &p->now.of[cached ? NC_CACHED : NC_OUTSIDE];
	u64 mass = (u64)d << p->ghost.shift;

	seen->mass[class_of(d)] += mass;
	seen->total += mass;
	seen->blocks += 1ULL << p->ghost.shift;
	seen->longest = max(seen->longest, d);
	if (cached) {
		p->living_last = now;
		/* Set @knows at once: it ends retention, whose victims are read again. */
		if (!p->knows && are_alive(seen->total, p->beat, p->slots / 8))
			WRITE_ONCE(p->knows, true);
		return;
	}
	if ((s32)(now - d - p->alive) > 0)
		p->evidence += mass;
	if ((s32)(now - d - p->left) <= 0) {
		p->regret += mass;
		p->regret_longest = max(p->regret_longest, d);
	}
}

static void keep_read(struct nc_policy *p, u64 block, u32 now, bool cached)
{
	u32 d = nc_ghost_read(&p->ghost, block, now);

	if (d)
		count_reuse(p, d, now, cached);
	/* Signed, because @now may be older than the start of the beat. */
	if ((s32)(now - p->beat_start) >= (s32)p->beat)
		end_beat(p, now);
}

static bool keep_idle(const struct nc_policy *p, u16 stamp, u32 now)
{
	u32 d = nc_stamp_distance(stamp, now);
	u32 limit = READ_ONCE(p->resort);

	if (READ_ONCE(p->limit)) {
		limit = min(limit, now - READ_ONCE(p->cut));
		limit = min(limit, now - READ_ONCE(p->left));
	}
	return limit < LIMIT_MAX && d > limit;
}

const struct nc_policy_ops nc_policy_keep = {
	.name	= "keep",
	.init	= keep_init,
	.read	= keep_read,
	.idle	= keep_idle,
};
