// SPDX-License-Identifier: GPL-2.0-only
/*
 * cluster/peers.c and disconnect.c: each job for a peer has a name of its own, which many_run() locks,
 * also among nodes of one name in two clusters.
 */
#include <stdio.h>

#include "block/parallel_devices.h"
#include "cluster/disconnect.h"
#include "cluster/peers.h"
#include "said.h"

/* Names of the last job that connected a peer, and of the last job that disconnected one. */
static char connects[256], ends[256];

void many_run(struct many_job *job, size_t count, int (*run)(const struct many_job *job))
{
	(void)run;
	assert_true(count <= 1);
	if (count)
		snprintf(job->stop ? ends : connects, sizeof(ends), "%s", job->name);
}

/* Each peer is connected, but only lost connections are made again. */
int link_find(const struct link *link, struct link_state *state)
{
	(void)link;
	memset(state, 0, sizeof(*state));
	state->connected = true;
	return 0;
}

int link_connect(const struct link *link, struct link_state *state)
{
	return link_find(link, state);
}

int link_disconnect(const char *nqn)
{
	(void)nqn;
	return 0;
}

const char *link_address(const struct link *link, char *text)
{
	strcpy(text, link->address);
	return text;
}

static void connect_peer(const char *cluster)
{
	const char *const other[] = { "n2" };
	struct cluster_node node[] = {
		{ .name = "n1", .address = "10.0.0.1" }, { .name = "n2", .address = "10.0.0.2" },
	};
	struct cluster_conf conf = { .node = node, .nodes = 2 };
	struct peers peers;

	strcpy(conf.name, cluster);
	assert_int_equal(peers_init(&peers, &conf, "2b8fac4d-ce33-5f23-b59a-ad5fcb870bcf"), 0);
	assert_int_equal(peers_connect(&peers), 0);
	peers_free(&peers);
	/* The connection does not end. */
	assert_int_not_equal(cluster_disconnect(cluster, other, 1), 0);
	fail_reset();
}

static void job_names_differ(void **state)
{
	char connects_before[256], ends_before[256];

	(void)state;
	connect_peer("c1");
	assert_string_not_equal(connects, ends);
	strcpy(connects_before, connects);
	strcpy(ends_before, ends);
	connect_peer("c2");
	assert_string_not_equal(connects, connects_before);
	assert_string_not_equal(ends, ends_before);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(job_names_differ) };

	return RUN(tests);
}
