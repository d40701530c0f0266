// SPDX-License-Identifier: GPL-2.0-only
#include "metrics/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "ondisk/print_superblock.h"
#include "block/dm.h"
#include "block/dm_unprivileged.h"
#include "lib/error.h"
#include "metrics/cluster_metrics.h"
#include "metrics/latencies.h"
#include "metrics/stage_metrics.h"
#include "netlink/client.h"
#include "block/readahead.h"

/* Size of a buffer for the name of a metric. */
#define NAME	64

/* A device and its parsed status line. */
struct measured {
	const struct dm_device *dev;
	struct status status;
};

struct all {
	struct measured *measured;
	size_t count;
};

/* Returns the name of the metric. Moves "bytes" to its end, where Prometheus wants the unit. */
static const char *name_of(const struct status_row *row, char *name)
{
	static const char bytes[] = "bytes_";

	if (strcmp(row->unit, "bytes"))
		snprintf(name, NAME, "%s", row->name);
	else if (!strncmp(row->name, bytes, sizeof(bytes) - 1))
		snprintf(name, NAME, "%s_bytes", row->name + sizeof(bytes) - 1);
	else if (strstr(row->name, "_bytes"))
		snprintf(name, NAME, "%s", row->name);
	else
		snprintf(name, NAME, "%s_bytes", row->name);
	return name;
}

static const char *unit_of(const struct status_row *row)
{
	return strcmp(row->unit, "bytes") ? "" : "bytes";
}

static void write_fields(struct exposition *e, const struct all *all)
{
	char name[NAME];
	unsigned int f;
	size_t i;

	for (f = 0; f < NEARCACHE_STATUS_FIELD_COUNT; f++) {
		const struct status_row *row = &status_field_row[f];

		if (!strcmp(row->unit, "enum") || !*row->unit)
			continue;
		exposition_family(e, METRIC_GAUGE, name_of(row, name),
				  unit_of(row), row->help);
		for (i = 0; i < all->count; i++) {
			const struct label_pair labels[] = {
				{ "device", all->measured[i].dev->name }, { NULL, NULL },
			};

			exposition_value(e, labels,
					 (double)all->measured[i].status.field[f]);
		}
	}
}

static void write_counters(struct exposition *e, const struct all *all)
{
	char name[NAME];
	unsigned int c;
	size_t i;

	for (c = 0; c < NEARCACHE_COUNTER_COUNT; c++) {
		const struct status_row *row = &status_counter_row[c];

		exposition_family(e, METRIC_COUNTER, name_of(row, name),
				  unit_of(row), row->help);
		for (i = 0; i < all->count; i++) {
			const struct label_pair labels[] = {
				{ "device", all->measured[i].dev->name }, { NULL, NULL },
			};

			exposition_value(e, labels,
					 (double)all->measured[i].status.counter[c]);
		}
	}
}

/*
 * Writes a time series for each state, 1 for the current state and 0 for the others, so that
 * alerts can select a state by name.
 */
static void write_states(struct exposition *e, const struct all *all)
{
	uint64_t state;
	size_t i;

	exposition_family(e, METRIC_GAUGE, "state", "",
			  "1 for the current state of the device, 0 for the others, see nearcache status");
	for (i = 0; i < all->count; i++)
		for (state = 0; state <= NEARCACHE_DEGRADED; state++) {
			const struct label_pair labels[] = {
				{ "device", all->measured[i].dev->name },
				{ "state", status_word(NEARCACHE_FIELD_STATE, state) },
				{ NULL, NULL },
			};

			exposition_value(e, labels,
					 all->measured[i].status.field[NEARCACHE_FIELD_STATE] == state);
		}
}

static void write_info(struct exposition *e, const struct all *all)
{
	size_t i;

	exposition_family(e, METRIC_INFO, "device", "",
			  "properties of the device, see nearcache status");
	for (i = 0; i < all->count; i++) {
		const uint64_t *field = all->measured[i].status.field;
#define WORD(FIELD)	status_word(NEARCACHE_FIELD_##FIELD, field[NEARCACHE_FIELD_##FIELD])
		const struct label_pair labels[] = {
			{ "device", all->measured[i].dev->name },
			{ "mode", WORD(MODE) },
			{ "reason", WORD(REASON) },
			{ "loaded", WORD(LOADED) },
			{ "integrity", WORD(INTEGRITY) },
			{ "witness", WORD(WITNESS) },
			{ NULL, NULL },
		};
#undef WORD

		exposition_value(e, labels, 1);
	}
}

static void write_read_ahead(struct exposition *e, const struct all *all)
{
	uint64_t bytes;
	size_t i;

	exposition_family(e, METRIC_GAUGE, "read_ahead_bytes", "bytes",
			  "read-ahead of the device, for files opened from now on");
	for (i = 0; i < all->count; i++) {
		const struct label_pair labels[] = {
			{ "device", all->measured[i].dev->name }, { NULL, NULL },
		};

		if (readahead_get(all->measured[i].dev->number, &bytes))
			exposition_value(e, labels, (double)bytes);
	}
}

/* Argument of write_label(). @counter: the NEARCACHE_LABEL_* to write. */
struct labelled {
	struct exposition *e;
	const char *device;
	unsigned int counter;
};

static void write_label(const struct nl_label *label, void *arg)
{
	const struct labelled *labelled = arg;
	const struct label_pair labels[] = {
		{ "device", labelled->device }, { "label", label->name },
		{ NULL, NULL },
	};

	exposition_value(labelled->e, labels,
			 (double)label->counter[labelled->counter]);
}

static int write_labels(struct exposition *e, const struct all *all)
{
#define X(symbol, name, unit, help) { "label_" name, unit, help },
	static const struct status_row rows[] = { NEARCACHE_LABEL_COUNTERS(X) };
#undef X
	char name[NAME];
	unsigned int c;
	size_t i;

	for (c = 0; c < NEARCACHE_LABEL_COUNTER_COUNT; c++) {
		exposition_family(e, METRIC_COUNTER, name_of(&rows[c], name),
				  unit_of(&rows[c]), rows[c].help);
		for (i = 0; i < all->count; i++) {
			struct labelled labelled = { e, all->measured[i].dev->name, c };

			if (nl_label_each(all->measured[i].dev->number, write_label,
					  &labelled))
				return fail_code();
		}
	}
	return 0;
}

/* The running prefetch jobs of a device. @left: bytes that these jobs have not handled yet. */
struct jobs {
	uint64_t running;
	uint64_t left;
};

static void add_job(const struct nl_job *job, void *arg)
{
	struct jobs *jobs = arg;
	uint64_t seen = job->fetched + job->present + job->left;

	if (nl_job_is_over(job))
		return;
	jobs->running++;
	jobs->left += job->bytes > seen ? job->bytes - seen : 0;
}

static int write_jobs(struct exposition *e, const struct all *all)
{
	struct jobs *jobs = calloc(all->count + 1, sizeof(*jobs));
	unsigned int what;
	size_t i;

	for (i = 0; jobs && i < all->count; i++)
		if (nl_job_each(all->measured[i].dev->number, add_job, &jobs[i]))
			break;
	for (what = 0; jobs && !fail_code() && what < 2; what++) {
		if (what)
			exposition_family(e, METRIC_GAUGE, "prefetch_left_bytes", "bytes",
					  "bytes that prefetch jobs have not handled yet");
		else
			exposition_family(e, METRIC_GAUGE, "prefetch_jobs", "",
					  "running prefetch jobs");
		for (i = 0; i < all->count; i++) {
			const struct label_pair labels[] = {
				{ "device", all->measured[i].dev->name }, { NULL, NULL },
			};

			exposition_value(e, labels, (double)(what ? jobs[i].left :
								   jobs[i].running));
		}
	}
	free(jobs);
	return jobs ? (int)fail_code() : fail_memory();
}

static int write_all(struct exposition *e, const struct all *all)
{
	size_t i;

	write_info(e, all);
	write_states(e, all);
	write_fields(e, all);
	write_read_ahead(e, all);
	write_counters(e, all);
	/* Other parts show which data others read, or are files of root. */
	if (dm_is_unprivileged()) {
		stage_metrics_write(e);
		exposition_end(e);
		return fail_code();
	}
	if (write_labels(e, all) || write_jobs(e, all))
		return fail_code();
	latencies_begin(e);
	for (i = 0; i < all->count; i++)
		if (latencies_write(e, all->measured[i].dev))
			return fail_code();
	if (cluster_metrics_write(e) || stage_metrics_write(e))
		return fail_code();
	exposition_end(e);
	return 0;
}

/*
 * Writes the metrics of all devices with a live table. Returns 0, or an exit code after
 * recording an error with fail(); then the output is incomplete.
 */
int metrics_write(struct exposition *exposition)
{
	struct dm_device *list;
	struct all all = { 0 };
	size_t i, count;

	if (dm_all(&list, &count))
		return fail_code();
	all.measured = calloc(count + 1, sizeof(*all.measured));
	if (!all.measured)
		fail_memory();
	for (i = 0; !fail_code() && i < count; i++) {
		if (!list[i].live || !list[i].status)
			continue;
		all.measured[all.count].dev = &list[i];
		if (!describe_status(&list[i], &all.measured[all.count].status))
			all.count++;
	}
	if (!fail_code())
		write_all(exposition, &all);
	free(all.measured);
	dm_device_free_all(list, count);
	return fail_code();
}
