// SPDX-License-Identifier: GPL-2.0-only
#include "metrics/exposition.h"

#include <math.h>
#include <string.h>

#define PREFIX	"nearcache_"

/* Writes a help text or label value, escaped. @quotes: also escape '"'. */
static void put_escaped(FILE *file, const char *text, bool quotes)
{
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", file);
		else if (*text == '\\' || (quotes && *text == '"'))
			fprintf(file, "\\%c", *text);
		else
			fputc(*text, file);
	}
}

/* Returns the suffix that the name of a sample has after the name of its family. */
static const char *sample_suffix(enum metric kind)
{
	switch (kind) {
	case METRIC_COUNTER:
		return "_total";
	case METRIC_INFO:
		return "_info";
	default:
		return "";
	}
}

/* Writes a line of metadata: for OpenMetrics with the name of the family, else of its samples. */
static void describe_family(const struct exposition *exposition, const char *what,
			    const char *text)
{
	fprintf(exposition->file, "# %s " PREFIX "%s%s ", what, exposition->name,
		exposition->openmetrics ? "" : sample_suffix(exposition->kind));
	put_escaped(exposition->file, text, exposition->openmetrics);
	fputc('\n', exposition->file);
}

/*
 * Starts a family of samples. @name has no prefix and no "_total" or "_info", and is valid until
 * the next family. @unit is the base unit at the end of @name, or "". @help is one line.
 */
void exposition_family(struct exposition *exposition, enum metric kind,
		       const char *name, const char *unit, const char *help)
{
	static const char *const kinds[] = {
		[METRIC_GAUGE] = "gauge",
		[METRIC_COUNTER] = "counter",
		[METRIC_HISTOGRAM] = "histogram",
		[METRIC_INFO] = "info",
	};

	exposition->name = name;
	exposition->kind = kind;
	describe_family(exposition, "HELP", help);
	describe_family(exposition, "TYPE", kind == METRIC_INFO && !exposition->openmetrics ?
				     "gauge" : kinds[kind]);
	if (exposition->openmetrics && *unit)
		describe_family(exposition, "UNIT", unit);
}

static void put_sample(const struct exposition *exposition, const char *tail,
		       const struct label_pair *labels, const char *le)
{
	FILE *file = exposition->file;
	char between = '{';

	fprintf(file, PREFIX "%s%s", exposition->name, tail);
	for (; labels->name; labels++) {
		fprintf(file, "%c%s=\"", between, labels->name);
		put_escaped(file, labels->value, true);
		fputc('"', file);
		between = ',';
	}
	if (le) {
		fprintf(file, "%cle=\"%s\"", between, le);
		between = ',';
	}
	if (between == ',')
		fputc('}', file);
	fputc(' ', file);
}

void exposition_value(const struct exposition *exposition,
		      const struct label_pair *labels, double value)
{
	put_sample(exposition, sample_suffix(exposition->kind), labels, NULL);
	fprintf(exposition->file, "%.17g\n", value);
}

/*
 * Writes a cumulative bucket of a histogram: @count values are at most @upper, which is INFINITY
 * for the last bucket.
 */
void exposition_bucket(const struct exposition *exposition,
		       const struct label_pair *labels, double upper,
		       uint64_t count)
{
	char le[32];

	if (isinf(upper))
		snprintf(le, sizeof(le), "+Inf");
	else
		snprintf(le, sizeof(le), "%.9g", upper);
	put_sample(exposition, "_bucket", labels, le);
	fprintf(exposition->file, "%llu\n", (unsigned long long)count);
}

/* Ends a histogram: @count values with this @sum. */
void exposition_sum(const struct exposition *exposition,
		    const struct label_pair *labels, double sum, uint64_t count)
{
	put_sample(exposition, "_sum", labels, NULL);
	fprintf(exposition->file, "%.17g\n", sum);
	put_sample(exposition, "_count", labels, NULL);
	fprintf(exposition->file, "%llu\n", (unsigned long long)count);
}

void exposition_end(const struct exposition *exposition)
{
	if (exposition->openmetrics)
		fputs("# EOF\n", exposition->file);
}
