// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests about ranges and labels.  A change is made under nc_life.lock and nc_ranges.lock,
 * with the reply's memory in hand: what was done is told.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "cache.h"
#include "netlink/family.h"
#include "netlink/policy_gen.h"
#include "netlink/op.h"
#include "dm/registry.h"

/* Ranges in one request to delete some: each is compared with all. */
#define WHICH_MAX	1024U

/* The numbers of counters are those of uapi/nearcache_counters.h, behind the others. */
#define NC_CHECK(symbol, name, unit, help)						\
	static_assert((int)NEARCACHE_A_LABEL_##symbol ==				\
		      (int)NEARCACHE_LABEL_##symbol + (int)NEARCACHE_A_LABEL_HITS);
NEARCACHE_LABEL_COUNTERS(NC_CHECK)
#undef NC_CHECK
static_assert((int)NEARCACHE_A_LABEL_MAX ==
	      (int)NEARCACHE_LABEL_COUNTER_COUNT + (int)NEARCACHE_A_LABEL_HITS - 1);
static_assert(NEARCACHE_PRIORITY_MAX == U8_MAX >> 1 >> NC_WANTS_PRIORITY_SHIFT);
static_assert(NEARCACHE_LABELS_MAX < NC_LABEL_MIXED);

/**
 * struct request - a change of ranges under way
 * @cache: held, live, its ranges locked
 * @info: who asks for what
 * @want: to be added
 * @which: to be deleted
 * @count: of either
 * @room: what pins take afterwards
 * @reply: begun
 * @header: of that
 * @noio: of memalloc_noio_save()
 */
struct request {
	struct nc_cache *cache;
	struct genl_info *info;
	struct nc_want *want;
	struct nc_which *which;
	u32 count;
	struct nc_room room;
	struct sk_buff *reply;
	void *header;
	unsigned int noio;
};

static int begin(struct request *q, struct sk_buff *skb, u8 cmd)
{
	struct netlink_ext_ack *extack = q->info->extack;
	int r = nc_nl_admin(skb, extack);

	if (r)
		return r;
	q->reply = nc_nl_reply(q->info, cmd, &q->header);
	if (!q->reply)
		return -ENOMEM;
	q->cache = nc_nl_hold(q->info->attrs, extack);
	if (IS_ERR(q->cache)) {
		r = PTR_ERR(q->cache);
		goto free;
	}
	/* Who suspends the device waits for the locks. */
	q->noio = memalloc_noio_save();
	r = nc_nl_take_live(q->cache, extack);
	if (r)
		goto release;
	mutex_lock(&q->cache->ranges.lock);
	return 0;
release:
	memalloc_noio_restore(q->noio);
	nc_registry_release(q->cache);
free:
	nlmsg_free(q->reply);
	return r;
}

/* After begin(); the reply is the caller's still, and so is the hold of the cache. */
static void end(struct request *q, bool changed)
{
	mutex_unlock(&q->cache->ranges.lock);
	if (changed)
		nc_netlink_event(q->cache->life.active, NEARCACHE_EVENT_RANGES);
	mutex_unlock(&q->cache->life.lock);
	memalloc_noio_restore(q->noio);
}

/* Who does not get it has gone, or asks again. */
static void send_reply(struct request *q, int bad)
{
	if (bad) {
		nlmsg_free(q->reply);
		return;
	}
	genlmsg_end(q->reply, q->header);
	genlmsg_reply(q->reply, q->info);
}

static int put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, NEARCACHE_A_DEVICE_PAD);
}

static int put_room(const struct request *q)
{
	return put_u64(q->reply, NEARCACHE_A_DEVICE_NEEDED, q->room.needed) ?:
	       put_u64(q->reply, NEARCACHE_A_DEVICE_AVAILABLE, q->room.available);
}

/* Attributes of a range were validated with the message. */
static int parse(const struct nlattr *range, struct nlattr **attrs, struct netlink_ext_ack *extack)
{
	return nla_parse_nested(attrs, NEARCACHE_A_RANGE_MAX, range, nearcache_range_nl_policy,
				extack);
}

static int take_label(struct request *q, const struct nlattr *label)
{
	struct netlink_ext_ack *extack = q->info->extack;
	const char *name = nla_data(label);
	size_t length = strnlen(name, nla_len(label));
	int id;

	if (!length) {
		NL_SET_ERR_MSG_ATTR(extack, label, "label must not be empty");
		return -EINVAL;
	}
	id = nc_labels_take(&q->cache->ranges.labels, name, length);
	if (id == -EMLINK)
		NL_SET_ERR_MSG_ATTR(extack, label,
				    "The device has 4095 labels: let more ranges share one");
	return id;
}

/* The next range to be added; it has a reference to its label then. */
static int parse_want(struct request *q, const struct nlattr *range)
{
	struct netlink_ext_ack *extack = q->info->extack;
	struct nc_want *want = &q->want[q->count], *before = q->count ? want - 1 : NULL;
	struct nlattr *attrs[NEARCACHE_A_RANGE_MAX + 1];
	int r = parse(range, attrs, extack);

	if (r)
		return r;
	if (!attrs[NEARCACHE_A_RANGE_START] || !attrs[NEARCACHE_A_RANGE_LENGTH]) {
		NL_SET_ERR_MSG_ATTR(extack, range, "A range needs start and length");
		return -EINVAL;
	}
	*want = before ? *before : (struct nc_want) { };
	r = nc_nl_piece(q->cache, attrs[NEARCACHE_A_RANGE_START],
			attrs[NEARCACHE_A_RANGE_LENGTH], extack, &want->first, &want->end);
	if (r)
		return r;
	if (attrs[NEARCACHE_A_RANGE_FLAGS])
		want->flags = nla_get_u32(attrs[NEARCACHE_A_RANGE_FLAGS]);
	if (attrs[NEARCACHE_A_RANGE_PRIORITY])
		want->priority = nla_get_u32(attrs[NEARCACHE_A_RANGE_PRIORITY]);
	if (attrs[NEARCACHE_A_RANGE_EXPIRES]) {
		u64 left = nla_get_u32(attrs[NEARCACHE_A_RANGE_EXPIRES]);

		/* The second that is under way does not count. */
		want->expires = left ? min_t(u64, nc_ranges_now() + 1 + left, U32_MAX) : 0;
	}
	if (attrs[NEARCACHE_A_RANGE_LABEL]) {
		r = take_label(q, attrs[NEARCACHE_A_RANGE_LABEL]);
		if (r < 0)
			return r;
		want->id = r;
	} else if (before) {
		nc_labels_hold(&q->cache->ranges.labels, want->id);
	} else {
		NL_SET_ERR_MSG_ATTR(extack, range, "The first range needs a label");
		return -EINVAL;
	}
	q->count++;
	return 0;
}

static int parse_wants(struct request *q)
{
	const struct nlattr *range = nc_nl_next_range(q->info, NULL);
	int r = 0;

	for (; range && !r; range = nc_nl_next_range(q->info, range)) {
		r = parse_want(q, range);
		if (!(q->count % 1024))
			cond_resched();
	}
	return r;
}

static void tell_refused(struct netlink_ext_ack *extack, int error)
{
	if (error == -E2BIG)
		NL_SET_ERR_MSG(extack, "A device has at most 262144 ranges");
	else if (error == -ELOOP)
		NL_SET_ERR_MSG(extack, "More than 16 ranges overlap");
}

int nearcache_nl_range_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct request q = { .info = info };
	u32 i, most = nc_nl_count_ranges(info);
	int r;

	if (!most || most > NC_RANGES_MAX) {
		NL_SET_ERR_MSG(info->extack, "1 to 262144 ranges are needed");
		return -EINVAL;
	}
	q.want = kvmalloc_array(most, sizeof(*q.want), GFP_KERNEL);
	if (!q.want)
		return -ENOMEM;
	r = begin(&q, skb, NEARCACHE_CMD_RANGE_ADD);
	if (r)
		goto free;
	r = parse_wants(&q);
	if (!r)
		r = nc_ranges_add(q.cache, q.want, q.count, &q.room);
	if (r) {
		tell_refused(info->extack, r);
		for (i = 0; i < q.count; i++)
			nc_labels_put(&q.cache->ranges.labels, q.want[i].id);
	}
	end(&q, !r);
	/* Numbers are told in a reply: this refusal is one. */
	if (!r || r == -ENOSPC) {
		send_reply(&q, nla_put_u32(q.reply, NEARCACHE_A_DEVICE_DEV, nc_nl_dev(q.cache)) ?:
			       nla_put_u32(q.reply, NEARCACHE_A_DEVICE_ERROR, -r) ?: put_room(&q));
		r = 0;
	} else {
		nlmsg_free(q.reply);
	}
	nc_registry_release(q.cache);
free:
	kvfree(q.want);
	return r;
}

/* Not only inside the origin: it may have been longer, and then there are ranges behind its
 * end, or shorter than who asks remembers.
 */
static int parse_where(struct nlattr **attrs, struct netlink_ext_ack *extack,
		       struct nc_which *which)
{
	const struct nlattr *start = attrs[NEARCACHE_A_RANGE_START];
	const struct nlattr *length = attrs[NEARCACHE_A_RANGE_LENGTH];
	u64 from = start ? nla_get_u64(start) : 0;
	u64 bytes = length ? nla_get_u64(length) : 0;

	if (from % SECTOR_SIZE || bytes % SECTOR_SIZE) {
		NL_SET_ERR_MSG_ATTR(extack, from % SECTOR_SIZE ? start : length,
				    "start and length must be multiples of 512");
		return -ERANGE;
	}
	which->first = from >> SECTOR_SHIFT;
	which->end = length ? (from >> SECTOR_SHIFT) + (bytes >> SECTOR_SHIFT) : U64_MAX;
	return 0;
}

/* Which ranges are to be deleted.  Those of a label that is not there are none. */
static int parse_which(struct request *q, const struct nlattr *range)
{
	struct netlink_ext_ack *extack = q->info->extack;
	struct nc_which *which = &q->which[q->count];
	struct nlattr *attrs[NEARCACHE_A_RANGE_MAX + 1], *label;
	int r = parse(range, attrs, extack);

	if (r)
		return r;
	if (attrs[NEARCACHE_A_RANGE_PRIORITY] || attrs[NEARCACHE_A_RANGE_EXPIRES]) {
		NL_SET_ERR_MSG_ATTR(extack, range,
				    "Ranges are not deleted by priority or by what is left of their time");
		return -EINVAL;
	}
	r = parse_where(attrs, extack, which);
	if (r)
		return r;
	which->flags = attrs[NEARCACHE_A_RANGE_FLAGS] ?
		nla_get_u32(attrs[NEARCACHE_A_RANGE_FLAGS]) : 0;
	which->label = 0;
	label = attrs[NEARCACHE_A_RANGE_LABEL];
	if (label) {
		which->label = nc_labels_find(&q->cache->ranges.labels, nla_data(label),
					      strnlen(nla_data(label), nla_len(label)));
		if (!which->label)
			return 0;
	}
	q->count++;
	return 0;
}

static int delete_meant(struct request *q, u64 *deleted)
{
	const struct nlattr *range = nc_nl_next_range(q->info, NULL);
	int r = 0;

	for (; range && !r; range = nc_nl_next_range(q->info, range))
		r = parse_which(q, range);
	if (!r)
		r = nc_ranges_delete(q->cache, q->which, q->count, deleted);
	if (!r)
		nc_ranges_room(q->cache, &q->room);
	return r;
}

int nearcache_nl_range_delete_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct request q = { .info = info };
	u32 most = nc_nl_count_ranges(info);
	u64 deleted = 0;
	int r;

	if (!most || most > WHICH_MAX) {
		NL_SET_ERR_MSG(info->extack, "1 to 1024 ranges are needed");
		return -EINVAL;
	}
	q.which = kvmalloc_array(most, sizeof(*q.which), GFP_KERNEL);
	if (!q.which)
		return -ENOMEM;
	r = begin(&q, skb, NEARCACHE_CMD_RANGE_DELETE);
	if (r)
		goto free;
	r = delete_meant(&q, &deleted);
	end(&q, deleted);
	send_reply(&q, r ?: nla_put_u32(q.reply, NEARCACHE_A_DEVICE_DEV, nc_nl_dev(q.cache)) ?:
			put_u64(q.reply, NEARCACHE_A_DEVICE_COUNT, deleted) ?: put_room(&q));
	nc_registry_release(q.cache);
free:
	kvfree(q.which);
	return r;
}

int nearcache_nl_range_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct request q = { .info = info };
	int r = nc_nl_admin(skb, info->extack);

	if (r)
		return r;
	q.cache = nc_nl_hold(info->attrs, info->extack);
	if (IS_ERR(q.cache))
		return PTR_ERR(q.cache);
	q.reply = nc_nl_reply(info, NEARCACHE_CMD_RANGE_GET, &q.header);
	if (q.reply) {
		nc_ranges_room(q.cache, &q.room);
		send_reply(&q, nla_put_u32(q.reply, NEARCACHE_A_DEVICE_DEV, nc_nl_dev(q.cache)) ?:
			       put_u64(q.reply, NEARCACHE_A_DEVICE_COUNT,
				       READ_ONCE(q.cache->ranges.count)) ?: put_room(&q));
	} else {
		r = -ENOMEM;
	}
	nc_registry_release(q.cache);
	return r;
}

int nearcache_nl_label_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct request q = { .info = info };
	int r = nc_nl_admin(skb, info->extack);

	if (r)
		return r;
	q.cache = nc_nl_hold(info->attrs, info->extack);
	if (IS_ERR(q.cache))
		return PTR_ERR(q.cache);
	q.reply = nc_nl_reply(info, NEARCACHE_CMD_LABEL_GET, &q.header);
	if (q.reply)
		send_reply(&q, nla_put_u32(q.reply, NEARCACHE_A_DEVICE_DEV, nc_nl_dev(q.cache)) ?:
			       put_u64(q.reply, NEARCACHE_A_DEVICE_COUNT,
				       READ_ONCE(q.cache->ranges.labels.count)));
	else
		r = -ENOMEM;
	nc_registry_release(q.cache);
	return r;
}

/**
 * struct list_dump - where a dump of ranges or labels is; in netlink_callback.ctx
 * @next: the one that comes next: of the ranges as they are now, or the id of a label
 * @allowed: who asks may
 */
struct list_dump {
	u32 next;
	bool allowed;
};

static_assert(sizeof(struct list_dump) <= sizeof_field(struct netlink_callback, ctx));

static void *put_header(struct sk_buff *skb, struct netlink_callback *cb, const struct nc_cache *c,
			u8 cmd)
{
	void *header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				   &nc_nl_family, NLM_F_MULTI, cmd);

	if (!header)
		return NULL;
	genl_dump_check_consistent(cb, header);
	if (!nla_put_u32(skb, NEARCACHE_A_DEVICE_DEV, nc_nl_dev(c)))
		return header;
	genlmsg_cancel(skb, header);
	return NULL;
}

static int put_range(struct sk_buff *skb, const struct nc_cache *c, const struct nc_want *want,
		     u32 now)
{
	const struct nc_label *label = c->ranges.labels.label[want->id];
	struct nlattr *nest = nla_nest_start(skb, NEARCACHE_A_DEVICE_RANGE);
	u32 left = want->expires ? max(want->expires - min(want->expires, now), 1U) : 0;

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u64_64bit(skb, NEARCACHE_A_RANGE_START, want->first << SECTOR_SHIFT,
			      NEARCACHE_A_RANGE_PAD) ||
	    nla_put_u64_64bit(skb, NEARCACHE_A_RANGE_LENGTH,
			      (want->end - want->first) << SECTOR_SHIFT, NEARCACHE_A_RANGE_PAD) ||
	    nla_put_string(skb, NEARCACHE_A_RANGE_LABEL, label->name) ||
	    nla_put_u32(skb, NEARCACHE_A_RANGE_FLAGS, want->flags) ||
	    nla_put_u32(skb, NEARCACHE_A_RANGE_PRIORITY, want->priority) ||
	    nla_put_u32(skb, NEARCACHE_A_RANGE_EXPIRES, left)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* As many ranges as there is room for. */
static int dump_ranges(struct sk_buff *skb, struct netlink_callback *cb, struct nc_cache *c)
{
	struct list_dump *dump = (void *)cb->ctx;
	const struct nc_ranges *r = &c->ranges;
	u32 now = nc_ranges_now(), first = dump->next;
	void *header;

	if (dump->next >= r->count)
		return 0;
	header = put_header(skb, cb, c, NEARCACHE_CMD_RANGE_GET);
	if (!header)
		return -EMSGSIZE;
	while (dump->next < r->count && !put_range(skb, c, &r->want[dump->next], now))
		dump->next++;
	if (dump->next == first) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return skb->len;
}

static int put_label(struct sk_buff *skb, const struct nc_labels *l, const struct nc_label *label)
{
	struct nlattr *nest = nla_nest_start(skb, NEARCACHE_A_DEVICE_LABEL);
	int i;

	if (!nest ||
	    nla_put_string(skb, NEARCACHE_A_LABEL_NAME, label->name) ||
	    nla_put_u64_64bit(skb, NEARCACHE_A_LABEL_RANGES, label->ranges,
			      NEARCACHE_A_LABEL_PAD) ||
	    nla_put_u64_64bit(skb, NEARCACHE_A_LABEL_BYTES, label->bytes, NEARCACHE_A_LABEL_PAD) ||
	    nla_put_u32(skb, NEARCACHE_A_LABEL_ID, label->id))
		return -EMSGSIZE;
	for (i = 0; i < NEARCACHE_LABEL_COUNTER_COUNT; i++)
		if (nla_put_u64_64bit(skb, NEARCACHE_A_LABEL_HITS + i,
				      nc_labels_sum(l, label->id, i), NEARCACHE_A_LABEL_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* As many labels as there is room for, each in a message. */
static int dump_labels(struct sk_buff *skb, struct netlink_callback *cb, struct nc_cache *c)
{
	struct list_dump *dump = (void *)cb->ctx;
	const struct nc_labels *l = &c->ranges.labels;
	void *header;

	for (; l->label && dump->next <= NEARCACHE_LABELS_MAX; dump->next++) {
		if (!l->label[dump->next])
			continue;
		header = put_header(skb, cb, c, NEARCACHE_CMD_LABEL_GET);
		if (!header)
			return skb->len ?: -EMSGSIZE;
		if (put_label(skb, l, l->label[dump->next])) {
			genlmsg_cancel(skb, header);
			return skb->len ?: -EMSGSIZE;
		}
		genlmsg_end(skb, header);
	}
	return skb->len;
}

static int dump(struct sk_buff *skb, struct netlink_callback *cb,
		int (*part)(struct sk_buff *skb, struct netlink_callback *cb, struct nc_cache *c))
{
	struct list_dump *dump = (void *)cb->ctx;
	struct nc_cache *c;
	int r;

	if (!dump->allowed) {
		r = nc_nl_admin(cb->skb, cb->extack);
		if (r)
			return r;
		dump->allowed = true;
	}
	c = nc_nl_hold(nc_dump_attrs(cb), cb->extack);
	if (IS_ERR(c))
		return PTR_ERR(c);
	mutex_lock(&c->ranges.lock);
	nc_nl_watch(cb);
	cb->seq += c->ranges.changes;
	r = part(skb, cb, c);
	mutex_unlock(&c->ranges.lock);
	nc_registry_release(c);
	return r;
}

int nearcache_nl_range_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, dump_ranges);
}

int nearcache_nl_label_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, dump_labels);
}
