// SPDX-License-Identifier: GPL-2.0-only
/*
 * The netlink requests about ranges and labels.  A change runs under nc_life.lock and
 * nc_ranges.lock.  The reply is allocated before, so that a change cannot succeed without a reply.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "cache.h"
#include "netlink/family.h"
#include "netlink/policy_gen.h"
#include "netlink/op.h"
#include "dm/claim_registry.h"

/* Most selections of ranges in one range-delete request. */
#define WHICH_MAX	1024U

/* Counter attributes have the order of uapi/nearcache_counters.h, and follow all others. */
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
 * struct request - a request that changes ranges; range-get and label-get use it in part
 * @cache: held cache; between begin_change() and end_change() also live, and its ranges locked
 * @info: the request
 * @rp: the change
 * @room: set to the bytes that pins need, and the bytes that may be pinned
 * @reply: reply, whose header is written
 * @header: header of @reply
 * @noio: result of memalloc_noio_save()
 */
struct request {
	struct nc_cache *cache;
	struct genl_info *info;
	struct nc_replacement rp;
	struct nc_room room;
	struct sk_buff *reply;
	void *header;
	unsigned int noio;
};

/* Prepare the reply, hold the cache, and lock its ranges.  The caller has checked the sender. */
static int begin_change(struct request *q, u8 cmd)
{
	struct netlink_ext_ack *extack = q->info->extack;
	int r;

	q->reply = nc_nl_reply(q->info, cmd, &q->header);
	if (!q->reply)
		return -ENOMEM;
	q->cache = nc_nl_hold(q->info->attrs, extack);
	if (IS_ERR(q->cache)) {
		r = PTR_ERR(q->cache);
		goto free;
	}
	/* Suspend waits for these locks: do not wait for I/O to get memory under them. */
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

/* Undo begin_change(), except for the reply and the hold of the cache.  @changed: send an event. */
static void end_change(struct request *q, bool changed)
{
	mutex_unlock(&q->cache->ranges.lock);
	if (changed)
		nc_netlink_event(q->cache->life.active, NEARCACHE_EVENT_RANGES);
	mutex_unlock(&q->cache->life.lock);
	memalloc_noio_restore(q->noio);
}

/* Send the reply; free it if @bad.  Without a reply the requester must ask again. */
static void send_reply(struct request *q, int bad)
{
	if (bad) {
		nlmsg_free(q->reply);
		return;
	}
	genlmsg_end(q->reply, q->header);
	genlmsg_reply(q->reply, q->info);
}

static int range_put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, NEARCACHE_A_DEVICE_PAD);
}

static int put_room(const struct request *q)
{
	return range_put_u64(q->reply, NEARCACHE_A_DEVICE_NEEDED, q->room.needed) ?:
	       range_put_u64(q->reply, NEARCACHE_A_DEVICE_AVAILABLE, q->room.available);
}

/* Parse the attributes of a range into @attrs. */
static int parse_range_attrs(const struct nlattr *range, struct nlattr **attrs,
			     struct netlink_ext_ack *extack)
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

/* Return the id of a label, without taking a reference; 0, which no range has, if it is unknown. */
static int find_label(struct request *q, const struct nlattr *label)
{
	const char *name = nla_data(label);

	return nc_labels_find(&q->cache->ranges.labels, name, strnlen(name, nla_len(label)));
}

static int parse_label(struct request *q, const struct nlattr *range, const struct nlattr *label,
		       const struct nc_want *before, bool add)
{
	if (label)
		return add ? take_label(q, label) : find_label(q, label);
	if (!before) {
		NL_SET_ERR_MSG_ATTR(q->info->extack, range, "The first range needs a label");
		return -EINVAL;
	}
	if (add)
		nc_labels_hold(&q->cache->ranges.labels, before->id);
	return before->id;
}

/* Fill in @want, with defaults from the range @before.  @add: take a reference to the label. */
static int parse_want(struct request *q, const struct nlattr *range, struct nc_want *want,
		      const struct nc_want *before, bool add)
{
	struct netlink_ext_ack *extack = q->info->extack;
	struct nlattr *attrs[NEARCACHE_A_RANGE_MAX + 1];
	int r = parse_range_attrs(range, attrs, extack);

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

		/* Plus 1, because the present second is not over: never expire early. */
		want->expires = left ? min_t(u64, nc_ranges_now() + 1 + left, U32_MAX) : 0;
	}
	r = parse_label(q, range, attrs[NEARCACHE_A_RANGE_LABEL], before, add);
	if (r < 0)
		return r;
	want->id = r;
	return 0;
}

/* Parse all ranges of @type into @list, which has room for them.  *@count: number parsed so far. */
static int parse_wants(struct request *q, int type, struct nc_want *list, u32 *count, bool add)
{
	const struct nlattr *range = nc_nl_next_range(q->info, type, NULL);
	int r = 0;

	for (; range && !r; range = nc_nl_next_range(q->info, type, range)) {
		r = parse_want(q, range, &list[*count], *count ? &list[*count - 1] : NULL, add);
		if (!r)
			(*count)++;
		if (!(*count % 1024))
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

/* Parse the sectors of a selection.  They may reach beyond the origin, because the origin may have
 * been longer when ranges were added, or may be shorter than the requester assumes.
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

/* Parse a selection of ranges into the next element of rp.drop, unless no range has its label. */
static int parse_which(struct request *q, const struct nlattr *range)
{
	struct netlink_ext_ack *extack = q->info->extack;
	struct nc_which *which = &q->rp.drop[q->rp.drop_count];
	struct nlattr *attrs[NEARCACHE_A_RANGE_MAX + 1], *label;
	int r = parse_range_attrs(range, attrs, extack);

	if (r)
		return r;
	if (attrs[NEARCACHE_A_RANGE_PRIORITY] || attrs[NEARCACHE_A_RANGE_EXPIRES]) {
		NL_SET_ERR_MSG_ATTR(extack, range,
				    "Ranges cannot be selected by priority or expiry");
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
		which->label = find_label(q, label);
		if (!which->label)
			return 0;
	}
	q->rp.drop_count++;
	return 0;
}

static int parse_drop(struct request *q, int type)
{
	const struct nlattr *range = nc_nl_next_range(q->info, type, NULL);
	int r = 0;

	for (; range && !r; range = nc_nl_next_range(q->info, type, range)) {
		r = parse_which(q, range);
		if (!(q->rp.drop_count % 1024))
			cond_resched();
	}
	return r;
}

static int alloc_list(void **list, u32 count, size_t size)
{
	*list = count ? kvmalloc_array(count, size, GFP_KERNEL) : NULL;
	return count && !*list ? -ENOMEM : 0;
}

static void free_lists(struct request *q)
{
	kvfree(q->rp.drop);
	kvfree(q->rp.keep);
	kvfree(q->rp.add);
}

static int alloc_lists(struct request *q, u32 drop, u32 keep, u32 add)
{
	return alloc_list((void **)&q->rp.drop, drop, sizeof(*q->rp.drop)) ?:
	       alloc_list((void **)&q->rp.keep, keep, sizeof(*q->rp.keep)) ?:
	       alloc_list((void **)&q->rp.add, add, sizeof(*q->rp.add));
}

/* Parse the lists and make the change.  @drop_type: attribute with the ranges to delete, or 0. */
static int make_change(struct request *q, int drop_type, bool add)
{
	struct nc_replacement *rp = &q->rp;
	u32 i;
	int r = 0;

	if (drop_type)
		r = parse_drop(q, drop_type);
	if (!r && rp->keep)
		r = parse_wants(q, NEARCACHE_A_DEVICE_KEEP, rp->keep, &rp->keep_count, false);
	if (!r && add)
		r = parse_wants(q, NEARCACHE_A_DEVICE_RANGE, rp->add, &rp->add_count, true);
	if (!r)
		r = nc_ranges_replace(q->cache, rp, &q->room);
	if (r) {
		tell_refused(q->info->extack, r);
		for (i = 0; i < rp->add_count; i++)
			nc_labels_put(&q->cache->ranges.labels, rp->add[i].id);
	} else {
		nc_ranges_room(q->cache, &q->room);
	}
	return r;
}

/* Send the reply, or return the error @r.  A refusal for lack of room (-ENOSPC) gets a reply, which
 * says how much room there is.  @count: the reply has the number of deleted ranges.
 */
static int send_result(struct request *q, int r, bool count)
{
	int bad;

	if (r && r != -ENOSPC) {
		nlmsg_free(q->reply);
		return r;
	}
	bad = nla_put_u32(q->reply, NEARCACHE_A_DEVICE_DEV, nc_nl_dev(q->cache)) ?:
	      nla_put_u32(q->reply, NEARCACHE_A_DEVICE_ERROR, -r);
	if (!bad && count)
		bad = range_put_u64(q->reply, NEARCACHE_A_DEVICE_COUNT, q->rp.deleted);
	send_reply(q, bad ?: put_room(q));
	return 0;
}

static bool count_ok(struct netlink_ext_ack *extack, u32 count)
{
	if (count && count <= NC_RANGES_MAX)
		return true;
	NL_SET_ERR_MSG(extack, "1 to 262144 ranges are needed");
	return false;
}

int nearcache_nl_range_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct request q = { .info = info };
	u32 count = nc_nl_count_ranges(info, NEARCACHE_A_DEVICE_RANGE);
	int r;

	if (!count_ok(info->extack, count))
		return -EINVAL;
	r = nc_nl_admin(skb, info->extack) ?: alloc_lists(&q, 0, 0, count) ?:
	    begin_change(&q, NEARCACHE_CMD_RANGE_ADD);
	if (r)
		goto free;
	r = make_change(&q, 0, true);
	end_change(&q, !r);
	r = send_result(&q, r, false);
	nc_registry_release(q.cache);
free:
	free_lists(&q);
	return r;
}

int nearcache_nl_range_delete_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct request q = { .info = info };
	u32 count = nc_nl_count_ranges(info, NEARCACHE_A_DEVICE_RANGE);
	int r;

	if (!count || count > WHICH_MAX) {
		NL_SET_ERR_MSG(info->extack, "1 to 1024 ranges are needed");
		return -EINVAL;
	}
	r = nc_nl_admin(skb, info->extack) ?: alloc_lists(&q, count, 0, 0) ?:
	    begin_change(&q, NEARCACHE_CMD_RANGE_DELETE);
	if (r)
		goto free;
	r = make_change(&q, NEARCACHE_A_DEVICE_RANGE, false);
	end_change(&q, q.rp.deleted);
	send_reply(&q, r ?: nla_put_u32(q.reply, NEARCACHE_A_DEVICE_DEV, nc_nl_dev(q.cache)) ?:
			range_put_u64(q.reply, NEARCACHE_A_DEVICE_COUNT,
				      q.rp.deleted) ?: put_room(&q));
	nc_registry_release(q.cache);
free:
	free_lists(&q);
	return r;
}

int nearcache_nl_range_replace_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct request q = { .info = info, .rp.unique = true };
	u32 drop = nc_nl_count_ranges(info, NEARCACHE_A_DEVICE_DROP);
	u32 keep = nc_nl_count_ranges(info, NEARCACHE_A_DEVICE_KEEP);
	u32 add = nc_nl_count_ranges(info, NEARCACHE_A_DEVICE_RANGE);
	int r;

	if (!count_ok(info->extack, max3(drop, keep, add)))
		return -EINVAL;
	r = nc_nl_admin(skb, info->extack) ?: alloc_lists(&q, drop, keep, add) ?:
	    begin_change(&q, NEARCACHE_CMD_RANGE_REPLACE);
	if (r)
		goto free;
	r = make_change(&q, NEARCACHE_A_DEVICE_DROP, true);
	end_change(&q, !r && (q.rp.add_count || q.rp.deleted));
	r = send_result(&q, r, true);
	nc_registry_release(q.cache);
free:
	free_lists(&q);
	return r;
}

int nearcache_nl_range_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct request q = { .info = info, .cache = nc_nl_admin_hold(skb, info) };
	int r = 0;

	if (IS_ERR(q.cache))
		return PTR_ERR(q.cache);
	q.reply = nc_nl_reply(info, NEARCACHE_CMD_RANGE_GET, &q.header);
	if (q.reply) {
		nc_ranges_room(q.cache, &q.room);
		send_reply(&q, nla_put_u32(q.reply, NEARCACHE_A_DEVICE_DEV, nc_nl_dev(q.cache)) ?:
			       range_put_u64(q.reply, NEARCACHE_A_DEVICE_COUNT,
					     READ_ONCE(q.cache->ranges.count)) ?: put_room(&q));
	} else {
		r = -ENOMEM;
	}
	nc_registry_release(q.cache);
	return r;
}

int nearcache_nl_label_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct request q = { .info = info, .cache = nc_nl_admin_hold(skb, info) };
	int r = 0;

	if (IS_ERR(q.cache))
		return PTR_ERR(q.cache);
	q.reply = nc_nl_reply(info, NEARCACHE_CMD_LABEL_GET, &q.header);
	if (q.reply)
		send_reply(&q, nla_put_u32(q.reply, NEARCACHE_A_DEVICE_DEV, nc_nl_dev(q.cache)) ?:
			       range_put_u64(q.reply, NEARCACHE_A_DEVICE_COUNT,
					     READ_ONCE(q.cache->ranges.labels.count)));
	else
		r = -ENOMEM;
	nc_registry_release(q.cache);
	return r;
}

/**
 * struct list_dump - position of a dump of ranges or labels; in netlink_callback.ctx
 * @next: index in nc_ranges.want of the next range, or id of the next label
 * @allowed: the permission of the requester was checked
 */
struct list_dump {
	u32 next;
	bool allowed;
};

static_assert(sizeof(struct list_dump) <= sizeof_field(struct netlink_callback, ctx));

/* Begin a message of a dump about a device.  Returns NULL if the buffer has no room. */
void *nc_nl_put_header(struct sk_buff *skb, struct netlink_callback *cb, const struct nc_cache *c,
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

/* Put the next ranges into one message, until it is full. */
static int dump_ranges(struct sk_buff *skb, struct netlink_callback *cb, struct nc_cache *c)
{
	struct list_dump *dump = (void *)cb->ctx;
	const struct nc_ranges *r = &c->ranges;
	u32 now = nc_ranges_now(), first = dump->next;
	void *header;

	if (dump->next >= r->count)
		return 0;
	header = nc_nl_put_header(skb, cb, c, NEARCACHE_CMD_RANGE_GET);
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

/* Put the next labels into the buffer until it is full, each as a message. */
static int dump_labels(struct sk_buff *skb, struct netlink_callback *cb, struct nc_cache *c)
{
	struct list_dump *dump = (void *)cb->ctx;
	const struct nc_labels *l = &c->ranges.labels;
	void *header;

	for (; l->label && dump->next <= NEARCACHE_LABELS_MAX; dump->next++) {
		if (!l->label[dump->next])
			continue;
		header = nc_nl_put_header(skb, cb, c, NEARCACHE_CMD_LABEL_GET);
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

static int dump_list(struct sk_buff *skb, struct netlink_callback *cb,
		     int (*part)(struct sk_buff *skb, struct netlink_callback *cb,
				 struct nc_cache *c))
{
	struct list_dump *dump = (void *)cb->ctx;
	struct nc_cache *c = nc_nl_dump_hold(cb, &dump->allowed);
	int r;

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
	return dump_list(skb, cb, dump_ranges);
}

int nearcache_nl_label_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_list(skb, cb, dump_labels);
}
