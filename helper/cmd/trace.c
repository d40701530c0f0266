// SPDX-License-Identifier: GPL-2.0-only
/* nearcache trace: record the reads of a program, and prefetch them for its next run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster/homes.h"
#include "cmd/commands.h"
#include "cmd/node_part.h"
#include "ondisk/print_superblock.h"
#include "lib/error.h"
#include "block/device_sysfs.h"
#include "files/job_parts.h"
#include "files/job_wait.h"
#include "files/read_plan.h"
#include "lib/print.h"
#include "lib/atomic_file.h"
#include "block/signals.h"
#include "trace/recorder.h"
#include "trace/touched_units.h"
#include "trace/trace_format.h"

#define SECTOR		512U
/* Interval at which the recorder collects reads, milliseconds. */
#define LOOK_MS		100U
#define LABEL		"trace"

/* @trace: extents in the order of their first read; @touched: the units that @trace contains. */
struct recording {
	struct trace trace;
	struct touched touched;
};

static int add_extent(uint64_t first, uint64_t end, void *arg)
{
	return trace_add(arg, first, end);
}

static int add_piece(uint64_t sector, uint32_t sectors, void *arg)
{
	struct recording *r = arg;
	uint64_t start = sector * SECTOR, end = start + (uint64_t)sectors * SECTOR;
	uint32_t unit = r->trace.unit;

	return touched_add(&r->touched, start / unit, (end + unit - 1) / unit, add_extent,
			   &r->trace);
}

static void show_trace(const struct trace *trace, const char *path)
{
	print_record(NULL, NULL);
	print_string("file", "trace", path);
	print_number("extents", "extents", trace->count);
	print_bytes("bytes", "bytes", trace->bytes);
	print_number("unit", NULL, trace->unit);
	print_bytes("device_bytes", "of device", trace->device_bytes);
	print_number("lost", trace->lost ? "reads lost" : NULL, trace->lost);
	print_number("time", NULL, trace->time);
	print_string("origin", *trace->origin ? "origin" : NULL, trace->origin);
	print_end();
}

static int begin_trace(struct recording *r, const struct dm_device *dev)
{
	struct status status;

	if (describe_status(dev, &status))
		return fail_code();
	r->trace.unit = (uint32_t)status.field[NEARCACHE_FIELD_SUBBLOCK_SIZE];
	r->trace.device_bytes = dev->size;
	r->trace.time = (uint64_t)time(NULL);
	if (dev->origin)
		identity_read(dev->origin, r->trace.origin);
	return touched_init(&r->touched, trace_units(&r->trace));
}

/* Records reads until a signal or an error. */
static int watch_reads(struct recording *r, const struct dm_device *dev)
{
	struct recorder recorder = { .visit = add_piece, .arg = r };

	if (!recorder_open(&recorder, dev->number)) {
		fprintf(stderr, "recording the reads of '%s': ^C ends the recording\n", dev->name);
		while (!recorder_look(&recorder) && !signals_wait(LOOK_MS))
			;
		recorder_look(&recorder);
		r->trace.lost = recorder_lost(&recorder);
	}
	recorder_close(&recorder);
	return fail_code();
}

/* Writes and shows the trace.  After an error, writes the reads recorded before the error. */
static int save_trace(const struct trace *trace, const char *path)
{
	enum exit_code code = fail_code();
	char why[512];

	snprintf(why, sizeof(why), "%s", code ? fail_message() : "");
	if (code && !trace->count)
		return code;
	fail_reset();
	if (trace->lost)
		warn("%llu reads came too fast and were not recorded", (unsigned long long)trace->lost);
	if (!trace_write(trace, path))
		show_trace(trace, path);
	else if (code)
		warn("%s", why);
	return code && !fail_code() ? fail(code, "%s; '%s' has the reads until then", why, path) :
				      (int)fail_code();
}

static int record_reads(const struct dm_device *dev, const char *path)
{
	struct recording r = { 0 };
	sigset_t before;

	signals_hold(&before);
	if (!atomic_file_check(path) && !begin_trace(&r, dev)) {
		watch_reads(&r, dev);
		save_trace(&r.trace, path);
	}
	touched_free(&r.touched);
	trace_free(&r.trace);
	return fail_code();
}

/* Unless @force, fail if the trace is of another origin.  Other nodes and caches are accepted. */
static int check_volume(const struct trace *trace, const struct dm_device *dev, const char *path,
			bool force)
{
	char origin[TRACE_ORIGIN] = "";

	if (!trace->count)
		return fail(CODE_DEVICE, "'%s' is empty: nothing was read while it was recorded",
			    path);
	if (trace->device_bytes > dev->size)
		return fail(CODE_DEVICE,
			    "'%s' is a trace of a device of %llu bytes, but '%s' has only %llu: it is another volume",
			    path, (unsigned long long)trace->device_bytes, dev->name,
			    (unsigned long long)dev->size);
	if (dev->origin)
		identity_read(dev->origin, origin);
	if (force || identity_may_be_same(trace->origin, origin))
		return 0;
	return fail(CODE_DEVICE,
		    "'%s' is a trace of volume '%s', but the origin of '%s' is '%s': give --force if the content is the same",
		    path, trace->origin, dev->name, origin);
}

/* The extents of a trace that are here; all of them unless the user named a cluster device. */
struct trace_part {
	struct range *range;
	size_t ranges;
	struct homes_part bytes;
};

static int take_part(struct trace_part *part, const struct trace *trace, const struct homes *homes)
{
	size_t i;

	if (homes_select(homes, true, trace->extent, trace->count, &part->range, &part->ranges))
		return fail_code();
	for (i = 0; i < trace->count; i++)
		part->bytes.all += trace->extent[i].length;
	for (i = 0; i < part->ranges; i++)
		part->bytes.here += part->range[i].length;
	return 0;
}

static int submit_trace(const struct arguments *args, const struct dm_device *dev,
			const struct trace_part *part, struct nl_job *job)
{
	struct nl_job wishes = {
		.priority = args->priority,
		.deadline = args->deadline,
		.bandwidth = args->bandwidth,
	};
	size_t parts;

	if (!part->ranges)
		return 0;
	snprintf(wishes.label, sizeof(wishes.label), "%s", args->label ? args->label : LABEL);
	if (job_parts_run(dev, &wishes, part->range, part->ranges,
			  option_given(args, OPTION_WAIT), option_given(args, OPTION_JSON), job,
			  &parts))
		return fail_code();
	return job->bytes && job_judge(dev, job) ? describe_bypass(dev->name) : 0;
}

static int replay_on(const struct arguments *args, const struct dm_device *dev,
		     const struct homes *homes, const struct trace *trace, const char *path)
{
	struct trace_part part = { 0 };
	bool dry_run = option_given(args, OPTION_DRY_RUN);
	struct nl_job job = { 0 };
	sigset_t before;

	if (check_volume(trace, dev, path, option_given(args, OPTION_FORCE)))
		return fail_code();
	if (trace->lost)
		warn("'%s' lacks %llu reads that came too fast for the recorder", path,
		     (unsigned long long)trace->lost);
	signals_hold(&before);
	if (!take_part(&part, trace, homes) && !dry_run && !describe_need_cache(dev))
		submit_trace(args, dev, &part, &job);
	signals_release(&before);
	free(part.range);
	if (fail_code())
		return fail_code();
	print_record(NULL, dev->name);
	print_string("name", NULL, dev->name);
	print_string("file", "trace", path);
	print_number("extents", "extents", trace->count);
	print_bytes("bytes", "bytes", trace->bytes);
	node_part_print(homes, &part.bytes);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	print_number("job", job.id ? "prefetch job" : NULL, job.id);
	print_end();
	return 0;
}

/* Submit a plan in which each epoch reads the trace once. */
static int plan_on(const struct arguments *args, const struct dm_device *dev,
		   const struct homes *homes, const struct trace *trace, const char *path)
{
	struct trace_part part = { 0 };
	unsigned int left = args->epochs ? args->epochs : 1;
	bool dry_run = option_given(args, OPTION_DRY_RUN);
	struct nl_plan now = { 0 };
	struct plan plan = { 0 };

	if (check_volume(trace, dev, path, option_given(args, OPTION_FORCE)))
		return fail_code();
	take_part(&part, trace, homes);
	while (left-- && !fail_code())
		plan_add(&plan, part.range, part.ranges);
	free(part.range);
	if (!fail_code() &&
	    (dry_run || (!describe_need_cache(dev) && !plan_submit(&plan, dev, 0, &now)))) {
		print_record(NULL, dev->name);
		print_string("name", NULL, dev->name);
		print_string("file", "trace", path);
		print_bytes("bytes", "bytes planned", plan.bytes);
		node_part_print(homes, &part.bytes);
		print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
		if (!dry_run)
			plan_print(&now);
		print_end();
	}
	plan_free(&plan);
	return fail_code();
}

static int use_trace(const struct arguments *args, const struct dm_device *dev,
		     const struct homes *homes, const char *path)
{
	struct trace trace = { 0 };

	if (!trace_read(&trace, path) && !strcmp(args->operand[0], "plan"))
		plan_on(args, dev, homes, &trace, path);
	else if (!fail_code())
		replay_on(args, dev, homes, &trace, path);
	trace_free(&trace);
	return fail_code();
}

static int show_file(const char *path)
{
	struct trace trace = { 0 };

	if (!trace_read(&trace, path))
		show_trace(&trace, path);
	trace_free(&trace);
	return fail_code();
}

#define OF_REPLAY	(OPTION_PRIORITY | OPTION_DEADLINE | OPTION_BANDWIDTH | OPTION_LABEL | \
			 OPTION_WAIT)
#define OF_PLAN		OPTION_EPOCHS
#define OF_BOTH		(OPTION_FORCE | OPTION_DRY_RUN)

/* Returns whether an option is given that 'nearcache trace WHAT' does not take. */
static bool is_beside(const struct arguments *args, const char *what)
{
	if (!strcmp(what, "replay"))
		return option_given(args, OF_PLAN);
	if (!strcmp(what, "plan"))
		return option_given(args, OF_REPLAY);
	return option_given(args, OF_REPLAY | OF_PLAN | OF_BOTH);
}

static int check_words(const struct arguments *args)
{
	const char *what = args->operand[0];
	bool shows = !strcmp(what, "show");

	if (!shows && strcmp(what, "record") && strcmp(what, "replay") && strcmp(what, "plan"))
		return fail(CODE_USAGE, "'%s': give record, replay, plan or show to 'trace'", what);
	if (args->operands != (shows ? 2 : 3))
		return fail(CODE_USAGE, "'trace %s' takes %s", what, shows ? "FILE" : "NAME FILE");
	if (is_beside(args, what))
		return fail(CODE_USAGE,
			    "'trace %s' does not take these options: --epochs is for 'trace plan', --force and --dry-run for 'trace plan' and 'trace replay', the others for 'trace replay'",
			    what);
	return 0;
}

static int cmd_trace(const struct arguments *args)
{
	const char *path = args->operand[args->operands - 1];
	struct dm_device dev;
	struct homes homes;

	if (check_words(args))
		return fail_code();
	if (args->operands == 2)
		return show_file(path);
	if (homes_find(args->operand[1], &dev, &homes))
		return fail_code();
	if (!dev.live)
		fail(CODE_DEVICE, "device '%s' is not active: close it and open it again", dev.name);
	else if (!strcmp(args->operand[0], "record"))
		record_reads(&dev, path);
	else
		use_trace(args, &dev, &homes, path);
	homes_free(&homes);
	dm_device_free(&dev);
	return fail_code();
}

const struct verb trace_verb = {
	.name = "trace",
	.group = VERBS_DATA,
	.operands = "record|replay|plan|show [NAME] FILE",
	.operands_min = 1,
	.operands_max = 3,
	.optional = OPTION_LABEL | OPTION_PRIORITY | OPTION_DEADLINE | OPTION_BANDWIDTH |
		    OPTION_WAIT | OPTION_FORCE | OPTION_EPOCHS,
	.summary = "record the reads of a program, and prefetch them for its next run",
	.details =
"  record NAME FILE   write the ranges of NAME that are read, in the order of their\n"
"                     first read, until ^C or SIGTERM; FILE is replaced as a whole at\n"
"                     the end; recording needs memory of 1/32768 of the bytes read\n"
"  replay NAME FILE   prefetch the recorded ranges in that order, in the background;\n"
"                     start it just before the program; it then prefetches ahead of\n"
"                     the program's reads\n"
"  plan NAME FILE     make the trace the plan of NAME, see 'plan --help'\n"
"  show FILE          show the content of a trace\n"
"\n"
"A trace is valid on every node that has the volume; --force uses it for another volume.\n"
"Its order is that of one run: a shuffled loader reads in the same order for the same\n"
"seed. A trace has each range once; --epochs N tells plan that a run reads this order N\n"
"times. --force and --dry-run also apply to plan.\n"
"\n"
"NAME of a cluster device: record takes the reads of all nodes that arrive in the cache\n"
"of this node; replay and plan take the part that has its home here.\n"
"\n"
"If the cache is full, a replay waits for readers, as a prefetch does. A trace of more than\n"
"1,048,576 extents becomes several jobs, also as in prefetch.\n",
	.run = cmd_trace,
};
