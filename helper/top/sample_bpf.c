// SPDX-License-Identifier: GPL-2.0-only
#include "top/sample_bpf.h"

#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bpf/builtin_programs.h"
#include "lib/error.h"
#include "lib/histogram.h"
#include "lib/process.h"
#include "lib/sanitize.h"
#include "top/sample_difference.h"

/* Returns the device with number @dev, encoded as in bpf/classify.h, or NULL. */
static struct top_device *device_of(const struct top_model *model, uint32_t dev)
{
	return model_device(model, makedev(dev >> 20, dev & 0xfffff));
}

static int add_stream(const void *key_, const void *value, void *arg)
{
	const struct stream_key *key = key_;
	const struct stream *stream = value;
	struct top_device *device = device_of(arg, key->set.dev);
	struct top_stream *longer;

	if (!device)
		return 0;
	longer = reallocarray(device->stream, device->streams + 1, sizeof(*longer));
	if (!longer)
		return fail_memory();
	device->stream = longer;
	longer[device->streams++] = (struct top_stream){
		.key = *key,
		.class = stream->told,
		.accesses = stream->accesses,
		.runs = stream->runs,
		.bytes = stream->bytes,
	};
	return 0;
}

/*
 * Sorts the streams. If a stream was removed and added while the map was read, the map may list
 * this stream twice: keeps one entry.
 */
static void sort_reads(struct top_device *device)
{
	size_t i, kept = 0;

	if (device->streams)
		qsort(device->stream, device->streams, sizeof(*device->stream), since_order);
	for (i = 0; i < device->streams; i++)
		if (!kept || since_order(&device->stream[kept - 1], &device->stream[i]))
			device->stream[kept++] = device->stream[i];
	device->streams = kept;
}

static int add_latency(const void *key_, const void *value, void *arg)
{
	const struct latency_key *key = key_;
	struct top_device *device = device_of(arg, key->dev);

	if (device && key->path < PATHS)
		histogram_add(&device->latency[key->path], value,
			      libbpf_num_possible_cpus());
	return 0;
}

/* Returns whether a program is loaded at @place; false also if this cannot be found out. */
static bool is_loaded(const struct program_place *place, struct program *program)
{
	bool found;

	if (!program_look(place, program, &found))
		return found;
	fail_reset();
	return false;
}

static bool has_map(const struct program_place *place, const char *name,
		    size_t key, size_t value)
{
	int map = program_open_map(place, name, key, value);

	if (map < 0)
		return false;
	close(map);
	return true;
}

/*
 * Adds streams and latencies to the devices of @model. Returns 0, or an exit code after
 * recording an error with fail().
 */
int programs_take(struct top_model *model)
{
	struct program program;
	size_t i;

	if (is_loaded(&built_in_classifier, &program)) {
		model->classifies = has_map(&built_in_classifier, "streams",
					    sizeof(struct stream_key),
					    sizeof(struct stream));
		if (!model->classifies)
			snprintf(model->foreign, sizeof(model->foreign), "%s",
				 program.name);
	}
	if (model->classifies)
		program_each(&built_in_classifier, "streams",
			     sizeof(struct stream_key), sizeof(struct stream),
			     add_stream, model);
	for (i = 0; i < model->devices; i++)
		sort_reads(&model->device[i]);
	model->measures = is_loaded(&built_in_latency, &program);
	if (model->measures && !fail_code())
		program_each(&built_in_latency, "latencies",
			     sizeof(struct latency_key), sizeof(struct latency),
			     add_latency, model);
	return fail_code();
}

/* Names the process that has the pid now. This is not the reader if the reader has ended. */
static void name_stream(struct top_stream *stream)
{
	char path[32];
	FILE *file;

	stream->parent = process_parent(stream->key.pid);
	snprintf(path, sizeof(path), "/proc/%u/comm", stream->key.pid);
	file = fopen(path, "re");
	if (!file)
		return;
	if (!fgets(stream->command, sizeof(stream->command), file))
		*stream->command = '\0';
	stream->command[strcspn(stream->command, "\n")] = '\0';
	text_clean(stream->command);
	fclose(file);
}

/*
 * Sets names and parents of the processes of streams for which since_subtract() took none from the last
 * sample.
 */
void programs_name(struct top_model *model)
{
	size_t i, s;

	for (i = 0; i < model->devices; i++)
		for (s = 0; s < model->device[i].streams; s++)
			if (!*model->device[i].stream[s].command)
				name_stream(&model->device[i].stream[s]);
}

/* Marks the streams of ended processes, unless they read or wrote in the last interval. */
void programs_mark_ended(struct top_model *model)
{
	size_t i, s;

	for (i = 0; i < model->devices; i++)
		for (s = 0; s < model->device[i].streams; s++) {
			struct top_stream *stream = &model->device[i].stream[s];

			stream->ended = !stream->since_accesses && process_ended(stream->key.pid);
		}
}
