// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replays recorded reads and writes with their sizes, offsets and times. fio's own replay does not
 * suffice: it adds its processing time to each pause and reaches only two thirds of the rate.
 *   usage: rewrite READ WRITTEN ROUND TIMES <LIST
 *
 * Reads go to the device READ, writes to WRITTEN; writes write zeros. LIST has lines "MICROSECOND
 * R|W OFFSET BYTES" in order of time, below ROUND microseconds. The list is replayed TIMES times,
 * once per ROUND microseconds, with direct and asynchronous I/O.
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

/* Limits: number of requests in flight, bytes of a request. */
#define DEPTH	1024
#define LARGEST	(4U << 20)

struct request {
	uint64_t at, offset, bytes;
	char what;
};

/* File descriptors; @zeros: the buffer of all writes; @rest: the buffer of all reads. */
struct ends {
	int read, written;
	void *zeros, *rest;
};

static void die(const char *what)
{
	fprintf(stderr, "rewrite: %s: %s\n", what, errno ? strerror(errno) : "invalid");
	exit(1);
}

static struct request *take_list(size_t *count)
{
	struct request *all = NULL, one;
	size_t n = 0;

	while (scanf("%lu %c %lu %lu", &one.at, &one.what, &one.offset, &one.bytes) == 4) {
		if (!one.bytes || one.bytes > LARGEST || (one.what != 'R' && one.what != 'W'))
			die("request");
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

/* Reap completed requests; wait until at least @least have completed. */
static void reap(aio_context_t context, unsigned int *flying, long least)
{
	struct io_event events[DEPTH];
	long i, n = syscall(SYS_io_getevents, context, least, (long)DEPTH, events, NULL);

	if (n < 0)
		die("end of a request");
	for (i = 0; i < n; i++) {
		errno = events[i].res < 0 ? (int)-events[i].res : 0;
		if (events[i].res <= 0)
			die("request");
	}
	*flying -= (unsigned int)n;
}

static void send_one(aio_context_t context, const struct ends *ends, const struct request *r)
{
	int reads = r->what == 'R';
	struct iocb block = {
		.aio_lio_opcode = reads ? IOCB_CMD_PREAD : IOCB_CMD_PWRITE,
		.aio_fildes = (uint32_t)(reads ? ends->read : ends->written),
		.aio_buf = (uintptr_t)(reads ? ends->rest : ends->zeros),
		.aio_nbytes = r->bytes,
		.aio_offset = (int64_t)r->offset,
	};
	struct iocb *blocks = &block;

	if (syscall(SYS_io_submit, context, 1L, &blocks) != 1)
		die("submission of a request");
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

static void *buffer(void)
{
	void *room;

	if (posix_memalign(&room, 4096, LARGEST))
		die("memory");
	memset(room, 0, LARGEST);
	return room;
}

static int open_device(const char *path, int flags)
{
	int fd = open(path, flags | O_DIRECT);

	if (fd < 0)
		die(path);
	return fd;
}

int main(int argc, char **argv)
{
	uint64_t round, times, k;
	aio_context_t context = 0;
	unsigned int flying = 0;
	struct request *all;
	struct timespec start;
	struct ends ends;
	size_t i, count;

	if (argc != 5)
		die("usage: rewrite READ WRITTEN ROUND TIMES");
	round = strtoull(argv[3], NULL, 10);
	times = strtoull(argv[4], NULL, 10);
	all = take_list(&count);
	ends.read = open_device(argv[1], O_RDONLY);
	ends.written = open_device(argv[2], O_WRONLY);
	ends.zeros = buffer();
	ends.rest = buffer();
	if (syscall(SYS_io_setup, DEPTH, &context))
		die("io_setup");
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (k = 0; k < times; k++) {
		for (i = 0; i < count; i++) {
			sleep_until(&start, k * round + all[i].at);
			reap(context, &flying, flying == DEPTH);
			send_one(context, &ends, &all[i]);
			flying++;
		}
	}
	while (flying)
		reap(context, &flying, 1);
	return 0;
}
