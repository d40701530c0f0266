// SPDX-License-Identifier: GPL-2.0-only
/* cluster.conf (cluster/conf.c): settings, addresses and weights; each error names line and value. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/conf.h"
#include "cluster/conf_resolve.h"
#include "cluster/conf_secret.h"
#include "said.h"

#define BASE	"cluster = c\n"
#define TWO	BASE "node = a 10.0.0.1\nnode = b 10.0.0.2\n"

static struct cluster_conf conf;

/* The resolver of the test: numbers are addresses, "many" has three, "loop" is this machine's. */
size_t address_resolve(const char *host, char (*address)[ADDRESS_TEXT], size_t room,
		       const char **why)
{
	static const char *const many[] = { "10.0.0.9", "10.0.0.1", "fd00::5" };
	size_t i;

	*why = "unknown host";
	if (!strcmp(host, "huge"))
		return NEARCACHE_CLUSTER_NODES_MAX + 1;
	for (i = 0; !strcmp(host, "many") && i < 3 && i < room; i++)
		strcpy(address[i], many[i]);
	if (i)
		return 3;
	if (!strcmp(host, "loop"))
		host = "127.0.1.1";
	if (!strchr(host, '.') && !strchr(host, ':'))
		return 0;
	snprintf(*address, ADDRESS_TEXT, "%s", host);
	return 1;
}

bool address_is_loopback(const char *address)
{
	return !strncmp(address, "127.", 4);
}

bool address_is_local(const char *address)
{
	return address_is_loopback(address) || !strcmp(address, "10.0.0.1") ||
	       !strcmp(address, "10.1.0.1");
}

static int parse(const char *text, const char *self)
{
	char copy[1024];

	cluster_conf_free(&conf);
	fail_reset();
	snprintf(copy, sizeof(copy), "%s", text);
	return cluster_conf_parse(&conf, "F", copy) || cluster_conf_resolve(&conf, self, NULL) ?
	       fail_code() : 0;
}

static void settings_taken(void **state)
{
	(void)state;
	assert_int_equal(parse(TWO, NULL), 0);
	assert_int_equal(conf.extent, 16 << 20);
	assert_int_equal(conf.replicas, 1);
	assert_int_equal(conf.transport, CLUSTER_TCP);
	assert_int_equal(conf.stall_timeout, 1000);
	assert_int_equal(conf.keep_alive, 6);
	assert_int_equal(conf.fast_io_fail, 2);
	assert_int_equal(conf.node[1].port, 4420);
	assert_false(conf.tls || conf.data_digest || conf.bandwidth || *conf.secret_file);
	assert_int_equal(parse("node = a 10.0.0.1 # first\n" BASE
			       "extent=1M\nreplicas = 2\ntransport = rdma\nport = 7\n"
			       "secret-file = /s\nbandwidth = 8Gb/s\nstall-timeout = 300ms\n"
			       "keep-alive = 1m\nfast-io-fail = 9\nnode = b 10.0.0.2:8\n", NULL), 0);
	assert_int_equal(conf.extent, 1 << 20);
	assert_int_equal(conf.replicas, 2);
	assert_int_equal(conf.transport, CLUSTER_RDMA);
	assert_string_equal(conf.secret_file, "/s");
	assert_int_equal(conf.bandwidth, 1000000000);
	assert_int_equal(conf.stall_timeout, 300);
	assert_int_equal(conf.keep_alive, 60);
	assert_int_equal(conf.fast_io_fail, 9);
	assert_int_equal(conf.node[0].port, 7);
	assert_int_equal(conf.node[1].port, 8);
	assert_int_equal(parse(TWO "tls = yes\ndata-digest = yes\nbandwidth = none\n", NULL), 0);
	assert_true(conf.tls && conf.data_digest && !conf.bandwidth);
}

static void nodes_taken(void **state)
{
	(void)state;
	assert_int_equal(parse(BASE "node = b [fd00::2]:9 3.5T\nnode = a \t 10.0.0.1 1G\n"
			       "node = c fd00::3 1.999GiB\n", NULL), 0);
	assert_int_equal(conf.nodes, 3);
	assert_string_equal(conf.node[0].address, "fd00::2");
	assert_int_equal(conf.node[0].port, 9);
	assert_int_equal(conf.node[0].weight, 3584);
	assert_string_equal(conf.node[2].address, "fd00::3");
	assert_int_equal(conf.node[1].weight, 1);
	assert_int_equal(conf.node[2].weight, 1);
	assert_string_equal(cluster_conf_self(&conf)->name, "a");
	assert_int_equal(parse(TWO "node = d 10.0.0.4 4294967295\n", "d"), 0);
	assert_string_equal(cluster_conf_self(&conf)->name, "d");
	assert_true(conf.node[2].weight == NEARCACHE_CLUSTER_WEIGHT_MAX);
	/* One machine may be several nodes. */
	assert_int_equal(parse(BASE "node = a 127.0.0.1:1\nnode = b 127.0.0.1:2\n", "b"), 0);
	assert_int_equal(parse(BASE "port = 5\nnode = dns:many\n", NULL), 0);
	assert_int_equal(conf.nodes, 3);
	assert_string_equal(conf.node[0].name, "10.0.0.1");
	assert_string_equal(conf.node[2].name, "fd00::5");
	assert_string_equal(conf.node[2].address, "fd00::5");
	assert_int_equal(conf.node[2].port, 5);
	assert_int_equal(conf.node[2].weight, 1);
	assert_int_equal(conf.self, 0);
	/* The order of the name server's answer does not matter. */
	assert_int_equal(parse(BASE "node = a many\nnode = b 10.0.0.2\n", NULL), 0);
	assert_string_equal(conf.node[0].address, "10.0.0.1");
	assert_int_equal(parse(BASE "node = dns:many:77\n", NULL), 0);
	assert_int_equal(conf.node[1].port, 77);
}

/* A host name that cannot be resolved keeps no other node from the cluster. */
static void unresolved_taken(void **state)
{
	char text[CLUSTER_PLACE];

	(void)state;
	assert_int_equal(parse(TWO "node = c nowhere\nnode = d nowhere:9\n", NULL), 0);
	assert_string_equal(conf.node[2].address, "");
	assert_string_equal(conf.node[2].why, "unknown host");
	assert_string_equal(cluster_node_place(&conf.node[2], text), "nowhere:4420");
	assert_string_equal(cluster_node_place(&conf.node[0], text), "10.0.0.1:4420");
	assert_string_equal(cluster_conf_self(&conf)->name, "a");
	assert_int_not_equal(parse(TWO "node = c nowhere", "c"), 0);
	assert_said("line 4: node 'c', address 'nowhere' cannot be resolved: unknown host");
}

/* The record of a join could not hold such a path. */
static void path_refused(void **state)
{
	static const char *const path[] = { "/etc/a#b", "/etc/a ", "/etc/a\nb" };
	size_t i;

	(void)state;
	cluster_conf_free(&conf);
	for (i = 0; i < 3; i++) {
		fail_reset();
		assert_int_equal(cluster_conf_read(&conf, path[i], NULL, NULL), CODE_USAGE);
		assert_said("cannot be the configuration of a cluster");
	}
}

static void refused(void **state)
{
	static const struct {
		const char *text;
		const char *says;
	} row[] = {
		{ "", "'F' has no line 'cluster = NAME'" },
		{ "x", "'F' line 1: 'x' is not of the form SETTING = VALUE" },
		{ BASE "speed = 1", "'F' line 2: 'speed' is not a setting: see cluster.conf(5)" },
		{ BASE BASE, "'F' line 2: 'cluster' is given twice" },
		{ "cluster = a b", "cluster 'a b': give 1 to 63 letters" },
		{ BASE, "'F' has no node: add a line 'node = NAME ADDRESS'" },
		{ BASE "extent = 3M", "extent '3M': give a power of two of 4K to 1T" },
		{ BASE "extent = 2K", "extent '2K': give a power of two" },
		{ BASE "replicas = 9", "replicas '9': give 1 to 8" },
		{ BASE "replicas = 0", "replicas '0': give 1 to 8" },
		{ BASE "transport = udp", "transport 'udp': give tcp or rdma" },
		{ BASE "port = 65536", "port '65536': give 1 to 65535" },
		{ BASE "port = -1", "port '-1': give 1 to 65535" },
		{ BASE "secret-file = s", "secret-file 's': give an absolute path" },
		{ BASE "tls = on", "tls 'on': give yes or no" },
		{ BASE "bandwidth = fast", "bandwidth 'fast': " },
		{ BASE "bandwidth = 8Mb/s", "'8Mb/s': give none, or 1 MiB to 1 TiB per second" },
		{ BASE "bandwidth = 2T/s", "'2T/s': give none, or 1 MiB to 1 TiB per second" },
		{ BASE "stall-timeout = 50ms", "'50ms': give 100ms to 10m" },
		{ BASE "stall-timeout = 11m", "'11m': give 100ms to 10m" },
		{ BASE "stall-timeout = 1xms", "'1xms': give 100ms to 10m" },
		{ BASE "keep-alive = 0", "keep-alive '0': " },
		{ BASE "fast-io-fail = 2h", "'2h': give at most 1h" },
		{ BASE "node = a", "line 2: node 'a': give NAME ADDRESS" },
		{ BASE "node =", "line 2: node '': give NAME ADDRESS" },
		{ BASE "node = a 10.0.0.1 1 2", "line 2: node 'a': give NAME ADDRESS" },
		{ BASE "node = a/b 10.0.0.1", "node 'a/b': its name must be" },
		{ BASE "node = a 10.0.0.1:0", "address '10.0.0.1:0': its port must be 1 to 65535" },
		{ BASE "node = a [fd00::1", "address '[fd00::1': give an address" },
		{ BASE "node = a 10.0.0.1 0", "weight '0': its weight must be" },
		{ BASE "node = a 10.0.0.1 4294967296", "weight '4294967296': its weight must be" },
		{ BASE "node = a 10.0.0.1 1.5", "weight '1.5': its unit must be G, T or P" },
		{ BASE "node = a 10.0.0.1 1.T", "weight '1.T': its weight must be" },
		{ BASE "node = a 10.0.0.1 500M", "weight '500M': its unit must be G, T or P" },
		{ BASE "node = a 10.0.0.1 0.5G", "weight '0.5G': a weight that is a size" },
		{ BASE "node = a 10.0.0.1 5000P", "weight '5000P': a weight that is a size" },
		{ TWO "node = a 10.0.0.3", "line 4: node 'a' is on line 2 already" },
		{ TWO "node = c 10.0.0.1", "line 4: node 'c' has address 10.0.0.1 port 4420, and so has 'a' on line 2" },
		{ TWO "node = c 10.0.0.3 1T", "lines 2 and 4: the weight of node 'c' is a size, that of 'a' a number" },
		{ BASE "node = c nowhere", "line 2: node 'c', address 'nowhere' cannot be resolved: unknown host" },
		{ TWO "node = c [fe80::1%eth0]:5", "address '[fe80::1%eth0': an address with a scope (%)" },
		{ TWO "node = c 10.1.0.1", "nodes 'a' and 'c' both have an address of this machine: name the local node with --self" },
		{ BASE "node = b 10.0.0.2", "no node has an address of this machine" },
		{ BASE "node = a loop\nnode = b 10.0.0.2", "'loop' of the local node 'a' is 127.0.1.1 on this machine (see /etc/hosts), which 'b' cannot reach" },
		{ BASE "node = dns:nowhere", "line 2: dns:nowhere resolves to no address: unknown host" },
		{ BASE "node = dns:huge", "dns:huge has 257 addresses: a cluster has at most 256" },
		{ BASE "node = dns:many 5", "node 'dns:many': nothing may follow" },
		{ BASE "node = dns:", "node 'dns:': give dns:HOST" },
		{ TWO "node = dns:many", "line 4: node 'dns:many': dns: gives all nodes" },
		{ BASE "node = dns:many\nnode = a 10.0.0.1", "line 3: node 'a': dns: gives all nodes" },
		{ TWO "transport = rdma\ntls = yes", "tls needs transport = tcp" },
		{ TWO "transport = rdma\ndata-digest = yes", "data-digest needs transport = tcp" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		assert_int_equal(parse(row[i].text, NULL), CODE_USAGE);
		assert_said(row[i].says);
		assert_said("'F'");
	}
	assert_int_equal(parse(TWO, "z"), CODE_USAGE);
	assert_said("'F' has no node 'z'");
}

static void too_many_nodes(void **state)
{
	static char text[16384];
	size_t used = (size_t)sprintf(text, BASE);
	unsigned int i;

	(void)state;
	for (i = 0; i <= NEARCACHE_CLUSTER_NODES_MAX; i++)
		used += (size_t)sprintf(text + used, "node = n%u 10.2.%u.%u\n", i, i / 256, i % 256);
	cluster_conf_free(&conf);
	fail_reset();
	assert_int_equal(cluster_conf_parse(&conf, "F", text), CODE_USAGE);
	assert_said("line 258: node 'n256': a cluster has at most 256 nodes");
}

/* The code after a secret file with @text and @mode of @owner (0: the caller) was read. */
static int secret_of(uid_t owner, const char *text, mode_t mode)
{
	FILE *file = fopen("cluster.secret", "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod("cluster.secret", mode), 0);
	if (owner && chown("cluster.secret", owner, (gid_t)-1))
		skip();
	assert_int_equal(parse(TWO, NULL), 0);
	assert_non_null(realpath("cluster.secret", conf.secret_file));
	cluster_conf_secret(&conf);
	unlink("cluster.secret");
	return fail_code();
}

#define KEY48	"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA+/"

static int secret(const char *text, mode_t mode)
{
	return secret_of(0, text, mode);
}

/* Needs root, as the command does. */
static void secret_of_another(void **state)
{
	(void)state;
	assert_int_equal(secret_of(12345, "DHHC-1:00:" KEY48 ":\n", 0600), CODE_PERMISSION);
	assert_said("belongs to user id 12345");
}

static void secret_read(void **state)
{
	(void)state;
	assert_int_equal(secret("DHHC-1:00:" KEY48 ":\n", 0600), 0);
	assert_string_equal(conf.secret, "DHHC-1:00:" KEY48 ":");
	assert_int_equal(secret("DHHC-1:01:" KEY48 ":", 0400), 0);
	assert_int_equal(secret("DHHC-1:00:" KEY48 ":\n", 0640), CODE_PERMISSION);
	assert_said("has mode 0640");
	assert_int_equal(secret("DHHC-1:00:" KEY48 ":\nmore\n", 0600), CODE_USAGE);
	assert_int_equal(secret("DHHC-1:04:" KEY48 ":\n", 0600), CODE_USAGE);
	assert_int_equal(secret("DHHC-1:00:" KEY48 "A:\n", 0600), CODE_USAGE);
	assert_int_equal(secret("", 0600), CODE_USAGE);
	assert_said("must be one line of the form DHHC-1:00:");
	assert_int_equal(parse(TWO, NULL), 0);
	strcpy(conf.secret_file, "/nonexistent/secret");
	assert_int_not_equal(cluster_conf_secret(&conf), 0);
	assert_said("cannot open '/nonexistent/secret', the secret-file of 'F'");
	cluster_conf_free(&conf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_taken),
		cmocka_unit_test(nodes_taken),
		cmocka_unit_test(refused),
		cmocka_unit_test(too_many_nodes),
		cmocka_unit_test(secret_read),
		cmocka_unit_test(secret_of_another),
		cmocka_unit_test(unresolved_taken),
		cmocka_unit_test(path_refused),
	};

	return RUN(tests);
}
