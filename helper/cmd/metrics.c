// SPDX-License-Identifier: GPL-2.0-only
/* nearcache metrics: write metrics for Prometheus. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/commands.h"
#include "block/dm_unprivileged.h"
#include "lib/error.h"
#include "netlink/device_state.h"
#include "metrics/metrics_text.h"
#include "lib/print.h"
#include "lib/atomic_file.h"

static int cmd_metrics(const struct arguments *args)
{
	bool openmetrics = option_given(args, OPTION_OPENMETRICS);
	size_t bytes = 0;
	char *text;

	dm_read_unprivileged(nl_device_state);
	if (!args->textfile && option_given(args, OPTION_JSON))
		return fail(CODE_USAGE,
			    "metrics have no JSON form: 'nearcache stats -j' has the numbers");
	/* node_exporter's textfile collector cannot read OpenMetrics. */
	if (args->textfile && openmetrics)
		return fail(CODE_USAGE, "--openmetrics contradicts --textfile: give one of them");
	text = snapshot_take(openmetrics, &bytes);
	if (!text)
		return fail_code();
	if (!args->textfile)
		fwrite(text, 1, bytes, stdout);
	else if (option_given(args, OPTION_DRY_RUN) || !atomic_file_write(args->textfile, text, bytes, false))
		print_string("file", NULL, args->textfile);
	free(text);
	return fail_code();
}

const struct verb metrics_verb = {
	.name = "metrics",
	.group = VERBS_OBSERVE,
	.operands = "",
	.optional = OPTION_TEXTFILE | OPTION_OPENMETRICS,
	.summary = "write metrics for Prometheus",
	.details =
"The output has all counters and values of all devices, of their labels and prefetch\n"
"jobs, and histograms of latencies while 'nearcache latency' is loaded. --textfile is for\n"
"the textfile collector of node_exporter: FILE must end in .prom and is replaced as a\n"
"whole. Without root privileges, labels, prefetch jobs, latencies, clusters and closed logs are\n"
"left out. A new FILE has mode 0644, whatever the umask; an existing one keeps owner and\n"
"mode.\n",
	.run = cmd_metrics,
};
