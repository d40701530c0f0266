// SPDX-License-Identifier: GPL-2.0-only
/*
 * cluster/join_undo.c: all steps of an undo run, also after one that failed; only a complete undo
 * restores or removes the record, and the error of the join stays the first one.
 */
#include <stdio.h>

#include "cluster/joining.h"
#include "said.h"

/* The steps that ran, a letter for each, and the one that fails. */
static char steps[16], broken;

static int step(char letter)
{
	/* Many functions stop at an error of somebody else. */
	assert_int_equal(fail_code(), 0);
	steps[strlen(steps)] = letter;
	return letter == broken ? (fail)(CODE_BUSY, "step %c failed", letter) : 0;
}

int dm_remove(const char *name)
{
	assert_string_equal(name, "data");
	return step('d');
}

int peers_disconnect_fresh(struct peers *peers)
{
	(void)peers;
	return step('p');
}

int join_export_to(const struct joining *joining, const struct joined *allowed)
{
	return step(allowed == &joining->before ? 'e' : 'a');
}

int export_remove(const char *nqn)
{
	assert_string_equal(nqn, "nqn");
	return step('x');
}

int map_remove(const char *name, bool exported)
{
	assert_string_equal(name, "data");
	assert_false(exported);
	return step('m');
}

int joined_write(const struct joined *joined)
{
	assert_true(joined->found);
	return step('w');
}

int joined_remove(const char *name)
{
	assert_string_equal(name, "data");
	return step('r');
}

bool joined_has(const struct joined *joined, const char *node)
{
	(void)node;
	return joined->nodes;
}

/* Undo a first join, or a later one, that failed ("first"), and return the steps. */
static const char *undo(bool first, char fails)
{
	static char node[1][CLUSTER_NAME] = { "n2" };
	const struct join_request request = { .name = "data" };
	struct peer peer = { .nqn = "nqn" };
	struct joining joining = {
		.request = &request,
		.before = { .found = !first, .node = node, .nodes = 1 },
		.after = { .nodes = 1 },
		.peers = { .peer = &peer },
		.exists = !first,
		.exported = true,
		.created = first,
	};

	memset(steps, 0, sizeof(steps));
	broken = fails;
	fail_reset();
	(fail)(CODE_DEVICE, "the cause");
	join_undo(&joining);
	assert_int_equal(fail_code(), CODE_DEVICE);
	assert_memory_equal(fail_message(), "the cause", 9);
	return steps;
}

static void whole_undo(void **state)
{
	(void)state;
	assert_string_equal(undo(true, 0), "dpxmr");
	assert_string_equal(undo(false, 0), "pew");
	assert_string_equal(fail_message(), "the cause");
}

static void record_stays(void **state)
{
	(void)state;
	assert_string_equal(undo(true, 'd'), "dpxm");
	assert_said("not all of this was undone: step d failed: 'nearcache cluster join data'");
	assert_string_equal(undo(true, 'p'), "dpxm");
	assert_string_equal(undo(true, 'x'), "dpx");
	assert_string_equal(undo(true, 'm'), "dpxm");
	assert_string_equal(undo(false, 'p'), "pe");
	assert_string_equal(undo(false, 'e'), "pe");
	assert_string_equal(undo(false, 'w'), "pew");
	assert_said("step w failed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_undo),
		cmocka_unit_test(record_stays),
	};

	return RUN(tests);
}
