// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes what somebody wrote, again: the same sizes, to the same places, at the same times. fio's own
 * replay adds what it takes itself to each pause, and comes to two thirds of the writes.
 *   usage: rewrite DEVICE ROUND TIMES <LIST
 *
 * LIST has lines "MICROSECOND OFFSET BYTES" in order of time, below ROUND microseconds; it is done
 * TIMES times, ROUND microseconds apart. Writes are direct, asynchronous, and of zeros.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Writes in flight, and the largest of them. */
#define DEPTH	1024
#define LARGEST	(4U << 20)

struct request {
	uint64_t at, offset, bytes;
};

static void die(const char *what)
{
	fprintf(stderr, "rewrite: %s: %s\n", what, errno ? strerror(errno) : "wrong");
	exit(1);
}

static struct request *take_list(size_t *count)
{
	struct request *all = NULL, one;
	size_t n = 0;

	while (scanf("%lu %lu %lu", &one.at, &one.offset, &one.bytes) == 3) {
		if (!one.bytes || one.bytes > LARGEST)
			die("size of a write");
		all = realloc(all, (n + 1) * sizeof(*all));
		if (!all)
			die("list");
		all[n++] = one;
	}
	if (!n || !feof(stdin))
		die("list");
	*count = n;
	return all;
}

/* reap(): those that are over; waits for one when @least is 1. */
static void reap(aio_context_t context, unsigned int *flying, long least)
{
	struct io_event events[DEPTH];
	long i, n = syscall(SYS_io_getevents, context, least, (long)DEPTH, events, NULL);

	if (n < 0)
		die("end of a write");
	for (i = 0; i < n; i++) {
		errno = events[i].res < 0 ? (int)-events[i].res : 0;
		if (events[i].res <= 0)
			die("write");
	}
	*flying -= (unsigned int)n;
}

static void write_one(aio_context_t context, int fd, void *zeros, const struct request *r)
{
	struct iocb block = {
		.aio_lio_opcode = IOCB_CMD_PWRITE,
		.aio_fildes = (uint32_t)fd,
		.aio_buf = (uintptr_t)zeros,
		.aio_nbytes = r->bytes,
		.aio_offset = (int64_t)r->offset,
	};
	struct iocb *blocks = &block;

	if (syscall(SYS_io_submit, context, 1L, &blocks) != 1)
		die("submission of a write");
}

static void sleep_until(const struct timespec *start, uint64_t us)
{
	struct timespec at = *start;

	us += (uint64_t)at.tv_nsec / 1000;
	at.tv_sec += (time_t)(us / 1000000);
	at.tv_nsec = (long)(us % 1000000 * 1000);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

int main(int argc, char **argv)
{
	uint64_t round, times, k;
	aio_context_t context = 0;
	unsigned int flying = 0;
	struct request *all;
	struct timespec start;
	size_t i, count;
	void *zeros;
	int fd;

	if (argc != 4)
		die("usage: rewrite DEVICE ROUND TIMES");
	round = strtoull(argv[2], NULL, 10);
	times = strtoull(argv[3], NULL, 10);
	all = take_list(&count);
	fd = open(argv[1], O_WRONLY | O_DIRECT);
	if (fd < 0 || posix_memalign(&zeros, 4096, LARGEST) || syscall(SYS_io_setup, DEPTH, &context))
		die(argv[1]);
	memset(zeros, 0, LARGEST);
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (k = 0; k < times; k++) {
		for (i = 0; i < count; i++) {
			sleep_until(&start, k * round + all[i].at);
			reap(context, &flying, flying == DEPTH);
			write_one(context, fd, zeros, &all[i]);
			flying++;
		}
	}
	while (flying)
		reap(context, &flying, 1);
	return 0;
}
