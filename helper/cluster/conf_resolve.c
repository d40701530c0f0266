// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/conf_resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/error.h"

/* Most addresses of a host name among which to choose. */
#define ADDRESSES		16
/* Time after which no further host name is resolved, seconds. */
#define RESOLVE_SECONDS		15

static uint64_t seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec;
}

static int by_node_name(const void *a, const void *b)
{
	return strcmp(((const struct cluster_node *)a)->name,
		      ((const struct cluster_node *)b)->name);
}

/* Replace the only node, dns:HOST, by a node for each known address of HOST, sorted. */
static int resolve_dns(struct cluster_conf *conf)
{
	char (*address)[ADDRESS_TEXT] = calloc(NEARCACHE_CLUSTER_NODES_MAX, sizeof(*address));
	struct cluster_node dns = conf->node[0], *node;
	const char *why;
	size_t count, i;

	if (!address)
		return fail_memory();
	known_set_host(&conf->known, dns.host);
	count = address_resolve(dns.host, address, NEARCACHE_CLUSTER_NODES_MAX, &why);
	if (!count && !conf->known.count)
		fail(CODE_USAGE, "'%s' line %u: dns:%s resolves to no address: %s; check it with 'getent ahosts %s'",
		     conf->path, dns.line, dns.host, why, dns.host);
	if (count > NEARCACHE_CLUSTER_NODES_MAX)
		fail(CODE_USAGE, "'%s' line %u: dns:%s has %zu addresses: a cluster has at most 256 nodes",
		     conf->path, dns.line, dns.host, count);
	if (!fail_code())
		known_take_answer(&conf->known, address, count, seconds_now());
	free(address);
	conf->nodes = 0;
	for (i = 0; i < conf->known.count && !fail_code(); i++) {
		node = cluster_conf_add_node(conf, dns.line);
		if (!node)
			break;
		strcpy(node->name, conf->known.known[i].address);
		strcpy(node->host, dns.host);
		strcpy(node->address, conf->known.known[i].address);
		node->port = dns.port;
	}
	if (!fail_code())
		qsort(conf->node, conf->nodes, sizeof(*conf->node), by_node_name);
	return fail_code();
}

/*
 * Returns the first of two addresses in the order of strcmp(), but an address that other machines
 * can reach before a loopback address. @a may be NULL. Name servers change the order with each
 * answer, and all nodes have to choose the same address.
 */
static const char *first_address(const char *a, const char *b)
{
	bool loop_a = a && address_is_loopback(a), loop_b = address_is_loopback(b);

	if (!a)
		return b;
	return (loop_a == loop_b ? strcmp(a, b) < 0 : loop_b) ? a : b;
}

/*
 * Choose an address of a host. For the host name of the local node, this also chooses among the
 * known addresses that the answer lacks, as long as this machine has them: so the export keeps its
 * address.
 * @answers: ask the name servers. Returns false, with @why, if there is no address.
 */
static bool resolve_host(struct cluster_node *node, struct known_addresses *known, bool answers,
			 const char **why)
{
	char address[ADDRESSES][ADDRESS_TEXT];
	size_t count = answers ? address_resolve(node->host, address, ADDRESSES, why) : 0, i;
	const char *first = NULL;

	if (count > ADDRESSES)
		count = ADDRESSES;
	for (i = 0; i < count; i++)
		first = first_address(first, address[i]);
	if (!strcmp(node->host, known->host)) {
		known_take_answer(known, address, count, seconds_now());
		for (i = 0; i < known->count; i++)
			if (address_is_local(known->known[i].address))
				first = first_address(first, known->known[i].address);
	}
	if (first)
		strcpy(node->address, first);
	return first;
}

/*
 * Resolve each host name. A name that cannot be resolved is no error: its node is absent, and the
 * others work. Name servers that do not answer take seconds for each name, so after RESOLVE_SECONDS
 * further names are not tried.
 */
static void resolve_nodes(struct cluster_conf *conf)
{
	uint64_t end = seconds_now() + RESOLVE_SECONDS;
	struct cluster_node *node;
	const char *why;

	for (node = conf->node; node < conf->node + conf->nodes; node++) {
		why = "the name servers take too long";
		if (!resolve_host(node, &conf->known, seconds_now() < end, &why))
			snprintf(node->why, sizeof(node->why), "%s", why);
	}
}

/* Remember the address of the local node, unless its line has the address itself. */
static void know_self(struct cluster_conf *conf)
{
	const struct cluster_node *self = cluster_conf_self(conf);

	if (conf->dns)
		return;
	known_set_host(&conf->known, strcmp(self->host, self->address) ? self->host : "");
	if (*conf->known.host)
		known_add(&conf->known, self->address, 0, 0);
}

static int check_addresses(const struct cluster_conf *conf)
{
	const struct cluster_node *a, *b;

	for (a = conf->node; a < conf->node + conf->nodes; a++)
		for (b = conf->node; b < a; b++)
			if (*a->address && a->port == b->port && !strcmp(a->address, b->address))
				return fail(CODE_USAGE,
					    "'%s' line %u: node '%s' has address %s port %u, and so has '%s' on line %u: each node needs its own",
					    conf->path, a->line, a->name, a->address, a->port,
					    b->name, b->line);
	return 0;
}

static int check_resolved(const struct cluster_conf *conf, const struct cluster_node *node)
{
	if (*node->address)
		return 0;
	return fail(CODE_USAGE,
		    "'%s' line %u: node '%s', address '%s' cannot be resolved: %s; give an IPv4 or IPv6 address",
		    conf->path, node->line, node->name, node->host, node->why);
}

static int find_named_self(struct cluster_conf *conf, const char *self)
{
	size_t i;

	for (i = 0; i < conf->nodes; i++)
		if (!strcmp(conf->node[i].name, self)) {
			conf->self = i;
			return check_resolved(conf, &conf->node[i]);
		}
	return fail(CODE_USAGE, "'%s' has no node '%s' (given by --self, " CLUSTER_NODE_VARIABLE
		    " or an earlier join): add a line 'node = %s ADDRESS' or name another node",
		    conf->path, self, self);
}

static int find_local_self(struct cluster_conf *conf)
{
	const struct cluster_node *found = NULL, *unknown = NULL, *node;

	for (node = conf->node; node < conf->node + conf->nodes; node++) {
		if (!*node->address)
			unknown = node;
		if (!*node->address || !address_is_local(node->address))
			continue;
		if (found)
			return fail(CODE_USAGE,
				    "'%s': nodes '%s' and '%s' both have an address of this machine: name the local node with --self NAME or " CLUSTER_NODE_VARIABLE,
				    conf->path, found->name, node->name);
		found = node;
	}
	if (!found && unknown)
		return check_resolved(conf, unknown);
	if (!found)
		return fail(CODE_USAGE,
			    "'%s': no node has an address of this machine (see 'ip address'): add it, or name the local node with --self NAME",
			    conf->path);
	conf->self = (size_t)(found - conf->node);
	return 0;
}

/*
 * Peers must be able to reach the address of the local node. Distributions let the own host name
 * resolve to 127.0.1.1.
 */
static int check_reachable(const struct cluster_conf *conf)
{
	const struct cluster_node *self = cluster_conf_self(conf), *node;

	if (!address_is_loopback(self->address))
		return 0;
	for (node = conf->node; node < conf->node + conf->nodes; node++)
		if (*node->address && !address_is_loopback(node->address))
			return fail(CODE_USAGE,
				    "'%s' line %u: '%s' of the local node '%s' is %s on this machine (see /etc/hosts), which '%s' cannot reach: give the address itself",
				    conf->path, self->line, self->host, self->name, self->address,
				    node->name);
	return 0;
}

/*
 * Resolve all host names and find the local node. @self: its name; NULL: find it by its address.
 * @known: addresses that an earlier join knew; NULL: none. @conf->known receives the new ones.
 * The name servers may take long: call this before lock_name().
 */
int cluster_conf_resolve(struct cluster_conf *conf, const char *self,
			 const struct known_addresses *known)
{
	if (known)
		conf->known = *known;
	if (!conf->dns)
		resolve_nodes(conf);
	else if (resolve_dns(conf))
		return fail_code();
	if (check_addresses(conf) ||
	    (self ? find_named_self(conf, self) : find_local_self(conf)))
		return fail_code();
	know_self(conf);
	return check_reachable(conf);
}
