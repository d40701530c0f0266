/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bounded queue between readers and trainer.
 *
 * Readers add samples; a full batch waits in the queue, which holds at most
 * @depth batches: readers that are further ahead wait.  The trainer takes a
 * batch per step and waits when there is none: that wait is the stall.
 */
#ifndef DEMO_PIPELINE_H
#define DEMO_PIPELINE_H

#include <pthread.h>
#include <stdint.h>

/**
 * struct pipeline
 * @lock: protects all below
 * @room: a batch was taken
 * @full: a batch is ready, or the last reader is gone
 * @batch: samples per batch
 * @depth: batches that the queue holds
 * @gathered: samples of the batch that is being gathered
 * @ready: batches in the queue
 * @readers: readers still at work
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

/**
 * pipeline_init() - empty queue
 * @pipe: the queue
 * @batch: samples per batch
 * @depth: batches that it holds
 * @readers: threads that will call pipeline_reader_done()
 */
void pipeline_init(struct pipeline *pipe, uint64_t batch, uint64_t depth,
		   unsigned int readers);

/**
 * pipeline_add() - a reader finished samples; may wait for room
 * @pipe: the queue
 * @samples: how many
 */
void pipeline_add(struct pipeline *pipe, uint64_t samples);

/**
 * pipeline_reader_done() - a reader has nothing more to add
 * @pipe: the queue
 */
void pipeline_reader_done(struct pipeline *pipe);

/**
 * pipeline_take() - take the next batch, wait for it
 * @pipe: the queue
 *
 * Return: 1, or 0 when all readers are done and the queue is empty.
 */
int pipeline_take(struct pipeline *pipe);

#endif /* DEMO_PIPELINE_H */
