// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read or write a set of samples in a known pattern, as training jobs do.
 *
 *	pattern ORDER DEV [options]
 *
 * ORDER is the order of a pass, which reads each sample once except where noted:
 *	forward		ascending; backward: descending
 *	shuffled	another random order in each pass
 *	looping		the same random order in each pass
 *	random		as many uniform draws as there are samples
 *	zipf		as random, but rank k of the samples has the weight k to the power of -SKEW
 * Options:
 *	-n SAMPLES	in the set (1000)
 *	-b BYTES	of a sample (16384)
 *	-d BYTES	distance between the starts of two samples (as -b)
 *	-c BYTES	of one call (a sample)
 *	-s BYTES	offset of the set (0)
 *	-q QUARTERS	number of quarter passes to make (5)
 *	-p PROCESSES	that share each pass (1)
 *	-f		new processes in each pass
 *	-S SEED		(1)
 *	-z SKEW		of zipf (1.0)
 *	-w		write
 *	-B		use the page cache but drop each sample, as if the set did not fit in it;
 *			default: direct I/O, extended to whole sectors
 * The last line is "FIRST LIMIT CALLS ALL LAST": nanoseconds of the monotonic clock after the first
 * pass and after 1.25 passes (0: not reached), number of calls after the first pass, and two lists
 * of process ids, separated by commas: all, and those of the pass that contains LIMIT or, if LIMIT
 * is 0, of the last pass.
 */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device.h"

#define SECTOR		512ULL
#define PROCESSES_MAX	64
/* Batches of a pass; the processes wait for each other after each batch. */
#define BATCHES		32
#define WORKERS_MAX	1024

enum order { FORWARD, BACKWARD, SHUFFLED, LOOPING, RANDOM, ZIPF, ORDERS };

static const char *const words[ORDERS] = {
	"forward", "backward", "shuffled", "looping", "random", "zipf",
};

static struct {
	enum order order;
	const char *path;
	uint64_t samples, bytes, distance, call, start, quarters, processes, seed;
	double skew;
	bool fresh, writes, buffered;
} o = { .samples = 1000, .bytes = 16384, .quarters = 5, .processes = 1, .seed = 1, .skew = 1 };

/* Memory that all processes share: FIRST, LIMIT and CALLS of the last line, and the barrier. */
static struct {
	pthread_barrier_t batch;
	_Atomic uint64_t first, limit, calls;
} *shared;

static pid_t workers[WORKERS_MAX];
static unsigned int worker_count;

static uint64_t mixed(uint64_t a, uint64_t b)
{
	uint64_t x = (a * 0x9e3779b97f4a7c15ULL) ^ (b + 0x7f4a7c159e3779b9ULL);

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void shuffle(uint32_t *order, uint64_t seed)
{
	uint64_t i, k;

	for (i = 0; i < o.samples; i++)
		order[i] = i;
	for (i = o.samples - 1; i; i--) {
		uint32_t t = order[i];

		k = mixed(seed, i) % (i + 1);
		order[i] = order[k];
		order[k] = t;
	}
}

/* Map a uniform number to a rank with the weights of zipf; rank 0 is the most likely. */
static uint64_t ranked(uint64_t random)
{
	static double *sums;
	double at, sum = 0;
	uint64_t low = 0, high = o.samples - 1, i;

	if (!sums) {
		sums = calloc(o.samples, sizeof(*sums));
		for (i = 0; i < o.samples; i++) {
			sum += pow(i + 1, -o.skew);
			sums[i] = sum;
		}
	}
	at = random / 0x1p64 * sums[o.samples - 1];
	while (low < high) {
		uint64_t middle = (low + high) / 2;

		if (sums[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Fill @order with the sample of each read of a pass. */
static void make_order(uint32_t *order, uint64_t pass)
{
	uint64_t i;

	shuffle(order, o.order == SHUFFLED ? mixed(o.seed, pass) : o.seed);
	for (i = 0; i < o.samples; i++) {
		uint64_t random = mixed(o.seed ^ 0x5bd1e995, pass * o.samples + i);

		if (o.order == FORWARD)
			order[i] = i;
		else if (o.order == BACKWARD)
			order[i] = o.samples - 1 - i;
		else if (o.order == RANDOM)
			order[i] = random % o.samples;
	}
	if (o.order == ZIPF) {
		uint32_t *which = calloc(o.samples, sizeof(*which));

		memcpy(which, order, o.samples * sizeof(*which));
		for (i = 0; i < o.samples; i++)
			order[i] = which[ranked(mixed(o.seed ^ 0x5bd1e995, pass * o.samples + i))];
		free(which);
	}
}

static void sample(int fd, char *buffer, uint64_t which)
{
	uint64_t at = o.start + which * o.distance, end = at + o.bytes, from, n;

	if (!o.buffered) {
		at -= at % SECTOR;
		end = (end + SECTOR - 1) / SECTOR * SECTOR;
	}
	for (from = at; from < end; from += n) {
		n = end - from < o.call ? end - from : o.call;
		if (o.writes)
			write_exactly(fd, buffer, n, from);
		else
			read_exactly(fd, buffer, n, from);
	}
	/* posix_fadvise() drops only whole pages, so extend the range to pages. */
	if (o.buffered && !o.writes)
		posix_fadvise(fd, at & ~4095ULL, ((end + 4095) & ~4095ULL) - (at & ~4095ULL),
			      POSIX_FADV_DONTNEED);
}

static void raise_to(_Atomic uint64_t *most, uint64_t to)
{
	uint64_t was = *most;

	while (was < to && !atomic_compare_exchange_weak(most, &was, to))
		;
}

/* Make the reads of process @worker in the first @quarters quarters of a pass. */
static void share(int fd, char *buffer, uint64_t worker, uint64_t pass, uint64_t quarters)
{
	uint32_t *order = calloc(o.samples, sizeof(*order));
	uint64_t calls = (o.bytes + o.call - 1) / o.call, batch, i;

	make_order(order, pass);
	for (batch = 0; batch < quarters * BATCHES / 4; batch++) {
		for (i = o.samples * batch / BATCHES; i < o.samples * (batch + 1) / BATCHES; i++) {
			if (i % o.processes != worker)
				continue;
			sample(fd, buffer, order[i]);
			shared->calls += pass ? calls : 0;
		}
		if (pass == 0 && batch == BATCHES - 1)
			raise_to(&shared->first, now());
		if (pass == 1 && batch == BATCHES / 4 - 1)
			raise_to(&shared->limit, now());
		pthread_barrier_wait(&shared->batch);
	}
	free(order);
}

static void work(uint64_t worker, uint64_t pass, uint64_t passes)
{
	int fd = device_open(o.path, (o.writes ? O_WRONLY : O_RDONLY) |
				     (o.buffered ? 0 : O_DIRECT));
	char *buffer = aligned_room(o.call + 2 * SECTOR);
	uint64_t end = pass + passes, left;

	memset(buffer, 'x', o.call);
	for (; pass < end && 4 * pass < o.quarters; pass++) {
		left = o.quarters - 4 * pass;
		share(fd, buffer, worker, pass, left < 4 ? left : 4);
	}
	exit(0);
}

/* Run @passes passes from @pass on in new processes; returns true if all exit with 0. */
static bool make_passes(uint64_t pass, uint64_t passes)
{
	bool good = true;
	uint64_t i;

	for (i = 0; i < o.processes && worker_count < WORKERS_MAX; i++) {
		pid_t pid = fork();

		if (!pid)
			work(i, pass, passes);
		workers[worker_count++] = pid;
	}
	for (i = 0; i < o.processes; i++) {
		int status;

		good &= wait(&status) > 0 && !status;
	}
	return good;
}

static void print_workers(unsigned int from, unsigned int to)
{
	for (unsigned int i = from; i < to; i++)
		printf("%s%d", i > from ? "," : " ", workers[i]);
}

static int run(void)
{
	uint64_t pass, passes = (o.quarters + 3) / 4;
	pthread_barrierattr_t attr;
	unsigned int from;
	bool good = true;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->batch, &attr, o.processes);
	for (pass = 0; o.fresh && pass < passes; pass++)
		good &= make_passes(pass, 1);
	if (!o.fresh)
		good = make_passes(0, passes);
	printf("%llu %llu %llu", (unsigned long long)shared->first,
	       (unsigned long long)shared->limit, (unsigned long long)shared->calls);
	print_workers(0, worker_count);
	from = o.fresh && passes > 1 ? o.processes : 0;
	print_workers(from, from + o.processes);
	printf("\n");
	return !good;
}

int main(int argc, char **argv)
{
	int option;

	if (argc < 3)
		return 2;
	while (o.order < ORDERS && strcmp(words[o.order], argv[1]))
		o.order++;
	o.path = argv[2];
	optind = 3;
	while ((option = getopt(argc, argv, "n:b:d:c:s:q:p:fS:z:wB")) >= 0) {
		uint64_t n = optarg ? strtoull(optarg, NULL, 0) : 1;

		switch (option) {
		case 'n': o.samples = n; break;
		case 'b': o.bytes = n; break;
		case 'd': o.distance = n; break;
		case 'c': o.call = n; break;
		case 's': o.start = n; break;
		case 'q': o.quarters = n; break;
		case 'p': o.processes = n; break;
		case 'f': o.fresh = true; break;
		case 'S': o.seed = n; break;
		case 'z': o.skew = strtod(optarg, NULL); break;
		case 'w': o.writes = true; break;
		case 'B': o.buffered = true; break;
		default: return 2;
		}
	}
	o.distance = o.distance ?: o.bytes;
	/* By default one call reads a sample, even when the sample is extended to whole sectors. */
	o.call = o.call ?: o.bytes + 2 * SECTOR;
	if (o.order == ORDERS || !o.samples || !o.processes || o.processes > PROCESSES_MAX)
		return 2;
	return run();
}
