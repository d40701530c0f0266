// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a device block by block in the orders of training jobs (orders.h), epoch by epoch.
 *
 *	epochs write DEV [options]		write each block's number into the block, for both
 *						datasets of the orders
 *	epochs read DEV PATTERN EPOCH [options]	read one epoch and check the numbers
 *	epochs bound PATTERN SLOTS [options]	print the best possible hit ratio of each epoch
 *						with SLOTS cached blocks
 *	epochs plan PATTERN [options]		print "START+LENGTH" of all reads, in bytes
 * Options:
 *	-n BLOCKS	blocks of a dataset (1024)
 *	-b BYTES	size of a block and of a read (131072)
 *	-e EPOCHS	epochs of bound and plan (8)
 *	-q DEPTH	reads in flight (8)
 *	-S SEED		seed of the orders (1)
 * PATTERN is a name from orders.c. "read" prints the number of bytes that it read.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "optimum.h"
#include "orders.h"

#define DEPTH_MAX	64
#define ALIGNMENT	4096
/* Blocks start with a mark: MARK plus the block's number in the low 32 bits. */
#define MARK		0x6e63626c00000000ULL

static struct dataset set = { .blocks = 1024, .seed = 1 };
static uint64_t bytes = 131072, epochs = 8, depth = 8;

static void __attribute__((format(printf, 1, 2), noreturn)) die(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "epochs: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static uint64_t number(const char *what, const char *text, uint64_t min, uint64_t max)
{
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || end == text || value < min || value > max)
		die("%s '%s' is not a number from %llu to %llu", what, text,
		    (unsigned long long)min, (unsigned long long)max);
	return value;
}

static enum pattern pattern_arg(const char *name)
{
	int pattern = pattern_of(name);

	if (pattern < 0)
		die("unknown pattern '%s'", name);
	return pattern;
}

static void *room(size_t size)
{
	void *memory;

	if (posix_memalign(&memory, ALIGNMENT, size))
		die("no memory");
	return memory;
}

static int device(const char *path, int flags)
{
	int fd = open(path, flags | O_DIRECT | O_CLOEXEC);

	if (fd < 0)
		die("cannot open %s: %s", path, strerror(errno));
	return fd;
}

/* Write one page per block: reads check only this page, and a RAM-backed DEV stays small. */
static void write_marks(const char *path)
{
	uint64_t *page = room(ALIGNMENT);
	int fd = device(path, O_WRONLY);
	uint32_t i;

	memset(page, 0, ALIGNMENT);
	for (i = 0; i < 2 * set.blocks; i++) {
		*page = MARK | i;
		if (pwrite(fd, page, ALIGNMENT, i * bytes) != ALIGNMENT) {
			/* Only the order "switch" reads the second dataset: DEV may lack it. */
			if (i >= set.blocks && (errno == ENOSPC || errno == EINVAL))
				break;
			die("cannot write %s: %s", path, strerror(errno));
		}
	}
	close(fd);
	free(page);
}

/**
 * struct reader - reads of one epoch
 * @fd: device
 * @context: aio context
 * @iocb: control block of each read in flight
 * @order: blocks in the order of the reads
 * @count: number of blocks
 * @next: index of the next block
 */
struct reader {
	int fd;
	aio_context_t context;
	struct iocb iocb[DEPTH_MAX];
	const uint32_t *order;
	uint32_t count;
	uint32_t next;
};

static void submit(struct reader *r, struct iocb *iocb)
{
	uint32_t block = r->order[r->next++];

	iocb->aio_data = block;
	iocb->aio_offset = block * bytes;
	if (syscall(SYS_io_submit, r->context, 1, &iocb) != 1)
		die("io_submit: %s", strerror(errno));
}

static void reader_open(struct reader *r, const char *path)
{
	uint64_t i;

	r->fd = device(path, O_RDONLY);
	if (syscall(SYS_io_setup, depth, &r->context))
		die("io_setup: %s", strerror(errno));
	for (i = 0; i < depth; i++) {
		r->iocb[i].aio_lio_opcode = IOCB_CMD_PREAD;
		r->iocb[i].aio_fildes = r->fd;
		r->iocb[i].aio_buf = (uintptr_t)room(bytes);
		r->iocb[i].aio_nbytes = bytes;
	}
}

static void read_all(struct reader *r)
{
	struct io_event event;
	uint32_t done, i;

	for (i = 0; i < depth && r->next < r->count; i++)
		submit(r, &r->iocb[i]);
	for (done = 0; done < r->count; done++) {
		struct iocb *iocb;

		if (syscall(SYS_io_getevents, r->context, 1, 1, &event, NULL) != 1)
			die("io_getevents: %s", strerror(errno));
		iocb = (void *)(uintptr_t)event.obj;
		if (event.res != (int64_t)bytes)
			die("read of block %llu: %lld", event.data, event.res);
		if (*(uint64_t *)(uintptr_t)iocb->aio_buf != (MARK | event.data))
			die("WRONG DATA: block %llu begins with %#llx", event.data,
			    (unsigned long long)*(uint64_t *)(uintptr_t)iocb->aio_buf);
		if (r->next < r->count)
			submit(r, iocb);
	}
}

static void read_epoch(const char *path, enum pattern pattern, uint32_t epoch)
{
	uint32_t *order = room(pattern_room(&set, pattern) * sizeof(*order));
	struct reader r = {
		.order = order,
		.count = pattern_order(&set, pattern, epoch, order),
	};

	reader_open(&r, path);
	read_all(&r);
	printf("%llu\n", (unsigned long long)(r.count * bytes));
}

/* Concatenate all epochs.  Epoch i begins at read @first[i]; @first[epochs]: number of reads. */
static struct reads all_epochs(enum pattern pattern, uint32_t *first)
{
	uint64_t each = pattern_room(&set, pattern), i;
	struct reads r = {
		.block = room(each * epochs * sizeof(*r.block)),
		.blocks = 2 * set.blocks,
	};

	for (i = 0; i < epochs; i++) {
		first[i] = r.count;
		r.count += pattern_order(&set, pattern, i + 1, r.block + r.count);
	}
	first[i] = r.count;
	return r;
}

static void print_bound(enum pattern pattern, uint32_t slots)
{
	uint32_t *first = room((epochs + 1) * sizeof(*first)), i, k;
	struct reads r = all_epochs(pattern, first);
	uint8_t *hit = room(r.count);

	optimum(&r, slots, hit);
	for (i = 0; i < epochs; i++) {
		uint32_t hits = 0;

		for (k = first[i]; k < first[i + 1]; k++)
			hits += hit[k];
		printf("%.4f\n", (double)hits / (first[i + 1] - first[i]));
	}
}

static void print_plan(enum pattern pattern)
{
	uint32_t *first = room((epochs + 1) * sizeof(*first)), i;
	struct reads r = all_epochs(pattern, first);

	for (i = 0; i < r.count; i++)
		printf("%llu+%llu\n", (unsigned long long)(r.block[i] * bytes),
		       (unsigned long long)bytes);
}

static void options(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "n:b:e:q:S:")) != -1) {
		switch (option) {
		case 'n':
			set.blocks = number("-n", optarg, SHARDS, 1 << 24);
			break;
		case 'b':
			bytes = number("-b", optarg, ALIGNMENT, 1 << 30);
			break;
		case 'e':
			epochs = number("-e", optarg, 1, 1000);
			break;
		case 'q':
			depth = number("-q", optarg, 1, DEPTH_MAX);
			break;
		case 'S':
			set.seed = number("-S", optarg, 0, UINT32_MAX);
			break;
		default:
			die("see epochs.c");
		}
	}
}

int main(int argc, char **argv)
{
	int words;

	options(argc, argv);
	words = argc - optind;
	argv += optind;
	if (words == 2 && !strcmp(argv[0], "write"))
		write_marks(argv[1]);
	else if (words == 4 && !strcmp(argv[0], "read"))
		read_epoch(argv[1], pattern_arg(argv[2]), number("epoch", argv[3], 1, 1000));
	else if (words == 3 && !strcmp(argv[0], "bound"))
		print_bound(pattern_arg(argv[1]), number("slots", argv[2], 0, 1 << 24));
	else if (words == 2 && !strcmp(argv[0], "plan"))
		print_plan(pattern_arg(argv[1]));
	else
		die("write, read, bound or plan: see epochs.c");
	return 0;
}
