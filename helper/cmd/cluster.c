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

static enum join_warm warm_of(const struct arguments *args)
{
	return option_given(args, OPTION_FROM_PEERS) ? JOIN_WARM_ALL :
	       option_given(args, OPTION_NO_WARM) ? JOIN_WARM_NOT : JOIN_WARM_HELD;
}

static int run_join(const struct arguments *args, const char *name)
{
	const struct join_request request = {
		.name = name,
		.config = args->config,
		.self = args->self,
		.again = getenv(CLUSTER_AGAIN),
		.warm = warm_of(args),
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

static int cmd_cluster(const struct arguments *args)
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
	if (strcmp(action->name, "join") && option_given(args, OPTION_FROM_PEERS | OPTION_NO_WARM))
		return fail(CODE_USAGE, "'cluster %s' takes no --%s: it is for join", action->name,
			    option_given(args, OPTION_FROM_PEERS) ? "from-peers" : "no-warm");
	if (strcmp(action->name, "status") && arguments_no_table(args, "status"))
		return fail_code();
	if (option_given(args, OPTION_FROM_PEERS) && option_given(args, OPTION_NO_WARM))
		return fail(CODE_USAGE, "--from-peers and --no-warm exclude each other");
	if (action->locks)
		home_lock(name);
	return action->run(args, name);
}

static const struct verb_column columns[] = {
	{ .name = "node", .help = "name" },
	{ .name = "address", .help = "where it is reached" },
	{ .name = "state", .help = "here, up, slow, failed, probing, absent" },
	{ .name = "weight", .help = "of its share" },
	{ .name = "extents", .help = "part of the volume that has its home there" },
	{ .name = "read", .help = "bytes read there" },
	{ .name = "latency", .help = "of reads there" },
	{ .name = "errors", .help = "reads that failed" },
	{ .name = "device", .help = "of its connection" },
	{ .name = "reads_in_flight", .help = "reads there now", .chosen = true },
	{ .name = "controller", .help = "of its connection", .chosen = true },
	{ .name = "nqn", .help = "name of its export", .chosen = true },
	{ 0 },
};

const struct verb cluster_verb = {
	.name = "cluster",
	.group = VERBS_DEVICES,
	.operands = "join|leave|status|check [NAME]",
	.operands_min = 1,
	.operands_max = 2,
	.optional = OPTION_CLUSTER_CONFIG | OPTION_SELF | OPTION_FROM_PEERS | OPTION_NO_WARM | OPTIONS_TABLE,
	.summary = "cache one volume on several nodes for each other",
	.details =
"Several nodes that read one volume cache it for each other, so that its storage serves each\n"
"byte once. Each extent of the volume has a home, one of the nodes. The other nodes read\n"
"the extent there, over NVMe-oF; the home reads its own cache. A peer that fails costs time,\n"
"never wrong data: its extents are read at other nodes, and in the end at the origin.\n"
"\n"
"NAME is the cluster device. Its cache is NAME-home, which is open in mode read-only:\n"
"'nearcache create NAME-home --origin DEV --cache DEV --read-only'. The file is the same on\n"
"all nodes, see cluster.conf(5).\n"
"\n"
"  join NAME      export NAME-home to the other nodes, connect those that answer, and\n"
"                 make /dev/mapper/NAME; again: connect nodes that were absent, and apply\n"
"                 changes of the file to the device in use\n"
"  leave NAME     remove NAME, disconnect the peers, and end the export\n"
"  status [NAME]  show the nodes, the bytes that this node read at each of them, and\n"
"                 the problems; without NAME, of all cluster devices\n"
"  check NAME     compare device, export and connections with the file; differences are\n"
"                 listed, and give exit code 1\n"
"\n"
"Other verbs take NAME as well and act on NAME-home, see nearcache-cluster(8).\n"
"\n"
"A node that serves another volume, or another --dataset-version of it, is refused. When\n"
"the content of the volume changes, leave on all nodes; then on each node close NAME-home,\n"
"open it with another --dataset-version, and join. A node cannot invalidate the caches of\n"
"the others.\n"
"\n"
"--self, an earlier join, or NEARCACHE_NODE in the environment names this node, in this\n"
"order; without them, its address does. Later runs remember --config and --self until\n"
"leave.\n"
"\n"
"A node that joins a warm cluster, or replaces another node, also begins to bring its part\n"
"from its peers in the background: data that they hold, most recently read first, as far\n"
"as there is room. --no-warm prevents that. --from-peers also brings data that a peer\n"
"lacks or may lack, as 'prefetch NAME --from-peers' does; the peer asks the origin for it.\n",
	.columns = columns,
	.run = cmd_cluster,
};
