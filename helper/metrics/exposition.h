/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes metrics as text for Prometheus (format 0.0.4, also for node_exporter's textfile
 * collector) or as OpenMetrics 1.0.
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
 * @METRIC_HISTOGRAM: counts values by size
 * @METRIC_INFO: always 1; its labels are the information
 */
enum metric {
	METRIC_GAUGE,
	METRIC_COUNTER,
	METRIC_HISTOGRAM,
	METRIC_INFO,
};

/* Maximum label pairs of a sample. */
#define LABELS	8

/* A label of a metric, with its value. An array of labels ends with a @name of NULL. */
struct label_pair {
	const char *name;
	const char *value;
};

/**
 * struct exposition - writes metrics; the samples of one metric are a family
 * @file: the output
 * @openmetrics: write OpenMetrics; otherwise write for Prometheus
 * @name: name of the current family, without the suffix of its kind
 * @kind: kind of the current family
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
