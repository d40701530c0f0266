// SPDX-License-Identifier: GPL-2.0-only
#include "metrics/stage_metrics.h"

#include <stdlib.h>
#include <time.h>

#include "block/dm.h"
#include "block/dm_unprivileged.h"
#include "block/stage_params.h"
#include "lib/error.h"
#include "stage/closed_logs.h"
#include "stage/report.h"

/* Seconds between two searches for closed logs. */
#define SEARCH_SECONDS	600

/* A stage and its parsed status line. */
struct measured_stage {
	const struct dm_device *dev;
	struct stage_status status;
};

struct stages {
	struct measured_stage *stage;
	size_t count;
};

#define STAGE_VALUE(name)						\
static double value_##name(const struct stage_status *status)		\
{									\
	return (double)status->name;					\
}

STAGE_VALUE(behind_bytes)
STAGE_VALUE(retained_bytes)
STAGE_VALUE(ring_bytes)
STAGE_VALUE(waiting)
STAGE_VALUE(written_bytes)
STAGE_VALUE(drained_bytes)
STAGE_VALUE(log_read_bytes)
STAGE_VALUE(commits)
STAGE_VALUE(retries)
STAGE_VALUE(passed_bytes)

static double value_epochs(const struct stage_status *status)
{
	return (double)stage_epochs_behind(status);
}

static double value_seconds(const struct stage_status *status)
{
	return (double)stage_seconds_behind(status);
}

static double value_passes(const struct stage_status *status)
{
	return status->mode == NEARCACHE_STAGE_PASSES;
}

static const struct stage_metric {
	enum metric kind;
	const char *name;
	const char *unit;
	const char *help;
	double (*value)(const struct stage_status *status);
} metrics[] = {
	{ METRIC_GAUGE, "stage_behind_bytes", "bytes",
	  "bytes in the log that are not on the origin yet", value_behind_bytes },
	{ METRIC_GAUGE, "stage_behind_epochs", "",
	  "flushes whose writes are not on the origin yet", value_epochs },
	{ METRIC_GAUGE, "stage_behind_seconds", "seconds",
	  "age of the oldest write that is not on the origin, 0 if there is none", value_seconds },
	{ METRIC_GAUGE, "stage_retained_bytes", "bytes",
	  "bytes of retained data: on the origin, and still read from the log", value_retained_bytes },
	{ METRIC_GAUGE, "stage_log_bytes", "bytes", "size of the log", value_ring_bytes },
	{ METRIC_GAUGE, "stage_writes_waiting", "", "writes that wait for room in the log",
	  value_waiting },
	{ METRIC_COUNTER, "stage_written_bytes", "bytes", "bytes that users wrote to the stage",
	  value_written_bytes },
	{ METRIC_COUNTER, "stage_drained_bytes", "bytes",
	  "bytes that the stage wrote to the origin", value_drained_bytes },
	{ METRIC_COUNTER, "stage_passed_bytes", "bytes",
	  "bytes of writes that went to the origin and not to the log", value_passed_bytes },
	{ METRIC_GAUGE, "stage_passes", "", "1 while writes go to the origin and not to the log",
	  value_passes },
	{ METRIC_COUNTER, "stage_log_read_bytes", "bytes", "bytes that users read from the log",
	  value_log_read_bytes },
	{ METRIC_COUNTER, "stage_commits", "", "commits of the log", value_commits },
	{ METRIC_COUNTER, "stage_retries", "",
	  "drains that were repeated after an error of the origin", value_retries },
};

/* As the states of caches: 1 for the current state of a stage and 0 for the others. */
static void write_states(struct exposition *e, const struct stages *all)
{
	uint64_t state;
	size_t i;

	exposition_family(e, METRIC_GAUGE, "stage_state", "",
			  "1 for the current state of the stage, 0 for the others");
	for (i = 0; i < all->count; i++)
		for (state = 0; state <= NEARCACHE_STAGE_READ_ONLY; state++) {
			const struct label_pair labels[] = {
				{ "device", all->stage[i].dev->name },
				{ "state", stage_state_word(state) },
				{ NULL, NULL },
			};

			exposition_value(e, labels, all->stage[i].status.state == state);
		}
}

static void write_metrics(struct exposition *e, const struct stages *all)
{
	size_t m, i;

	write_states(e, all);
	for (m = 0; m < sizeof(metrics) / sizeof(*metrics); m++) {
		exposition_family(e, metrics[m].kind, metrics[m].name, metrics[m].unit,
				  metrics[m].help);
		for (i = 0; i < all->count; i++) {
			const struct label_pair labels[] = {
				{ "device", all->stage[i].dev->name }, { NULL, NULL },
			};

			exposition_value(e, labels, metrics[m].value(&all->stage[i].status));
		}
	}
}

/*
 * The closed logs on this machine.  Each search reads all local drives, so the daemon searches rarely;
 * a stage that was opened since the search is noticed at once.
 * One thread of the daemon writes metrics at a time.
 */
static const struct logs *closed_logs(void)
{
	static struct logs found;
	static time_t searched;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (searched && now.tv_sec - searched < SEARCH_SECONDS)
		return closed_logs_drop_running(&found) ? NULL : &found;
	logs_free(&found);
	if (closed_logs_find(&found)) {
		logs_free(&found);
		return NULL;
	}
	searched = now.tv_sec + !now.tv_sec;
	return &found;
}

static int write_closed(struct exposition *e)
{
	const struct logs *all = closed_logs();
	bool ages;
	size_t i;

	for (ages = false; all && all->count; ages = true) {
		exposition_family(e, METRIC_GAUGE, ages ? "stage_closed_seconds" : "stage_closed",
				  ages ? "seconds" : "", ages ?
				  "age of the flush that the origin of a closed log shows, 0 if unknown" :
				  "1 for each log with writes that the origin lacks, whose stage is closed");
		for (i = 0; i < all->count; i++) {
			const struct label_pair labels[] = {
				{ "name", (const char *)all->one[i].sb.label },
				{ "log", all->one[i].path },
				{ NULL, NULL },
			};

			exposition_value(e, labels,
					 ages ? (double)closed_log_seconds(&all->one[i]) : 1);
		}
		if (ages)
			break;
	}
	return fail_code();
}

/*
 * Writes the metrics of all stages with a live table, and of closed logs. Returns 0, or an exit code
 * after recording an error with fail().
 */
int stage_metrics_write(struct exposition *exposition)
{
	struct stages all = { 0 };
	struct dm_device *list;
	size_t i, count;

	if (dm_all_stages(&list, &count))
		return fail_code();
	all.stage = calloc(count + 1, sizeof(*all.stage));
	for (i = 0; all.stage && i < count; i++) {
		all.stage[all.count].dev = &list[i];
		all.count += list[i].status &&
			     stage_status_parse(list[i].status, &all.stage[all.count].status);
	}
	if (!all.stage)
		fail_memory();
	else if (all.count)
		write_metrics(exposition, &all);
	free(all.stage);
	dm_device_free_all(list, count);
	return fail_code() || dm_is_unprivileged() ? (int)fail_code() : write_closed(exposition);
}
