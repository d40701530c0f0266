// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/read_peers.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "block/device.h"
#include "block/signals.h"
#include "lib/error.h"
#include "lib/periodic_wait.h"
#include "lib/progress.h"

#define SECOND		1000000000ULL
/* Reads in flight, and bytes of each: enough for the latency of a network and of the origin. */
#define READERS		8
#define CHUNK		(1U << 20)
/* Divides each extent, and is no smaller than a logical block: a widened read stays at its peer. */
#define GRAIN		4096U
/* Interval between two updates of the progress, and between two looks at @stop, milliseconds. */
#define LOOK_MS		50U

/**
 * struct pool - state shared by the readers
 * @lock: protects all below
 * @reading: the reading of the caller
 * @at: bytes of @reading->piece[@next] that were given to readers
 * @next: index of the piece that the next reader reads
 * @given: bytes given to readers
 * @started: monotonic time, ns
 * @running: readers that have not ended
 * @stop: readers end after their present read
 * @error: errno of the first read that failed, 0: none
 * @where: offset of that read
 */
struct pool {
	const struct device *dev;
	pthread_mutex_t lock;
	struct peer_reading *reading;
	uint64_t at;
	size_t next;
	uint64_t given;
	uint64_t started;
	unsigned int running;
	bool stop;
	int error;
	uint64_t where;
};

/* Take the next chunk. Returns false at the end. @due: monotonic time at which to read it. */
static bool take_chunk(struct pool *pool, struct range *chunk, uint64_t *due)
{
	const struct peer_reading *reading = pool->reading;
	const struct range *piece;

	if (pool->stop || pool->next == reading->pieces)
		return false;
	piece = &reading->piece[pool->next];
	chunk->start = piece->start + pool->at;
	chunk->length = piece->length - pool->at < CHUNK ? piece->length - pool->at : CHUNK;
	*due = pool->started;
	if (reading->bandwidth)
		*due += (uint64_t)((double)pool->given / (double)reading->bandwidth * SECOND);
	pool->given += chunk->length;
	pool->at += chunk->length;
	if (pool->at == piece->length) {
		pool->at = 0;
		pool->next++;
	}
	return true;
}

static bool is_stopped(struct pool *pool)
{
	bool stop;

	pthread_mutex_lock(&pool->lock);
	stop = pool->stop;
	pthread_mutex_unlock(&pool->lock);
	return stop;
}

/* Sleep until a time. Returns false if the readers must end before. */
static bool wait_until(struct pool *pool, uint64_t due)
{
	uint64_t now = watch_now();

	while (now < due) {
		uint64_t pause = due - now < LOOK_MS * 1000000ULL ? due - now : LOOK_MS * 1000000ULL;
		struct timespec time = { .tv_nsec = (long)pause };

		if (is_stopped(pool))
			return false;
		nanosleep(&time, NULL);
		now = watch_now();
	}
	return true;
}

/* Returns 0 or the errno. The range is widened to whole logical blocks. */
static int read_chunk(const struct device *dev, void *buffer, const struct range *chunk)
{
	uint64_t at = chunk->start / GRAIN * GRAIN;
	uint64_t end = (chunk->start + chunk->length + GRAIN - 1) / GRAIN * GRAIN;
	ssize_t got;

	for (end = end < dev->size ? end : dev->size; at < end; at += (uint64_t)got) {
		got = pread(dev->fd, buffer, end - at, (off_t)at);
		if (got < 0)
			return errno;
		if (!got)
			return EIO;
	}
	return 0;
}

static void end_chunk(struct pool *pool, const struct range *chunk, int error)
{
	if (!error) {
		pool->reading->done += chunk->length;
		return;
	}
	if (!pool->error) {
		pool->error = error;
		pool->where = chunk->start;
	}
	pool->stop = true;
}

/* A reader and its buffer, which has room for a widened chunk. */
struct reader {
	struct pool *pool;
	char *buffer;
	pthread_t thread;
};

static void *reader_main(void *arg)
{
	struct reader *reader = arg;
	struct pool *pool = reader->pool;
	struct range chunk;
	uint64_t due;
	int error;

	pthread_mutex_lock(&pool->lock);
	while (take_chunk(pool, &chunk, &due)) {
		pthread_mutex_unlock(&pool->lock);
		error = wait_until(pool, due) ? read_chunk(pool->dev, reader->buffer, &chunk) :
						ECANCELED;
		pthread_mutex_lock(&pool->lock);
		end_chunk(pool, &chunk, error);
	}
	pool->running--;
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* Show the progress until all readers have ended. A signal ends them early. */
static void watch_readers(struct pool *pool)
{
	struct peer_reading *reading = pool->reading;
	struct progress progress;
	unsigned int running;
	uint64_t done;

	progress_start(&progress, "peers", reading->bytes, reading->quiet);
	do {
		bool signal = signals_wait(LOOK_MS);

		pthread_mutex_lock(&pool->lock);
		reading->stopped |= signal;
		pool->stop |= signal;
		running = pool->running;
		done = reading->done;
		pthread_mutex_unlock(&pool->lock);
		progress_update(&progress, done);
	} while (running);
	progress_end(&progress);
}

static void run_readers(struct pool *pool, char *buffer, size_t room)
{
	struct reader reader[READERS];
	unsigned int i, started;

	pool->running = READERS;
	for (started = 0; started < READERS; started++) {
		reader[started] = (struct reader){ .pool = pool, .buffer = buffer + started * room };
		if (pthread_create(&reader[started].thread, NULL, reader_main, &reader[started]))
			break;
	}
	pthread_mutex_lock(&pool->lock);
	pool->running -= READERS - started;
	pthread_mutex_unlock(&pool->lock);
	if (!started)
		fail_memory();
	watch_readers(pool);
	for (i = 0; i < started; i++)
		pthread_join(reader[i].thread, NULL);
}

/*
 * Read ranges once. The cluster device reads each extent at one of its homes, so that the peers'
 * caches keep the data. The caller has called signals_hold(): a signal ends the reading after the
 * reads in flight. Returns 0, also after a signal, or an exit code.
 */
int read_peers(const struct homes *homes, struct peer_reading *reading)
{
	struct device dev = DEVICE_CLOSED;
	struct pool pool = { .dev = &dev, .reading = reading, .started = watch_now() };
	size_t room = CHUNK + 2 * GRAIN;
	char *buffer;

	if (!reading->pieces)
		return 0;
	buffer = device_buffer(READERS * room);
	if (!buffer || device_open_number(&dev, homes->number, "cluster device"))
		goto out;
	if (pthread_mutex_init(&pool.lock, NULL)) {
		fail_memory();
		goto out;
	}
	run_readers(&pool, buffer, room);
	pthread_mutex_destroy(&pool.lock);
	if (pool.error && pool.error != ECANCELED)
		fail_errno(pool.error, "cannot read the cluster device '%s' at byte %llu", homes->name,
			   (unsigned long long)pool.where);
out:
	device_close(&dev);
	free(buffer);
	return fail_code();
}
