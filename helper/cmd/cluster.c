// SPDX-License-Identifier: GPL-2.0-only
/* nearcache cluster: nodes cache one volume for each other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/home.h"
#include "cluster/join.h"
#include "cluster/leave.h"
#include "cluster/report.h"
#include "cmd/commands.h"
#include "lib/error.h"
#include "lib/name.h"

static int run_join(const struct arguments *args, const char *name)
{
	const struct join_request request = {
		.name = name,
		.config = args->config,
		.self = args->self,
		.again = getenv(CLUSTER_AGAIN),
		.warm = option_given(args, OPTION_FROM_PEERS),
		.dry_run = option_given(args, OPTION_DRY_RUN),
	};

	return cluster_join(&request);
}

static int run_leave(const struct arguments *args, const char *name)
{
	return cluster_leave(name, option_given(args, OPTION_DRY_RUN));
}

static int run_status(const struct arguments *args, const char *name)
{
	(void)args;
	return cluster_status(name);
}

static int run_check(const struct arguments *args, const char *name)
{
	(void)args;
	return cluster_check(name);
}

/* @locks: lock NAME and NAME-home for the action. */
static const struct cluster_action {
	const char *name;
	bool optional_name;
	bool locks;
	int (*run)(const struct arguments *args, const char *name);
} actions[] = {
	/* join takes the locks itself, after it has resolved the names of the nodes. */
	{ "join", false, false, run_join },
	{ "leave", false, true, run_leave },
	{ "status", true, false, run_status },
	{ "check", false, false, run_check },
	{ NULL, false, false, NULL },
};

int cmd_cluster(const struct arguments *args)
{
	const struct cluster_action *action = actions;
	const char *name = args->operands > 1 ? name_of_operand(args->operand[1]) : NULL;

	while (action->name && strcmp(action->name, args->operand[0]))
		action++;
	if (!action->name)
		return fail(CODE_USAGE, "'%s' is not an action of 'cluster': give join, leave, status or check",
			    args->operand[0]);
	if (!name && !action->optional_name)
		return fail(CODE_USAGE, "'cluster %s' needs NAME: the cluster device, whose cache is NAME"
			    HOME_ENDING, action->name);
	if (strcmp(action->name, "join") && option_given(args, OPTION_CLUSTER_CONFIG | OPTION_SELF))
		return fail(CODE_USAGE, "'cluster %s' takes no --config and no --self: join recorded them",
			    action->name);
	if (strcmp(action->name, "join") && option_given(args, OPTION_FROM_PEERS))
		return fail(CODE_USAGE, "'cluster %s' takes no --from-peers: it is for join", action->name);
	if (action->locks)
		home_lock(name);
	return action->run(args, name);
}
