// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy "keep": what is cached stays until it is provably idle.
 *
 * Training reads every block once per epoch, in an order that changes.  Then
 * no policy that fills on demand beats never evicting, and every policy that
 * evicts by recency does worse.  So a slot goes only when the bytes read
 * through the device since its last use exceed the reuse distances that are
 * really seen: under reshuffling those reach twice the dataset.
 *
 * The ghost tells the distances, of what is cached and of what is not.  Each is the
 * time, in bytes read, for which one block was known to be wanted.  So the sum of the
 * distances that end in some time, divided by it, is the number of blocks that are
 * alive: read again and again.  A few hot ones (file system metadata) are few however
 * often they are read, and blocks that are read once are none.  From that follows
 *
 * - when time passes: only while as many blocks are alive as a quarter of the slots.
 *   A scan, however long, makes nothing idle: what it passes by is not read again.
 * - which distances count: those of all blocks, or a cache full of what is never read
 *   again would learn nothing; but those of a few hot ones have no weight, as each
 *   distance weighs as much as it is long.
 * - when a dataset was left: what is cached stopped being alive, for a time in which
 *   nearly all of it should have been read, and meanwhile as many blocks as a quarter of
 *   the slots were read twice.  Twice: blocks of an evaluation set are read again, too,
 *   but were read before when the training set was alive.
 *
 * The last resort is the origin's size.  A job that reads all of it has distances of up to
 * twice as much, so what was not read for longer is idle.  Of several jobs, or of one that reads
 * a part in each epoch, they are longer, and what was not read for long is just what is read
 * soon, or no later than anything else: these distances count.  But not if what was not read for
 * so long is read much later than what is read instead, as of blocks of which some are read more
 * often than others.  Nor any, for reads at random over the whole origin have no longest one, a
 * slot is as good as any other then, and the cache is to move on.
 */
#include "evict/keep.h"

/* Longer limits could never be told from a wrap. */
#define LIMIT_MAX	NC_STAMP_FAR
/* Ticks: four cache sizes. */
#define WINDOW_MIN	64U
/* Sampled blocks that may be hot ones by chance. */
#define FEW		8ULL
/* Ticks between two looks for what the ghost need not remember: 64 cache sizes. */
#define EXPIRE		1024U
/* Last resorts that distances which are seen may come to: of four jobs, or of one that reads half
 * of all in each epoch.
 */
#define RESORTS		4U
/* How much faster than the clock the cut follows it when it was left behind. */
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

/* A stamp may be a tick ahead of the caller's clock, which then looks like a
 * nearly full turn; distances that long are never acted upon, so they count as
 * none.
 */
static u32 distance(u16 stamp, u32 now)
{
	u32 d = (now - stamp) & NC_STAMP_TICK;

	return d < LIMIT_MAX ? d : 0;
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

/* The longest distance of a class. */
static u32 class_end(u32 class)
{
	u32 shift;

	if (class < 16)
		return class;
	shift = class / 8 - 1;
	return ((class % 8 + 9) << shift) - 1;
}

/* Are so many blocks alive, if their distances in @ticks sum up to @mass? */
static bool are_alive(u64 mass, u32 ticks, u64 blocks)
{
	return mass && mass >= blocks * ticks;
}

/* A part of the slots that counts, and that the sample can tell from a few hot blocks. */
static u64 quarter(const struct nc_policy *p)
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

/* The distance that all but 1 / @part of them, weighed by themselves, do not exceed. */
static u32 quantile(const struct nc_distances *seen, u32 part)
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

/* The beat becomes a part of the window.  A new one begins after twice the limit, if that
 * could be learnt from this one.
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

/* @all: what was seen in @ticks.  Until that is nearly as long as the distances are, what was
 * learnt before holds, but for longer ones: those that come first say nothing of those that
 * come late.
 */
static void learn(struct nc_policy *p, const struct nc_distances *all, u32 ticks)
{
	u32 d = quantile(all, 512), limit = d + d / 4 + 2;

	p->ripe = d && ticks >= quantile(all, 2) / 4 * 3;
	if (!p->ripe && !(p->limit && limit > p->limit))
		return;
	WRITE_ONCE(p->limit, limit);
	p->beat = max(limit / 32, 1U);
}

/* Mean of distances, in ticks; 0: of none. */
static u32 mean_of(const struct nc_distances *seen)
{
	return seen->blocks ? seen->total / seen->blocks : 0;
}

/* How much longer it is until a block is read that was not for so many ticks, in the mean; 0: not
 * known.
 */
static u32 rest_after(const struct nc_policy *p, const struct nc_distances *seen, u32 ticks)
{
	u64 mass = 0, blocks = 0;
	u32 i;

	for (i = class_of(ticks) + 1; i < NC_DISTANCES; i++) {
		mass += seen->mass[i];
		/* The middle of the class. */
		blocks += 2 * seen->mass[i] / (class_end(i - 1) + 1 + class_end(i));
	}
	if (blocks >> p->ghost.shift < FEW)
		return 0;
	mass /= blocks;
	return mass > ticks ? mass - ticks : 0;
}

/* The last resort.  @instead: mean distance of what is not cached.  Less than half a turn of the
 * tick, or there would be hardly a time in which a stamp is longer ago and can still be told.
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

/* Was the dataset left that is cached?  @usual: distances of its blocks. */
static void look_for_collapse(struct nc_policy *p, const struct nc_distances *usual, u32 now)
{
	u32 dead = now - p->alive;

	if (!p->limit || p->slots >> p->ghost.shift < 2 * FEW ||
	    !are_alive(p->evidence, dead, quarter(p)) ||
	    dead <= max(quantile(usual, 8), p->patience) + 1)
		return;
	WRITE_ONCE(p->left, p->alive);
	p->collapses++;
	p->evidence = 0;
}

static void look(struct nc_policy *p, u32 now)
{
	struct nc_distances *all = &p->sum.of[NC_OUTSIDE], *cached = &p->sum.of[NC_CACHED];
	u32 instead;

	p->sum = p->seen[0];
	add_reuses(&p->sum, &p->seen[1]);
	instead = mean_of(all);
	add_distances(all, cached);
	learn(p, all, p->sum.ticks);
	learn_resort(p, all, instead);
	look_for_collapse(p, cached->total ? cached : all, now);
}

/* Cached blocks that are alive when the dataset is that they belong to.  What comes into slots that
 * reclaim keeps free, or had just made, is alive however that is; of a small cache it is more.
 */
static u64 enough_alive(const struct nc_policy *p)
{
	return max(max(p->slots / 8, min(p->slots / 4, 64ULL)), 1ULL);
}

/* Ticks in which a few are seen to be read again, if only just enough are alive: of a small cache a
 * beat may have one, which tells nothing.  A part of an epoch, or it would tell too late.
 */
static u32 living_ticks(const struct nc_policy *p)
{
	u64 mean = mean_of(&p->sum.of[NC_CACHED]);

	return min((FEW << p->ghost.shift) * mean / enough_alive(p), mean / 2);
}

/* Is what is cached read, as a whole? */
static void look_for_life(struct nc_policy *p, u32 now)
{
	u32 ticks = p->now.ticks, window = max(ticks, living_ticks(p));

	p->living -= p->living / window * ticks;
	p->living += p->now.of[NC_CACHED].total;
	if (!are_alive(p->living, window, enough_alive(p)))
		return;
	/* What was used in that very tick goes with the rest, should it be left. */
	p->alive = p->living_last + (p->living_last != now);
	p->evidence = 0;
}

static void end_beat(struct nc_policy *p, u32 now)
{
	p->now.ticks = now - p->beat_start;
	p->behind += p->now.ticks;
	if (are_alive(p->regret, p->now.ticks, quarter(p)))
		p->patience = max(p->patience, p->regret_longest);
	look_for_life(p, now);
	if (are_alive(p->now.of[NC_CACHED].total + p->now.of[NC_OUTSIDE].total,
		      p->now.ticks, quarter(p))) {
		keep_beat(p);
		look(p, now);
		p->behind -= min(p->behind, CATCH_UP * p->now.ticks);
	}
	p->behind = max(p->behind, p->limit);
	/* Eviction may see a limit that was just learnt beside the cut of before. */
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

/* A block was read again after @d ticks. */
static void count(struct nc_policy *p, u32 d, u32 now, bool cached)
{
	struct nc_distances *seen = &p->now.of[cached ? NC_CACHED : NC_OUTSIDE];
	u64 mass = (u64)d << p->ghost.shift;

	seen->mass[class_of(d)] += mass;
	seen->total += mass;
	seen->blocks += 1ULL << p->ghost.shift;
	seen->longest = max(seen->longest, d);
	if (cached) {
		p->living_last = now;
		/* Not when the beat is over: each that goes till then is missed in this epoch. */
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
		count(p, d, now, cached);
	/* Signed, for a clock that is behind. */
	if ((s32)(now - p->beat_start) >= (s32)p->beat)
		end_beat(p, now);
}

static bool keep_idle(const struct nc_policy *p, u16 stamp, u32 now)
{
	u32 d = distance(stamp, now);
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
