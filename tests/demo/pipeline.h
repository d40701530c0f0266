/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bounded queue of batches between readers and trainer.
 *
 * Readers add samples, which form batches. A reader waits while the queue is full, that is, has
 * @depth batches.  The trainer takes a batch per step and waits while the queue is empty: that wait
 * is the stall.
 */
#ifndef DEMO_PIPELINE_H
#define DEMO_PIPELINE_H

#include <pthread.h>
#include <stdint.h>

/**
 * struct pipeline - queue of batches
 * @lock: protects all other fields
 * @room: signalled when a batch is taken: readers may continue
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

/* @readers threads will add samples; each must call pipeline_reader_done() at its end. */
void pipeline_init(struct pipeline *pipe, uint64_t batch, uint64_t depth,
		   unsigned int readers);

/* Add @samples that the calling reader has read; waits while the queue is full. */
void pipeline_add(struct pipeline *pipe, uint64_t samples);

/* End the calling reader; the last reader also queues an incomplete batch. */
void pipeline_reader_done(struct pipeline *pipe);

/* Wait for a batch and take it: 1; or return 0 if all readers are done and the queue is empty. */
int pipeline_take(struct pipeline *pipe);

#endif /* DEMO_PIPELINE_H */
