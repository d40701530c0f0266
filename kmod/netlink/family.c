// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generic netlink family, as specified in uapi/nearcache.yaml.  policy_gen.c is generated from
 * this specification: the policies and the table of operations.
 *
 * Operations run in parallel (parallel_ops).  device-get and plan-get, which any user may send,
 * visit a cache (nc_registry_each()) without its mutexes, so that they do not delay other users;
 * stage-get and stage-set visit a stage in the same way.  The other operations hold a cache
 * (nc_registry_hold()), and take nc_life.lock if they need the live table.  If an operation has to
 * wait for a device, a worker does so and replies later: otherwise the registration of another
 * family, and then all families, would have to wait.
 */
#include <linux/delay.h>
#include <linux/dm-ioctl.h>
#include <net/genetlink.h>

#include "cache.h"
#include "meta/members.h"
#include "netlink/family.h"
#include "netlink/policy_gen.h"
#include "netlink/op.h"
#include "dm/claim_registry.h"
#include "dm/live_settings.h"
#include "dm/status.h"
#include "stage/target.h"

/* Numbers of the attributes: as in uapi/nearcache_counters.h, plus 2 for "unused" and the pad. */
#define NC_CHECK(symbol, name, unit, help) \
	static_assert((int)NEARCACHE_A_COUNTER_##symbol == (int)NEARCACHE_COUNTER_##symbol + 2);
NEARCACHE_COUNTERS(NC_CHECK)
#undef NC_CHECK
static_assert((int)NEARCACHE_A_COUNTER_MAX == (int)NEARCACHE_COUNTER_COUNT + 1);

#define NC_CHECK(symbol, name, unit, help) \
	static_assert((int)NEARCACHE_A_STATUS_##symbol == (int)NEARCACHE_FIELD_##symbol + 2);
NEARCACHE_STATUS_FIELDS(NC_CHECK)
#undef NC_CHECK
static_assert((int)NEARCACHE_A_STATUS_MAX == (int)NEARCACHE_STATUS_FIELD_COUNT + 1);

static_assert(DM_NAME_LEN == NEARCACHE_NAME_MAX + 1);

/* Runs requests that have to wait for a device. */
struct workqueue_struct *nc_nl_queue;

static const struct genl_multicast_group groups[] = {
	[NEARCACHE_NLGRP_EVENTS] = { .name = NEARCACHE_MCGRP_EVENTS },
};

struct genl_family nc_nl_family __ro_after_init = {
	.name		= NEARCACHE_FAMILY_NAME,
	.version	= NEARCACHE_FAMILY_VERSION,
	.maxattr	= NEARCACHE_A_DEVICE_MAX,
	.module		= THIS_MODULE,
	.parallel_ops	= true,
	/* A pod has a network namespace of its own, but block devices have none: the permissions
	 * are those of the initial user namespace everywhere, see nc_nl_admin().
	 */
	.netnsok	= true,
	.ops		= nearcache_nl_ops,
	.n_ops		= ARRAY_SIZE(nearcache_nl_ops),
	/* Strict validation for all operations. */
	.resv_start_op	= 1,
	.mcgrps		= groups,
	.n_mcgrps	= ARRAY_SIZE(groups),
};

/**
 * nc_nl_admin() - check that the sender of a request may change a block device
 * @skb: request; its operation has GENL_ADMIN_PERM, which checked only CAP_NET_ADMIN
 * @extack: gets the error message
 *
 * Both checks are against the initial user namespace, whatever network namespace the request comes
 * from.  GENL_UNS_ADMIN_PERM would accept root of the namespace's owner: no operation may have it.
 *
 * Return: 0 or -EPERM.
 */
int nc_nl_admin(struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	if (netlink_capable(skb, CAP_SYS_ADMIN))
		return 0;
	NL_SET_ERR_MSG(extack, "CAP_SYS_ADMIN in the initial user namespace is needed");
	return -EPERM;
}

/* May the sender of a request see which data others read?  The same senders pass nc_nl_admin(). */
bool nc_nl_sees_labels(struct sk_buff *skb)
{
	return netlink_capable(skb, CAP_NET_ADMIN) && netlink_capable(skb, CAP_SYS_ADMIN);
}

/* Get the name of a dm device; an empty name if the device is being removed. */
static void name_of(struct mapped_device *md, char *name)
{
	char uuid[DM_UUID_LEN];

	if (dm_copy_name_and_uuid(md, name, uuid))
		*name = 0;
}

/* Return a device number as in NEARCACHE_A_DEVICE_DEV. */
u32 nc_nl_devt(dev_t dev)
{
	return MAJOR(dev) << MINORBITS | MINOR(dev);
}

/* Return the device number of a cache's dm device. */
u32 nc_nl_dev(const struct nc_cache *c)
{
	return nc_nl_devt(c->dev.dm_devt);
}

/* Put the number and the name of a dm device into a message.  Returns 0 or -EMSGSIZE. */
int nc_nl_put_name(struct sk_buff *skb, dev_t dev, struct mapped_device *md)
{
	char name[DM_NAME_LEN];

	name_of(md, name);
	return nla_put_u32(skb, NEARCACHE_A_DEVICE_DEV, nc_nl_devt(dev)) ?:
	       nla_put_string(skb, NEARCACHE_A_DEVICE_NAME, name);
}

static int put_name(struct sk_buff *skb, const struct nc_cache *c)
{
	return nc_nl_put_name(skb, c->dev.dm_devt, c->dev.owner);
}

static int put_status(struct sk_buff *skb, struct nc_target *t)
{
	struct nlattr *nest = nla_nest_start(skb, NEARCACHE_A_DEVICE_STATUS);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < NEARCACHE_STATUS_FIELD_COUNT; i++)
		if (nla_put_u64_64bit(skb, i + 2, nc_status_field(t, i), NEARCACHE_A_STATUS_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_counters(struct sk_buff *skb, struct nc_cache *c)
{
	struct nlattr *nest = nla_nest_start(skb, NEARCACHE_A_DEVICE_COUNTERS);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < NEARCACHE_COUNTER_COUNT; i++)
		if (nla_put_u64_64bit(skb, i + 2, nc_counters_sum(c->hot.counters, i),
				      NEARCACHE_A_COUNTER_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_tunables(struct sk_buff *skb, const struct nc_target *t)
{
	if (nla_put_u32(skb, NEARCACHE_A_DEVICE_VERIFY, READ_ONCE(t->verify)) ||
	    nla_put_u32(skb, NEARCACHE_A_DEVICE_CACHE_TIMEOUT, READ_ONCE(t->cache_timeout)) ||
	    nla_put_u32(skb, NEARCACHE_A_DEVICE_ORIGIN_TIMEOUT, READ_ONCE(t->origin_timeout)) ||
	    nla_put_u64_64bit(skb, NEARCACHE_A_DEVICE_FILL_MEMORY,
			      READ_ONCE(t->cache->fills.memory_max) ?: t->fill_memory_max,
			      NEARCACHE_A_DEVICE_PAD))
		return -EMSGSIZE;
	return 0;
}

static int put_devices(struct sk_buff *skb, const struct nc_cache *c)
{
	u32 i;

	for (i = 0; i < nc_members_count(c); i++)
		if (nla_put_u32(skb, NEARCACHE_A_DEVICE_CACHE,
				nc_nl_devt(nc_members_bdev(c, i)->bd_dev)))
			return -EMSGSIZE;
	return 0;
}

static int put_cache(struct sk_buff *skb, struct nc_cache *c, struct nc_target *t)
{
	return put_name(skb, c) ?:
	       nla_put(skb, NEARCACHE_A_DEVICE_UUID, sizeof(c->dev.uuid), c->dev.uuid) ?:
	       put_status(skb, t) ?: put_counters(skb, c) ?: put_tunables(skb, t) ?:
	       put_devices(skb, c);
}

/**
 * struct wanted - search for the device that a request names
 * @attr: NEARCACHE_A_DEVICE_DEV or _NAME
 * @found: set to the cache, which is held, if @put is NULL
 * @put: puts the description of the device into @reply; NULL: hold the cache instead
 * @reply: message for @put
 */
struct wanted {
	const struct nlattr *attr;
	struct nc_cache *found;
	nc_nl_put *put;
	struct sk_buff *reply;
};

/* Is this the dm device that NEARCACHE_A_DEVICE_DEV or _NAME of a request names? */
bool nc_nl_is_named(const struct nlattr *attr, dev_t dev, struct mapped_device *md)
{
	char name[DM_NAME_LEN];

	if (nla_type(attr) == NEARCACHE_A_DEVICE_DEV)
		return nla_get_u32(attr) == nc_nl_devt(dev);
	name_of(md, name);
	return *name && !nla_strcmp(attr, name);
}

/* Find the attribute, dev or name, that names the device of a request.  May return an ERR_PTR. */
const struct nlattr *nc_nl_named(struct nlattr **attrs, struct netlink_ext_ack *extack)
{
	if (!attrs[NEARCACHE_A_DEVICE_DEV] == !attrs[NEARCACHE_A_DEVICE_NAME]) {
		NL_SET_ERR_MSG(extack, "Either dev or name of a device is needed");
		return ERR_PTR(-EINVAL);
	}
	return attrs[NEARCACHE_A_DEVICE_DEV] ?: attrs[NEARCACHE_A_DEVICE_NAME];
}

static int find_device(struct nc_cache *c, struct nc_target *t, void *arg)
{
	struct wanted *w = arg;

	if (!nc_nl_is_named(w->attr, c->dev.dm_devt, c->dev.owner))
		return 0;
	if (w->put)
		return w->put(w->reply, c, t) ?: 1;
	w->found = c;
	nc_registry_hold(c);
	return 1;
}

/* Find the device that @attrs name, see struct wanted.  Returns 0 or an error. */
static int look_for(struct wanted *w, struct nlattr **attrs, struct netlink_ext_ack *extack)
{
	unsigned int changes;
	int r;

	w->attr = nc_nl_named(attrs, extack);
	if (IS_ERR(w->attr))
		return PTR_ERR(w->attr);
	do {
		/* Look again if the device may have been missed. */
		changes = nc_registry_changes();
		r = nc_registry_each(0, find_device, w);
	} while (!r && changes != nc_registry_changes());
	if (r < 0)
		return r;
	if (r)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, w->attr, "There is no such nearcache device");
	return -ENODEV;
}

/**
 * nc_nl_hold() - hold the cache of the device that a request names
 * @attrs: attributes of the request
 * @extack: gets the error message
 *
 * Return: cache, which the caller releases with nc_registry_release(), or an ERR_PTR.
 */
struct nc_cache *nc_nl_hold(struct nlattr **attrs, struct netlink_ext_ack *extack)
{
	struct wanted w = { };
	int r = look_for(&w, attrs, extack);

	return r ? ERR_PTR(r) : w.found;
}

/* Check the sender with nc_nl_admin(), then hold the cache as nc_nl_hold() does. */
struct nc_cache *nc_nl_admin_hold(struct sk_buff *skb, struct genl_info *info)
{
	int r = nc_nl_admin(skb, info->extack);

	return r ? ERR_PTR(r) : nc_nl_hold(info->attrs, info->extack);
}

/**
 * nc_nl_dump_hold() - hold the cache that a dump lists, while one of its messages is filled
 * @cb: dump
 * @allowed: false before the first message: then the sender of the request is checked with
 *	nc_nl_admin(), and this is set
 *
 * Return: cache, which the caller releases with nc_registry_release(), or an ERR_PTR.
 */
struct nc_cache *nc_nl_dump_hold(struct netlink_callback *cb, bool *allowed)
{
	int r = *allowed ? 0 : nc_nl_admin(cb->skb, cb->extack);

	if (r)
		return ERR_PTR(r);
	*allowed = true;
	return nc_nl_hold(nc_dump_attrs(cb), cb->extack);
}

/**
 * nc_nl_reply() - begin the reply to a request
 * @info: request
 * @cmd: operation
 * @header: set to the header, for nc_nl_send() or genlmsg_end()
 *
 * Return: message, which the caller sends or frees; NULL if memory is lacking.
 */
struct sk_buff *nc_nl_reply(struct genl_info *info, u8 cmd, void **header)
{
	/* GFP_NOIO: the caller may hold a cache, and a destructor then waits for the caller. */
	struct sk_buff *skb = genlmsg_new(NLMSG_GOODSIZE, GFP_NOIO);

	if (!skb)
		return NULL;
	*header = genlmsg_put_reply(skb, info, &nc_nl_family, 0, cmd);
	if (*header)
		return skb;
	nlmsg_free(skb);
	return NULL;
}

/* Send a reply, or free it if @r is not 0.  Returns @r or the error of sending. */
int nc_nl_send(struct genl_info *info, struct sk_buff *reply, void *header, int r)
{
	if (r) {
		nlmsg_free(reply);
		return r;
	}
	genlmsg_end(reply, header);
	return genlmsg_reply(reply, info);
}

/**
 * nc_nl_describe() - reply to a request with a description of the device that it names
 * @info: request
 * @cmd: operation
 * @put: puts the description into the reply; a visit of nc_registry_each()
 *
 * Return: 0 or an error.
 */
int nc_nl_describe(struct genl_info *info, u8 cmd, nc_nl_put *put)
{
	struct wanted w = { .put = put };
	void *header;
	int r;

	w.reply = nc_nl_reply(info, cmd, &header);
	if (!w.reply)
		return -ENOMEM;
	r = look_for(&w, info->attrs, info->extack);
	return nc_nl_send(info, w.reply, header, r);
}

int nearcache_nl_device_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return nc_nl_describe(info, NEARCACHE_CMD_DEVICE_GET, put_cache);
}

/**
 * nc_nl_next_range() - iterate over the attributes of one type in a request
 * @info: request
 * @type: NEARCACHE_A_DEVICE_RANGE, _DROP or _KEEP
 * @last: the previous attribute; NULL for the first call
 *
 * Needed because info->attrs has only the last attribute of each type.
 *
 * Return: the next attribute, or NULL at the end.
 */
const struct nlattr *nc_nl_next_range(const struct genl_info *info, int type,
				      const struct nlattr *last)
{
	const u8 *head = last ? (const u8 *)last + NLA_ALIGN(last->nla_len) :
				genlmsg_data(info->genlhdr);
	int rest = (const u8 *)info->nlhdr + info->nlhdr->nlmsg_len - head;

	return nla_find((const struct nlattr *)head, rest, type);
}

/* Return how many attributes of @type a request has, see nc_nl_next_range(). */
u32 nc_nl_count_ranges(const struct genl_info *info, int type)
{
	const struct nlattr *range = nc_nl_next_range(info, type, NULL);
	u32 count = 0;

	for (; range; range = nc_nl_next_range(info, type, range))
		count++;
	return count;
}

/* Where a dump keeps the number of the last device that it put into a message; 0: none yet. */
dev_t *nc_nl_dump_last(struct netlink_callback *cb)
{
	return (dev_t *)cb->ctx;
}

/* Begin the message about a device in a dump.  Returns its header; NULL: no room. */
void *nc_nl_dump_begin(const struct nc_nl_dump *dump, u8 cmd)
{
	void *header = genlmsg_put(dump->skb, NETLINK_CB(dump->cb->skb).portid,
				   dump->cb->nlh->nlmsg_seq, &nc_nl_family, NLM_F_MULTI, cmd);

	if (header)
		genl_dump_check_consistent(dump->cb, header);
	return header;
}

/* End the message about the device @dev, or cancel it if @r is not 0.  Returns 0 or -EMSGSIZE. */
int nc_nl_dump_end(const struct nc_nl_dump *dump, void *header, int r, dev_t dev)
{
	if (r) {
		genlmsg_cancel(dump->skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(dump->skb, header);
	*nc_nl_dump_last(dump->cb) = dev;
	return 0;
}

static int dump_cache(struct nc_cache *c, struct nc_target *t, void *arg)
{
	struct nc_nl_dump *dump = arg;
	void *header = nc_nl_dump_begin(dump, NEARCACHE_CMD_DEVICE_GET);

	if (!header)
		return -EMSGSIZE;
	return nc_nl_dump_end(dump, header, put_cache(dump->skb, c, t), c->dev.dm_devt);
}

/*
 * Let genl_dump_check_consistent() mark a dump as inconsistent if devices were added or removed
 * since its last part.  Call this before each part.
 */
void nc_nl_watch(struct netlink_callback *cb)
{
	/* 0 would disable the check. */
	cb->seq = nc_registry_changes() | 1U << 31;
}

int nearcache_nl_device_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nc_nl_dump dump = { .skb = skb, .cb = cb };
	int r;

	nc_nl_watch(cb);
	r = nc_registry_each(*nc_nl_dump_last(cb), dump_cache, &dump);
	return r && !skb->len ? r : skb->len;
}

/* Change all settings that the request names, or on an error none.  Context: nc_life.lock. */
static int set_tunables(struct nc_target *t, struct genl_info *info)
{
	struct nlattr *fill = info->attrs[NEARCACHE_A_DEVICE_FILL_MEMORY];
	struct nlattr *verify = info->attrs[NEARCACHE_A_DEVICE_VERIFY];
	struct nlattr *cache = info->attrs[NEARCACHE_A_DEVICE_CACHE_TIMEOUT];
	struct nlattr *origin = info->attrs[NEARCACHE_A_DEVICE_ORIGIN_TIMEOUT];

	if (cache && nla_get_u32(cache) && nla_get_u32(cache) < NEARCACHE_CACHE_TIMEOUT_MIN) {
		NL_SET_ERR_MSG_ATTR(info->extack, cache,
				    "cache-timeout must be 0 or 100 to 600000 milliseconds");
		return -ERANGE;
	}
	if (fill)
		nc_tune_fill_memory(t, nla_get_u64(fill));
	if (verify)
		nc_tune_verify(t, nla_get_u32(verify));
	if (cache)
		nc_tune_cache_timeout(t, nla_get_u32(cache));
	if (origin)
		nc_tune_origin_timeout(t, nla_get_u32(origin));
	return 0;
}

/* Take nc_life.lock; returns false after a second.  Generic netlink requests may wait for each
 * other, so none may wait long: the holder of the lock may wait for a device in resume or suspend.
 */
static bool take_life(struct nc_cache *c)
{
	int tries;

	for (tries = 0; tries < 50; tries++) {
		if (mutex_trylock(&c->life.lock))
			return true;
		msleep(20);
	}
	return false;
}

/**
 * nc_nl_take_live() - take nc_life.lock of a cache whose table is live
 * @c: held cache
 * @extack: gets the error message
 *
 * Return: 0: locked, and nc_life.active is set; -EBUSY: suspended, or not locked within a second.
 */
int nc_nl_take_live(struct nc_cache *c, struct netlink_ext_ack *extack)
{
	if (!take_life(c)) {
		NL_SET_ERR_MSG(extack, "Another operation is changing the device: try again");
		return -EBUSY;
	}
	if (c->life.active)
		return 0;
	mutex_unlock(&c->life.lock);
	NL_SET_ERR_MSG(extack, "The device is suspended: resume it first");
	return -EBUSY;
}

int nearcache_nl_device_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nc_cache *c = nc_nl_admin_hold(skb, info);
	int r;

	if (IS_ERR(c))
		return PTR_ERR(c);
	r = nc_nl_take_live(c, info->extack);
	if (!r) {
		r = set_tunables(c->life.active, info);
		mutex_unlock(&c->life.lock);
	}
	nc_registry_release(c);
	return r;
}

static void event_lost(void)
{
	genl_set_err(&nc_nl_family, &init_net, 0, NEARCACHE_NLGRP_EVENTS, -ENOBUFS);
}

/* Begin the message of an event.  Returns NULL if no socket listens, or if there is no memory. */
struct sk_buff *nc_nl_event_begin(gfp_t gfp, void **header)
{
	struct sk_buff *skb;

	if (!genl_has_listeners(&nc_nl_family, &init_net, NEARCACHE_NLGRP_EVENTS))
		return NULL;
	skb = genlmsg_new(NLMSG_GOODSIZE, gfp);
	*header = skb ? genlmsg_put(skb, 0, 0, &nc_nl_family, 0, NEARCACHE_CMD_DEVICE_EVENT) : NULL;
	if (*header)
		return skb;
	nlmsg_free(skb);
	event_lost();
	return NULL;
}

/* Multicast an event, in the initial network namespace only.  @r: not 0 if the message had no room.
 * A listener that loses an event, as memory is short, gets ENOBUFS and must read the status.
 */
void nc_nl_event_send(struct sk_buff *skb, void *header, gfp_t gfp, int r)
{
	if (r) {
		nlmsg_free(skb);
		event_lost();
		return;
	}
	genlmsg_end(skb, header);
	genlmsg_multicast(&nc_nl_family, skb, 0, NEARCACHE_NLGRP_EVENTS, gfp);
}

/* Multicast an event of a live table; called by the health code (nc_health_listen()). */
void nc_netlink_event(struct nc_target *t, enum nearcache_event event)
{
	void *header;
	struct sk_buff *skb = nc_nl_event_begin(GFP_NOIO, &header);

	if (skb)
		nc_nl_event_send(skb, header, GFP_NOIO,
				 put_name(skb, t->cache) ?:
				 nla_put_u32(skb, NEARCACHE_A_DEVICE_EVENT, event) ?:
				 put_status(skb, t));
}

int nc_netlink_register(void)
{
	int r;

	nc_nl_queue = alloc_workqueue("nearcache_nl", WQ_UNBOUND, 0);
	if (!nc_nl_queue)
		return -ENOMEM;
	r = genl_register_family(&nc_nl_family);
	if (r) {
		destroy_workqueue(nc_nl_queue);
		return r;
	}
	nc_health_listen(nc_netlink_event);
	nc_stage_listen(nc_netlink_stage_event);
	return 0;
}

void nc_netlink_unregister(void)
{
	nc_stage_listen(NULL);
	nc_health_listen(NULL);
	genl_unregister_family(&nc_nl_family);
	destroy_workqueue(nc_nl_queue);
}
