// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turn the demo's measurements into a table, a verdict on each promise, result.json and a picture.
 *
 *   report MEASUREMENTS MANIFEST OUT
 *
 * Exits 0 when every promise is kept, 1 otherwise.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static void json_run(FILE *file, const struct run *run, int cached)
{
	const struct epoch *epoch;
	size_t i;

	fprintf(file, "{\"cached\":%s,\"epochs\":[", cached ? "true" : "false");
	for (i = 0; i < run->count; i++) {
		epoch = &run->epochs[i];
		fprintf(file,
			"%s\n  {\"epoch\":%llu,\"seconds\":%.3f,\"bytes_read\":%llu,\"hit_ratio\":%.6f,\"origin_bytes\":%llu,\"stall_ratio\":%.6f}",
			i ? "," : "", (unsigned long long)epoch->number,
			epoch->seconds, (unsigned long long)epoch->bytes,
			hit_ratio(epoch), (unsigned long long)epoch->origin,
			stall_ratio(epoch));
	}
	fprintf(file, "]}");
}

static int json_write(const struct report *report, const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return -1;
	fprintf(file,
		"{\"schema\":1,\"dataset_bytes\":%llu,\"cache_bytes\":%llu,\"warm_after_reboot_ratio\":%.6f,\"runs\":[\n ",
		(unsigned long long)report->dataset,
		(unsigned long long)(report->blocks * report->block_size),
		warm_ratio(report));
	json_run(file, &report->cached, 1);
	fprintf(file, ",\n ");
	json_run(file, &report->uncached, 0);
	fprintf(file, "]}\n");
	return fclose(file);
}

static double run_seconds(const struct run *run)
{
	double seconds = 0;
	size_t i;

	for (i = 0; i < run->count; i++)
		seconds += run->epochs[i].seconds;
	return seconds;
}

static void table_row(const struct epoch *with, const struct epoch *without)
{
	printf("  %5llu | %7.1f  %5.1f  %5.1f %%  %5.1f %%  %6.1f MB  %4.0f %%  | %7.1f  %5.1f  %6.1f MB  %4.0f %%\n",
	       (unsigned long long)with->number, with->seconds,
	       with->bytes / with->seconds / 1e6, 100 * hit_ratio(with),
	       100.0 * with->joins / with->served, with->origin / 1e6,
	       100 * stall_ratio(with), without->seconds,
	       without->bytes / without->seconds / 1e6, without->origin / 1e6,
	       100 * stall_ratio(without));
}

static void table_print(const struct report *report)
{
	double with = run_seconds(&report->cached);
	double without = run_seconds(&report->uncached);
	size_t i;

	printf("\n  %llu shards, %.1f MB (D); cache %.1f MB (f = %.3f); remote volume over NVMe/TCP, %.1f ms added, %llu MB/s\n\n",
	       (unsigned long long)report->shards, report->dataset / 1e6,
	       report->blocks * report->block_size / 1e6,
	       cache_fraction(report), report->latency_us / 1e3,
	       (unsigned long long)report->rate_mbps);
	printf("        |                   with nearcache                   |           without a cache\n");
	printf("  epoch | seconds   MB/s     hits    joins     origin  waits  | seconds   MB/s     origin  waits\n");
	for (i = 0; i < report->cached.count; i++)
		table_row(&report->cached.epochs[i],
			  &report->uncached.epochs[i]);
	printf("  all   | %7.1f                                             | %7.1f   (%.2f times as long)\n\n",
	       with, without, without / with);
}

int main(int argc, char **argv)
{
	static struct report report;
	unsigned int missed;
	char path[4096];

	if (argc != 4) {
		fprintf(stderr, "usage: report MEASUREMENTS MANIFEST OUT\n");
		return 1;
	}
	report_load(&report, argv[1], argv[2]);
	table_print(&report);
	snprintf(path, sizeof(path), "%s/result.json", argv[3]);
	if (json_write(&report, path)) {
		fprintf(stderr, "report: %s: %s\n", path, strerror(errno));
		return 1;
	}
	snprintf(path, sizeof(path), "%s/throughput.svg", argv[3]);
	if (report_svg(&report, path)) {
		fprintf(stderr, "report: %s: %s\n", path, strerror(errno));
		return 1;
	}
	missed = report_checks(&report);
	if (missed)
		printf("\ndemo: FAIL: %u promise%s missed\n", missed,
		       missed > 1 ? "s" : "");
	return missed ? 1 : 0;
}
