// SPDX-License-Identifier: GPL-2.0-only
#include "metrics/metrics_text.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/error.h"
#include "metrics/metrics.h"

/*
 * Returns the metrics as text of @bytes bytes, in OpenMetrics or else for Prometheus. The caller
 * frees it. Returns NULL after recording an error.
 */
char *snapshot_take(bool openmetrics, size_t *bytes)
{
	struct exposition exposition = { .openmetrics = openmetrics };
	char *text = NULL;

	exposition.file = open_memstream(&text, bytes);
	if (!exposition.file) {
		fail_memory();
		return NULL;
	}
	metrics_write(&exposition);
	if (fclose(exposition.file))
		fail_memory();
	if (!fail_code())
		return text;
	free(text);
	return NULL;
}
