// SPDX-License-Identifier: GPL-2.0-only
#include "pipeline.h"

void pipeline_init(struct pipeline *pipe, uint64_t batch, uint64_t depth,
		   unsigned int readers)
{
	pthread_mutex_init(&pipe->lock, NULL);
	pthread_cond_init(&pipe->room, NULL);
	pthread_cond_init(&pipe->full, NULL);
	pipe->batch = batch;
	pipe->depth = depth;
	pipe->gathered = 0;
	pipe->ready = 0;
	pipe->readers = readers;
}

void pipeline_add(struct pipeline *pipe, uint64_t samples)
{
	pthread_mutex_lock(&pipe->lock);
	pipe->gathered += samples;
	while (pipe->gathered >= pipe->batch) {
		if (pipe->ready >= pipe->depth) {
			pthread_cond_wait(&pipe->room, &pipe->lock);
			continue;
		}
		pipe->gathered -= pipe->batch;
		pipe->ready++;
		pthread_cond_signal(&pipe->full);
	}
	pthread_mutex_unlock(&pipe->lock);
}

void pipeline_reader_done(struct pipeline *pipe)
{
	pthread_mutex_lock(&pipe->lock);
	pipe->readers--;
	/* After the last reader, also queue an incomplete batch. */
	if (!pipe->readers && pipe->gathered) {
		pipe->gathered = 0;
		pipe->ready++;
	}
	pthread_cond_broadcast(&pipe->full);
	pthread_mutex_unlock(&pipe->lock);
}

int pipeline_take(struct pipeline *pipe)
{
	int taken = 0;

	pthread_mutex_lock(&pipe->lock);
	while (!pipe->ready && pipe->readers)
		pthread_cond_wait(&pipe->full, &pipe->lock);
	if (pipe->ready) {
		pipe->ready--;
		taken = 1;
		pthread_cond_broadcast(&pipe->room);
	}
	pthread_mutex_unlock(&pipe->lock);
	return taken;
}
