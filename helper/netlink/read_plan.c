// SPDX-License-Identifier: GPL-2.0-only
/* Submit, query and clear the plan of a device: the order in which it will be read. */
#include <netlink/genl/genl.h>
#include <string.h>

#include "lib/error.h"
#include "netlink/client.h"
#include "netlink/request.h"

/* Bytes of a range in a request. */
#define RANGE_ROOM	32U
/* Maximum number of ranges in a request. */
#define PART_RANGES	16384U

static uint64_t number_of(struct nlattr *const *tb, int type)
{
	return tb[type] ? nla_get_u64(tb[type]) : 0;
}

static int on_plan(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[NEARCACHE_A_DEVICE_MAX + 1];
	struct nlattr *in[NEARCACHE_A_PLAN_MAX + 1];

	if (genlmsg_parse(nlmsg_hdr(msg), 0, tb, NEARCACHE_A_DEVICE_MAX, NULL) ||
	    !tb[NEARCACHE_A_DEVICE_PLAN] ||
	    nla_parse_nested(in, NEARCACHE_A_PLAN_MAX, tb[NEARCACHE_A_DEVICE_PLAN], NULL))
		return NL_OK;
	*(struct nl_plan *)arg = (struct nl_plan) {
		.coming = number_of(in, NEARCACHE_A_PLAN_AT),
		.state = in[NEARCACHE_A_PLAN_STATE] ?
			 nla_get_u32(in[NEARCACHE_A_PLAN_STATE]) : NEARCACHE_PLAN_NONE,
		.ranges = number_of(in, NEARCACHE_A_PLAN_RANGES),
		.visits = number_of(in, NEARCACHE_A_PLAN_VISITS),
		.blocks = number_of(in, NEARCACHE_A_PLAN_BLOCKS),
		.position = number_of(in, NEARCACHE_A_PLAN_POSITION),
		.hits = number_of(in, NEARCACHE_A_PLAN_HITS),
		.misses = number_of(in, NEARCACHE_A_PLAN_MISSES),
		.skipped = number_of(in, NEARCACHE_A_PLAN_SKIPPED),
		.astray = number_of(in, NEARCACHE_A_PLAN_ASTRAY),
		.refused = number_of(in, NEARCACHE_A_PLAN_REFUSED),
		.sought = number_of(in, NEARCACHE_A_PLAN_SOUGHT),
		.memory = number_of(in, NEARCACHE_A_PLAN_MEMORY),
		.no_prefetch = in[NEARCACHE_A_PLAN_NO_PREFETCH],
	};
	return NL_OK;
}

static int put_range(struct nl_msg *msg, const struct range *range)
{
	struct nlattr *nest = nla_nest_start(msg, NEARCACHE_A_DEVICE_RANGE);

	if (!nest || nla_put_u64(msg, NEARCACHE_A_RANGE_START, range->start) ||
	    nla_put_u64(msg, NEARCACHE_A_RANGE_LENGTH, range->length))
		return -1;
	nla_nest_end(msg, nest);
	return 0;
}

/* Mark the request as the last one of a plan. @flags: see nl_plan_submit(). */
static int put_commit(struct nl_msg *msg, unsigned int flags)
{
	if (nla_put_flag(msg, NEARCACHE_A_PLAN_COMMIT) ||
	    (flags & NL_PLAN_APPEND && nla_put_flag(msg, NEARCACHE_A_PLAN_APPEND)) ||
	    (flags & NL_PLAN_NO_PREFETCH && nla_put_flag(msg, NEARCACHE_A_PLAN_NO_PREFETCH)))
		return -1;
	return 0;
}

/*
 * Put ranges of a plan. @at: number of ranges in earlier requests. @commit: the plan ends here,
 * and these are its flags; NULL: more ranges follow.
 */
static int put_part(struct nl_msg *msg, const struct range *range, size_t count, uint64_t at,
		    const unsigned int *commit)
{
	struct nlattr *nest;
	size_t i;

	for (i = 0; i < count; i++)
		if (put_range(msg, &range[i]))
			return -1;
	nest = nla_nest_start(msg, NEARCACHE_A_DEVICE_PLAN);
	if (!nest || nla_put_u64(msg, NEARCACHE_A_PLAN_AT, at) ||
	    (commit && put_commit(msg, *commit)))
		return -1;
	nla_nest_end(msg, nest);
	return 0;
}

/*
 * Submit the order in which the device will be read, and get the state of the new plan. @count is
 * not 0. @flags: NL_PLAN_APPEND, NL_PLAN_NO_PREFETCH. After an error the previous plan stays
 * active.
 */
int nl_plan_submit(dev_t number, const struct range *range, size_t count, unsigned int flags,
		   struct nl_plan *plan)
{
	size_t at, part;

	for (at = 0; at < count; at += part) {
		struct nl_msg *msg;

		part = count - at < PART_RANGES ? count - at : PART_RANGES;
		msg = nl_request(NEARCACHE_CMD_PLAN_SUBMIT, 0, number, part * RANGE_ROOM);
		if (!msg)
			return fail_code();
		if (put_part(msg, range + at, part, at, at + part == count ? &flags : NULL)) {
			nlmsg_free(msg);
			return fail_memory();
		}
		if (nl_ask(msg, "cannot submit the plan", on_plan, plan))
			return fail_code();
	}
	return 0;
}

/* Get the progress of the active plan, or the result of the last one. */
int nl_plan_get(dev_t number, struct nl_plan *plan)
{
	struct nl_msg *msg = nl_request(NEARCACHE_CMD_PLAN_GET, 0, number, 0);

	memset(plan, 0, sizeof(*plan));
	return msg ? nl_ask(msg, "cannot ask for the plan", on_plan, plan) : (int)fail_code();
}

/*
 * Call @visit for the visits of the plan in force that are left, in order, as ranges for
 * nl_plan_submit(). Fails with CODE_BUSY if another plan came into force meanwhile.
 */
int nl_plan_left(dev_t number, void (*visit)(const struct range *range, void *arg), void *arg)
{
	struct nl_left left = { visit, arg };
	struct nl_msg *msg = nl_request(NEARCACHE_CMD_PLAN_GET, NLM_F_DUMP, number, 0);

	return msg ? nl_ask(msg, "cannot ask for the rest of the plan", nl_on_left, &left) :
		     (int)fail_code();
}

static int on_count(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[NEARCACHE_A_DEVICE_MAX + 1];

	if (!genlmsg_parse(nlmsg_hdr(msg), 0, tb, NEARCACHE_A_DEVICE_MAX, NULL))
		*(uint64_t *)arg = number_of(tb, NEARCACHE_A_DEVICE_COUNT);
	return NL_OK;
}

/* Drop the active plan, and a plan being submitted. @count: 1 if a plan was active, or 0. */
int nl_plan_clear(dev_t number, uint64_t *count)
{
	struct nl_msg *msg = nl_request(NEARCACHE_CMD_PLAN_CLEAR, 0, number, 0);

	*count = 0;
	return msg ? nl_ask(msg, "cannot clear the plan", on_count, count) : (int)fail_code();
}
