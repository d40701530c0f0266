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
	/* Many functions do nothing while an error of an earlier function is recorded. */
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

/*
 * Undo a join, and return the steps. @after: nodes of its file; @code: its error; 0: it was
 * interrupted.
 */
static const char *undo_with(bool first, size_t after, enum exit_code code, char fails)
{
	static char node[1][CLUSTER_NAME] = { "n2" };
	const struct join_request request = { .name = "data" };
	struct peer peer = { .nqn = "nqn" };
	struct joining joining = {
		.request = &request,
		.before = { .found = !first, .node = node, .nodes = 1 },
		.after = { .nodes = after },
		.peers = { .peer = &peer },
		.exists = !first,
		.exported = true,
		.created = first,
	};

	memset(steps, 0, sizeof(steps));
	broken = fails;
	fail_reset();
	if (code)
		(fail)(code, "the cause");
	join_undo(&joining);
	return steps;
}

/* Undo a first join, or a later one, that failed ("first"), and return the steps. */
static const char *undo(bool first, char fails)
{
	undo_with(first, 1, CODE_DEVICE, fails);
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

/* A node that the file lacks must not connect any more, although the join failed. */
static void removed_node_stays_out(void **state)
{
	(void)state;
	assert_string_equal(undo_with(false, 0, CODE_DEVICE, 0), "paw");
}

static void interrupted(void **state)
{
	(void)state;
	assert_string_equal(undo_with(true, 1, CODE_OK, 0), "dpxmr");
	assert_int_equal(fail_code(), CODE_OK);
	assert_string_equal(undo_with(true, 1, CODE_OK, 'x'), "dpx");
	assert_int_equal(fail_code(), CODE_DEVICE);
	assert_said("the join was interrupted; not all of this was undone: step x failed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_undo),
		cmocka_unit_test(record_stays),
		cmocka_unit_test(removed_node_stays_out),
		cmocka_unit_test(interrupted),
	};

	return RUN(tests);
}
