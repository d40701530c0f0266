// SPDX-License-Identifier: GPL-2.0-only
#include "top/sections.h"

#include "lib/enum_words.h"
#include "lib/histogram.h"
#include "lib/size.h"
#include "top/cell_format.h"
#include "top/sample_difference.h"
#include "top/stream_rows.h"

/* Columns by section. Except in alarms, column 0 is the device; start_grid() may skip column 0. */
static const struct grid_column alarms[] = {
	{ NULL, .least = 8 },
};

static const struct grid_column devices[] = {
	{ "DEVICE", .least = 6 }, { "STATE", .least = 6 },
	{ "MODE", .least = 5, .rank = 3 },
	{ "HITS", .right = true }, { "SINCE LOAD", .right = true, .rank = 4 },
	{ "CACHE/s", .right = true, .rank = 1 },
	{ "ORIGIN/s", .right = true, .rank = 2 },
};

static const struct grid_column clusters[] = {
	{ "CLUSTER", .least = 6 }, { "HERE/s", .right = true },
	{ "AT PEERS/s", .right = true }, { "ORIGIN/s", .right = true, .rank = 1 },
	{ "AT PEERS", .right = true, .rank = 2 }, { "PEERS UP", .right = true },
	{ "ERRORS", .right = true, .rank = 3 },
};

static const struct grid_column stages[] = {
	{ "STAGE", .least = 6 }, { "STATE", .least = 6, .rank = 3 },
	{ "WRITE/s", .right = true, .rank = 1 }, { "TO ORIGIN/s", .right = true },
	{ "BEHIND", .right = true }, { "AGE", .right = true },
	{ "RETAINED", .right = true, .rank = 2 },
};

static const struct grid_column flows[] = {
	{ "DEVICE", .least = 6 }, { "FILL/s", .right = true },
	{ "PREFETCH/s", .right = true, .rank = 2 }, { "LATE/s", .right = true, .rank = 6 },
	{ "WASTED/s", .right = true, .rank = 5 }, { "WRITE/s", .right = true, .rank = 3 },
	{ "CACHED", .right = true, .rank = 1 }, { "OF", .right = true, .rank = 4 },
};

static const struct grid_column latencies[] = {
	{ "DEVICE", .least = 12 },
	{ "HIT 50%", .right = true }, { "99%", .right = true, .rank = 1 },
	{ "MISS 50%", .right = true, .rank = 2 }, { "99%", .right = true, .rank = 3 },
	{ "JOIN 50%", .right = true, .rank = 6 }, { "99%", .right = true, .rank = 7 },
	{ "ORIGIN 50%", .right = true, .rank = 4 }, { "99%", .right = true, .rank = 5 },
	{ "WRITE 50%", .right = true, .rank = 8 }, { "99%", .right = true, .rank = 9 },
};

static const struct grid_column labels[] = {
	{ "DEVICE", .least = 6, .rank = 6 }, { "LABEL", .least = 8 },
	{ "HITS", .right = true, .rank = 1 }, { "SINCE LOAD", .right = true, .rank = 4 },
	{ "CACHE/s", .right = true, .rank = 2 }, { "ORIGIN/s", .right = true, .rank = 3 },
	{ "RANGES", .right = true, .rank = 7 }, { "BYTES", .right = true, .rank = 5 },
};

/* The kernel cuts the name of a process to 15 characters. */
static const struct grid_column streams[] = {
	{ "DEVICE", .least = 6, .rank = 5 }, { "PID", .right = true },
	{ "COMMAND", .least = 15, .rank = 3 }, { "PROCS", .right = true, .rank = 4 },
	{ "ACCESS", .rank = 6 },
	{ "CLASS", .rank = 0 }, { "BYTES/s", .right = true, .rank = 1 },
	{ "ACCESSES/s", .right = true, .rank = 10 }, { "BYTES", .right = true, .rank = 8 },
	{ "RUNS", .right = true, .rank = 9 }, { "LABEL", .least = 6, .rank = 7 },
	{ "CGROUP", .right = true, .rank = 11 },
};

static const struct grid_column jobs[] = {
	{ "DEVICE", .least = 6, .rank = 4 }, { "JOB", .right = true },
	{ "LABEL", .least = 6, .rank = 3 }, { "DONE", .right = true },
	{ "BYTES", .right = true, .rank = 2 }, { "BYTES/s", .right = true, .rank = 1 },
	{ "LEFT OUT", .right = true, .rank = 5 }, { "PRIORITY", .right = true, .rank = 6 },
};

static void fill_alarm(struct grid *grid, const struct top_device *device)
{
	if (device->calm)
		return;
	grid_cell(grid, "! %s is %s%s%s", device->name, device->state,
		  *device->why ? ": " : "", device->why);
	grid_alarm(grid);
}

static void fill_device(struct grid *grid, const struct top_device *device)
{
	const uint64_t *since = device->since.counter;

	grid_cell(grid, "%s", device->name);
	grid_cell(grid, "%s", device->state);
	grid_cell(grid, "%s", *device->mode ? device->mode : "-");
	cell_ratio(grid, since[NEARCACHE_COUNTER_HIT_BYTES],
		   status_read_bytes(&device->since));
	cell_ratio(grid, device->status.counter[NEARCACHE_COUNTER_HIT_BYTES],
		   status_read_bytes(&device->status));
	cell_byte_rate(grid, since[NEARCACHE_COUNTER_HIT_BYTES], device->span);
	cell_byte_rate(grid, since[NEARCACHE_COUNTER_FILL_ORIGIN_BYTES] +
		       since[NEARCACHE_COUNTER_BYPASS_BYTES], device->span);
	if (!device->calm)
		grid_alarm(grid);
}

/* The origin's bytes are those of the cache, and include reads for peers. */
static void fill_cluster(struct grid *grid, const struct top_device *device)
{
	const struct top_cluster *cluster = &device->cluster;
	const uint64_t *since = device->since.counter;

	if (!*cluster->name)
		return;
	grid_cell(grid, "%s", cluster->name);
	cell_byte_rate(grid, cluster->since_here, device->span);
	cell_byte_rate(grid, cluster->since_peer, device->span);
	cell_byte_rate(grid, since[NEARCACHE_COUNTER_FILL_ORIGIN_BYTES] +
		       since[NEARCACHE_COUNTER_BYPASS_BYTES], device->span);
	cell_ratio(grid, cluster->since_peer, cluster->since_here + cluster->since_peer);
	grid_cell(grid, "%u of %u", cluster->up, cluster->peers);
	grid_cell(grid, "%llu", (unsigned long long)cluster->errors);
	if (cluster->up < cluster->peers)
		grid_alarm(grid);
}

static void fill_stage(struct grid *grid, const struct top_device *device)
{
	const struct top_stage *stage = &device->stage;

	if (!*stage->name)
		return;
	grid_cell(grid, "%s", stage->name);
	grid_cell(grid, "%s", stage->state);
	cell_byte_rate(grid, stage->since_written, device->span);
	cell_byte_rate(grid, stage->since_drained, device->span);
	cell_bytes(grid, stage->behind);
	grid_cell(grid, "%llu s", (unsigned long long)stage->seconds);
	cell_bytes(grid, stage->retained);
	if (!stage->calm)
		grid_alarm(grid);
}

static void fill_flow(struct grid *grid, const struct top_device *device)
{
	const uint64_t *since = device->since.counter;
	const uint64_t *field = device->status.field;

	grid_cell(grid, "%s", device->name);
	cell_byte_rate(grid, since[NEARCACHE_COUNTER_FILL_CACHE_BYTES], device->span);
	cell_byte_rate(grid, since[NEARCACHE_COUNTER_PREFETCHED_BYTES], device->span);
	cell_byte_rate(grid, since[NEARCACHE_COUNTER_PREFETCHED_LATE_BYTES],
		       device->span);
	cell_byte_rate(grid, since[NEARCACHE_COUNTER_PREFETCHED_WASTED_BYTES],
		       device->span);
	cell_byte_rate(grid, since[NEARCACHE_COUNTER_WRITE_BYTES], device->span);
	cell_bytes(grid, field[NEARCACHE_FIELD_BYTES_VALID]);
	cell_bytes(grid, field[NEARCACHE_FIELD_BLOCKS] *
			 field[NEARCACHE_FIELD_BLOCK_SIZE]);
}

static void fill_path(struct grid *grid, const struct latency *latency)
{
	if (histogram_count(latency)) {
		cell_time(grid, histogram_percentile(latency, 5000));
		cell_time(grid, histogram_percentile(latency, 9900));
		return;
	}
	grid_cell(grid, "-");
	grid_cell(grid, "-");
}

static void fill_latencies(struct grid *grid, const struct top_device *device)
{
	unsigned int path;

	grid_cell(grid, "%s", device->name);
	for (path = 0; path < PATHS; path++)
		fill_path(grid, &device->latency_since[path]);
}

/* Names the device if @owner; otherwise the grid has no column for it. */
static void fill_owner(struct grid *grid, const struct top_device *device, bool owner)
{
	if (owner)
		grid_cell(grid, "%s", device->name);
}

static void fill_label(struct grid *grid, const struct top_device *device,
		       const struct top_label *label, bool owner)
{
	const uint64_t *since = label->since;

	fill_owner(grid, device, owner);
	grid_cell(grid, "%s", label->name);
	cell_ratio(grid, since[NEARCACHE_LABEL_HIT_BYTES],
		   since[NEARCACHE_LABEL_HIT_BYTES] + since[NEARCACHE_LABEL_MISS_BYTES]);
	cell_ratio(grid, label->counter[NEARCACHE_LABEL_HIT_BYTES],
		   label->counter[NEARCACHE_LABEL_HIT_BYTES] +
		   label->counter[NEARCACHE_LABEL_MISS_BYTES]);
	cell_byte_rate(grid, since[NEARCACHE_LABEL_HIT_BYTES], device->span);
	cell_byte_rate(grid, since[NEARCACHE_LABEL_ORIGIN_BYTES], device->span);
	grid_cell(grid, "%llu", (unsigned long long)label->ranges);
	cell_bytes(grid, label->bytes);
}

static void fill_labels(struct grid *grid, const struct top_model *model, bool owner)
{
	size_t i, l;

	for (i = 0; i < model->devices; i++)
		for (l = 0; l < model->device[i].labels; l++)
			fill_label(grid, &model->device[i],
				   &model->device[i].label[l], owner);
}

static void fill_job(struct grid *grid, const struct top_device *device,
		     const struct top_job *job, bool owner)
{
	fill_owner(grid, device, owner);
	grid_cell(grid, "%u", job->job.id);
	grid_cell(grid, "%s", *job->job.label ? job->job.label : "-");
	cell_ratio(grid, job->done, job->job.bytes);
	cell_bytes(grid, job->job.bytes);
	cell_byte_rate(grid, job->since, device->span);
	cell_bytes(grid, job->job.left);
	grid_cell(grid, "%u", job->job.priority);
}

static void fill_jobs(struct grid *grid, const struct top_model *model, bool owner)
{
	size_t i, j;

	for (i = 0; i < model->devices; i++)
		for (j = 0; j < model->device[i].jobs; j++)
			fill_job(grid, &model->device[i], &model->device[i].job[j], owner);
}

/* The label, or the place: without them the streams of a process would look the same. */
static void fill_part(struct grid *grid, const struct set_key *set, const struct top_label *label)
{
	char start[SIZE_TEXT];

	if (label)
		grid_cell(grid, "%s", label->name);
	else if (set->label)
		grid_cell(grid, "label %u", set->label);
	else if (set->place)
		grid_cell(grid, "from %s", size_print(set->place << (PLACE_SHIFT + 9), start));
	else
		grid_cell(grid, "-");
}

static void fill_stream(struct grid *grid, const struct stream_row *row, bool owner)
{
	const struct top_stream *stream = &row->stream;
	const struct top_label *label = model_label(row->device, stream->key.set.label);

	fill_owner(grid, row->device, owner);
	grid_cell(grid, "%u", stream->key.pid);
	grid_cell(grid, "%s", *stream->command ? stream->command : "-");
	grid_cell(grid, "%u", row->processes);
	grid_cell(grid, "%s", stream->key.writes ? "write" : "read");
	grid_cell(grid, "%s", row->mixed ? "mixed" : class_word(stream->class));
	cell_byte_rate(grid, stream->since_bytes, row->device->span);
	cell_rate(grid, stream->since_accesses, row->device->span);
	cell_bytes(grid, stream->bytes);
	grid_cell(grid, "%llu", (unsigned long long)stream->runs);
	fill_part(grid, &stream->key.set, label);
	if (stream->key.set.cgroup)
		grid_cell(grid, "%llu", (unsigned long long)stream->key.set.cgroup);
	else
		grid_cell(grid, "-");
}

static void fill_streams(struct grid *grid, const struct top_model *model, const struct view *view,
			 bool owner)
{
	struct stream_rows rows;
	size_t i;

	if (!stream_rows_make(model, view, &rows))
		for (i = 0; i < rows.count; i++)
			fill_stream(grid, &rows.row[i], owner);
	stream_rows_free(&rows);
}

static void fill_each(struct grid *grid, const struct top_model *model,
		      void (*fill)(struct grid *grid, const struct top_device *device))
{
	size_t i;

	for (i = 0; i < model->devices; i++)
		fill(grid, &model->device[i]);
}

static void start_grid(struct grid *grid, enum section section, bool owner)
{
#define COLUMNS(name)	{ name, sizeof(name) / sizeof((name)[0]) }
	static const struct {
		const struct grid_column *column;
		size_t columns;
	} of[SECTIONS] = {
		[SECTION_ALARMS] = COLUMNS(alarms),
		[SECTION_DEVICES] = COLUMNS(devices),
		[SECTION_CLUSTERS] = COLUMNS(clusters),
		[SECTION_STAGES] = COLUMNS(stages),
		[SECTION_FLOWS] = COLUMNS(flows),
		[SECTION_LATENCIES] = COLUMNS(latencies),
		[SECTION_LABELS] = COLUMNS(labels),
		[SECTION_STREAMS] = COLUMNS(streams),
		[SECTION_JOBS] = COLUMNS(jobs),
	};
#undef COLUMNS
	bool skip = section >= SECTION_LABELS && !owner;

	grid_start(grid, of[section].column + skip, of[section].columns - skip);
}

/* Makes @grid, which the caller frees with grid_free(). Records an error if memory runs out. */
void sections_fill(const struct top_model *model, const struct view *view,
		   enum section section, struct grid *grid)
{
	bool owner = model->devices > 1;

	start_grid(grid, section, owner);
	switch (section) {
	case SECTION_ALARMS:
		fill_each(grid, model, fill_alarm);
		break;
	case SECTION_DEVICES:
		fill_each(grid, model, fill_device);
		break;
	case SECTION_CLUSTERS:
		fill_each(grid, model, fill_cluster);
		break;
	case SECTION_STAGES:
		fill_each(grid, model, fill_stage);
		break;
	case SECTION_FLOWS:
		fill_each(grid, model, fill_flow);
		break;
	case SECTION_LATENCIES:
		if (model->measures)
			fill_each(grid, model, fill_latencies);
		break;
	case SECTION_LABELS:
		fill_labels(grid, model, owner);
		break;
	case SECTION_STREAMS:
		fill_streams(grid, model, view, owner);
		break;
	case SECTION_JOBS:
		fill_jobs(grid, model, owner);
		break;
	}
}
