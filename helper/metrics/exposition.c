// SPDX-License-Identifier: GPL-2.0-only
#include "metrics/exposition.h"

#include <math.h>
#include <string.h>

#define PREFIX	"nearcache_"

/* Help and values of labels: @quotes, too. */
static void escaped(FILE *file, const char *text, bool quotes)
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

/* What the samples of a kind have behind the name of their family. */
static const char *suffix(enum metric kind)
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

/* For metadata: the older format knows samples only, and no kind of information. */
static void describe(const struct exposition *exposition, const char *what,
		     const char *text)
{
	fprintf(exposition->file, "# %s " PREFIX "%s%s ", what, exposition->name,
		exposition->openmetrics ? "" : suffix(exposition->kind));
	escaped(exposition->file, text, exposition->openmetrics);
	fputc('\n', exposition->file);
}

/**
 * exposition_family() - a family of samples begins
 * @exposition: where
 * @kind: of them
 * @name: without prefix, and without "_total" or "_info"; lives as long as the family
 * @unit: base unit that @name ends with, "": none
 * @help: one line
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
	describe(exposition, "HELP", help);
	describe(exposition, "TYPE", kind == METRIC_INFO && !exposition->openmetrics ?
				     "gauge" : kinds[kind]);
	if (exposition->openmetrics && *unit)
		describe(exposition, "UNIT", unit);
}

static void sample(const struct exposition *exposition, const char *tail,
		   const struct label_pair *labels, const char *le)
{
	FILE *file = exposition->file;
	char between = '{';

	fprintf(file, PREFIX "%s%s", exposition->name, tail);
	for (; labels->name; labels++) {
		fprintf(file, "%c%s=\"", between, labels->name);
		escaped(file, labels->value, true);
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

/**
 * exposition_value() - a sample of the family
 * @exposition: where
 * @labels: of the sample
 * @value: that
 */
void exposition_value(const struct exposition *exposition,
		      const struct label_pair *labels, double value)
{
	sample(exposition, suffix(exposition->kind), labels, NULL);
	fprintf(exposition->file, "%.17g\n", value);
}

/**
 * exposition_bucket() - a bucket of a histogram
 * @exposition: where
 * @labels: of the histogram
 * @upper: where it ends; INFINITY: nowhere
 * @count: so many are not above that
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
	sample(exposition, "_bucket", labels, le);
	fprintf(exposition->file, "%llu\n", (unsigned long long)count);
}

/**
 * exposition_sum() - the end of a histogram
 * @exposition: where
 * @labels: of the histogram
 * @sum: of all that was counted
 * @count: how many that were
 */
void exposition_sum(const struct exposition *exposition,
		    const struct label_pair *labels, double sum, uint64_t count)
{
	sample(exposition, "_sum", labels, NULL);
	fprintf(exposition->file, "%.17g\n", sum);
	sample(exposition, "_count", labels, NULL);
	fprintf(exposition->file, "%llu\n", (unsigned long long)count);
}

/**
 * exposition_end() - that is all
 * @exposition: where
 */
void exposition_end(const struct exposition *exposition)
{
	if (exposition->openmetrics)
		fputs("# EOF\n", exposition->file);
}
