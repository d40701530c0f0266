// SPDX-License-Identifier: GPL-2.0-only
/* cluster/peers_table.c: table line, message and status line of nearcache-peers. */
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "cluster/peers_table.h"
#include "unit.h"

#define LINE	"253:1 253:2 32768 2 a 2 a 10 - b 4294967295 259:3"

static void table_round_trip(void **state)
{
	struct peers_table table;
	char *text;

	(void)state;
	assert_true(peers_table_parse(LINE " 2 stall_timeout 300", &table));
	assert_string_equal(table.home, "253:1");
	assert_string_equal(table.origin, "253:2");
	assert_int_equal(table.extent, 16 << 20);
	assert_int_equal(table.replicas, 2);
	assert_string_equal(table.self, "a");
	assert_int_equal(table.nodes, 2);
	assert_int_equal(table.stall_timeout, 300);
	assert_string_equal(peers_table_node(&table, "b")->device, "259:3");
	assert_true(peers_table_node(&table, "b")->weight == NEARCACHE_CLUSTER_WEIGHT_MAX);
	assert_null(peers_table_node(&table, "c"));
	assert_true(peers_number("253:1") == makedev(253, 1));
	assert_true(!peers_number("-") && !peers_number("/dev/sda") && !peers_number("8:1x"));
	text = peers_table_print(&table);
	assert_string_equal(text, LINE " 2 stall_timeout 300");
	free(text);
	table.bandwidth = 5000;
	text = peers_table_print(&table);
	assert_string_equal(text, LINE " 4 stall_timeout 300 bandwidth 5000");
	free(text);
	text = peers_message_print(table.node, table.nodes);
	assert_string_equal(text, "nodes 2 a 10 - b 4294967295 259:3");
	free(text);
	peers_table_free(&table);
	assert_true(peers_table_parse(LINE, &table));
	assert_int_equal(table.stall_timeout, 1000);
	peers_table_free(&table);
	/* Options of a newer module. */
	assert_true(peers_table_parse(LINE " 6 wait 7 bandwidth 9 sort x", &table));
	assert_int_equal(table.bandwidth, 9);
	peers_table_free(&table);
}

static void table_refused(void **state)
{
	static const char *const line[] = {
		"", "253:1", "253:1 253:2 x 1 a 1 a 1 -", "253:1 253:2 8 1 a 0", "253:1 253:2 8 1 a 257",
		"253:1 253:2 8 1 a 1 a 0 -", "253:1 253:2 8 1 a 1 a 1", "253:1 253:2 8 1 a 2 a 1 -",
		LINE " x", LINE " 2 stall_timeout", LINE " 1 stall_timeout",
	};
	struct peers_table table;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(line) / sizeof(line[0]); i++) {
		assert_false(peers_table_parse(line[i], &table));
		peers_table_free(&table);
	}
}

/* Whether a status line with @nodes nodes is refused. */
static bool status_refused(const char *line, size_t nodes)
{
	struct peers_status status;

	if (peers_status_parse(line, nodes, &status))
		peers_status_free(&status);
	else
		return !status.load;
	return false;
}

static void status_taken(void **state)
{
	struct peers_status status;

	(void)state;
	assert_true(peers_status_parse("1 2 6 4 0 0 4096 0 0 1 10 9 8192 2 7000 500 3", 2, &status));
	assert_string_equal(peers_state_word(status.load[0].state), "here");
	assert_string_equal(peers_state_word(status.load[1].state), "failed");
	assert_int_equal(status.load[0].bytes, 4096);
	assert_int_equal(status.load[1].begun, 10);
	assert_int_equal(status.load[1].ended, 9);
	assert_int_equal(status.load[1].errors, 2);
	assert_int_equal(status.load[1].latency, 7000);
	assert_int_equal(status.origin_latency, 500);
	assert_int_equal(status.waited, 3);
	peers_status_free(&status);
	/* A newer module has more fields, and more behind the last node; an older one has nothing there. */
	assert_true(peers_status_parse("1 2 8 4 0 0 1 0 0 77 78 0 1 1 3 0 5 88 89 9 9 9 9", 2, &status));
	assert_int_equal(status.load[1].bytes, 3);
	assert_int_equal(status.load[1].latency, 5);
	peers_status_free(&status);
	assert_true(peers_status_parse("1 1 6 4 0 0 0 0 0", 1, &status));
	assert_int_equal(status.origin_latency, 0);
	peers_status_free(&status);
	assert_true(status_refused("2 1 6 4 0 0 0 0 0", 1));
	assert_true(status_refused("1 1 5 4 0 0 0 0", 1));
	assert_true(status_refused("1 1 6 4 0 0 0 0", 1));
	assert_true(status_refused("1 1 6 4 0 0 0 0 x", 1));
	assert_true(status_refused("1 2 6 4 0 0 0 0 0 4 0 0 0 0 0", 1));
	assert_string_equal(peers_state_word(NEARCACHE_PEER_SLOW), "slow");
	assert_string_equal(peers_state_word(9), "unknown");
}

/* The shares follow the weights, and each extent has one first home. */
static void shares_counted(void **state)
{
	const struct peers_node node[] = {
		{ .name = "a", .weight = 1 }, { .name = "b", .weight = 1 }, { .name = "c", .weight = 2 },
	};
	uint64_t share[3], counted;

	(void)state;
	peers_shares(node, 3, 4000, share, &counted);
	assert_int_equal(counted, 4000);
	assert_int_equal(share[0] + share[1] + share[2], 4000);
	assert_in_range(share[0], 880, 1120);
	assert_in_range(share[2], 1880, 2120);
	peers_shares(node, 3, 1ULL << 40, share, &counted);
	assert_int_equal(share[0] + share[1] + share[2], counted);
	peers_shares(node, 1, 0, share, &counted);
	assert_int_equal(counted, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_round_trip),
		cmocka_unit_test(table_refused),
		cmocka_unit_test(status_taken),
		cmocka_unit_test(shares_counted),
	};

	return RUN(tests);
}
