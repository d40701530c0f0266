// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy "keep": what is cached stays until it is provably idle.
 *
 * Training reads every block once per epoch, in an order that changes.  Then
 * no policy that fills on demand beats never evicting, and every policy that
 * evicts by recency does worse.  So a slot goes only when the bytes read
 * through the device since its last use exceed the reuse distances that are
 * really seen: under reshuffling those reach twice the dataset, and once the
 * job has moved to another dataset the old blocks pass them.
 *
 * The distances are learnt from the cached blocks themselves, and are believed
 * only once a quarter of the slots was used again: a few hot blocks (file
 * system metadata) with short distances must not make cold data look idle.
 * Until then a slot is idle after two times the origin's size was read.
 */
#include "policy.h"

/* Longer limits could never be told from a wrap. */
#define LIMIT_MAX	NC_STAMP_FAR
#define WINDOW_MIN	64U

static void keep_init(struct nc_policy *p, u64 slots, u64 origin_ticks)
{
	memset(p, 0, sizeof(*p));
	p->slots = slots;
	p->never_seen = LIMIT_MAX;
	if (origin_ticks < LIMIT_MAX / 2)
		p->never_seen = 2 * (u32)origin_ticks + 2;
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

static u32 longest_seen(const struct nc_policy *p)
{
	return p->longest[0] > p->longest[1] ? p->longest[0] : p->longest[1];
}

/* Once per window, whoever comes first; signed, for a clock that is behind. */
static void rotate_window(struct nc_policy *p, u32 now)
{
	u32 window = 4 * longest_seen(p);
	u32 start = p->window_start;

	if (window < WINDOW_MIN)
		window = WINDOW_MIN;
	if ((s32)(now - start) <= (s32)window ||
	    cmpxchg(&p->window_start, start, now) != start)
		return;
	p->longest[1] = p->longest[0];
	p->longest[0] = 0;
}

static u16 keep_touch(struct nc_policy *p, u16 stamp, u32 now)
{
	u32 d = distance(stamp, now);

	rotate_window(p, now);
	if (d > p->longest[0])
		p->longest[0] = d;
	if (!(stamp & NC_STAMP_REUSED))
		p->reused++;
	return (now & NC_STAMP_TICK) | NC_STAMP_REUSED;
}

static bool keep_idle(const struct nc_policy *p, u16 stamp, u32 now)
{
	u32 limit = p->never_seen;

	if ((u64)p->reused * 4 >= p->slots) {
		u32 seen = longest_seen(p);

		limit = seen + seen / 4 + 2;
	}
	return limit < LIMIT_MAX && distance(stamp, now) > limit;
}

static void keep_forget(struct nc_policy *p, u16 stamp)
{
	if ((stamp & NC_STAMP_REUSED) && p->reused)
		p->reused--;
}

const struct nc_policy_ops nc_policy_keep = {
	.name	= "keep",
	.init	= keep_init,
	.touch	= keep_touch,
	.idle	= keep_idle,
	.forget	= keep_forget,
};
