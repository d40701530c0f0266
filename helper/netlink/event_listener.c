// SPDX-License-Identifier: GPL-2.0-only
#include "netlink/event_listener.h"

#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "block/dm.h"
#include "lib/error.h"
#include "nearcache.h"

/* Attribute of the first field: attributes begin with "unused" and the pad. */
#define FIRST_FIELD	2
/* Receive buffer: a storm of events must not be lost while the output is slow. */
#define BUFFER_BYTES	(1 << 20)

static struct nl_sock *sock;

struct receiving {
	void (*visit)(const struct nl_event *event, void *arg);
	void *arg;
};

static void take_fields(struct nl_event *event, struct nlattr *nest)
{
	struct nlattr *attr;
	int left;

	event->has_status = true;
	nla_for_each_nested(attr, nest, left) {
		unsigned int field = nla_type(attr) - FIRST_FIELD;

		if (nla_type(attr) >= FIRST_FIELD && field < NEARCACHE_STATUS_FIELD_COUNT)
			event->field[field] = nla_get_u64(attr);
	}
}

static int on_event(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *header = genlmsg_hdr(nlmsg_hdr(msg));
	struct nlattr *tb[NEARCACHE_A_DEVICE_MAX + 1];
	const struct receiving *receiving = arg;
	struct nl_event event = { 0 };
	uint32_t number;

	if (header->cmd != NEARCACHE_CMD_DEVICE_EVENT ||
	    genlmsg_parse(nlmsg_hdr(msg), 0, tb, NEARCACHE_A_DEVICE_MAX, NULL) ||
	    !tb[NEARCACHE_A_DEVICE_DEV] || !tb[NEARCACHE_A_DEVICE_EVENT])
		return NL_OK;
	number = nla_get_u32(tb[NEARCACHE_A_DEVICE_DEV]);
	event.number = makedev(number >> 20, number & 0xfffff);
	event.event = nla_get_u32(tb[NEARCACHE_A_DEVICE_EVENT]);
	if (tb[NEARCACHE_A_DEVICE_NAME])
		nla_strlcpy(event.name, tb[NEARCACHE_A_DEVICE_NAME], sizeof(event.name));
	if (tb[NEARCACHE_A_DEVICE_STATUS])
		take_fields(&event, tb[NEARCACHE_A_DEVICE_STATUS]);
	receiving->visit(&event, receiving->arg);
	return NL_OK;
}

/* The events of a group have no sequence number that this program knows. */
static int accept_sequence(struct nl_msg *msg, void *arg)
{
	(void)msg;
	(void)arg;
	return NL_OK;
}

static int join_group(void)
{
	int error = genl_connect(sock), group;

	if (error)
		return fail(CODE_DEVICE, "cannot open a netlink socket: %s", nl_geterror(error));
	group = genl_ctrl_resolve_grp(sock, NEARCACHE_FAMILY_NAME, NEARCACHE_MCGRP_EVENTS);
	if (group < 0)
		return fail(CODE_DEVICE, "the kernel has no netlink family '%s': modprobe %s",
			    NEARCACHE_FAMILY_NAME, DM_MODULE);
	nl_socket_set_nonblocking(sock);
	nl_socket_set_buffer_size(sock, BUFFER_BYTES, 0);
	error = nl_socket_add_membership(sock, group);
	return error ? fail(CODE_DEVICE, "cannot listen to events: %s", nl_geterror(error)) : 0;
}

/* Starts to listen. @fd is readable when nl_events_read() finds an event. */
int nl_events_open(int *fd)
{
	sock = nl_socket_alloc();
	if (!sock)
		return fail_memory();
	if (join_group())
		return fail_code();
	*fd = nl_socket_get_fd(sock);
	return 0;
}

/* Calls @visit for each event that has come. @lost: the kernel had to drop events. */
int nl_events_read(void (*visit)(const struct nl_event *event, void *arg), void *arg, bool *lost)
{
	struct receiving receiving = { visit, arg };
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int error;

	*lost = false;
	if (!cb)
		return fail_memory();
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_event, &receiving);
	nl_cb_set(cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, accept_sequence, NULL);
	error = nl_recvmsgs(sock, cb);
	nl_cb_put(cb);
	/* libnl has no code of its own for ENOBUFS. */
	*lost = error == -NLE_NOMEM;
	return error < 0 && error != -NLE_AGAIN && !*lost ?
	       fail(CODE_DEVICE, "cannot read events: %s", nl_geterror(error)) : 0;
}
