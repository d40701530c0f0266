// SPDX-License-Identifier: GPL-2.0-only
/*
 * cluster/join_device.c: the device of a new connection reaches the cluster device also if it has the
 * number of the old one, which is taken away first.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cluster/joining.h"
#include "said.h"

/* The messages to the device, a line for each. */
static char sent[512];

int dm_message(const struct dm_device *dev, const char *text)
{
	(void)dev;
	snprintf(sent + strlen(sent), sizeof(sent) - strlen(sent), "%s\n", text);
	return 0;
}

/* For a new device: not called here. */
int dm_activate(const char *name, const char *uuid, const struct dm_line *line)
{
	(void)name;
	(void)uuid;
	(void)line;
	return CODE_DEVICE;
}

int peers_look(struct peers *peers)
{
	(void)peers;
	return 0;
}

/* Change a device that reads node b at @before to @after, by a new connection if @fresh. */
static const char *change(const char *before, const char *after, bool fresh)
{
	struct cluster_node node[] = { { .name = "a", .weight = 1 }, { .name = "b", .weight = 1 } };
	struct peers_node now[] = {
		{ .name = "a", .weight = 1, .device = PEERS_ABSENT },
		{ .name = "b", .weight = 1 },
	};
	struct peer peer[] = {
		{ .node = &node[0], .self = true, .device = PEERS_ABSENT },
		{ .node = &node[1], .fresh = fresh },
	};
	struct joining joining = {
		.conf = { .node = node, .nodes = 2 },
		.peers = { .peer = peer },
		.table = { .node = now, .nodes = 2 },
		.exists = true,
	};

	strcpy(now[1].device, before);
	strcpy(peer[1].device, after);
	*sent = '\0';
	assert_int_equal(join_change_device(&joining), 0);
	assert_int_equal(joining.changed, *sent != '\0');
	return sent;
}

static void new_device_is_sent(void **state)
{
	(void)state;
	assert_string_equal(change("8:1", "8:1", false), "");
	assert_string_equal(change("-", "8:1", true), "nodes 2 a 1 - b 1 8:1\n");
	assert_string_equal(change("8:1", "8:2", true),
			    "nodes 2 a 1 - b 1 -\nnodes 2 a 1 - b 1 8:2\n");
	assert_string_equal(change("8:1", "8:1", true),
			    "nodes 2 a 1 - b 1 -\nnodes 2 a 1 - b 1 8:1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(new_device_is_sent) };

	return RUN(tests);
}
