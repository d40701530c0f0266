// SPDX-License-Identifier: GPL-2.0-only
/*
 * The load of the benchmark stage: direct I/O with stamped blocks (drive/dm-bench-drive.c).
 *
 *	stage checkpoint DEVICE MIB_AT MIB FIRST
 *		write MIB in writes of 1 MiB, four in flight, then fsync; print the time (ns since
 *		1970), and the ns until the last write has ended, and until fsync has ended
 *	stage file FOLDER MIB FIRST
 *		the same to a new file, then rename, and fsync of the folder; print the same
 *	stage sync DEVICE MIB_AT COUNT
 *		COUNT times: write 4 KiB, fdatasync; print mean, p50 and p99 ns of fdatasync, and
 *		those of both calls
 *	stage writes DEVICE MIB_AT BYTES COUNT
 *		write COUNT times, one after another; print the mean ns
 *	stage reads DEVICE MIB MILLISECONDS
 *		read random blocks of 4 KiB in the first MIB; print count, p50, p99 and maximum ns
 *	stage check DEVICE BYTE_AT MIB FIRST
 *		fail unless the device has what "checkpoint" wrote
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BLOCK	4096U
#define PIECE	(1U << 20)
#define DEPTH	4
#define MAGIC	"nc-bench"

static int fd;

static void die(const char *what)
{
	fprintf(stderr, "stage: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static char *aligned_room(size_t bytes)
{
	char *room = aligned_alloc(BLOCK, bytes);

	if (!room)
		die("memory");
	memset(room, 0, bytes);
	return room;
}

/* Stamp all blocks; their numbers count on from @number. */
static void stamp_blocks(char *data, size_t bytes, uint64_t number)
{
	size_t at;

	for (at = 0; at < bytes; at += BLOCK, number++) {
		memcpy(data + at, MAGIC, 8);
		memcpy(data + at + 8, &number, 8);
		memcpy(data + at + BLOCK - 16, data + at, 16);
	}
}

static void submit_write(aio_context_t context, struct iocb *cb, char *data, uint64_t at,
			 uint64_t number)
{
	stamp_blocks(data, PIECE, number);
	memset(cb, 0, sizeof(*cb));
	cb->aio_lio_opcode = IOCB_CMD_PWRITE;
	cb->aio_fildes = fd;
	cb->aio_buf = (uintptr_t)data;
	cb->aio_nbytes = PIECE;
	cb->aio_offset = at;
	if (syscall(SYS_io_submit, context, 1, &cb) != 1)
		die("io_submit");
}

/* @folder: descriptor of the folder in which "tmp" becomes "checkpoint" in the end; -1: none. */
static void checkpoint(uint64_t at, uint64_t pieces, uint64_t first, int folder)
{
	uint64_t begin, written, n = 0, ended = 0;
	struct timespec begun;
	aio_context_t context = 0;
	struct iocb cb[DEPTH];
	struct io_event event;
	char *data[DEPTH];
	int i;

	for (i = 0; i < DEPTH; i++)
		data[i] = aligned_room(PIECE);
	if (syscall(SYS_io_setup, DEPTH, &context))
		die("io_setup");
	clock_gettime(CLOCK_REALTIME, &begun);
	begin = now_ns();
	for (; n < DEPTH && n < pieces; n++)
		submit_write(context, &cb[n], data[n], at + n * PIECE, first + n * (PIECE / BLOCK));
	for (; ended < pieces; ended++) {
		if (syscall(SYS_io_getevents, context, 1, 1, &event, NULL) != 1)
			die("io_getevents");
		if (event.res != PIECE)
			die("write");
		i = (struct iocb *)(uintptr_t)event.obj - cb;
		if (n < pieces) {
			submit_write(context, &cb[i], data[i], at + n * PIECE,
				     first + n * (PIECE / BLOCK));
			n++;
		}
	}
	written = now_ns();
	if (fsync(fd))
		die("fsync");
	if (folder >= 0 && (renameat(folder, "tmp", folder, "checkpoint") || fsync(folder)))
		die("rename");
	printf("%lu %lu %lu\n", begun.tv_sec * 1000000000UL + begun.tv_nsec, written - begin,
	       now_ns() - begin);
}

/*
 * Write a checkpoint as programs do: readers see the old file, or all of the new one.  The file gets
 * its blocks first, or ext4 would write one piece at a time.
 */
static void checkpoint_file(const char *path, uint64_t pieces, uint64_t first)
{
	int folder = open(path, O_RDONLY | O_DIRECTORY);

	fd = folder < 0 ? -1 : openat(folder, "tmp", O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0644);
	if (fd < 0 || fallocate(fd, 0, 0, pieces * PIECE))
		die(path);
	checkpoint(0, pieces, first, folder);
}

static int compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Sort; the result is the value below which this percentage lies. */
static uint64_t percentile(uint64_t *ns, size_t count, unsigned int percent)
{
	qsort(ns, count, sizeof(*ns), compare_ns);
	return ns[(count * percent + 99) / 100 - 1];
}

static uint64_t mean_of(const uint64_t *ns, size_t count)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		sum += ns[i];
	return sum / count;
}

static void write_at(const char *data, size_t bytes, uint64_t at)
{
	if (pwrite(fd, data, bytes, at) != (ssize_t)bytes)
		die("write");
}

static void sync_loop(uint64_t at, size_t count)
{
	uint64_t *sync_ns = calloc(count, sizeof(*sync_ns));
	uint64_t *both_ns = calloc(count, sizeof(*both_ns));
	char *data = aligned_room(BLOCK);
	size_t i;

	if (!sync_ns || !both_ns)
		die("memory");
	for (i = 0; i < count; i++) {
		uint64_t begin = now_ns(), written;

		stamp_blocks(data, BLOCK, i);
		write_at(data, BLOCK, at + i * BLOCK);
		written = now_ns();
		if (fdatasync(fd))
			die("fdatasync");
		both_ns[i] = now_ns() - begin;
		sync_ns[i] = begin + both_ns[i] - written;
	}
	printf("%lu %lu %lu %lu %lu %lu\n", mean_of(sync_ns, count), percentile(sync_ns, count, 50),
	       percentile(sync_ns, count, 99), mean_of(both_ns, count),
	       percentile(both_ns, count, 50), percentile(both_ns, count, 99));
}

static void writes(uint64_t at, size_t bytes, size_t count)
{
	char *data = aligned_room(bytes);
	uint64_t begin;
	size_t i;

	stamp_blocks(data, bytes, 1);
	begin = now_ns();
	for (i = 0; i < count; i++)
		write_at(data, bytes, at + i * bytes);
	printf("%lu\n", (now_ns() - begin) / count);
}

static void reads(uint64_t blocks, uint64_t ms)
{
	uint64_t *ns = NULL, end = now_ns() + ms * 1000000, random = 1;
	char *data = aligned_room(BLOCK);
	size_t count = 0, room = 0;

	while (now_ns() < end) {
		uint64_t begin;

		if (count == room) {
			room += 65536;
			ns = realloc(ns, room * sizeof(*ns));
			if (!ns)
				die("memory");
		}
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		begin = now_ns();
		if (pread(fd, data, BLOCK, random % blocks * BLOCK) != BLOCK)
			die("read");
		ns[count++] = now_ns() - begin;
	}
	if (!count)
		die("nothing read");
	printf("%zu %lu %lu", count, percentile(ns, count, 50), percentile(ns, count, 99));
	printf(" %lu\n", ns[count - 1]);
}

static void check(uint64_t at, uint64_t pieces, uint64_t first)
{
	char *data = aligned_room(PIECE), *expected = aligned_room(PIECE);
	uint64_t n, i;

	for (n = 0; n < pieces; n++) {
		stamp_blocks(expected, PIECE, first + n * (PIECE / BLOCK));
		if (pread(fd, data, PIECE, at + n * PIECE) != PIECE)
			die("read");
		/* Compare the stamps: a modelled drive keeps nothing else. */
		for (i = 0; i < PIECE; i += BLOCK)
			if (memcmp(data + i, expected + i, 16) ||
			    memcmp(data + i + BLOCK - 16, expected + i, 16)) {
				fprintf(stderr, "stage: wrong data at byte %lu\n",
					at + n * PIECE + i);
				exit(1);
			}
	}
}

int main(int argc, char **argv)
{
	uint64_t n[4] = { 0 };
	int i;

	for (i = 3; i < argc && i < 7; i++)
		n[i - 3] = strtoull(argv[i], NULL, 0);
	if (argc < 5)
		return 2;
	/* No huge pages: they save 128 us per MiB, but the kernel has them only by chance. */
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		die("prctl");
	if (!strcmp(argv[1], "file") && argc == 5) {
		checkpoint_file(argv[2], n[0], n[1]);
		return 0;
	}
	fd = open(argv[2], O_RDWR | O_DIRECT);
	if (fd < 0)
		die(argv[2]);
	if (!strcmp(argv[1], "checkpoint") && argc == 6)
		checkpoint(n[0] << 20, n[1], n[2], -1);
	else if (!strcmp(argv[1], "sync") && argc == 5)
		sync_loop(n[0] << 20, n[1]);
	else if (!strcmp(argv[1], "writes") && argc == 6)
		writes(n[0] << 20, n[1], n[2]);
	else if (!strcmp(argv[1], "reads") && argc == 5)
		reads(n[0] << 8, n[1]);
	else if (!strcmp(argv[1], "check") && argc == 6)
		check(n[0], n[1], n[2]);
	else
		return 2;
	return 0;
}
