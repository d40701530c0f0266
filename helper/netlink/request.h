/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests to the kernel module's netlink family, for the files of netlink/ only.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_NETLINK_REQUEST_H
#define HELPER_NETLINK_REQUEST_H

#include <netlink/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/range.h"

struct nl_msg *nl_request(int command, int flags, dev_t number, size_t bytes);
int nl_ask(struct nl_msg *msg, const char *what, nl_recvmsg_msg_cb_t valid,
	   void *arg);
int nl_look(struct nl_msg *msg, const char *what, nl_recvmsg_msg_cb_t valid,
	    void *arg, bool *found);

/* Where nl_on_left() delivers ranges without labels. */
struct nl_left {
	void (*visit)(const struct range *range, void *arg);
	void *arg;
};

int nl_on_left(struct nl_msg *msg, void *arg);

#endif /* HELPER_NETLINK_REQUEST_H */
