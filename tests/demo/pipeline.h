/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bounded queue between readers and trainer.
 *
 * Readers add samples. A full batch waits in the queue, which holds at most @depth batches; a
 * reader waits while the queue is full.  The trainer takes a batch per step and waits when there is
 * none: that wait is the stall.
 */
#ifndef DEMO_PIPELINE_H
#define DEMO_PIPELINE_H

#include <pthread.h>
#include <stdint.h>

/**
 * struct pipeline
 * @lock: protects all below
 * @room: signalled when a batch was taken
 * @full: signalled when a batch is ready or the last reader has ended
 * @batch: samples per batch
 * @depth: batches that the queue holds
 * @gathered: samples of the incomplete batch
 * @ready: batches in the queue
 * @readers: active readers
 */
struct pipeline {
	pthread_mutex_t lock;
	pthread_cond_t room;
	pthread_cond_t full;
	uint64_t batch;
	uint64_t depth;
	uint64_t gathered;
	uint64_t ready;
	unsigned int readers;
};

/* Each of @readers threads will call pipeline_reader_done(). */
void pipeline_init(struct pipeline *pipe, uint64_t batch, uint64_t depth,
		   unsigned int readers);

/* A reader has finished @samples; may wait for room. */
void pipeline_add(struct pipeline *pipe, uint64_t samples);

/* The calling reader adds no more samples. */
void pipeline_reader_done(struct pipeline *pipe);

/* Wait for the next batch; returns 0 when all readers are done and the queue is empty. */
int pipeline_take(struct pipeline *pipe);

#endif /* DEMO_PIPELINE_H */
