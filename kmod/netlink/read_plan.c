// SPDX-License-Identifier: GPL-2.0-only
/* Netlink requests plan-submit, -clear, -get.  A plan declares future reads, not evictions. */
#include <linux/sched/mm.h>
#include <net/genetlink.h>

#include "cache.h"
#include "netlink/policy_gen.h"
#include "netlink/op.h"
#include "dm/claim_registry.h"

static_assert(NC_BELADY_VISITS_MAX == NEARCACHE_PLAN_VISITS_MAX);

/**
 * struct wishes - attributes of a plan-submit request, which may carry only a part of the plan
 * @at: attribute with the number of ranges submitted before; NULL: the plan begins
 * @commit: the plan is complete after this request
 * @flags: NC_PLAN_APPEND, NC_PLAN_NO_PREFETCH; only with @commit
 */
struct wishes {
	const struct nlattr *at;
	bool commit;
	unsigned int flags;
};

/* May a plan-submit request have this attribute of a plan? */
static bool is_wish(int type)
{
	return type == NEARCACHE_A_PLAN_AT || type == NEARCACHE_A_PLAN_COMMIT ||
	       type == NEARCACHE_A_PLAN_APPEND || type == NEARCACHE_A_PLAN_NO_PREFETCH;
}

static int parse_plan_wishes(const struct genl_info *info, struct wishes *wishes)
{
	const struct nlattr *plan = info->attrs[NEARCACHE_A_DEVICE_PLAN];
	struct nlattr *attrs[NEARCACHE_A_PLAN_MAX + 1] = { };
	int i, r = plan ? nla_parse_nested(attrs, NEARCACHE_A_PLAN_MAX, plan,
					   nearcache_plan_nl_policy, info->extack) : 0;

	if (r)
		return r;
	for (i = 0; i <= NEARCACHE_A_PLAN_MAX; i++)
		if (attrs[i] && !is_wish(i)) {
			NL_SET_ERR_MSG_ATTR(info->extack, attrs[i],
					    "A submitted plan takes only at, commit, append, no-prefetch");
			return -EINVAL;
		}
	wishes->at = attrs[NEARCACHE_A_PLAN_AT];
	wishes->commit = attrs[NEARCACHE_A_PLAN_COMMIT];
	wishes->flags = (attrs[NEARCACHE_A_PLAN_APPEND] ? NC_PLAN_APPEND : 0) |
			(attrs[NEARCACHE_A_PLAN_NO_PREFETCH] ? NC_PLAN_NO_PREFETCH : 0);
	if (!wishes->flags || wishes->commit)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, plan, "append and no-prefetch go with commit");
	return -EINVAL;
}

/* Parse a range of a plan, which must have start and length only. */
static int parse_range(const struct nc_cache *c, const struct nlattr *range,
		       struct netlink_ext_ack *extack, u64 *first, u64 *end)
{
	struct nlattr *attrs[NEARCACHE_A_RANGE_MAX + 1];
	int i, r = nla_parse_nested(attrs, NEARCACHE_A_RANGE_MAX, range, nearcache_range_nl_policy,
				    extack);

	if (r)
		return r;
	for (i = 0; i <= NEARCACHE_A_RANGE_MAX; i++)
		if (!attrs[i] == (i == NEARCACHE_A_RANGE_START || i == NEARCACHE_A_RANGE_LENGTH)) {
			NL_SET_ERR_MSG_ATTR(extack, range,
					    "A range of a plan takes only start and length");
			return -EINVAL;
		}
	return nc_nl_piece(c, attrs[NEARCACHE_A_RANGE_START], attrs[NEARCACHE_A_RANGE_LENGTH],
			   extack, first, end);
}

static int append_range(struct nc_cache *c, const struct nlattr *range,
			struct netlink_ext_ack *extack)
{
	u64 first, end;
	int r = parse_range(c, range, extack, &first, &end);

	if (r)
		return r;
	r = nc_plan_append(c, first, end);
	if (r == -E2BIG)
		NL_SET_ERR_MSG_ATTR(extack, range,
				    "Limit of 4194304 visits of blocks: use a shorter plan");
	return r;
}

/* Append all ranges of the request to the plan that is being handed over, or on an error none. */
static int append_all(struct nc_cache *c, const struct genl_info *info)
{
	const struct nlattr *range = nc_nl_next_range(info, NEARCACHE_A_DEVICE_RANGE, NULL);
	struct nc_belady *plan = c->plan.coming;
	struct nc_belady_mark before = nc_belady_mark(plan);
	u32 count = 0;
	int r = 0;

	for (; range && !r; range = nc_nl_next_range(info, NEARCACHE_A_DEVICE_RANGE, range)) {
		r = append_range(c, range, info->extack);
		if (!(++count % 1024))
			cond_resched();
	}
	if (r)
		nc_belady_cut(plan, &before);
	return r;
}

/* Put the plan in force, and begin @stream unless it is NULL.  Frees @stream after an error.
 * Return: see nc_plan_commit().
 */
static int commit_plan(struct nc_cache *c, unsigned int flags, struct nc_job *stream)
{
	int r = nc_plan_commit(c, flags);

	if (stream && !r)
		nc_stream_begin(c, stream);
	else
		nc_job_free(stream);
	return r;
}

/* Handle plan-submit.  The device is live, so the origin's size, a limit of ranges, is constant. */
static int submit_plan(struct nc_cache *c, const struct genl_info *info,
		       const struct wishes *wishes)
{
	int r = nc_plan_begin(c, wishes->at ? nla_get_u64(wishes->at) : 0);
	struct nc_job *stream = NULL;

	if (r == -ESTALE)
		NL_SET_ERR_MSG_ATTR(info->extack, wishes->at,
				    "at does not match the ranges so far: start again with at 0");
	if (r)
		return r;
	if (wishes->commit && !(wishes->flags & NC_PLAN_NO_PREFETCH)) {
		/* First: without memory, the request changes nothing. */
		stream = nc_stream_alloc();
		if (!stream)
			return -ENOMEM;
	}
	r = append_all(c, info);
	if (!r && wishes->commit && !c->plan.coming->figures.visits) {
		NL_SET_ERR_MSG(info->extack, "A plan needs at least one range");
		r = -EINVAL;
	}
	if (r || !wishes->commit) {
		nc_job_free(stream);
		return r;
	}
	r = commit_plan(c, wishes->flags, stream);
	if (r == -ENOMEM)
		NL_SET_ERR_MSG(info->extack,
			       "Not enough memory for the plan: use a shorter plan");
	else if (r == -E2BIG)
		NL_SET_ERR_MSG(info->extack,
			       "Limit of 4194304 visits of blocks with those of the plan in force: append less at a time");
	return r;
}

static int plan_put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, NEARCACHE_A_PLAN_PAD);
}

static int put_figures(struct sk_buff *skb, const struct nc_belady_figures *f)
{
	return plan_put_u64(skb, NEARCACHE_A_PLAN_RANGES, f->ranges) ?:
	       plan_put_u64(skb, NEARCACHE_A_PLAN_VISITS, f->before + f->visits) ?:
	       plan_put_u64(skb, NEARCACHE_A_PLAN_BLOCKS, f->blocks) ?:
	       plan_put_u64(skb, NEARCACHE_A_PLAN_POSITION, f->before + f->position) ?:
	       plan_put_u64(skb, NEARCACHE_A_PLAN_HITS, f->hits) ?:
	       plan_put_u64(skb, NEARCACHE_A_PLAN_MISSES, f->misses) ?:
	       plan_put_u64(skb, NEARCACHE_A_PLAN_SKIPPED, f->skipped) ?:
	       plan_put_u64(skb, NEARCACHE_A_PLAN_ASTRAY, f->astray) ?:
	       plan_put_u64(skb, NEARCACHE_A_PLAN_REFUSED, f->refused) ?:
	       plan_put_u64(skb, NEARCACHE_A_PLAN_SOUGHT, f->sought) ?:
	       plan_put_u64(skb, NEARCACHE_A_PLAN_MEMORY, f->memory);
}

/* Put the state of the plan into a message.  Does not wait for a plan that is being built. */
static int put_plan(struct sk_buff *skb, struct nc_cache *c, struct nc_target *t)
{
	struct nc_plan_report report;
	struct nlattr *nest;

	if (nla_put_u32(skb, NEARCACHE_A_DEVICE_DEV, nc_nl_dev(c)))
		return -EMSGSIZE;
	nest = nla_nest_start(skb, NEARCACHE_A_DEVICE_PLAN);
	if (!nest)
		return -EMSGSIZE;
	nc_plan_report(c, &report);
	if (plan_put_u64(skb, NEARCACHE_A_PLAN_AT, report.at) ||
	    nla_put_u32(skb, NEARCACHE_A_PLAN_STATE, report.state) ||
	    put_figures(skb, &report.figures) ||
	    (report.no_prefetch && nla_put_flag(skb, NEARCACHE_A_PLAN_NO_PREFETCH)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Take the locks, submit, and put the resulting state into @reply. */
static int submit_live(struct nc_cache *c, struct genl_info *info, const struct wishes *wishes,
		       struct sk_buff *reply)
{
	/* Suspend waits for these locks: do not wait for I/O to get memory under them. */
	unsigned int noio = memalloc_noio_save();
	int r = nc_nl_take_live(c, info->extack);

	if (!r) {
		nc_plan_lock(c);
		r = submit_plan(c, info, wishes);
		nc_plan_unlock(c);
		if (!r)
			r = put_plan(reply, c, c->life.active);
		mutex_unlock(&c->life.lock);
	}
	memalloc_noio_restore(noio);
	return r;
}

int nearcache_nl_plan_submit_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct wishes wishes = { };
	struct sk_buff *reply;
	struct nc_cache *c;
	void *header;
	int r = nc_nl_admin(skb, info->extack) ?: parse_plan_wishes(info, &wishes);

	if (r)
		return r;
	c = nc_nl_hold(info->attrs, info->extack);
	if (IS_ERR(c))
		return PTR_ERR(c);
	reply = nc_nl_reply(info, NEARCACHE_CMD_PLAN_SUBMIT, &header);
	r = reply ? nc_nl_send(info, reply, header,
			       submit_live(c, info, &wishes, reply)) : -ENOMEM;
	nc_registry_release(c);
	return r;
}

int nearcache_nl_plan_clear_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nc_cache *c = nc_nl_admin_hold(skb, info);
	struct sk_buff *reply;
	void *header;
	int r;

	if (IS_ERR(c))
		return PTR_ERR(c);
	reply = nc_nl_reply(info, NEARCACHE_CMD_PLAN_CLEAR, &header);
	if (reply) {
		r = nla_put_u32(reply, NEARCACHE_A_DEVICE_DEV, nc_nl_dev(c)) ?:
		    nla_put_u64_64bit(reply, NEARCACHE_A_DEVICE_COUNT, nc_plan_clear(c),
				      NEARCACHE_A_DEVICE_PAD);
		r = nc_nl_send(info, reply, header, r);
	} else {
		r = -ENOMEM;
	}
	nc_registry_release(c);
	return r;
}

int nearcache_nl_plan_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return nc_nl_describe(info, NEARCACHE_CMD_PLAN_GET, put_plan);
}

/* Most visits in a range of a dump, all found under nc_active_plan.lock. */
#define RANGE_VISITS	4096U

/**
 * struct plan_dump - position of a dump of what a plan has yet to read; in netlink_callback.ctx
 * @number: nc_active_plan.number of the plan
 * @next: next visit
 * @begun: @number is set
 * @allowed: the permission was checked
 */
struct plan_dump {
	u64 number;
	u32 next;
	bool begun;
	bool allowed;
};

static_assert(sizeof(struct plan_dump) <= sizeof_field(struct netlink_callback, ctx));

/* Put the next visits that are left into the message as a range.  Returns 1 after the last one. */
static int put_visits(struct sk_buff *skb, struct nc_cache *c, struct nc_active_plan *active,
		      struct plan_dump *dump)
{
	u64 first, last, size = c->geo.origin_size >> SECTOR_SHIFT;
	u8 shift = c->hot.sub_shift;
	u32 next = dump->next;
	bool more;
	int r;

	spin_lock(&active->lock);
	more = nc_belady_next_left(&active->order, &next, RANGE_VISITS, &first, &last);
	spin_unlock(&active->lock);
	if (!more)
		return 1;
	if (last + 1 != first) {
		/* The last sub-block may be longer than the rest of the origin. */
		r = nc_nl_put_sectors(skb, first << shift, min((last + 1) << shift, size));
		if (r)
			return r;
	}
	dump->next = next;
	return 0;
}

/* Put ranges of the plan in force into one message, until it is full. */
static int dump_plan(struct sk_buff *skb, struct netlink_callback *cb, struct nc_cache *c)
{
	struct nc_active_plan *active = nc_plan_current(&c->plan);
	struct plan_dump *dump = (void *)cb->ctx;
	u32 before = dump->next;
	void *header;
	int r;

	if (dump->begun && (!active || active->number != dump->number))
		return -EAGAIN;
	if (!active)
		return 0;
	dump->begun = true;
	dump->number = active->number;
	header = nc_nl_put_header(skb, cb, c, NEARCACHE_CMD_PLAN_GET);
	if (!header)
		return -EMSGSIZE;
	do {
		r = put_visits(skb, c, active, dump);
		cond_resched();
	} while (!r);
	if (dump->next != before) {
		genlmsg_end(skb, header);
		return skb->len;
	}
	genlmsg_cancel(skb, header);
	return r < 0 ? r : 0;
}

int nearcache_nl_plan_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct plan_dump *dump = (void *)cb->ctx;
	struct nc_cache *c = nc_nl_dump_hold(cb, &dump->allowed);
	int r;

	if (IS_ERR(c))
		return PTR_ERR(c);
	nc_nl_watch(cb);
	nc_plan_apply_now(c);
	nc_plan_lock(c);
	r = dump_plan(skb, cb, c);
	nc_plan_unlock(c);
	nc_registry_release(c);
	return r;
}
