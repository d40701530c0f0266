/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metrics as text, for Prometheus (format 0.0.4, which node_exporter's textfile collector reads,
 * too) or as OpenMetrics 1.0.
 */
#ifndef HELPER_METRICS_EXPOSITION_H
#define HELPER_METRICS_EXPOSITION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/**
 * enum metric - kinds of metrics
 * @METRIC_GAUGE: goes up and down
 * @METRIC_COUNTER: only goes up, from 0
 * @METRIC_HISTOGRAM: counts by how much
 * @METRIC_INFO: 1; what is told are its labels
 */
enum metric {
	METRIC_GAUGE,
	METRIC_COUNTER,
	METRIC_HISTOGRAM,
	METRIC_INFO,
};

/* Labels of a sample, at most. */
#define LABELS	8

/**
 * struct label_pair - a label
 * @name: of the label; NULL: there are no more
 * @value: any text
 */
struct label_pair {
	const char *name;
	const char *value;
};

/**
 * struct exposition - where metrics are written
 * @file: there
 * @openmetrics: as OpenMetrics
 * @name: of the family under way, without what its kind adds
 * @kind: of it
 */
struct exposition {
	FILE *file;
	bool openmetrics;
	const char *name;
	enum metric kind;
};

void exposition_family(struct exposition *exposition, enum metric kind,
		       const char *name, const char *unit, const char *help);
void exposition_value(const struct exposition *exposition,
		      const struct label_pair *labels, double value);
void exposition_bucket(const struct exposition *exposition,
		       const struct label_pair *labels, double upper,
		       uint64_t count);
void exposition_sum(const struct exposition *exposition,
		    const struct label_pair *labels, double sum, uint64_t count);
void exposition_end(const struct exposition *exposition);

#endif /* HELPER_METRICS_EXPOSITION_H */
