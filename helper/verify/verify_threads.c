// SPDX-License-Identifier: GPL-2.0-only
/* Threads that compare files with their checksums, one file at a time each. */
#include "verify/verify_threads.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "verify/checksum.h"
#include "lib/error.h"
#include "lib/progress.h"

/* Bounds for the number of threads. Two per processor, because most wait for the origin. */
#define THREADS_MIN	4
#define THREADS_MAX	32

/**
 * struct pool - state shared by the threads
 * @lock: protects @next, @done and @progress. A file needs no lock: only the thread that took
 *	the file with take_file() accesses it, until that thread ends
 * @file: all files
 * @files: entries in @file
 * @next: index of the first file that no thread has taken
 * @done: bytes read
 * @progress: the progress bar
 */
struct pool {
	pthread_mutex_t lock;
	struct verifying *file;
	size_t files;
	size_t next;
	uint64_t done;
	struct progress progress;
};

static void advance_bytes(uint64_t bytes, void *arg)
{
	struct pool *pool = arg;

	pthread_mutex_lock(&pool->lock);
	pool->done += bytes;
	progress_update(&pool->progress, pool->done);
	pthread_mutex_unlock(&pool->lock);
}

static struct verifying *take_file(struct pool *pool)
{
	struct verifying *file = NULL;

	pthread_mutex_lock(&pool->lock);
	while (pool->next < pool->files && !file) {
		file = &pool->file[pool->next++];
		if (file->verdict != VERDICT_NONE)
			file = NULL;
	}
	pthread_mutex_unlock(&pool->lock);
	return file;
}

static void judge_file(struct pool *pool, struct verifying *file)
{
	unsigned char digest[CHECKSUM_BYTES];

	file->error = checksum_file(file->path, digest, advance_bytes, pool);
	if (file->error == ENOENT)
		file->verdict = VERDICT_MISSING;
	else if (file->error)
		file->verdict = VERDICT_UNREADABLE;
	else if (memcmp(digest, file->digest, sizeof(digest)))
		file->verdict = VERDICT_MISMATCH;
	else
		file->verdict = VERDICT_SOUND;
}

static void *worker_main(void *arg)
{
	struct verifying *file;

	while ((file = take_file(arg)))
		judge_file(arg, file);
	return NULL;
}

static size_t threads_for(size_t files)
{
	long threads = 2 * sysconf(_SC_NPROCESSORS_ONLN);

	if (threads < THREADS_MIN)
		threads = THREADS_MIN;
	if (threads > THREADS_MAX)
		threads = THREADS_MAX;
	return (size_t)threads < files ? (size_t)threads : files;
}

/* Start threads.  The calling thread works as well, even if no thread can be started. */
static void run_workers(struct pool *pool)
{
	pthread_t thread[THREADS_MAX];
	size_t i, wanted = threads_for(pool->files), started = 0;

	while (started + 1 < wanted &&
	       !pthread_create(&thread[started], NULL, worker_main, pool))
		started++;
	worker_main(pool);
	for (i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
}

/*
 * Compare all files with VERDICT_NONE, several in parallel, and set their verdicts. @quiet: show no
 * progress. Returns 0 even if a file differs, or an exit code recorded with fail().
 */
int verifying_run(struct verifying *file, size_t files, bool quiet)
{
	struct pool pool = { .file = file, .files = files };
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < files; i++)
		if (file[i].verdict == VERDICT_NONE)
			total += file[i].size;
	if (pthread_mutex_init(&pool.lock, NULL))
		return fail_memory();
	progress_start(&pool.progress, "verify", total, quiet);
	run_workers(&pool);
	progress_end(&pool.progress);
	pthread_mutex_destroy(&pool.lock);
	return 0;
}
