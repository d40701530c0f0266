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

/* The module was loaded again, and its group may have another number: listen to it. */
static void take_new_group(struct nl_msg *msg)
{
	struct nlattr *tb[CTRL_ATTR_MAX + 1], *group[CTRL_ATTR_MCAST_GRP_MAX + 1], *attr;
	int left;

	if (genlmsg_hdr(nlmsg_hdr(msg))->cmd != CTRL_CMD_NEWMCAST_GRP ||
	    genlmsg_parse(nlmsg_hdr(msg), 0, tb, CTRL_ATTR_MAX, NULL) ||
	    !tb[CTRL_ATTR_FAMILY_NAME] || !tb[CTRL_ATTR_MCAST_GROUPS] ||
	    nla_strcmp(tb[CTRL_ATTR_FAMILY_NAME], NEARCACHE_FAMILY_NAME))
		return;
	nla_for_each_nested(attr, tb[CTRL_ATTR_MCAST_GROUPS], left)
		if (!nla_parse_nested(group, CTRL_ATTR_MCAST_GRP_MAX, attr, NULL) &&
		    group[CTRL_ATTR_MCAST_GRP_NAME] && group[CTRL_ATTR_MCAST_GRP_ID] &&
		    !nla_strcmp(group[CTRL_ATTR_MCAST_GRP_NAME], NEARCACHE_MCGRP_EVENTS))
			nl_socket_add_membership(sock, (int)nla_get_u32(group[CTRL_ATTR_MCAST_GRP_ID]));
}

static int on_event(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *header = genlmsg_hdr(nlmsg_hdr(msg));
	struct nlattr *tb[NEARCACHE_A_DEVICE_MAX + 1];
	const struct receiving *receiving = arg;
	struct nl_event event = { 0 };
	uint32_t number;

	if (nlmsg_hdr(msg)->nlmsg_type == GENL_ID_CTRL) {
		take_new_group(msg);
		return NL_OK;
	}
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

/*
 * Joins the group of the module's events. Asks on a socket of its own: on that of the events, one of these
 * could take the place of the answer. Joining again does no harm.
 */
static int join_group(void)
{
	struct nl_sock *asking = nl_socket_alloc();
	int group, error;

	if (!asking)
		return fail_memory();
	error = genl_connect(asking);
	group = error ? error : genl_ctrl_resolve_grp(asking, NEARCACHE_FAMILY_NAME, NEARCACHE_MCGRP_EVENTS);
	nl_socket_free(asking);
	if (error)
		return fail(CODE_DEVICE, "cannot open a netlink socket: %s", nl_geterror(error));
	if (group < 0)
		return fail(CODE_DEVICE, "the kernel has no netlink family '%s': modprobe %s",
			    NEARCACHE_FAMILY_NAME, DM_MODULE);
	error = nl_socket_add_membership(sock, group);
	return error ? fail(CODE_DEVICE, "cannot listen to events: %s", nl_geterror(error)) : 0;
}

/* Starts to listen. @fd is readable when nl_events_read() finds an event. */
int nl_events_open(int *fd)
{
	int error;

	sock = nl_socket_alloc();
	if (!sock)
		return fail_memory();
	error = genl_connect(sock);
	if (error)
		return fail(CODE_DEVICE, "cannot open a netlink socket: %s", nl_geterror(error));
	nl_socket_set_nonblocking(sock);
	nl_socket_set_buffer_size(sock, BUFFER_BYTES, 0);
	/* The kernel announces families in the group that has the number of its own family. */
	error = nl_socket_add_membership(sock, GENL_ID_CTRL);
	if (error)
		return fail(CODE_DEVICE, "cannot listen to events: %s", nl_geterror(error));
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
	/* The announcement of a new group may be one of the lost messages. Without the module there is none. */
	if (*lost && join_group())
		fail_reset();
	return error < 0 && error != -NLE_AGAIN && !*lost ?
	       fail(CODE_DEVICE, "cannot read events: %s", nl_geterror(error)) : 0;
}
