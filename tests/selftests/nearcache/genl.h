/* SPDX-License-Identifier: GPL-2.0-only */
/* Generic netlink without a library, so that a test can send any bytes. */
#ifndef GENL_H
#define GENL_H

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nearcache.h"

#define GENL_ROOM	(8 << 20)

static int genl_sock, genl_family, genl_group;
static unsigned char genl_request[GENL_ROOM], genl_answer[GENL_ROOM];

static void genl_die(const char *what)
{
	perror(what);
	exit(2);
}

static struct nlmsghdr *genl_message(int type, int flags, int command)
{
	struct nlmsghdr *h = (void *)genl_request;
	struct genlmsghdr *g = NLMSG_DATA(h);

	memset(genl_request, 0, NLMSG_LENGTH(GENL_HDRLEN));
	h->nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	h->nlmsg_type = type;
	h->nlmsg_flags = NLM_F_REQUEST | flags;
	h->nlmsg_seq = 1;
	g->cmd = command;
	g->version = 1;
	return h;
}

static struct nlattr *genl_add(unsigned int number, const void *data, size_t bytes)
{
	struct nlmsghdr *h = (void *)genl_request;
	struct nlattr *a = (void *)(genl_request + NLMSG_ALIGN(h->nlmsg_len));

	if (h->nlmsg_len + bytes + 64 > GENL_ROOM) {
		fprintf(stderr, "too much for a message\n");
		exit(2);
	}
	memset(a, 0, NLA_HDRLEN + NLA_ALIGN(bytes));
	a->nla_type = number;
	a->nla_len = NLA_HDRLEN + bytes;
	memcpy((char *)a + NLA_HDRLEN, data, bytes);
	h->nlmsg_len = NLMSG_ALIGN(h->nlmsg_len) + NLA_ALIGN(NLA_HDRLEN + bytes);
	return a;
}

static const struct nlattr *genl_next(const unsigned char **at, const unsigned char *end)
{
	const struct nlattr *a = (const void *)*at;

	if (end - *at < NLA_HDRLEN || a->nla_len < NLA_HDRLEN || a->nla_len > end - *at)
		return NULL;
	*at += NLA_ALIGN(a->nla_len);
	return a;
}

/* End a nest: the attribute at offset @begin of the request gets all that was added behind it. */
static void genl_nest(unsigned int number, size_t begin)
{
	struct nlmsghdr *h = (void *)genl_request;
	struct nlattr *a = (void *)(genl_request + begin);

	a->nla_type = number | NLA_F_NESTED;
	a->nla_len = h->nlmsg_len - begin;
}

/* Returns the payload of attribute @wanted, and its end in @behind; exits if there is none. */
static const unsigned char *genl_find(const unsigned char *at, const unsigned char *end,
				      unsigned int wanted, const unsigned char **behind)
{
	const struct nlattr *a;

	while ((a = genl_next(&at, end)))
		if ((a->nla_type & NLA_TYPE_MASK) == wanted) {
			*behind = (const unsigned char *)a + a->nla_len;
			return (const unsigned char *)a + NLA_HDRLEN;
		}
	fprintf(stderr, "no attribute %u of the family\n", wanted);
	exit(2);
}

static void genl_resolve(void)
{
	struct nlmsghdr *h = (void *)genl_answer;
	const unsigned char *at = (unsigned char *)NLMSG_DATA(h) + GENL_HDRLEN, *end, *in;
	uint16_t id;

	genl_message(GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY);
	genl_add(CTRL_ATTR_FAMILY_NAME, NEARCACHE_FAMILY_NAME, sizeof(NEARCACHE_FAMILY_NAME));
	if (send(genl_sock, genl_request, ((struct nlmsghdr *)genl_request)->nlmsg_len, 0) < 0 ||
	    recv(genl_sock, genl_answer, GENL_ROOM, 0) < 0)
		genl_die("netlink");
	if (h->nlmsg_type == NLMSG_ERROR) {
		fprintf(stderr, "there is no family %s\n", NEARCACHE_FAMILY_NAME);
		exit(1);
	}
	end = genl_answer + h->nlmsg_len;
	memcpy(&id, genl_find(at, end, CTRL_ATTR_FAMILY_ID, &in), sizeof(id));
	genl_family = id;
	/* The family has one multicast group: take the first entry of the list. */
	at = genl_find(at, end, CTRL_ATTR_MCAST_GROUPS, &end);
	at = genl_find(at, end, 1, &end);
	memcpy(&genl_group, genl_find(at, end, CTRL_ATTR_MCAST_GRP_ID, &in), sizeof(genl_group));
}

static void genl_open(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	int one = 1, room = GENL_ROOM;

	genl_sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (genl_sock < 0 || bind(genl_sock, (void *)&address, sizeof(address)) ||
	    setsockopt(genl_sock, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one)) ||
	    setsockopt(genl_sock, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one)) ||
	    setsockopt(genl_sock, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &one, sizeof(one)))
		genl_die("netlink");
	/* Large requests need a send buffer above the limit; root may have one. */
	setsockopt(genl_sock, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	genl_resolve();
}

#endif /* GENL_H */
