// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export a device, and connect to it, with the functions of the command.
 *   usage: fabric apply NQN DEVICE UUID ADDRESS PORT HOST...
 *          fabric remove NQN
 *          fabric find|connect NQN HOST HOST_ID ADDRESS PORT
 *          fabric disconnect NQN
 * The environment variable SECRET is the secret, TLS=1 asks for TLS, DIGEST=1 for data digests. find
 * and connect print "DEVICE UUID CONTROLLER ADDRESS live|lost", or nothing without a connection.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/export.h"
#include "cluster/link.h"
#include "lib/error.h"

static int usage(void)
{
	return fail(CODE_USAGE, "usage: fabric VERB NQN ...");
}

static int apply(int argc, char **argv)
{
	struct export export = {
		.transport = CLUSTER_TCP,
		.model = getenv("MODEL") ? getenv("MODEL") : "nearcache",
		.secret = getenv("SECRET"),
		.tls = getenv("TLS"),
	};

	if (argc < 7)
		return usage();
	export.nqn = argv[2];
	export.device = argv[3];
	export.uuid = argv[4];
	export.address = argv[5];
	export.port = (unsigned int)atoi(argv[6]);
	export.hosts = (const char *const *)argv + 7;
	export.hosts_count = (size_t)argc - 7;
	return export_apply(&export);
}

static int make_link(int argc, char **argv)
{
	struct link link = {
		.transport = CLUSTER_TCP,
		.keep_alive = 5,
		.fast_io_fail = 2,
		.secret = getenv("SECRET"),
		.tls = getenv("TLS"),
		.data_digest = getenv("DIGEST"),
	};
	struct link_state state;

	if (argc != 7)
		return usage();
	link.nqn = argv[2];
	link.host_nqn = argv[3];
	link.host_id = argv[4];
	link.address = argv[5];
	link.port = (unsigned int)atoi(argv[6]);
	if (strcmp(argv[1], "find") ? link_connect(&link, &state) : link_find(&link, &state))
		return fail_code();
	if (state.connected)
		printf("%s %s %s %s %s\n", state.device, state.uuid, state.controller,
		       state.address, state.live ? "live" : "lost");
	return 0;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 2 ? argv[1] : "";

	if (!strcmp(verb, "apply"))
		apply(argc, argv);
	else if (!strcmp(verb, "remove"))
		export_remove(argv[2]);
	else if (!strcmp(verb, "disconnect"))
		link_disconnect(argv[2]);
	else if (!strcmp(verb, "find") || !strcmp(verb, "connect"))
		make_link(argc, argv);
	else
		usage();
	if (fail_code())
		fprintf(stderr, "fabric: %s\n", fail_message());
	return fail_code();
}
