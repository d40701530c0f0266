// SPDX-License-Identifier: GPL-2.0-only
/* The netlink requests about cached data: invalidate, residency-get. */
#include <net/genetlink.h>

#include "cache.h"
#include "io/invalidate.h"
#include "netlink/policy_gen.h"
#include "netlink/op.h"
#include "dm/claim_registry.h"
#include "io/residency.h"

/* Put sectors as a range without a label.  Returns 0 or -EMSGSIZE. */
int nc_nl_put_sectors(struct sk_buff *skb, u64 first, u64 end)
{
	struct nlattr *nest = nla_nest_start(skb, NEARCACHE_A_DEVICE_RANGE);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u64_64bit(skb, NEARCACHE_A_RANGE_START, first << SECTOR_SHIFT,
			      NEARCACHE_A_RANGE_PAD) ||
	    nla_put_u64_64bit(skb, NEARCACHE_A_RANGE_LENGTH, (end - first) << SECTOR_SHIFT,
			      NEARCACHE_A_RANGE_PAD)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * nc_nl_piece() - get the part of the origin that two attributes name
 * @c: cache
 * @start: first byte; NULL: 0
 * @length: bytes; NULL: up to the end of the origin
 * @extack: gets the error message
 * @first: set to the first sector
 * @end: set to the sector behind the last one
 *
 * Return: 0, or -ERANGE: not whole sectors, or not inside the origin.
 */
int nc_nl_piece(const struct nc_cache *c, const struct nlattr *start, const struct nlattr *length,
		struct netlink_ext_ack *extack, u64 *first, u64 *end)
{
	u64 size = READ_ONCE(c->geo.origin_size);
	u64 from = start ? nla_get_u64(start) : 0, bytes;

	if (from % SECTOR_SIZE || from >= size) {
		NL_SET_ERR_MSG_ATTR(extack, start,
				    "start must be a multiple of 512 inside the origin");
		return -ERANGE;
	}
	bytes = length ? nla_get_u64(length) : size - from;
	if (bytes % SECTOR_SIZE || bytes > size - from) {
		NL_SET_ERR_MSG_ATTR(extack, length,
				    "length must be a multiple of 512 that ends inside the origin");
		return -ERANGE;
	}
	*first = from >> SECTOR_SHIFT;
	*end = (from + bytes) >> SECTOR_SHIFT;
	return 0;
}

/* Get the part of the origin that a request names. */
static int piece_of(const struct nc_cache *c, struct nlattr **attrs,
		    struct netlink_ext_ack *extack, sector_t *first, sector_t *end)
{
	return nc_nl_piece(c, attrs[NEARCACHE_A_DEVICE_START], attrs[NEARCACHE_A_DEVICE_LENGTH],
			   extack, first, end);
}

/**
 * struct invalidation - an invalidate request, which waits for a device, so a worker runs it
 * @work: runs the request
 * @cache: cache, with nc_registry_hold() until the reply is sent
 * @first: first sector
 * @end: sector behind the last one
 * @net: network namespace of the requester, referenced
 * @portid: netlink address of the requester in @net
 * @seq: sequence number of the request
 */
struct invalidation {
	struct work_struct work;
	struct nc_cache *cache;
	sector_t first;
	sector_t end;
	struct net *net;
	u32 portid;
	u32 seq;
};

static int put_piece(struct sk_buff *skb, const struct nc_cache *c, sector_t first, sector_t end)
{
	return nla_put_u32(skb, NEARCACHE_A_DEVICE_DEV, nc_nl_dev(c)) ?:
	       nla_put_u64_64bit(skb, NEARCACHE_A_DEVICE_START, (u64)first << SECTOR_SHIFT,
				 NEARCACHE_A_DEVICE_PAD) ?:
	       nla_put_u64_64bit(skb, NEARCACHE_A_DEVICE_LENGTH,
				 (u64)(end - first) << SECTOR_SHIFT, NEARCACHE_A_DEVICE_PAD);
}

/* Reply to a request.  Without memory the reply is lost: the requester must ask again. */
static void reply_invalidation(const struct invalidation *request, int error)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_GOODSIZE, GFP_NOIO);
	void *header;

	if (!skb)
		return;
	header = genlmsg_put(skb, request->portid, request->seq, &nc_nl_family, 0,
			     NEARCACHE_CMD_INVALIDATE);
	if (!header || put_piece(skb, request->cache, request->first, request->end) ||
	    nla_put_u32(skb, NEARCACHE_A_DEVICE_ERROR, -error)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, header);
	genlmsg_unicast(request->net, skb, request->portid);
}

static void invalidate_work(struct work_struct *work)
{
	struct invalidation *request = container_of(work, struct invalidation, work);
	int r = nc_invalidate_changed(request->cache, request->first, request->end - 1);

	reply_invalidation(request, r);
	nc_registry_release(request->cache);
	put_net(request->net);
	kfree(request);
}

int nearcache_nl_invalidate_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct invalidation *request;
	int r = nc_nl_admin(skb, info->extack);

	if (r)
		return r;
	request = kzalloc(sizeof(*request), GFP_KERNEL);
	if (!request)
		return -ENOMEM;
	request->cache = nc_nl_hold(info->attrs, info->extack);
	if (IS_ERR(request->cache)) {
		r = PTR_ERR(request->cache);
		goto free;
	}
	r = piece_of(request->cache, info->attrs, info->extack, &request->first, &request->end);
	if (r)
		goto release;
	request->net = get_net(genl_info_net(info));
	request->portid = info->snd_portid;
	request->seq = info->snd_seq;
	INIT_WORK(&request->work, invalidate_work);
	queue_work(nc_nl_queue, &request->work);
	return 0;
release:
	nc_registry_release(request->cache);
free:
	kfree(request);
	return r;
}

static int put_residency(struct sk_buff *skb, const struct nc_cache *c, sector_t first,
			 sector_t end, u64 cached)
{
	return put_piece(skb, c, first, end) ?:
	       nla_put_u64_64bit(skb, NEARCACHE_A_DEVICE_CACHED_BYTES, cached << SECTOR_SHIFT,
				 NEARCACHE_A_DEVICE_PAD);
}

static int reply_residency(struct nc_cache *c, struct genl_info *info)
{
	struct sk_buff *reply;
	sector_t first, end;
	void *header;
	u64 cached;
	int r = piece_of(c, info->attrs, info->extack, &first, &end);

	if (r)
		return r;
	reply = nc_nl_reply(info, NEARCACHE_CMD_RESIDENCY_GET, &header);
	if (!reply)
		return -ENOMEM;
	cached = nc_residency_sectors(c, first, &end);
	return nc_nl_send(info, reply, header, put_residency(reply, c, first, end, cached));
}

int nearcache_nl_residency_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nc_cache *c = nc_nl_admin_hold(skb, info);
	int r;

	if (IS_ERR(c))
		return PTR_ERR(c);
	r = reply_residency(c, info);
	nc_registry_release(c);
	return r;
}

/**
 * struct run_dump - position of a residency dump; in netlink_callback.ctx
 * @first: next sector to dump
 * @end: end of the requested part
 * @begun: @first and @end are set
 */
struct run_dump {
	sector_t first;
	sector_t end;
	bool begun;
};

static_assert(sizeof(struct run_dump) <= sizeof_field(struct netlink_callback, ctx));

static int put_run(struct sk_buff *skb, const struct nc_run *run)
{
	struct nlattr *nest = nla_nest_start(skb, NEARCACHE_A_DEVICE_RUN);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u64_64bit(skb, NEARCACHE_A_RUN_START, (u64)run->first << SECTOR_SHIFT,
			      NEARCACHE_A_RUN_PAD) ||
	    nla_put_u64_64bit(skb, NEARCACHE_A_RUN_LENGTH,
			      (u64)(run->end - run->first) << SECTOR_SHIFT, NEARCACHE_A_RUN_PAD) ||
	    nla_put_u32(skb, NEARCACHE_A_RUN_CACHED,
			run->cached ? NEARCACHE_CACHED_ALL : NEARCACHE_CACHED_NONE)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* A message ends after this many blocks even if not full: another task may wait for the cache. */
#define RUN_BLOCKS	1048576U

/* Put the next runs into the message, until it is full. */
static int dump_runs(struct sk_buff *skb, struct netlink_callback *cb, struct nc_cache *c)
{
	struct run_dump *dump = (void *)cb->ctx;
	sector_t most = dump->first + ((sector_t)RUN_BLOCKS << c->hot.block_shift);
	struct nc_run run;
	void *header;

	header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &nc_nl_family,
			     NLM_F_MULTI, NEARCACHE_CMD_RESIDENCY_GET);
	if (!header || nla_put_u32(skb, NEARCACHE_A_DEVICE_DEV, nc_nl_dev(c)))
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, header);
	while (dump->first < dump->end) {
		nc_residency_run(c, dump->first, dump->end, &run);
		if (put_run(skb, &run))
			break;
		dump->first = run.end;
		if (dump->first >= most || signal_pending(current))
			break;
	}
	genlmsg_end(skb, header);
	return skb->len;
}

int nearcache_nl_residency_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct run_dump *dump = (void *)cb->ctx;
	struct nlattr **attrs = nc_dump_attrs(cb);
	struct nc_cache *c;
	int r = 0;

	if (dump->begun && dump->first == dump->end)
		return 0;
	if (!dump->begun) {
		r = nc_nl_admin(cb->skb, cb->extack);
		if (r)
			return r;
	}
	nc_nl_watch(cb);
	c = nc_nl_hold(attrs, cb->extack);
	if (IS_ERR(c))
		return PTR_ERR(c);
	if (!dump->begun)
		r = piece_of(c, attrs, cb->extack, &dump->first, &dump->end);
	dump->begun = true;
	if (!r)
		r = dump_runs(skb, cb, c);
	nc_registry_release(c);
	return r;
}
