// SPDX-License-Identifier: GPL-2.0-only
#include "top/json_document.h"

#include "lib/enum_words.h"
#include "lib/histogram.h"
#include "lib/print.h"
#include "top/sample_difference.h"

/* Prints a value per second, or null if there is no earlier sample. */
static void print_rate(const char *key, uint64_t amount, uint64_t span)
{
	if (span)
		print_number(key, NULL, since_rate(amount, span));
	else
		print_string(key, NULL, NULL);
}

static void print_hits(const uint64_t *counter, unsigned int hit, unsigned int miss,
		       const char *key)
{
	print_ratio(key, NULL, counter[hit], counter[hit] + counter[miss]);
}

static void print_label(const struct top_label *label, uint64_t span)
{
	const unsigned int hit = NEARCACHE_LABEL_HIT_BYTES;
	const unsigned int miss = NEARCACHE_LABEL_MISS_BYTES;

	print_record(NULL, NULL);
	print_string("label", NULL, label->name);
	print_number("id", NULL, label->id);
	print_number("ranges", NULL, label->ranges);
	print_number("bytes", NULL, label->bytes);
	print_hits(label->since, hit, miss, "hit_ratio");
	print_hits(label->counter, hit, miss, "hit_ratio_since_load");
	print_rate("cache_bytes_per_s", label->since[hit], span);
	print_rate("origin_bytes_per_s", label->since[NEARCACHE_LABEL_ORIGIN_BYTES],
		   span);
	print_end();
}

static void print_stream(const struct top_device *device,
			 const struct top_stream *stream)
{
	const struct top_label *label = model_label(device, stream->key.set.label);

	print_record(NULL, NULL);
	print_number("pid", NULL, stream->key.pid);
	print_string("command", NULL, *stream->command ? stream->command : NULL);
	print_string("access", NULL, stream->key.writes ? "write" : "read");
	print_string("class", NULL, class_word(stream->class));
	print_rate("bytes_per_s", stream->since_bytes, device->span);
	print_rate("accesses_per_s", stream->since_accesses, device->span);
	print_number("bytes", NULL, stream->bytes);
	print_number("accesses", NULL, stream->accesses);
	print_number("runs", NULL, stream->runs);
	print_string("label", NULL, label ? label->name : NULL);
	print_number("start", NULL, stream->key.set.place << (PLACE_SHIFT + 9));
	print_number("cgroup", NULL, stream->key.set.cgroup);
	print_number("parent_pid", NULL, stream->parent);
	print_flag("ended", NULL, stream->ended);
	print_end();
}

static void print_job(const struct top_job *job, uint64_t span)
{
	print_record(NULL, NULL);
	print_number("job", NULL, job->job.id);
	print_string("label", NULL, job->job.label_hidden ? NULL : job->job.label);
	print_ratio("done", NULL, job->done, job->job.bytes);
	print_number("bytes", NULL, job->job.bytes);
	print_rate("bytes_per_s", job->since, span);
	print_number("fetched_bytes", NULL, job->job.fetched);
	print_number("present_bytes", NULL, job->job.present);
	print_number("left_bytes", NULL, job->job.left);
	print_number("priority", NULL, job->job.priority);
	print_end();
}

static void print_latency(unsigned int path, const struct latency *latency)
{
	if (!histogram_count(latency))
		return;
	print_record(NULL, NULL);
	print_string("path", NULL, path_word(path));
	print_number("count", NULL, latency->count);
	print_number("p50_ns", NULL, histogram_percentile(latency, 5000));
	print_number("p99_ns", NULL, histogram_percentile(latency, 9900));
	print_end();
}

static void print_parts(const struct top_device *device, bool ended)
{
	size_t i;

	print_table("latencies");
	for (i = 0; i < PATHS; i++)
		print_latency((unsigned int)i, &device->latency_since[i]);
	print_end();
	print_table("labels");
	for (i = 0; i < device->labels; i++)
		print_label(&device->label[i], device->span);
	print_end();
	print_table("streams");
	for (i = 0; i < device->streams; i++)
		if (ended || !device->stream[i].ended)
			print_stream(device, &device->stream[i]);
	print_end();
	print_table("jobs");
	for (i = 0; i < device->jobs; i++)
		print_job(&device->job[i], device->span);
	print_end();
}

static void print_rates(const struct top_device *device)
{
	const uint64_t *since = device->since.counter;
	uint64_t span = device->span;

	print_rate("cache_bytes_per_s", since[NEARCACHE_COUNTER_HIT_BYTES], span);
	print_rate("origin_bytes_per_s", since[NEARCACHE_COUNTER_FILL_ORIGIN_BYTES] +
		   since[NEARCACHE_COUNTER_BYPASS_BYTES], span);
	print_rate("fill_bytes_per_s", since[NEARCACHE_COUNTER_FILL_CACHE_BYTES], span);
	print_rate("prefetch_bytes_per_s", since[NEARCACHE_COUNTER_PREFETCHED_BYTES],
		   span);
	print_rate("late_bytes_per_s", since[NEARCACHE_COUNTER_PREFETCHED_LATE_BYTES],
		   span);
	print_rate("wasted_bytes_per_s",
		   since[NEARCACHE_COUNTER_PREFETCHED_WASTED_BYTES], span);
	print_rate("write_bytes_per_s", since[NEARCACHE_COUNTER_WRITE_BYTES], span);
}

/* An object, or null if no cluster device reads the cache. */
static void print_cluster(const struct top_cluster *cluster, uint64_t span)
{
	if (!*cluster->name) {
		print_string("cluster", NULL, NULL);
		return;
	}
	print_record("cluster", NULL);
	print_string("name", NULL, cluster->name);
	print_rate("here_bytes_per_s", cluster->since_here, span);
	print_rate("peer_bytes_per_s", cluster->since_peer, span);
	print_number("here_bytes", NULL, cluster->here);
	print_number("peer_bytes", NULL, cluster->peer);
	print_number("peer_errors", NULL, cluster->errors);
	print_number("peers", NULL, cluster->peers);
	print_number("peers_up", NULL, cluster->up);
	print_end();
}

/* An object, or null if the cache has no stage. */
static void print_stage(const struct top_stage *stage, uint64_t span)
{
	if (!*stage->name) {
		print_string("stage", NULL, NULL);
		return;
	}
	print_record("stage", NULL);
	print_string("name", NULL, stage->name);
	print_string("state", NULL, stage->state);
	print_rate("written_bytes_per_s", stage->since_written, span);
	print_rate("drained_bytes_per_s", stage->since_drained, span);
	print_number("behind_bytes", NULL, stage->behind);
	print_number("behind_seconds", NULL, stage->seconds);
	print_number("retained_bytes", NULL, stage->retained);
	print_end();
}

static void print_device(const struct top_device *device, bool ended)
{
	const uint64_t *field = device->status.field;

	print_record(NULL, NULL);
	print_string("name", NULL, device->name);
	print_string("state", NULL, device->state);
	print_flag("normal", NULL, device->calm);
	print_string("why", NULL, *device->why ? device->why : NULL);
	print_string("mode", NULL, device->mode);
	print_number("span_ns", NULL, device->span);
	print_ratio("hit_ratio", NULL,
		    device->since.counter[NEARCACHE_COUNTER_HIT_BYTES],
		    status_read_bytes(&device->since));
	print_ratio("hit_ratio_since_load", NULL,
		    device->status.counter[NEARCACHE_COUNTER_HIT_BYTES],
		    status_read_bytes(&device->status));
	print_rates(device);
	print_cluster(&device->cluster, device->span);
	print_stage(&device->stage, device->span);
	print_number("bytes_valid", NULL, field[NEARCACHE_FIELD_BYTES_VALID]);
	print_number("capacity", NULL, field[NEARCACHE_FIELD_BLOCKS] *
				       field[NEARCACHE_FIELD_BLOCK_SIZE]);
	print_parts(device, ended);
	print_end();
}

/* @ended: also streams of ended processes. The caller ends the document with print_next(). */
void document_print(const struct top_model *model, bool ended)
{
	size_t i;

	print_number("time_ns", NULL, model->wall);
	print_flag("classifies", NULL, model->classifies);
	print_flag("measures", NULL, model->measures);
	print_flag("complete", NULL, !model->unprivileged);
	print_list("devices");
	for (i = 0; i < model->devices; i++)
		print_device(&model->device[i], ended);
	print_end();
}
