// SPDX-License-Identifier: GPL-2.0-only
/* Change and list the ranges of a device and their labels. */
#include <errno.h>
#include <netlink/genl/genl.h>
#include <string.h>

#include "lib/error.h"
#include "netlink/client.h"
#include "netlink/request.h"

/* Bytes that a range takes in a request, in addition to its label. */
#define RANGE_ROOM	56U

struct reply {
	int error;
	struct nl_room room;
};

static int on_reply(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[NEARCACHE_A_DEVICE_MAX + 1];
	struct reply *reply = arg;

	if (genlmsg_parse(nlmsg_hdr(msg), 0, tb, NEARCACHE_A_DEVICE_MAX, NULL))
		return NL_OK;
	if (tb[NEARCACHE_A_DEVICE_ERROR])
		reply->error = (int)nla_get_u32(tb[NEARCACHE_A_DEVICE_ERROR]);
	if (tb[NEARCACHE_A_DEVICE_COUNT])
		reply->room.count = nla_get_u64(tb[NEARCACHE_A_DEVICE_COUNT]);
	if (tb[NEARCACHE_A_DEVICE_NEEDED])
		reply->room.needed = nla_get_u64(tb[NEARCACHE_A_DEVICE_NEEDED]);
	if (tb[NEARCACHE_A_DEVICE_AVAILABLE])
		reply->room.available =
			nla_get_u64(tb[NEARCACHE_A_DEVICE_AVAILABLE]);
	return NL_OK;
}

static bool same_label(const struct nl_range *a, const struct nl_range *b)
{
	return a->label && b->label && !strcmp(a->label, b->label);
}

static int put_piece(struct nl_msg *msg, const struct range *range)
{
	if (nla_put_u64(msg, NEARCACHE_A_RANGE_START, range->start))
		return -1;
	return range->length ?
	       nla_put_u64(msg, NEARCACHE_A_RANGE_LENGTH, range->length) : 0;
}

/* Put a range. Omits label, flags, priority and expiry that equal those of @before (NULL: none). */
static int put_range(struct nl_msg *msg, int type, const struct nl_range *range,
		     const struct nl_range *before)
{
	struct nlattr *nest = nla_nest_start(msg, type);

	if (!nest || nla_put_u64(msg, NEARCACHE_A_RANGE_START,
				 range->range.start) ||
	    nla_put_u64(msg, NEARCACHE_A_RANGE_LENGTH, range->range.length))
		return -1;
	if ((!before || !same_label(range, before)) &&
	    nla_put_string(msg, NEARCACHE_A_RANGE_LABEL, range->label))
		return -1;
	if ((!before || range->flags != before->flags) &&
	    nla_put_u32(msg, NEARCACHE_A_RANGE_FLAGS, range->flags))
		return -1;
	if ((!before || range->priority != before->priority) &&
	    nla_put_u32(msg, NEARCACHE_A_RANGE_PRIORITY, range->priority))
		return -1;
	if ((!before || range->expires != before->expires) &&
	    nla_put_u32(msg, NEARCACHE_A_RANGE_EXPIRES, range->expires))
		return -1;
	nla_nest_end(msg, nest);
	return 0;
}

static size_t room_of(const struct nl_range *range, size_t count)
{
	size_t i, bytes = 0;

	for (i = 0; i < count; i++) {
		bytes += RANGE_ROOM;
		if (range[i].label &&
		    (!i || !same_label(&range[i], &range[i - 1])))
			bytes += strlen(range[i].label) + 8;
	}
	return bytes;
}

static int put_ranges(struct nl_msg *msg, int type, const struct nl_range *range, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (put_range(msg, type, &range[i], i ? &range[i - 1] : NULL))
			return -1;
	return 0;
}

static int put_drop(struct nl_msg *msg, const struct nl_range *drop, size_t count)
{
	struct nlattr *nest;
	size_t i;

	for (i = 0; i < count; i++) {
		nest = nla_nest_start(msg, NEARCACHE_A_DEVICE_DROP);
		if (!nest || put_piece(msg, &drop[i].range) ||
		    (drop[i].label && nla_put_string(msg, NEARCACHE_A_RANGE_LABEL,
						     drop[i].label)))
			return -1;
		nla_nest_end(msg, nest);
	}
	return 0;
}

static struct nl_msg *replace_request(dev_t number, const struct nl_replacement *change)
{
	struct nl_msg *msg = nl_request(NEARCACHE_CMD_RANGE_REPLACE, 0, number,
					change->drop_count * (RANGE_ROOM + NEARCACHE_LABEL_MAX) +
					room_of(change->keep, change->keep_count) +
					room_of(change->add, change->add_count));

	if (!msg)
		return NULL;
	if (put_drop(msg, change->drop, change->drop_count) ||
	    put_ranges(msg, NEARCACHE_A_DEVICE_KEEP, change->keep, change->keep_count) ||
	    put_ranges(msg, NEARCACHE_A_DEVICE_RANGE, change->add, change->add_count)) {
		nlmsg_free(msg);
		fail_memory();
		return NULL;
	}
	return msg;
}

/*
 * Delete ranges and add others in one atomic change. All ranges must lie inside the device. Ranges
 * to add or keep must have labels. Cached data of a deleted range stays cached. If the cache has no
 * room for the pins, nothing changes, @change->refused is true, and the function returns 0.
 */
int nl_range_replace(dev_t number, struct nl_replacement *change)
{
	struct reply reply = { 0 };
	struct nl_msg *msg;

	change->deleted = 0;
	change->refused = false;
	if (!change->drop_count && !change->add_count)
		return nl_range_room(number, &change->room);
	if (change->add_count > NEARCACHE_RANGES_MAX)
		return fail(CODE_DEVICE,
			    "%zu ranges are more than the %d that a device can have: name fewer files, or less fragmented ones",
			    change->add_count, NEARCACHE_RANGES_MAX);
	msg = replace_request(number, change);
	if (!msg || nl_ask(msg, "cannot change ranges", on_reply, &reply))
		return fail_code();
	if (reply.error && reply.error != ENOSPC)
		return fail_errno(reply.error, "cannot change ranges");
	change->refused = reply.error;
	change->room = reply.room;
	change->deleted = reply.room.count;
	return 0;
}

/* Get the number of ranges and the space that pins need. */
int nl_range_room(dev_t number, struct nl_room *room)
{
	struct nl_msg *msg = nl_request(NEARCACHE_CMD_RANGE_GET, 0, number, 0);
	struct reply reply = { 0 };

	if (!msg || nl_ask(msg, "cannot ask for ranges", on_reply, &reply))
		return fail_code();
	*room = reply.room;
	return 0;
}

/* Call nl_left.visit for the ranges in a message, which have no labels. */
int nl_on_left(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *h = genlmsg_hdr(nlmsg_hdr(msg));
	struct nlattr *a, *tb[NEARCACHE_A_RANGE_MAX + 1];
	const struct nl_left *left = arg;
	int rest;

	nla_for_each_attr(a, genlmsg_attrdata(h, 0), genlmsg_attrlen(h, 0), rest) {
		struct range range;

		if (nla_type(a) != NEARCACHE_A_DEVICE_RANGE ||
		    nla_parse_nested(tb, NEARCACHE_A_RANGE_MAX, a, NULL) ||
		    !tb[NEARCACHE_A_RANGE_START] || !tb[NEARCACHE_A_RANGE_LENGTH])
			continue;
		range.start = nla_get_u64(tb[NEARCACHE_A_RANGE_START]);
		range.length = nla_get_u64(tb[NEARCACHE_A_RANGE_LENGTH]);
		left->visit(&range, left->arg);
	}
	return NL_OK;
}

struct telling_ranges {
	void (*visit)(const struct nl_range *range, void *arg);
	void *arg;
};

static int on_ranges(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *h = genlmsg_hdr(nlmsg_hdr(msg));
	struct nlattr *a, *tb[NEARCACHE_A_RANGE_MAX + 1];
	const struct telling_ranges *telling = arg;
	int left;

	nla_for_each_attr(a, genlmsg_attrdata(h, 0), genlmsg_attrlen(h, 0),
			  left) {
		struct nl_range range = { 0 };

		if (nla_type(a) != NEARCACHE_A_DEVICE_RANGE ||
		    nla_parse_nested(tb, NEARCACHE_A_RANGE_MAX, a, NULL) ||
		    !tb[NEARCACHE_A_RANGE_START] ||
		    !tb[NEARCACHE_A_RANGE_LENGTH] ||
		    !tb[NEARCACHE_A_RANGE_LABEL] ||
		    !tb[NEARCACHE_A_RANGE_FLAGS] ||
		    !tb[NEARCACHE_A_RANGE_PRIORITY] ||
		    !tb[NEARCACHE_A_RANGE_EXPIRES])
			continue;
		range.range.start = nla_get_u64(tb[NEARCACHE_A_RANGE_START]);
		range.range.length = nla_get_u64(tb[NEARCACHE_A_RANGE_LENGTH]);
		range.label = nla_get_string(tb[NEARCACHE_A_RANGE_LABEL]);
		range.flags = nla_get_u32(tb[NEARCACHE_A_RANGE_FLAGS]);
		range.priority = nla_get_u32(tb[NEARCACHE_A_RANGE_PRIORITY]);
		range.expires = nla_get_u32(tb[NEARCACHE_A_RANGE_EXPIRES]);
		telling->visit(&range, telling->arg);
	}
	return NL_OK;
}

/* Call @visit for all ranges in ascending order. The label is valid only during the call. */
int nl_range_each(dev_t number,
		  void (*visit)(const struct nl_range *range, void *arg),
		  void *arg)
{
	struct telling_ranges telling = { visit, arg };
	struct nl_msg *msg = nl_request(NEARCACHE_CMD_RANGE_GET, NLM_F_DUMP,
					number, 0);

	return msg ? nl_ask(msg, "cannot ask for ranges", on_ranges, &telling) :
		     (int)fail_code();
}

struct telling_labels {
	void (*visit)(const struct nl_label *label, void *arg);
	void *arg;
};

static uint64_t number_of(struct nlattr *const *tb, int type)
{
	return tb[type] ? nla_get_u64(tb[type]) : 0;
}

static int on_label(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[NEARCACHE_A_DEVICE_MAX + 1];
	struct nlattr *in[NEARCACHE_A_LABEL_MAX + 1];
	const struct telling_labels *telling = arg;
	struct nl_label label;
	int i;

	if (genlmsg_parse(nlmsg_hdr(msg), 0, tb, NEARCACHE_A_DEVICE_MAX, NULL) ||
	    !tb[NEARCACHE_A_DEVICE_LABEL] ||
	    nla_parse_nested(in, NEARCACHE_A_LABEL_MAX,
			     tb[NEARCACHE_A_DEVICE_LABEL], NULL) ||
	    !in[NEARCACHE_A_LABEL_NAME])
		return NL_OK;
	label.name = nla_get_string(in[NEARCACHE_A_LABEL_NAME]);
	label.ranges = number_of(in, NEARCACHE_A_LABEL_RANGES);
	label.bytes = number_of(in, NEARCACHE_A_LABEL_BYTES);
	label.id = in[NEARCACHE_A_LABEL_ID] ?
		   nla_get_u32(in[NEARCACHE_A_LABEL_ID]) : 0;
	for (i = 0; i < NEARCACHE_LABEL_COUNTER_COUNT; i++)
		label.counter[i] = number_of(in, NEARCACHE_A_LABEL_HITS + i);
	telling->visit(&label, telling->arg);
	return NL_OK;
}

/* Call @visit for all labels with their counters. The name is valid only during the call. */
int nl_label_each(dev_t number,
		  void (*visit)(const struct nl_label *label, void *arg),
		  void *arg)
{
	struct telling_labels telling = { visit, arg };
	struct nl_msg *msg = nl_request(NEARCACHE_CMD_LABEL_GET, NLM_F_DUMP,
					number, 0);

	return msg ? nl_ask(msg, "cannot ask for labels", on_label, &telling) :
		     (int)fail_code();
}
