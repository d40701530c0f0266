// SPDX-License-Identifier: GPL-2.0-only
/* Screen of 'nearcache top' (top/frame.c): data that fits is shown, and no line is too long. */
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "lib/error.h"
#include "top/compose_frame.h"
#include "top/sample_difference.h"
#include "top/text_width.h"
#include "unit.h"

#define SECOND	1000000000ULL
#define MIB	(1ULL << 20)

static void *need(void *memory)
{
	assert_non_null(memory);
	return memory;
}

static void add_stream(struct top_device *device, uint32_t pid, const char *command,
		       uint32_t class, uint64_t bytes)
{
	struct top_stream *stream;

	device->stream = need(realloc(device->stream,
				      (device->streams + 1) * sizeof(*stream)));
	stream = &device->stream[device->streams++];
	memset(stream, 0, sizeof(*stream));
	stream->key.pid = pid;
	stream->key.set.label = 7;
	snprintf(stream->command, sizeof(stream->command), "%s", command);
	stream->class = class;
	stream->bytes = bytes;
	stream->accesses = bytes / 4096;
	stream->runs = 3;
}

static void add_label(struct top_device *device, const char *name, uint32_t id)
{
	struct top_label *label;

	device->label = need(realloc(device->label,
				     (device->labels + 1) * sizeof(*label)));
	label = &device->label[device->labels++];
	memset(label, 0, sizeof(*label));
	snprintf(label->name, sizeof(label->name), "%s", name);
	label->id = id;
	label->bytes = 64 * MIB;
	label->counter[NEARCACHE_LABEL_HIT_BYTES] = 3 * MIB;
	label->counter[NEARCACHE_LABEL_MISS_BYTES] = MIB;
}

static void add_job(struct top_device *device, uint32_t id)
{
	struct top_job *job;

	device->job = need(realloc(device->job, (device->jobs + 1) * sizeof(*job)));
	job = &device->job[device->jobs++];
	memset(job, 0, sizeof(*job));
	job->job.id = id;
	job->job.bytes = 200 * MIB;
	job->done = 50 * MIB;
	strcpy(job->job.label, "train");
}

static struct top_device *add_device(struct top_model *model, const char *name)
{
	struct top_device *device;
	unsigned int i;

	model->device = need(realloc(model->device,
				     (model->devices + 1) * sizeof(*device)));
	device = &model->device[model->devices];
	memset(device, 0, sizeof(*device));
	snprintf(device->name, sizeof(device->name), "%s", name);
	device->number = makedev(253, (unsigned int)model->devices++);
	device->state = "normal";
	device->calm = true;
	strcpy(device->mode, "read-only");
	device->time = 10 * SECOND;
	device->status.counter[NEARCACHE_COUNTER_HIT_BYTES] = 30 * MIB;
	device->status.counter[NEARCACHE_COUNTER_MISS_BYTES] = 10 * MIB;
	device->status.counter[NEARCACHE_COUNTER_FILL_ORIGIN_BYTES] = 10 * MIB;
	for (i = 0; i < PATHS; i++) {
		device->latency[i].count = 10;
		device->latency[i].bucket[latency_bucket(90000ULL << 2 * i)] = 10;
	}
	return device;
}

/* Fill a model with @devices devices, each with @each entries of every kind. */
static void fill(struct top_model *model, unsigned int devices, unsigned int each)
{
	unsigned int d, i;
	char name[128];

	memset(model, 0, sizeof(*model));
	model->wall = 1700000000ULL * SECOND;
	model->classifies = true;
	model->measures = true;
	for (d = 0; d < devices; d++) {
		struct top_device *device;

		snprintf(name, sizeof(name), "nc%u", d);
		device = add_device(model, name);
		for (i = 0; i < each; i++) {
			add_stream(device, 1000 + 100 * d + i, "trainer",
				   NEARCACHE_CLASS_SHUFFLED, (1 + d + i) * MIB);
			snprintf(name, sizeof(name), "label%u", i);
			add_label(device, name, 7 + i);
			add_job(device, 1 + i);
		}
	}
	since_subtract(model, &(struct top_model){ 0 });
}

static void no_longer(const struct frame *frame, const struct view *view)
{
	size_t i;

	assert_true(frame->lines <= view->rows);
	for (i = 0; i < frame->lines; i++)
		assert_true(width_of(frame->line[i].text) <= view->columns);
}

static const char *find(const struct frame *frame, const char *text)
{
	size_t i;

	for (i = 0; i < frame->lines; i++)
		if (strstr(frame->line[i].text, text))
			return frame->line[i].text;
	return NULL;
}

#define has(frame, text)						\
	do {								\
		if (!find(frame, text))					\
			fail_msg("no '%s'", text);			\
	} while (0)

static void make(const struct top_model *model, const struct view *view,
		 struct frame *frame)
{
	assert_int_equal(frame_make(model, view, frame), 0);
}

/* All data of one device fits: rates of the interval and totals are shown. */
static void usual(void **state)
{
	const struct view view = { .columns = 80, .rows = 24, .interval = 1000,
				   .focus = SECTION_STREAMS, .live = true };
	struct top_model before, model;
	struct frame frame;

	(void)state;
	fill(&before, 1, 2);
	fill(&model, 1, 2);
	model.device[0].time += 2 * SECOND;
	model.device[0].status.counter[NEARCACHE_COUNTER_HIT_BYTES] += 9 * MIB;
	model.device[0].status.counter[NEARCACHE_COUNTER_MISS_BYTES] += MIB;
	model.device[0].status.counter[NEARCACHE_COUNTER_FILL_ORIGIN_BYTES] += MIB;
	model.device[0].stream[1].bytes += 8 * MIB;
	model.device[0].stream[1].accesses += 512;
	model.device[0].job[0].done += 10 * MIB;
	model.device[0].latency[PATH_HIT].count += 1;
	model.device[0].latency[PATH_HIT].bucket[latency_bucket(5000000)] += 1;
	since_subtract(&model, &before);
	make(&model, &view, &frame);
	no_longer(&frame, &view);
	has(&frame, "1 device  each 1 s  streams by rate  h help  q quit");
	/* Hit rates: 9 of 10 MiB in the interval, and 39 of 50 MiB since the start. */
	has(&frame, "nc0     normal  read-only  90.0 %      78.0 %  4.5 MiB   512 KiB");
	/* In the interval one hit of 5 ms was measured: both percentiles show this hit. */
	has(&frame, "nc0      5.2 ms  5.2 ms         -");
	has(&frame, "1001  trainer      1  read    shuffled    4 MiB");
	assert_string_equal(find(&frame, "train "), find(&frame, "30.0 %"));
	has(&frame, "30.0 %  200 MiB    5 MiB");
	has(&frame, "label0");
	assert_null(find(&frame, "more"));
	assert_null(find(&frame, "load'"));
	assert_int_equal(frame.last, 0);
	frame_free(&frame);
	model_free(&model);
	model_free(&before);
}

/* If entries do not fit, each section shows some of them and how many are left out. */
static void cut(void **state)
{
	struct view view = { .columns = 80, .rows = 24, .focus = SECTION_STREAMS };
	struct top_model model;
	struct frame frame;

	(void)state;
	fill(&model, 3, 40);
	make(&model, &view, &frame);
	no_longer(&frame, &view);
	assert_int_equal(frame.lines, 24);
	has(&frame, "DEVICE  STATE");
	has(&frame, "HIT 50%");
	has(&frame, "COMMAND");
	has(&frame, "LEFT OUT");
	has(&frame, "119 more");
	/* The largest stream is first. */
	assert_non_null(find(&frame, "1239"));
	assert_null(find(&frame, "1000 "));
	assert_true(frame.last > 100);
	frame_free(&frame);
	/* Scrolled to the end of the list. */
	view.first = SIZE_MAX;
	make(&model, &view, &frame);
	has(&frame, " above, 0 below");
	has(&frame, "1000 ");
	frame_free(&frame);
	model_free(&model);
}

/* At any size no line is too long and there are not too many lines. */
static void sizes(void **state)
{
	struct top_model model;
	struct frame frame;
	struct view view;

	(void)state;
	fill(&model, 4, 9);
	model.device[1].calm = false;
	model.device[1].state = "bypass";
	strcpy(model.device[1].why, "the cache device timed out too often");
	for (view = (struct view){ .rows = 1 }; view.rows <= 30; view.rows += 3)
		for (view.columns = 1; view.columns <= 130; view.columns += 7)
			for (view.focus = 0; view.focus < SECTIONS; view.focus += 2) {
				make(&model, &view, &frame);
				no_longer(&frame, &view);
				assert_true(frame.lines >= 1);
				frame_free(&frame);
			}
	view = (struct view){ .rows = 8, .columns = 80, .focus = SECTION_STREAMS };
	make(&model, &view, &frame);
	assert_int_equal(frame.lines, 8);
	/* On 8 lines the problem and the devices have room; the other sections are only named. */
	has(&frame, "! nc1 is bypass: the cache device timed out");
	has(&frame, "DEVICE  STATE");
	has(&frame, "no room: fills (4), latencies (4), labels (36), streams (36), jobs (36)");
	frame_free(&frame);
	model_free(&model);
}

static void alarms(void **state)
{
	const struct view view = { .columns = 80, .rows = 24 };
	struct top_model model;
	struct frame frame;
	size_t i, alarms = 0;

	(void)state;
	fill(&model, 2, 0);
	model.device[0].calm = false;
	model.device[0].state = "degraded";
	strcpy(model.device[0].why, "the cache device does not answer");
	make(&model, &view, &frame);
	has(&frame, "2 devices, 1 not normal");
	has(&frame, "! nc0 is degraded: the cache device does not answer");
	for (i = 0; i < frame.lines; i++)
		alarms += frame.line[i].style == LINE_ALARM;
	/* Two lines are alarms: the reason, and the line of the device. */
	assert_int_equal(alarms, 2);
	frame_free(&frame);
	model_free(&model);
}

static void long_names(void **state)
{
	static const char name[] = "a-device-whose-name-is-sixty-three-characters-long-as-it-may-be";
	struct view view = { .columns = 80, .rows = 24, .focus = SECTION_STREAMS };
	struct top_model model = { .classifies = true, .measures = true };
	struct top_device *device = add_device(&model, name);
	struct frame frame;

	(void)state;
	add_device(&model, "nc");
	device = &model.device[0];
	/* Each of these characters takes two columns. */
	add_label(device, "訓練訓練訓練訓練訓練訓練訓練訓練訓練訓練訓練訓練訓練訓練訓練訓練", 7);
	add_stream(device, 4194304, "äöü-öüä", NEARCACHE_CLASS_SEQUENTIAL, MIB);
	since_subtract(&model, &(struct top_model){ 0 });
	make(&model, &view, &frame);
	no_longer(&frame, &view);
	has(&frame, "a-dev");
	has(&frame, "+  normal");
	has(&frame, "訓練");
	has(&frame, "sequential");
	assert_null(find(&frame, name));
	frame_free(&frame);
	/* With unlimited size nothing is cut. */
	view.columns = 0;
	view.rows = 0;
	make(&model, &view, &frame);
	has(&frame, name);
	has(&frame, "äöü-öüä");
	frame_free(&frame);
	model_free(&model);
}

static void hints(void **state)
{
	const struct view view = { .columns = 80, .rows = 24 };
	struct top_model model = { 0 };
	struct frame frame;

	(void)state;
	make(&model, &view, &frame);
	assert_int_equal(frame.lines, 2);
	has(&frame, "0 devices");
	has(&frame, "no nearcache device is open");
	frame_free(&frame);
	add_device(&model, "nc");
	make(&model, &view, &frame);
	has(&frame, "for streams: 'nearcache classifier load'; latencies: 'nearcache latency load'");
	assert_null(find(&frame, "HIT 50%"));
	frame_free(&frame);
	strcpy(model.foreign, "no_scans");
	make(&model, &view, &frame);
	has(&frame, "streams ('no_scans' has none), latencies ('nearcache latency load')");
	frame_free(&frame);
	model_free(&model);
}

/* since_subtract() with an old device, a new device, and a device that got an old one's number. */
static void come_and_go(void **state)
{
	struct top_model before, now;

	(void)state;
	fill(&before, 1, 1);
	fill(&now, 2, 1);
	now.device[0].time += SECOND;
	now.device[0].status.counter[NEARCACHE_COUNTER_HIT_BYTES] = MIB;
	strcpy(before.device[0].stream[0].command, "gone");
	*now.device[0].stream[0].command = '\0';
	since_subtract(&now, &before);
	assert_int_equal(now.device[0].span, SECOND);
	assert_int_equal(now.device[0].since.counter[NEARCACHE_COUNTER_HIT_BYTES], MIB);
	assert_int_equal(now.device[0].stream[0].since_bytes, 0);
	/* If an idle stream has no command now, it keeps the command from @before. */
	assert_string_equal(now.device[0].stream[0].command, "gone");
	assert_int_equal(now.device[1].span, 0);
	assert_int_equal(now.device[1].since.counter[NEARCACHE_COUNTER_HIT_BYTES],
			 30 * MIB);
	/* Another device with the same number: nothing is subtracted. */
	strcpy(before.device[0].name, "other");
	since_subtract(&now, &before);
	assert_int_equal(now.device[0].span, 0);
	model_free(&before);
	model_free(&now);
}

static void keys(void **state)
{
	struct view view = { .focus = SECTION_STREAMS };
	unsigned int shown = 1U << SECTION_STREAMS | 1U << SECTION_DEVICES;

	(void)state;
	view_take(&view, VIEW_PAGE_DOWN, 12, shown);
	assert_int_equal(view.first, 10);
	view_take(&view, VIEW_PAGE_DOWN, 12, shown);
	assert_int_equal(view.first, 12);
	view_take(&view, VIEW_UP, 12, shown);
	assert_int_equal(view.first, 11);
	view_take(&view, VIEW_HOME, 12, shown);
	assert_int_equal(view.first, 0);
	view_take(&view, VIEW_UP, 12, shown);
	assert_int_equal(view.first, 0);
	view_take(&view, VIEW_END, 12, shown);
	view_take(&view, VIEW_SORT, 12, shown);
	assert_int_equal(view.sort, SORT_BYTES);
	assert_int_equal(view.first, 0);
	view_take(&view, VIEW_FOCUS, 12, shown);
	assert_int_equal(view.focus, SECTION_DEVICES);
	view_take(&view, VIEW_FOCUS, 12, shown);
	assert_int_equal(view.focus, SECTION_STREAMS);
	/* The section now has fewer rows (3) than were scrolled (12). */
	view.first = 12;
	view_take(&view, VIEW_NONE, 3, shown);
	assert_int_equal(view.first, 3);
}

static void orders(void **state)
{
	static const char *const first[] = {
		[SORT_RATE] = "103", [SORT_BYTES] = "101", [SORT_ACCESSES] = "102",
		[SORT_PROCESS] = "100",
	};
	struct view view = { .columns = 80, .rows = 10, .focus = SECTION_STREAMS };
	struct top_model model = { .classifies = true };
	struct top_device *device = add_device(&model, "nc");
	struct frame frame;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++)
		add_stream(device, 100 + i, "c", NEARCACHE_CLASS_RANDOM, MIB);
	device->stream[1].bytes = 8 * MIB;
	device->stream[2].accesses = 100000;
	device->stream[3].since_bytes = MIB;
	for (view.sort = 0; view.sort < SORTS; view.sort++) {
		make(&model, &view, &frame);
		for (i = 0; !strstr(frame.line[i].text, "PID"); i++)
			assert_true(i < frame.lines);
		assert_non_null(strstr(frame.line[i + 1].text, first[view.sort]));
		frame_free(&frame);
	}
	model_free(&model);
}

/* Streams of ended processes have no row, and the part tells the other streams of a process apart. */
static void parts(void **state)
{
	struct view view = { .columns = 0, .rows = 0, .focus = SECTION_STREAMS };
	struct top_model model = { .classifies = true };
	struct top_device *device = add_device(&model, "nc");
	struct frame frame;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++)
		add_stream(device, 100, "c", NEARCACHE_CLASS_RANDOM, MIB);
	device->stream[0].key.set.label = 0;
	device->stream[0].key.set.place = 2;
	device->stream[1].key.set.label = 9;
	device->stream[1].key.set.cgroup = 4711;
	device->stream[2].ended = true;
	device->stream[2].key.pid = 555;
	make(&model, &view, &frame);
	has(&frame, "from 128 GiB");
	has(&frame, "label 9");
	has(&frame, "4711");
	for (i = 0; i < frame.lines; i++)
		assert_null(strstr(frame.line[i].text, "555"));
	frame_free(&frame);
	/* A key shows them, and hides them again. */
	view_take(&view, VIEW_ENDED, SIZE_MAX, 0);
	make(&model, &view, &frame);
	has(&frame, "555");
	frame_free(&frame);
	view_take(&view, VIEW_ENDED, SIZE_MAX, 0);
	make(&model, &view, &frame);
	assert_null(find(&frame, "555"));
	frame_free(&frame);
	model_free(&model);
}

/* Writes a frame to a file below the build directory, for people to look at. */
static void save(const struct frame *frame, const char *name)
{
	const char *build = getenv("BUILD");
	char path[PATH_MAX];
	FILE *file;
	size_t i;

	snprintf(path, sizeof(path), "%s/screens", build ? build : "build");
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/screens/%s.txt", build ? build : "build", name);
	file = fopen(path, "w");
	for (i = 0; file && i < frame->lines; i++)
		fprintf(file, "%s\n", frame->line[i].text);
	if (file)
		fclose(file);
}

static void be_busy(struct top_device *device)
{
	device->since = device->status;
	device->span = SECOND;
	device->since.counter[NEARCACHE_COUNTER_HIT_BYTES] = 6543 * MIB;
	device->since.counter[NEARCACHE_COUNTER_MISS_BYTES] = 123 * MIB;
	device->since.counter[NEARCACHE_COUNTER_FILL_ORIGIN_BYTES] = 1023 * MIB;
	device->since.counter[NEARCACHE_COUNTER_FILL_CACHE_BYTES] = 1023 * MIB;
	device->since.counter[NEARCACHE_COUNTER_PREFETCHED_BYTES] = 1011 * MIB;
	device->since.counter[NEARCACHE_COUNTER_PREFETCHED_LATE_BYTES] = 101 * MIB;
	device->status.field[NEARCACHE_FIELD_BYTES_VALID] = 1023ULL << 30;
	device->status.field[NEARCACHE_FIELD_BLOCKS] = 7 << 20;
	device->status.field[NEARCACHE_FIELD_BLOCK_SIZE] = MIB;
}

/* A training node: a loader with 16 workers, two other readers, an ended one, labels, jobs and a stage. */
static void fill_node(struct top_model *model, bool second)
{
	struct top_device *device;
	unsigned int i;

	*model = (struct top_model){ .wall = 1700000000ULL * SECOND, .classifies = true, .measures = true };
	device = add_device(model, "imagenet");
	for (i = 0; i < 17; i++) {
		add_stream(device, 104720 + i, "pt_data_worker", NEARCACHE_CLASS_SHUFFLED, (900 + i) * MIB);
		device->stream[i].parent = i < 16 ? 104711 : 1;
		device->stream[i].since_bytes = 400 * MIB;
		device->stream[i].since_accesses = 3200;
		device->stream[i].key.set.label = i < 15 ? 7 : 0;
		device->stream[i].key.set.cgroup = 4711;
		device->stream[i].runs = 1234567;
	}
	strcpy(device->stream[16].command, "cp");
	add_stream(device, 99, "python3", NEARCACHE_CLASS_SEQUENTIAL, 77 * MIB);
	device->stream[17].ended = true;
	add_label(device, "train", 7);
	add_label(device, "validation", 8);
	add_job(device, 12);
	be_busy(device);
	strcpy(device->stage.name, "imagenet-stage");
	device->stage.state = "normal";
	device->stage.calm = true;
	device->stage.behind = 1023 * MIB;
	device->stage.seconds = 123;
	device->stage.since_written = 1023 * MIB;
	device->stage.since_drained = 1001 * MIB;
	strcpy(device->mode, "writethrough");
	for (i = 0; i < PATHS; i++)
		device->latency_since[i] = device->latency[i];
	if (second)
		be_busy(add_device(model, "checkpoints"));
	else
		be_busy(device);
}

/* The screens of a usual size show each section whole: no text is cut, and no section is omitted. */
static void screens(void **state)
{
	static const struct {
		const char *name;
		struct view view;
		bool second;
	} row[] = {
		{ "top-80x24", { .columns = 80, .rows = 24 }, false },
		{ "top-120x40", { .columns = 120, .rows = 40 }, false },
		{ "top-two-80x24", { .columns = 80, .rows = 24 }, true },
		{ "top-two-120x40", { .columns = 120, .rows = 40 }, true },
		{ "top-processes-80x40", { .columns = 80, .rows = 40, .processes = true }, false },
		{ "top-help-80x24", { .columns = 80, .rows = 24, .help = true }, false },
		{ "top-help-120x40", { .columns = 120, .rows = 40, .help = true }, false },
	};
	size_t i, l;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct view view = row[i].view;
		struct top_model model;
		struct frame frame;

		view.interval = 1000;
		view.focus = SECTION_STREAMS;
		view.live = true;
		fill_node(&model, row[i].second);
		make(&model, &view, &frame);
		save(&frame, row[i].name);
		no_longer(&frame, &view);
		has(&frame, "h help  q quit");
		for (l = 0; l < frame.lines; l++)
			if (strchr(frame.line[l].text, '+'))
				fail_msg("%s: cut: %s", row[i].name, frame.line[l].text);
		assert_null(find(&frame, "no room"));
		if (view.help) {
			has(&frame, "show or hide streams of ended processes");
			has(&frame, "RUNS        accesses");
		} else {
			has(&frame, "pt_data_worker");
			has(&frame, "PROCS");
			has(&frame, "shuffled");
			assert_null(find(&frame, "python3"));
		}
		frame_free(&frame);
		model_free(&model);
	}
}

/* Workers of one parent are one row, whose numbers are sums; a key shows each. */
static void workers(void **state)
{
	struct view view = { .focus = SECTION_STREAMS };
	struct top_model model;
	struct frame frame;

	(void)state;
	fill_node(&model, false);
	make(&model, &view, &frame);
	/* 15 workers read files of a label, and one reads others. */
	has(&frame, "104711  pt_data_worker     15  read    shuffled  5.9 GiB       48000");
	has(&frame, "104735  pt_data_worker      1  read    shuffled  400 MiB        3200");
	has(&frame, "104736  cp                  1  read");
	assert_null(find(&frame, "104720"));
	frame_free(&frame);
	view_take(&view, VIEW_PROCESSES, SIZE_MAX, 0);
	make(&model, &view, &frame);
	has(&frame, "104720  pt_data_worker      1  read");
	assert_null(find(&frame, "104711"));
	frame_free(&frame);
	view_take(&view, VIEW_PROCESSES, SIZE_MAX, 0);
	/* The parent reads as well, and one worker reads in another way. */
	model.device[0].stream[3].key.pid = 104711;
	model.device[0].stream[3].parent = 500;
	model.device[0].stream[4].class = NEARCACHE_CLASS_RANDOM;
	make(&model, &view, &frame);
	has(&frame, "104711  pt_data_worker     15  read    mixed ");
	frame_free(&frame);
	/* Children of init, and processes whose parent is unknown, are no workers. */
	model.device[0].stream[3].key.pid = 104723;
	for (size_t i = 0; i < 17; i++)
		model.device[0].stream[i].parent = i % 2;
	make(&model, &view, &frame);
	has(&frame, "104720  pt_data_worker      1  read");
	has(&frame, "104735  pt_data_worker      1  read");
	frame_free(&frame);
	model_free(&model);
}

/* The key that leaves the help does nothing else. */
static void help(void **state)
{
	struct view view = { .focus = SECTION_STREAMS, .columns = 80, .rows = 5 };
	struct top_model model = { 0 };
	struct frame frame;

	(void)state;
	view_take(&view, VIEW_HELP, 0, 0);
	make(&model, &view, &frame);
	no_longer(&frame, &view);
	has(&frame, "this help");
	assert_null(find(&frame, "no nearcache device"));
	frame_free(&frame);
	view_take(&view, VIEW_NONE, 0, 0);
	assert_true(view.help);
	view_take(&view, VIEW_SORT, 0, 0);
	assert_false(view.help);
	assert_int_equal(view.sort, SORT_RATE);
	make(&model, &view, &frame);
	has(&frame, "no nearcache device");
	frame_free(&frame);
	model.unprivileged = true;
	add_device(&model, "nc");
	make(&model, &view, &frame);
	has(&frame, "only for root: labels, streams, latencies");
	frame_free(&frame);
	model_free(&model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual),
		cmocka_unit_test(cut),
		cmocka_unit_test(sizes),
		cmocka_unit_test(alarms),
		cmocka_unit_test(long_names),
		cmocka_unit_test(hints),
		cmocka_unit_test(come_and_go),
		cmocka_unit_test(keys),
		cmocka_unit_test(orders),
		cmocka_unit_test(parts),
		cmocka_unit_test(screens),
		cmocka_unit_test(workers),
		cmocka_unit_test(help),
	};

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 1;
	return RUN(tests);
}
