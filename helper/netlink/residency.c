// SPDX-License-Identifier: GPL-2.0-only
/* Ask which bytes of a device are cached. */
#include <linux/netlink.h>
#include <netlink/genl/genl.h>

#include "lib/error.h"
#include "nearcache.h"
#include "netlink/client.h"
#include "netlink/request.h"

/*
 * Joins adjacent runs that are both cached or both not cached. @run: the last run, for which @visit
 * was not called yet because the next run may extend it; length 0: none.
 */
struct residency {
	void (*visit)(const struct nl_run *run, void *arg);
	void *arg;
	struct nl_run run;
};

static void tell_run(struct residency *r, const struct nl_run *next)
{
	if (r->run.length && r->run.cached == next->cached &&
	    r->run.start + r->run.length == next->start) {
		r->run.length += next->length;
		return;
	}
	if (r->run.length)
		r->visit(&r->run, r->arg);
	r->run = *next;
}

static int on_runs(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *h = genlmsg_hdr(nlmsg_hdr(msg));
	struct nlattr *a, *tb[NEARCACHE_A_RUN_MAX + 1];
	int left;

	nla_for_each_attr(a, genlmsg_attrdata(h, 0), genlmsg_attrlen(h, 0), left) {
		struct nl_run run;

		if (nla_type(a) != NEARCACHE_A_DEVICE_RUN ||
		    nla_parse_nested(tb, NEARCACHE_A_RUN_MAX, a, NULL) ||
		    !tb[NEARCACHE_A_RUN_START] ||
		    !tb[NEARCACHE_A_RUN_LENGTH] ||
		    !tb[NEARCACHE_A_RUN_CACHED])
			continue;
		run.start = nla_get_u64(tb[NEARCACHE_A_RUN_START]);
		run.length = nla_get_u64(tb[NEARCACHE_A_RUN_LENGTH]);
		run.cached = nla_get_u32(tb[NEARCACHE_A_RUN_CACHED]) ==
			     NEARCACHE_CACHED_ALL;
		tell_run(arg, &run);
	}
	return NL_OK;
}

/*
 * Call @visit for the runs of a range in ascending order, without gaps; cached and uncached runs
 * alternate.
 * @range: length 0 stands for the whole device.
 */
int nl_residency(dev_t number, const struct range *range,
		 void (*visit)(const struct nl_run *run, void *arg), void *arg)
{
	struct residency residency = { .visit = visit, .arg = arg };
	struct nl_msg *msg;

	msg = nl_request(NEARCACHE_CMD_RESIDENCY_GET, NLM_F_DUMP, number, 0);
	if (!msg)
		return fail_code();
	if (range->length &&
	    (nla_put_u64(msg, NEARCACHE_A_DEVICE_START, range->start) ||
	     nla_put_u64(msg, NEARCACHE_A_DEVICE_LENGTH, range->length))) {
		nlmsg_free(msg);
		return fail_memory();
	}
	if (nl_ask(msg, "cannot ask for the cached ranges", on_runs, &residency))
		return fail_code();
	if (residency.run.length)
		visit(&residency.run, arg);
	return 0;
}
