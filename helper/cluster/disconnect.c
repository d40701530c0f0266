// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/disconnect.h"

#include <stdio.h>
#include <stdlib.h>

#include "block/parallel_devices.h"
#include "cluster/link.h"
#include "cluster/node_names.h"
#include "lib/error.h"
#include "lib/print.h"

/* Longest wait for the end of all connections, seconds. */
#define DISCONNECT_SECONDS	15U

/* @job: its name is @text; @node: the node; @nqn: its subsystem. */
struct ending {
	const char *node;
	char text[CLUSTER_NQN_SIZE + 16];
	char nqn[CLUSTER_NQN_SIZE];
};

static int disconnect_job(const struct many_job *job)
{
	const struct ending *ending = job->data;

	return link_disconnect(ending->nqn);
}

/* True if there is a connection that is not being ended. */
static bool is_connected(const char *nqn)
{
	const struct link link = { .nqn = nqn };
	struct link_state state;

	return !link_find(&link, &state) && state.connected;
}

/* Take the result of disconnect_job(). A controller that is being deleted is not connected. */
static int take_end(const struct many_job *job)
{
	const struct ending *ending = job->data;

	if (is_connected(ending->nqn))
		return fail(job->code ? (enum exit_code)job->code : CODE_DEVICE,
			    "the connection to node '%s' does not end: %s; see dmesg", ending->node,
			    *job->message ? job->message : "another command connected it again");
	if (job->late)
		warn("node '%s' does not answer: the kernel needs some more time to end the connection to it",
		     ending->node);
	return 0;
}

int cluster_disconnect(const char *cluster, const char *const *node, size_t count)
{
	struct many_job *job = calloc(count + 1, sizeof(*job));
	struct ending *ending = calloc(count + 1, sizeof(*ending));
	size_t i, jobs = 0;

	/* A caller that undoes its steps may have recorded an error already. */
	if (!job || !ending) {
		fail_memory();
		count = 0;
	}
	for (i = 0; i < count; i++) {
		struct ending *one = &ending[jobs];

		cluster_subsystem_nqn(cluster, node[i], one->nqn);
		if (!is_connected(one->nqn))
			continue;
		one->node = node[i];
		/* An attempt to connect that join gave up may still hold the lock of peers_connect(). */
		snprintf(one->text, sizeof(one->text), "end of %s", one->nqn);
		job[jobs++] = (struct many_job){
			.name = one->text,
			.data = one,
			.seconds = DISCONNECT_SECONDS,
			.stop = true,
		};
	}
	many_run(job, jobs, disconnect_job);
	for (i = 0; i < jobs; i++)
		take_end(&job[i]);
	free(job);
	free(ending);
	return fail_code();
}
