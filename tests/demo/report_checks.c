// SPDX-License-Identifier: GPL-2.0-only
/* Judge whether the measurements keep the promises of the demo, and print the verdicts. */
#include <stdarg.h>
#include <stdio.h>

#include "report.h"

/* The hit ratio must reach this fraction of the bound f = cache size / dataset size. */
#define REACHED		0.95
#define COLD_MAX	1.02
#define SERVED_MIN	0.99
#define STALL_MIN	0.50
/* The promise "the cache holds half the dataset" allows this range of f. */
#define FRACTION_MIN	0.45
#define FRACTION_MAX	0.55

static unsigned int missed;

static void __attribute__((format(printf, 2, 3)))
promise(int kept, const char *format, ...)
{
	va_list args;

	if (!kept)
		missed++;
	printf("  %-6s  ", kept ? "ok" : "MISSED");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

/* Of the epochs from index @from on return the highest @value() if @highest, else the lowest. */
static double worst(const struct run *run, size_t from, int highest,
		    double (*value)(const struct epoch *))
{
	double found = value(&run->epochs[from]), here;
	size_t i;

	for (i = from + 1; i < run->count; i++) {
		here = value(&run->epochs[i]);
		if (highest ? here > found : here < found)
			found = here;
	}
	return found;
}

static double served(const struct epoch *epoch)
{
	return epoch->served;
}

static double origin(const struct epoch *epoch)
{
	return epoch->origin;
}

static double joined(const struct epoch *epoch)
{
	return epoch->joins;
}

/* Return the relative difference of two counts of bytes read: the cache's, the block layer's. */
static double uncounted(const struct epoch *epoch)
{
	double all = epoch->hits + epoch->misses + epoch->joins +
		     epoch->bypass;

	return all > epoch->served ? all / epoch->served - 1 :
				     1 - all / epoch->served;
}

static void check_honesty(const struct report *report)
{
	double least = worst(&report->cached, 0, 0, served);
	double bare = worst(&report->uncached, 0, 0, served);
	double differs = worst(&report->cached, 0, 1, uncounted);

	if (bare < least)
		least = bare;
	promise(least >= SERVED_MIN * report->dataset,
		"no reads from the page cache: the device served %.3f D or more in each epoch (at least %.2f)",
		least / report->dataset, SERVED_MIN);
	promise(differs <= 0.01,
		"the cache's counters and the block layer agree within %.2f %%",
		100 * differs);
}

static void check_cache(const struct report *report)
{
	double f = cache_fraction(report);
	double cold = report->cached.epochs[0].origin;

	promise(f >= FRACTION_MIN && f <= FRACTION_MAX,
		"the cache holds half the dataset: f = %.3f", f);
	promise(cold <= COLD_MAX * report->dataset,
		"cold epoch: %.3f D from the origin (at most %.2f)",
		cold / report->dataset, COLD_MAX);
	if (report->cached.count < 2) {
		promise(0, "at least two epochs");
		return;
	}
	promise(worst(&report->cached, 1, 0, hit_ratio) >= REACHED * f,
		"hit ratio from epoch 2: %.3f or more (at least %.2f f = %.3f; joins, counted apart: %.3f D at most)",
		worst(&report->cached, 1, 0, hit_ratio), REACHED, REACHED * f,
		worst(&report->cached, 1, 1, joined) / report->dataset);
	promise(worst(&report->cached, 1, 1, origin) <=
		(1 - REACHED * f) * report->dataset,
		"origin bytes from epoch 2: %.3f D or less (at most 1 - %.2f f = %.3f D)",
		worst(&report->cached, 1, 1, origin) / report->dataset,
		REACHED, 1 - REACHED * f);
}

static void check_stall(const struct report *report)
{
	double least = worst(&report->uncached, 0, 0, stall_ratio);

	promise(least >= STALL_MIN,
		"without a cache the trainer waits %.0f %% of its time or more (at least %.0f %%)",
		100 * least, 100 * STALL_MIN);
}

static void check_data(const struct report *report)
{
	promise(report->verify.count == 1 &&
		report->verify.epochs[0].bytes == report->dataset,
		"SHA-256 of all %llu shards, read through the cache, as made on the host",
		(unsigned long long)report->shards);
	promise(report->blocks_used && warm_ratio(report) == 1.0,
		"warm after the reboot: %llu of %llu blocks",
		(unsigned long long)report->blocks_warm,
		(unsigned long long)report->blocks_used);
	promise(report->rebooted.count == 1 &&
		report->rebooted.epochs[0].bytes == report->dataset &&
		hit_ratio(&report->rebooted.epochs[0]) >=
		REACHED * cache_fraction(report),
		"first epoch after the reboot: hit ratio %.3f, SHA-256 of all shards right",
		report->rebooted.count ?
		hit_ratio(&report->rebooted.epochs[0]) : 0);
}

unsigned int report_checks(const struct report *report)
{
	missed = 0;
	check_cache(report);
	check_stall(report);
	check_honesty(report);
	check_data(report);
	return missed;
}
