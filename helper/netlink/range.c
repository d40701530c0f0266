// SPDX-License-Identifier: GPL-2.0-only
/* Ranges of a device, and their labels. */
#include <errno.h>
#include <netlink/genl/genl.h>
#include <string.h>

#include "lib/error.h"
#include "netlink/client.h"
#include "netlink/request.h"

/* Bytes of a range in a request, without its label. */
#define RANGE_ROOM	56U
/* In one request to delete some. */
#define DELETE_MAX	1024U

/**
 * struct reply - what the kernel says of a change
 * @error: why it was refused, positive errno, or 0
 * @room: what pins take afterwards, or would
 */
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

/* One range; @before: the one before it, whose values it has but for its own. */
static int put_range(struct nl_msg *msg, const struct nl_range *range,
		     const struct nl_range *before)
{
	struct nlattr *nest = nla_nest_start(msg, NEARCACHE_A_DEVICE_RANGE);

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

/**
 * nl_range_add() - add ranges: all, or none
 * @number: dm device
 * @range: with labels, inside the device
 * @count: how many, not 0
 * @room: what pins need then, and what they may; also when refused for that
 * @refused: there is no room: nothing was added, and no error is recorded
 *
 * Return: 0 or the exit code.
 */
int nl_range_add(dev_t number, const struct nl_range *range, size_t count,
		 struct nl_room *room, bool *refused)
{
	struct reply reply = { 0 };
	struct nl_msg *msg;
	size_t i;

	*refused = false;
	if (count > NEARCACHE_RANGES_MAX)
		return fail(CODE_DEVICE,
			    "%zu ranges are more than the %d that a device can have: name fewer files, or less fragmented ones",
			    count, NEARCACHE_RANGES_MAX);
	msg = nl_request(NEARCACHE_CMD_RANGE_ADD, 0, number,
			 room_of(range, count));
	if (!msg)
		return fail_code();
	for (i = 0; i < count; i++)
		if (put_range(msg, &range[i], i ? &range[i - 1] : NULL)) {
			nlmsg_free(msg);
			return fail_memory();
		}
	if (nl_ask(msg, "cannot add ranges", on_reply, &reply))
		return fail_code();
	*room = reply.room;
	*refused = reply.error == ENOSPC;
	if (reply.error && !*refused)
		return fail_errno(reply.error, "cannot add ranges");
	return 0;
}

static int put_which(struct nl_msg *msg, const struct nl_range *which)
{
	struct nlattr *nest = nla_nest_start(msg, NEARCACHE_A_DEVICE_RANGE);

	if (!nest || put_piece(msg, &which->range) ||
	    (which->label && nla_put_string(msg, NEARCACHE_A_RANGE_LABEL,
					    which->label)))
		return -1;
	nla_nest_end(msg, nest);
	return 0;
}

static int delete_some(dev_t number, const struct nl_range *which, size_t count,
		       uint64_t *deleted)
{
	struct nl_msg *msg = nl_request(NEARCACHE_CMD_RANGE_DELETE, 0, number,
					count * (RANGE_ROOM +
						 NEARCACHE_LABEL_MAX));
	struct reply reply = { 0 };
	size_t i;

	if (!msg)
		return fail_code();
	for (i = 0; i < count; i++)
		if (put_which(msg, &which[i])) {
			nlmsg_free(msg);
			return fail_memory();
		}
	if (nl_ask(msg, "cannot delete ranges", on_reply, &reply))
		return fail_code();
	*deleted += reply.room.count;
	return 0;
}

/**
 * nl_range_delete() - delete the ranges that lie in one of the given ones
 * @number: dm device
 * @which: those, and whose; of length 0: up to the end of the device
 * @count: how many
 * @deleted: how many were deleted; also when only some were, after a failure
 *
 * What is cached stays, as other data.
 *
 * Return: 0 or the exit code.
 */
int nl_range_delete(dev_t number, const struct nl_range *which, size_t count,
		    uint64_t *deleted)
{
	size_t done, some;

	*deleted = 0;
	for (done = 0; done < count; done += some) {
		some = count - done < DELETE_MAX ? count - done : DELETE_MAX;
		if (delete_some(number, which + done, some, deleted))
			return fail_code();
	}
	return 0;
}

/**
 * nl_range_room() - how many ranges there are, and what pins take
 * @number: dm device
 * @room: the result
 *
 * Return: 0 or the exit code.
 */
int nl_range_room(dev_t number, struct nl_room *room)
{
	struct nl_msg *msg = nl_request(NEARCACHE_CMD_RANGE_GET, 0, number, 0);
	struct reply reply = { 0 };

	if (!msg || nl_ask(msg, "cannot ask for ranges", on_reply, &reply))
		return fail_code();
	*room = reply.room;
	return 0;
}

/**
 * struct telling_ranges - to whom a dump is told
 * @visit: of the caller
 * @arg: for it
 */
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

/**
 * nl_range_each() - all ranges of a device, in ascending order
 * @number: dm device
 * @visit: called for each; the label is gone afterwards
 * @arg: for @visit
 *
 * Return: 0 or the exit code.
 */
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

/**
 * struct telling_labels - to whom a dump is told
 * @visit: of the caller
 * @arg: for it
 */
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

/**
 * nl_label_each() - all labels of a device, and what was done with their ranges
 * @number: dm device
 * @visit: called for each; the name is gone afterwards
 * @arg: for @visit
 *
 * Return: 0 or the exit code.
 */
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
