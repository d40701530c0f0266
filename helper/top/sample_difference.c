// SPDX-License-Identifier: GPL-2.0-only
#include "top/sample_difference.h"

#include <stdlib.h>
#include <string.h>

#include "lib/histogram.h"

#define SECOND	1e9

/* Returns the growth of a counter; if it restarted from 0, its value. */
static uint64_t counter_grown(uint64_t now, uint64_t before)
{
	return now >= before ? now - before : now;
}

/* Compares two streams by key, for qsort() and bsearch(). */
int since_order(const void *a, const void *b)
{
	const struct top_stream *one = a, *other = b;

	return memcmp(&one->key, &other->key, sizeof(one->key));
}

static const struct top_label *find_label(const struct top_device *before,
					  const char *name)
{
	size_t i;

	for (i = 0; before && i < before->labels; i++)
		if (!strcmp(before->label[i].name, name))
			return &before->label[i];
	return NULL;
}

static void subtract_label(struct top_label *now, const struct top_label *before)
{
	unsigned int i;

	for (i = 0; i < NEARCACHE_LABEL_COUNTER_COUNT; i++)
		now->since[i] = counter_grown(now->counter[i],
					      before ? before->counter[i] : 0);
}

static void name_as_before(struct top_stream *now, const struct top_stream *before)
{
	memcpy(now->command, before->command, sizeof(now->command));
	now->parent = before->parent;
}

/* An idle stream keeps its process name and parent, because its pid may belong to another process now. */
static void subtract_stream(struct top_stream *now, const struct top_stream *before)
{
	now->since_accesses = counter_grown(now->accesses, before ? before->accesses : 0);
	now->since_bytes = counter_grown(now->bytes, before ? before->bytes : 0);
	if (before && !now->since_accesses)
		name_as_before(now, before);
}

static const struct top_job *find_job(const struct top_device *before, uint32_t id)
{
	size_t i;

	for (i = 0; before && i < before->jobs; i++)
		if (before->job[i].job.id == id)
			return &before->job[i];
	return NULL;
}

/* @before: previous sample of the device; NULL: none, so the counters count from 0. */
static void subtract_parts(struct top_device *now, const struct top_device *before)
{
	size_t i;

	for (i = 0; i < now->labels; i++)
		subtract_label(&now->label[i], find_label(before, now->label[i].name));
	for (i = 0; i < now->streams; i++)
		subtract_stream(&now->stream[i],
				before && before->streams ?
				bsearch(&now->stream[i], before->stream, before->streams,
					sizeof(*now->stream), since_order) : NULL);
	for (i = 0; i < now->jobs; i++) {
		const struct top_job *job = find_job(before, now->job[i].job.id);

		now->job[i].since = counter_grown(now->job[i].done, job ? job->done : 0);
	}
}

static void subtract_device(struct top_device *now, const struct top_device *before)
{
	static const struct latency none;
	unsigned int i;

	now->span = 0;
	if (before)
		now->span = now->time > before->time ? now->time - before->time : 1;
	now->since = now->status;
	for (i = 0; i < NEARCACHE_COUNTER_COUNT; i++)
		now->since.counter[i] = counter_grown(now->status.counter[i],
						      before ? before->status.counter[i] : 0);
	for (i = 0; i < PATHS; i++)
		histogram_since(&now->latency[i], before ? &before->latency[i] : &none,
				&now->latency_since[i]);
	now->cluster.since_here = counter_grown(now->cluster.here,
						before ? before->cluster.here : 0);
	now->cluster.since_peer = counter_grown(now->cluster.peer,
						before ? before->cluster.peer : 0);
	now->stage.since_written = counter_grown(now->stage.written,
						 before ? before->stage.written : 0);
	now->stage.since_drained = counter_grown(now->stage.drained,
						 before ? before->stage.drained : 0);
	subtract_parts(now, before);
}

/* Also compares the name, because a new device may have the number of a removed one. */
static const struct top_device *find_device(const struct top_model *before,
					    const struct top_device *now)
{
	const struct top_device *device = model_device(before, now->number);

	return device && !strcmp(device->name, now->name) ? device : NULL;
}

/* Sets all members of @now about the last interval. @before: previous sample, or empty. */
void since_subtract(struct top_model *now, const struct top_model *before)
{
	size_t i;

	for (i = 0; i < now->devices; i++)
		subtract_device(&now->device[i], find_device(before, &now->device[i]));
}

/* Returns @amount per second; @span is in ns, not 0. */
uint64_t since_rate(uint64_t amount, uint64_t span)
{
	return (uint64_t)((double)amount * SECOND / (double)span + 0.5);
}
