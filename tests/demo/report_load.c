// SPDX-License-Identifier: GPL-2.0-only
/* Load the measurements that the guest left as text files into struct report. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest.h"
#include "report.h"

#define LINE	1024

static void die(const char *path, const char *what)
{
	fprintf(stderr, "report: '%s': %s\n", path, what);
	exit(1);
}

static FILE *file_open(const char *dir, const char *name, char *path)
{
	FILE *file;

	snprintf(path, LINE, "%s/%s", dir, name);
	file = fopen(path, "r");
	if (!file)
		die(path, strerror(errno));
	return file;
}

static struct run *run_find(struct report *report, const char *label)
{
	struct run *runs[] = { &report->cached, &report->uncached,
			       &report->verify, &report->rebooted };
	size_t i;

	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		if (!strcmp(runs[i]->label, label))
			return runs[i];
	return NULL;
}

static int epoch_parse(struct epoch *epoch, const char *text)
{
	return sscanf(text,
		      "%" SCNu64 " %lf %" SCNu64 " %lf %" SCNu64 " %" SCNu64
		      " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		      " %" SCNu64 " %" SCNu64,
		      &epoch->number, &epoch->seconds, &epoch->bytes,
		      &epoch->stall, &epoch->steps, &epoch->samples,
		      &epoch->served, &epoch->origin, &epoch->hits,
		      &epoch->misses, &epoch->joins, &epoch->bypass) == 12 ?
	       0 : -1;
}

static void epochs_load(struct report *report, const char *dir)
{
	char path[LINE], line[LINE], label[32];
	FILE *file = file_open(dir, "epochs", path);
	struct run *run;
	int skip;

	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%31s %n", label, &skip) != 1)
			die(path, "malformed line");
		run = run_find(report, label);
		if (!run || run->count == EPOCHS_MAX)
			die(path, "unexpected run or too many epochs");
		if (epoch_parse(&run->epochs[run->count++], line + skip))
			die(path, "malformed epoch");
	}
	fclose(file);
}

static void facts_load(struct report *report, const char *dir)
{
	const struct {
		const char *name;
		uint64_t *value;
	} wanted[] = {
		{ "blocks", &report->blocks },
		{ "block_size", &report->block_size },
		{ "blocks_used", &report->blocks_used },
		{ "blocks_warm", &report->blocks_warm },
		{ "latency_us", &report->latency_us },
		{ "rate_mbps", &report->rate_mbps },
	};
	char path[LINE], line[LINE], name[32];
	FILE *file = file_open(dir, "facts", path);
	unsigned int seen = 0;
	uint64_t value;
	size_t i;

	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%31s %" SCNu64, name, &value) != 2)
			continue;
		for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
			if (strcmp(name, wanted[i].name))
				continue;
			*wanted[i].value = value;
			seen |= 1U << i;
		}
	}
	fclose(file);
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!(seen & 1U << i))
			die(path, wanted[i].name);
}

static void point_add(struct run *run, double seconds, double bytes)
{
	struct point *point;

	run->points = realloc(run->points,
			      (run->point_count + 1) * sizeof(*run->points));
	if (!run->points)
		die("timeline", "no memory");
	point = &run->points[run->point_count++];
	point->seconds = seconds;
	point->bytes = bytes;
}

/* The times in the file restart in each epoch: add the durations of the earlier epochs. */
static void timeline_load(struct report *report, const char *dir)
{
	char path[LINE], line[LINE], label[32];
	FILE *file = file_open(dir, "timeline", path);
	uint64_t number, ns, bytes;
	double seconds, before;
	struct run *run;
	size_t i;

	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%31s %" SCNu64 " %" SCNu64 " %" SCNu64,
			   label, &number, &ns, &bytes) != 4)
			die(path, "malformed line");
		run = run_find(report, label);
		if (!run)
			die(path, "unexpected run");
		seconds = ns / 1e9;
		before = 0;
		for (i = 0; i < run->count && run->epochs[i].number < number;
		     i++) {
			seconds += run->epochs[i].seconds;
			before += run->epochs[i].bytes;
		}
		if (!run->point_count)
			point_add(run, 0, 0);
		point_add(run, seconds, before + bytes);
	}
	fclose(file);
	if (!report->cached.point_count || !report->uncached.point_count)
		die(path, "a run is missing");
}

void report_load(struct report *report, const char *dir, const char *manifest)
{
	struct manifest shards;

	memset(report, 0, sizeof(*report));
	report->cached.label = "cached";
	report->uncached.label = "uncached";
	report->verify.label = "verify";
	report->rebooted.label = "rebooted";
	manifest_read(&shards, manifest);
	report->dataset = shards.bytes;
	report->shards = shards.count;
	free(shards.shards);
	facts_load(report, dir);
	epochs_load(report, dir);
	timeline_load(report, dir);
	if (!report->cached.count ||
	    report->cached.count != report->uncached.count)
		die(dir, "the two runs have not the same epochs");
}
