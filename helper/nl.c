// SPDX-License-Identifier: GPL-2.0-only
#include "nl.h"

#include <errno.h>
#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>

#include "dm.h"
#include "fail.h"
#include "nearcache.h"

static struct nl_sock *sock;
static int family;

/**
 * struct answer - what has come of a request
 * @over: all of it is there
 * @error: of the kernel, positive errno, or 0
 * @interrupted: devices came or went during a dump
 * @text: what the kernel says of the error
 */
struct answer {
	bool over;
	int error;
	bool interrupted;
	char text[256];
};

static int fail_nl(int error, const char *what)
{
	return fail(error == -NLE_PERM ? CODE_PERMISSION : CODE_DEVICE,
		    "%s: %s", what, nl_geterror(error));
}

static void set_option(int option)
{
	int one = 1;

	/* A kernel that lacks it says less. */
	setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, option, &one,
		   sizeof(one));
}

static int connect_kernel(void)
{
	int error;

	if (family > 0)
		return 0;
	sock = nl_socket_alloc();
	if (!sock)
		return fail_memory();
	error = genl_connect(sock);
	if (error)
		return fail_nl(error, "cannot open a netlink socket");
	set_option(NETLINK_EXT_ACK);
	set_option(NETLINK_CAP_ACK);
	set_option(NETLINK_GET_STRICT_CHK);
	family = genl_ctrl_resolve(sock, NEARCACHE_FAMILY_NAME);
	if (family < 0)
		return fail(CODE_DEVICE,
			    "the kernel has no netlink family '%s': modprobe %s",
			    NEARCACHE_FAMILY_NAME, DM_MODULE);
	return 0;
}

/* @at: behind the number of an error, up to the end of the message @h. */
static void take_text(struct answer *answer, const struct nlmsghdr *h,
		      const char *at)
{
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1] = { NULL };
	int bytes = (int)((const char *)h + h->nlmsg_len - at);

	if (bytes > 0 &&
	    !nla_parse(tb, NLMSGERR_ATTR_MAX, (struct nlattr *)at, bytes,
		       NULL) &&
	    tb[NLMSGERR_ATTR_MSG])
		nla_strlcpy(answer->text, tb[NLMSGERR_ATTR_MSG],
			    sizeof(answer->text));
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *error, void *arg)
{
	const struct nlmsghdr *h = (const void *)((const char *)error -
						  NLMSG_HDRLEN);
	struct answer *answer = arg;

	(void)from;
	answer->error = -error->error;
	answer->over = true;
	if (h->nlmsg_flags & NLM_F_ACK_TLVS)
		take_text(answer, h, (const char *)(error + 1));
	return NL_STOP;
}

/* The end of a dump; it says whether all went well. */
static int on_finish(struct nl_msg *msg, void *arg)
{
	const struct nlmsghdr *h = nlmsg_hdr(msg);
	struct answer *answer = arg;
	int error = 0;

	if (nlmsg_datalen(h) >= (int)sizeof(error))
		memcpy(&error, nlmsg_data(h), sizeof(error));
	answer->error = -error;
	answer->over = true;
	take_text(answer, h, (const char *)nlmsg_data(h) + sizeof(error));
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct answer *answer = arg;

	(void)msg;
	answer->over = true;
	return NL_STOP;
}

static int on_interrupt(struct nl_msg *msg, void *arg)
{
	struct answer *answer = arg;

	(void)msg;
	answer->interrupted = true;
	return NL_OK;
}

static int receive(struct answer *answer, nl_recvmsg_msg_cb_t valid, void *arg)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int error = 0;

	if (!cb)
		return fail_memory();
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, answer);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, answer);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, answer);
	nl_cb_set(cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, on_interrupt, answer);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, valid, arg);
	while (!answer->over && !error)
		error = nl_recvmsgs(sock, cb);
	nl_cb_put(cb);
	return error && !answer->over ?
	       fail_nl(error, "no answer of the kernel over netlink") : 0;
}

/* Sends @msg, which is freed, and takes all of the answer. */
static int ask(struct nl_msg *msg, const char *what, nl_recvmsg_msg_cb_t valid,
	       void *arg)
{
	struct answer answer = { 0 };
	int error = nl_send_auto(sock, msg);

	nlmsg_free(msg);
	if (error < 0)
		return fail_nl(error, what);
	if (receive(&answer, valid, arg))
		return fail_code();
	if (answer.error)
		return fail_errno(answer.error, "%s%s%s", what,
				  *answer.text ? ": " : "", answer.text);
	if (answer.interrupted)
		return fail(CODE_BUSY,
			    "%s: devices came or went meanwhile: try again",
			    what);
	return 0;
}

static struct nl_msg *request(int command, int flags, dev_t number)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (msg && genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, flags,
			       (uint8_t)command, NEARCACHE_FAMILY_VERSION) &&
	    !nla_put_u32(msg, NEARCACHE_A_DEVICE_DEV,
			 major(number) << 20 | minor(number)))
		return msg;
	nlmsg_free(msg);
	fail_memory();
	return NULL;
}

/**
 * struct residency - runs on their way to who asked
 * @visit: of the caller
 * @arg: of the caller
 * @run: not told yet: the next one may go on with it; @run.length 0: none
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

/**
 * nl_residency() - which bytes of a device are cached
 * @number: dm device
 * @range: which piece of it; of length 0: all
 * @visit: called for each run, in ascending order and without gaps; neighbours differ
 * @arg: for @visit
 *
 * Return: 0 or the exit code.
 */
int nl_residency(dev_t number, const struct range *range,
		 void (*visit)(const struct nl_run *run, void *arg), void *arg)
{
	struct residency residency = { .visit = visit, .arg = arg };
	struct nl_msg *msg;

	if (connect_kernel())
		return fail_code();
	msg = request(NEARCACHE_CMD_RESIDENCY_GET, NLM_F_DUMP, number);
	if (!msg)
		return fail_code();
	if (range->length &&
	    (nla_put_u64(msg, NEARCACHE_A_DEVICE_START, range->start) ||
	     nla_put_u64(msg, NEARCACHE_A_DEVICE_LENGTH, range->length))) {
		nlmsg_free(msg);
		return fail_memory();
	}
	if (ask(msg, "cannot ask what is cached", on_runs, &residency))
		return fail_code();
	if (residency.run.length)
		visit(&residency.run, arg);
	return 0;
}
