// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write self-describing sectors to a device, or read them and check each byte.
 *
 *	blockdata write DEV [-s START] [-n COUNT] [-g GENERATION]
 *	blockdata read DEV [options]
 *	blockdata same DEV -f OTHER [-s START] [-n COUNT]	compare DEV with OTHER
 *	blockdata flush DEV -f FILE	flush repeatedly until FILE exists
 *	blockdata exclusive DEV		open with O_EXCL, as a mount does
 *
 * All units are sectors of 512 bytes.  Options of read:
 *	-s START -n COUNT	the part to read (all)
 *	-b MIN[:MAX]		length of a read (128), random between MIN and MAX
 *	-a ALIGN		starts and lengths are multiples of ALIGN (MIN)
 *	-r READS		random reads per thread instead of one pass
 *	-t THREADS		(1); they share a pass, but each makes READS random reads
 *	-c			all threads read the same range at the same moment
 *	-o			a pass in random order (reads of MIN, one thread)
 *	-S SEED			of the random reads (1)
 *	-g GENERATION		that the sectors must have (1)
 *	-B -m -w -p		buffered; by mmap; first with RWF_NOWAIT; with RWF_HIPRI
 *	-e			only count reads that end with EIO
 *	-f FILE			repeat until FILE exists
 *	-i MS			pause of a thread after each read
 *	-l MS			print each read that takes longer: "slow START COUNT END MS", END is the
 *				time at which it ended, ms since 1970
 * The last line is "reads N bytes N eio N again N longest N"; again: reads that RWF_NOWAIT did not
 * serve; longest: the time of the slowest read, ms.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "sector.h"

#define THREADS_MAX	128
#define READ_MAX	8192ULL		/* sectors */

static struct {
	const char *path;
	const char *stop_file;
	uint64_t start, count, min, max, align, reads, seed, generation;
	uint64_t pause_ms, slow_ms;
	unsigned int threads;
	bool common, shuffled, buffered, mapped, nowait, polled, eio_counts;
} o = { .min = 128, .seed = 1, .generation = 1, .threads = 1 };

static _Atomic uint64_t reads_done, bytes_done, eio_count, again_count, longest_ms;
static _Atomic bool failed;
static pthread_barrier_t barrier, opened;

static int open_device(int flags)
{
	int fd = open(o.path, flags);
	uint64_t bytes = 0;

	if (fd < 0 || ioctl(fd, BLKGETSIZE64, &bytes)) {
		perror(o.path);
		exit(1);
	}
	if (!o.count)
		o.count = bytes / SECTOR - o.start;
	return fd;
}

static void *room(void)
{
	void *buffer;

	if (posix_memalign(&buffer, 4096, READ_MAX * SECTOR))
		exit(1);
	return buffer;
}

static int write_all(void)
{
	int fd = open_device(O_WRONLY | O_DIRECT);
	uint64_t at = o.start, i, n;
	struct sector *buffer = room();

	for (; at < o.start + o.count; at += n) {
		n = o.start + o.count - at < 2048 ? o.start + o.count - at : 2048;
		for (i = 0; i < n; i++)
			sector_make(&buffer[i], at + i, o.generation);
		if (pwrite(fd, buffer, n * SECTOR, at * SECTOR) != n * SECTOR) {
			perror("write");
			return 1;
		}
	}
	return close(fd);
}

static void read_exactly(int fd, void *buffer, uint64_t at, uint64_t n)
{
	if (pread(fd, buffer, n * SECTOR, at * SECTOR) == n * SECTOR)
		return;
	perror("read");
	exit(1);
}

/* Compare the range of both devices; devices of different lengths count as different. */
static int compare(void)
{
	int fd = open_device(O_RDONLY | O_DIRECT), other;
	uint64_t at = o.start, end = o.start + o.count, n, i;
	char *a = room(), *b = room();

	o.path = o.stop_file;
	other = open_device(O_RDONLY | O_DIRECT);
	if (lseek(fd, 0, SEEK_END) != lseek(other, 0, SEEK_END)) {
		printf("one is longer\n");
		return 1;
	}
	for (; at < end; at += n) {
		n = end - at < 2048 ? end - at : 2048;
		read_exactly(fd, a, at, n);
		read_exactly(other, b, at, n);
		for (i = 0; i < n; i++)
			if (memcmp(a + i * SECTOR, b + i * SECTOR, SECTOR)) {
				printf("sector %llu differs\n", (unsigned long long)(at + i));
				return 1;
			}
	}
	return 0;
}

static int flush(void)
{
	int fd = open_device(O_RDWR);

	for (; access(o.stop_file, F_OK); usleep(1000))
		if (fsync(fd)) {
			perror("flush");
			return 1;
		}
	return 0;
}

static ssize_t read_once(int fd, void *buffer, uint64_t at, uint64_t n)
{
	struct iovec iov = { .iov_base = buffer, .iov_len = n * SECTOR };
	ssize_t r;

	if (o.nowait) {
		r = preadv2(fd, &iov, 1, at * SECTOR, RWF_NOWAIT);
		if (r == n * SECTOR)
			return r;
		/* Repeat without RWF_NOWAIT; a device that lacks it returns EOPNOTSUPP. */
		if (r < 0 && errno != EAGAIN && errno != EOPNOTSUPP)
			return r;
		again_count++;
	}
	return preadv2(fd, &iov, 1, at * SECTOR, o.polled ? RWF_HIPRI : 0);
}

static uint64_t clock_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

/* As read_once(); records its time. */
static ssize_t read_timed(int fd, void *buffer, uint64_t at, uint64_t n)
{
	uint64_t begin = clock_ms(CLOCK_MONOTONIC), taken, longest = longest_ms;
	ssize_t r = read_once(fd, buffer, at, n);
	int error = errno;

	taken = clock_ms(CLOCK_MONOTONIC) - begin;
	if (o.slow_ms && taken > o.slow_ms) {
		printf("slow %llu %llu %llu %llu\n", (unsigned long long)at,
		       (unsigned long long)n, (unsigned long long)clock_ms(CLOCK_REALTIME),
		       (unsigned long long)taken);
		fflush(stdout);
	}
	while (taken > longest && !atomic_compare_exchange_weak(&longest_ms, &longest, taken))
		;
	errno = error;
	return r;
}

/* Read @n sectors from sector @at, by @map if not NULL, and check each byte. */
static void read_check(int fd, const char *map, void *buffer, uint64_t at,
		       uint64_t n)
{
	if (map) {
		memcpy(buffer, map + at * SECTOR, n * SECTOR);
	} else {
		memset(buffer, 0xee, n * SECTOR);
		if (read_timed(fd, buffer, at, n) != n * SECTOR) {
			if (errno == EIO && o.eio_counts) {
				eio_count++;
				return;
			}
			printf("read of %llu + %llu: %s\n",
			       (unsigned long long)at, (unsigned long long)n,
			       strerror(errno));
			failed = true;
			return;
		}
	}
	if (!sectors_good(buffer, at, n, o.generation)) {
		printf("in the read of %llu + %llu\n", (unsigned long long)at,
		       (unsigned long long)n);
		failed = true;
	}
	reads_done++;
	bytes_done += n * SECTOR;
}

static uint64_t pick_length(uint64_t *state)
{
	uint64_t steps = (o.max - o.min) / o.align;

	return o.min + (steps ? random_next(state) % (steps + 1) : 0) * o.align;
}

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void one_pass(unsigned int thread, uint64_t *state, int fd,
		     const char *map, void *buffer)
{
	uint64_t end = o.start + o.count, at = o.start, i = 0, n;

	for (; o.reads ? i < o.reads : at < end; i++) {
		if (failed)
			return;
		n = pick_length(state);
		if (o.reads)
			at = o.start + random_next(state) %
				       ((o.count + o.align - 1) / o.align) * o.align;
		n = min64(n, end - at);
		if (o.common)
			pthread_barrier_wait(&barrier);
		if (o.reads || o.common || i % o.threads == thread)
			read_check(fd, map, buffer, at, n);
		if (o.pause_ms)
			usleep(o.pause_ms * 1000);
		at += n;
	}
}

/* Read each piece of the range (o.min sectors) once, in random order. */
static void shuffled_pass(uint64_t *state, int fd, void *buffer)
{
	uint64_t pieces = (o.count + o.min - 1) / o.min, i, j, swap;
	uint64_t *order = malloc(pieces * sizeof(*order));

	for (i = 0; i < pieces; i++) {
		order[i] = i;
		j = random_next(state) % (i + 1);
		swap = order[i];
		order[i] = order[j];
		order[j] = swap;
	}
	for (i = 0; i < pieces && !failed; i++)
		read_check(fd, NULL, buffer, o.start + order[i] * o.min,
			   min64(o.min, o.count - order[i] * o.min));
	free(order);
}

static void *reader(void *arg)
{
	unsigned int thread = (uintptr_t)arg;
	int fd = open_device(O_RDONLY | (o.buffered || o.mapped ? 0 : O_DIRECT));
	bool shared = o.common || !o.reads;
	uint64_t state = o.seed + (shared ? 0 : thread * 7919);
	void *buffer = room();
	char *map = NULL;

	pthread_barrier_wait(&opened);
	if (o.mapped) {
		map = mmap(NULL, (o.start + o.count) * SECTOR, PROT_READ,
			   MAP_SHARED, fd, 0);
		if (map == MAP_FAILED)
			exit(1);
	}
	do
		if (o.shuffled)
			shuffled_pass(&state, fd, buffer);
		else
			one_pass(thread, &state, fd, map, buffer);
	while (o.stop_file && !failed && access(o.stop_file, F_OK));
	free(buffer);
	close(fd);
	return NULL;
}

static int read_all(void)
{
	pthread_t thread[THREADS_MAX];
	/*
	 * Keep the device open until all threads have opened it, so that a test that waits for its
	 * closing does not see it closed before the threads start.
	 */
	int fd = open_device(O_RDONLY);
	uintptr_t i;

	pthread_barrier_init(&barrier, NULL, o.threads);
	pthread_barrier_init(&opened, NULL, o.threads + 1);
	for (i = 0; i < o.threads; i++)
		if (pthread_create(&thread[i], NULL, reader, (void *)i))
			return 1;
	pthread_barrier_wait(&opened);
	close(fd);
	for (i = 0; i < o.threads; i++)
		pthread_join(thread[i], NULL);
	printf("reads %llu bytes %llu eio %llu again %llu longest %llu\n",
	       (unsigned long long)reads_done, (unsigned long long)bytes_done,
	       (unsigned long long)eio_count, (unsigned long long)again_count,
	       (unsigned long long)longest_ms);
	return failed;
}

/* Returns the variable of an option without an argument; exits for an unknown option. */
static bool *flag(int c)
{
	switch (c) {
	case 'c':
		return &o.common;
	case 'o':
		return &o.shuffled;
	case 'B':
		return &o.buffered;
	case 'm':
		return &o.mapped;
	case 'w':
		return &o.nowait;
	case 'p':
		return &o.polled;
	case 'e':
		return &o.eio_counts;
	default:
		exit(2);
	}
}

static void parse(int argc, char **argv)
{
	char *colon;
	int c;

	while ((c = getopt(argc, argv, "s:n:b:a:r:t:coS:g:Bmwpef:i:l:")) != -1)
		switch (c) {
		case 's':
			o.start = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			o.count = strtoull(optarg, NULL, 0);
			break;
		case 'b':
			o.min = strtoull(optarg, &colon, 0);
			o.max = *colon ? strtoull(colon + 1, NULL, 0) : 0;
			break;
		case 'a':
			o.align = strtoull(optarg, NULL, 0);
			break;
		case 'r':
			o.reads = strtoull(optarg, NULL, 0);
			break;
		case 't':
			o.threads = strtoul(optarg, NULL, 0);
			break;
		case 'S':
			o.seed = strtoull(optarg, NULL, 0);
			break;
		case 'g':
			o.generation = strtoull(optarg, NULL, 0);
			break;
		case 'f':
			o.stop_file = optarg;
			break;
		case 'i':
			o.pause_ms = strtoull(optarg, NULL, 0);
			break;
		case 'l':
			o.slow_ms = strtoull(optarg, NULL, 0);
			break;
		default:
			*flag(c) = true;
		}
	if (!o.max)
		o.max = o.min;
	if (!o.align)
		o.align = o.min;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	o.path = argv[2];
	parse(argc - 2, argv + 2);
	if (!strcmp(argv[1], "write"))
		return write_all();
	if (!strcmp(argv[1], "same") && o.stop_file)
		return compare();
	if (!strcmp(argv[1], "flush") && o.stop_file)
		return flush();
	if (!strcmp(argv[1], "exclusive"))
		return close(open_device(O_RDWR | O_EXCL));
	if (strcmp(argv[1], "read") || !o.threads || o.threads > THREADS_MAX ||
	    !o.min || o.min > o.max || o.max > READ_MAX)
		return 2;
	return read_all();
}
