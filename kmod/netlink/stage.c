// SPDX-License-Identifier: GPL-2.0-only
/* Netlink requests stage-get and stage-set, and the events of stages. */
#include <net/genetlink.h>

#include "core/compat.h"
#include "dm/claim_registry.h"
#include "netlink/family.h"
#include "netlink/op.h"
#include "netlink/policy_gen.h"
#include "stage/stage.h"

/* The attributes of the status have the order of its fields; attribute 0 and the pad come first. */
#define STAGE_FIELDS	(sizeof(struct nc_stage_status) / sizeof(u64))
static_assert(sizeof(struct nc_stage_status) == (NEARCACHE_A_STAGE_STATUS_MAX - 1) * sizeof(u64));

/* Workers that the drain needs send the events: never wait for memory. */
#define STAGE_EVENT_GFP	(GFP_NOWAIT | __GFP_NOWARN)

static struct mapped_device *stage_md(const struct nc_stage *s)
{
	return dm_table_get_md(s->ti->table);
}

static int put_stage_name(struct sk_buff *skb, const struct nc_stage *s)
{
	return nc_nl_put_name(skb, nc_stage_dev(s), stage_md(s));
}

static int put_stage_status(struct sk_buff *skb, struct nc_stage *s)
{
	struct nlattr *nest = nla_nest_start(skb, NEARCACHE_A_DEVICE_STAGE_STATUS);
	struct nc_stage_status st;
	u32 i;

	if (!nest)
		return -EMSGSIZE;
	nc_stage_status_read(s, &st);
	for (i = 0; i < STAGE_FIELDS; i++)
		if (nla_put_u64_64bit(skb, i + 2, ((u64 *)&st)[i], NEARCACHE_A_STAGE_STATUS_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_stage_options(struct sk_buff *skb, const struct nc_stage *s)
{
	const struct nc_option *o;
	u64 value;
	int r = 0;

	for (o = nc_stage_options; o < nc_stage_options + nc_stage_options_count && !r; o++) {
		if (!o->attribute)
			continue;
		value = nc_option_value(s->ti, o);
		r = o->bytes == sizeof(u64) ?
		    nla_put_u64_64bit(skb, o->attribute, value, NEARCACHE_A_DEVICE_PAD) :
		    nla_put_u32(skb, o->attribute, value);
	}
	return r;
}

static int put_stage(struct sk_buff *skb, struct nc_stage *s)
{
	return put_stage_name(skb, s) ?:
	       nla_put(skb, NEARCACHE_A_DEVICE_UUID, sizeof(s->super.block->uuid),
		       s->super.block->uuid) ?:
	       put_stage_status(skb, s) ?:
	       nla_put_u32(skb, NEARCACHE_A_DEVICE_LOG, nc_nl_devt(s->log->bdev->bd_dev)) ?:
	       nla_put_u32(skb, NEARCACHE_A_DEVICE_ORIGIN, nc_nl_devt(s->origin->bdev->bd_dev)) ?:
	       put_stage_options(skb, s);
}

/**
 * struct stage_request - a request for the stage that it names
 * @info: the request
 * @named: its attribute NEARCACHE_A_DEVICE_DEV or _NAME
 * @act: called with the stage and the request
 * @reply: message for @act
 */
struct stage_request {
	struct genl_info *info;
	const struct nlattr *named;
	int (*act)(struct nc_stage *s, struct stage_request *request);
	struct sk_buff *reply;
};

static int visit_stage(struct nc_stage *s, void *arg)
{
	struct stage_request *request = arg;

	if (!nc_nl_is_named(request->named, nc_stage_dev(s), stage_md(s)))
		return 0;
	return request->act(s, request) ?: 1;
}

/* Find the stage of a request and act on it.  Returns 0 or an error. */
static int stage_act(struct stage_request *request)
{
	struct netlink_ext_ack *extack = request->info->extack;
	unsigned int changes;
	int r;

	request->named = nc_nl_named(request->info->attrs, extack);
	if (IS_ERR(request->named))
		return PTR_ERR(request->named);
	do {
		/* A change of the list may have hidden the device: look again. */
		changes = nc_registry_changes();
		r = nc_stages_each(0, visit_stage, request);
	} while (!r && changes != nc_registry_changes());
	if (r)
		return r < 0 ? r : 0;
	NL_SET_ERR_MSG_ATTR(extack, request->named, "There is no such nearcache-stage device");
	return -ENODEV;
}

static int reply_stage(struct nc_stage *s, struct stage_request *request)
{
	return put_stage(request->reply, s);
}

int nearcache_nl_stage_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct stage_request request = { .info = info, .act = reply_stage };
	void *header;

	request.reply = nc_nl_reply(info, NEARCACHE_CMD_STAGE_GET, &header);
	if (!request.reply)
		return -ENOMEM;
	return nc_nl_send(info, request.reply, header, stage_act(&request));
}

static int dump_stage(struct nc_stage *s, void *arg)
{
	struct nc_nl_dump *dump = arg;
	void *header = nc_nl_dump_begin(dump, NEARCACHE_CMD_STAGE_GET);

	if (!header)
		return -EMSGSIZE;
	return nc_nl_dump_end(dump, header, put_stage(dump->skb, s), nc_stage_dev(s));
}

int nearcache_nl_stage_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nc_nl_dump dump = { .skb = skb, .cb = cb };
	int r;

	nc_nl_watch(cb);
	r = nc_stages_each(*nc_nl_dump_last(cb), dump_stage, &dump);
	return r && !skb->len ? r : skb->len;
}

/* Find the next option, from @o on, that a request sets.  Returns it and sets @value, or NULL. */
static const struct nc_option *next_option(struct genl_info *info, const struct nc_option *o,
					   u64 *value)
{
	const struct nlattr *attr;

	for (; o < nc_stage_options + nc_stage_options_count; o++) {
		/* @attrs is as long as the policy. */
		attr = o->attribute < ARRAY_SIZE(nearcache_stage_set_nl_policy) ?
		       info->attrs[o->attribute] : NULL;
		if (!attr)
			continue;
		*value = o->bytes == sizeof(u64) ? nla_get_u64(attr) : nla_get_u32(attr);
		return o;
	}
	return NULL;
}

static int set_stage(struct nc_stage *s, struct stage_request *request)
{
	struct genl_info *info = request->info;
	const struct nc_option *o = nc_stage_options;
	u64 value;

	if (!READ_ONCE(s->started)) {
		NL_SET_ERR_MSG(info->extack, "The device is suspended: resume it first");
		return -EBUSY;
	}
	for (; (o = next_option(info, o, &value)); o++)
		if (!nc_option_valid(o, value)) {
			NL_SET_BAD_ATTR(info->extack, info->attrs[o->attribute]);
			info->extack->_msg = o->expected;
			return -ERANGE;
		}
	for (o = nc_stage_options; (o = next_option(info, o, &value)); o++)
		nc_option_set(s->ti, o, value);
	return 0;
}

int nearcache_nl_stage_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct stage_request request = { .info = info, .act = set_stage };

	return nc_nl_admin(skb, info->extack) ?: stage_act(&request);
}

/* Multicast an event of a stage, see nc_nl_event_send(). */
void nc_netlink_stage_event(struct nc_stage *s, enum nearcache_event event)
{
	void *header;
	struct sk_buff *skb = nc_nl_event_begin(STAGE_EVENT_GFP, &header);

	if (skb)
		nc_nl_event_send(skb, header, STAGE_EVENT_GFP,
				 put_stage_name(skb, s) ?:
				 nla_put_u32(skb, NEARCACHE_A_DEVICE_EVENT, event) ?:
				 put_stage_status(skb, s));
}
