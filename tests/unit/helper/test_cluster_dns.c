// SPDX-License-Identifier: GPL-2.0-only
/*
 * cluster/conf_resolve.c and known_addresses.c: an address that answers of the name server lack stays
 * for a while, as a node of dns: and as the address of the local node.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cluster/conf.h"
#include "cluster/conf_resolve.h"
#include "said.h"

#define DNS	"cluster = c\nnode = dns:many\n"
#define HOST	"cluster = c\nnode = a many\nnode = b 10.0.0.2\n"

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

/* The answer of the name server, the addresses of this machine, the time, and a join. */
static const char *answer, *local;
static time_t now;
static struct cluster_conf conf;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	(void)clock;
	*time = (struct timespec){ .tv_sec = now };
	return 0;
}

size_t address_resolve(const char *host, char (*address)[ADDRESS_TEXT], size_t room,
		       const char **why)
{
	char text[256], *word, *rest = text;
	size_t count = 0;

	snprintf(text, sizeof(text), "%s", strcmp(host, "many") ? host : answer);
	*why = "no answer";
	while ((word = strsep(&rest, " ")) && count < room)
		if (*word)
			strcpy(address[count++], word);
	return count;
}

bool address_is_loopback(const char *address)
{
	(void)address;
	return false;
}

bool address_is_local(const char *address)
{
	return strstr(local, address);
}

static void forget(void)
{
	cluster_conf_free(&conf);
	memset(&conf, 0, sizeof(conf));
	local = "10.0.0.1";
	now = 1000;
}

/* Join @seconds later, with what the join before knew. Returns the names or addresses of the nodes. */
static const char *join(const char *text, const char *from_server, unsigned int seconds)
{
	const struct known_addresses known = conf.known;
	static char found[256];
	char copy[256];
	size_t i;

	now += seconds;
	answer = from_server;
	cluster_conf_free(&conf);
	fail_reset();
	snprintf(copy, sizeof(copy), "%s", text);
	*found = '\0';
	if (cluster_conf_parse(&conf, "F", copy) || cluster_conf_resolve(&conf, NULL, &known))
		return fail_message();
	for (i = 0; i < conf.nodes; i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), " %s",
			 conf.node[i].address);
	assert_string_equal(cluster_conf_self(&conf)->address, local);
	return found;
}

static void missing_node_stays(void **state)
{
	unsigned int i;

	(void)state;
	forget();
	assert_string_equal(join(DNS, "10.0.0.1 10.0.0.2 10.0.0.3", 5), " 10.0.0.1 10.0.0.2 10.0.0.3");
	/* Partial answers: also the local node stays, and a new node comes at once. */
	for (i = 0; i < 100; i++)
		assert_string_equal(join(DNS, i % 2 ? "10.0.0.1 10.0.0.4" : "10.0.0.2 10.0.0.3", 5),
				    i ? " 10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4" :
					" 10.0.0.1 10.0.0.2 10.0.0.3");
	/* A name server that does not answer for long takes nothing away. */
	assert_string_equal(join(DNS, "", 10000), " 10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4");
	/* A node goes after 300 seconds and ten answers in a row. */
	join(DNS, "10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4", 5);
	for (i = 0; i < 60; i++)
		assert_non_null(strstr(join(DNS, "10.0.0.1 10.0.0.3 10.0.0.4", 5), "0.2"));
	assert_string_equal(join(DNS, "10.0.0.1 10.0.0.3 10.0.0.4", 5), " 10.0.0.1 10.0.0.3 10.0.0.4");
	for (i = 0; i < 9; i++)
		assert_non_null(strstr(join(DNS, "10.0.0.1 10.0.0.3", 1000), "0.4"));
	assert_string_equal(join(DNS, "10.0.0.1 10.0.0.3", 1000), " 10.0.0.1 10.0.0.3");
	/* Another name. */
	assert_non_null(strstr(join("cluster = c\nnode = dns:10.0.0.1\n", "", 1), " 10.0.0.1"));
	assert_int_equal(conf.nodes, 1);
}

static void own_address_stays(void **state)
{
	unsigned int i;

	(void)state;
	forget();
	assert_string_equal(join(HOST, "10.0.0.1 10.0.0.7", 5), " 10.0.0.1 10.0.0.2");
	for (i = 0; i < 50; i++)
		assert_string_equal(join(HOST, "10.0.0.7", 5), " 10.0.0.1 10.0.0.2");
	assert_string_equal(join(HOST, "", 10000), " 10.0.0.1 10.0.0.2");
	/* This machine has another address now. */
	local = "10.0.0.7";
	assert_string_equal(join(HOST, "10.0.0.7", 5), " 10.0.0.7 10.0.0.2");
	/* The address of a line is no host name. */
	local = "10.0.0.2";
	assert_string_equal(join(HOST, "10.0.0.7", 5), " 10.0.0.7 10.0.0.2");
	assert_string_equal(conf.known.host, "");
	forget();
}

/* As many other nodes as a cluster may have replace all nodes: those in the answer count. */
static void answer_has_room(void **state)
{
	static char address[NEARCACHE_CLUSTER_NODES_MAX][ADDRESS_TEXT];
	static struct known_addresses known;
	size_t i, n, found = 0;

	(void)state;
	for (n = 0; n < 3; n++) {
		for (i = 0; i < NEARCACHE_CLUSTER_NODES_MAX; i++)
			snprintf(address[i], ADDRESS_TEXT, "10.0.%zu.%zu", n, i);
		known_take_answer(&known, address, NEARCACHE_CLUSTER_NODES_MAX - (n == 1), n);
	}
	assert_int_equal(known.count, NEARCACHE_CLUSTER_NODES_MAX);
	for (i = 0; i < known.count; i++)
		found += !strncmp(known.known[i].address, "10.0.2.", 7) && !known.known[i].answers;
	assert_int_equal(found, NEARCACHE_CLUSTER_NODES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_node_stays),
		cmocka_unit_test(own_address_stays),
		cmocka_unit_test(answer_has_room),
	};

	return RUN(tests);
}
