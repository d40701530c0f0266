// SPDX-License-Identifier: GPL-2.0-only
/*
 * Change and read one file by random operations, each in a way that file systems offer, and compare
 * the data read with a copy in memory.
 *
 *	fsx FILE [options]
 *	-n OPERATIONS	(1000)
 *	-S SEED		(1)
 *	-s SIZE		maximum size of the file in KiB (1024)
 *	-m COPY		write the final content to COPY, for a later comparison
 *
 * Operations that the file system does not support are skipped and listed at the end.
 */
#include <errno.h>
#include <linux/falloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "device.h"

#define LENGTH_MAX	(256U << 10)
#define ALIGN		512U
#define PAGE		4096U
#define HISTORY		4096U
#define HISTORY_TOLD	60U

enum action {
	READ, READ_DIRECT, READ_MAPPED, WRITE, WRITE_DIRECT, WRITE_MAPPED, WRITE_DSYNC,
	TRUNCATE, ALLOCATE, ALLOCATE_KEEP, PUNCH, ZERO, COPY, SYNC, DROP, ACTIONS
};

static const char *const names[ACTIONS] = {
	"read", "read-direct", "read-mapped", "write", "write-direct", "write-mapped",
	"write-dsync", "truncate", "allocate", "allocate-keep", "punch", "zero", "copy",
	"sync", "drop"
};

/* Relative frequency of each action, in the order of the enum. */
static const unsigned int weight[ACTIONS] = {
	10, 10, 6, 12, 12, 6, 3, 4, 2, 2, 4, 4, 4, 2, 6
};

struct operation {
	uint64_t number, from, at, length, size;
	enum action action;
};

static const char *path;
static uint64_t operations = 1000, room = 1 << 20, size, state = 1, done[ACTIONS];
static int fd, direct_fd;
static unsigned char *good, *buffer;
static bool lacks[ACTIONS];
static struct operation history[HISTORY], now;

static uint64_t below(uint64_t limit)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (state * 0x2545f4914f6cdd1dULL >> 16) % limit;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void tell(const struct operation *op)
{
	printf("  %6llu %-13s %llu + %llu", (unsigned long long)op->number, names[op->action],
	       (unsigned long long)op->at, (unsigned long long)op->length);
	if (op->action == COPY)
		printf(" from %llu", (unsigned long long)op->from);
	printf(", size then %llu\n", (unsigned long long)op->size);
}

/* Print the last HISTORY_TOLD operations on byte @at, and every truncation since the first one. */
static void history_tell(uint64_t at)
{
	uint64_t i = now.number, from = i > HISTORY ? i - HISTORY : 0, n = 0;
	const struct operation *op;

	for (; i > from && n < HISTORY_TOLD; i--) {
		op = &history[i % HISTORY];
		n += at >= op->at && at < op->at + op->length;
	}
	for (; i <= now.number; i++) {
		op = &history[i % HISTORY];
		if ((at >= op->at && at < op->at + op->length) || op->action == TRUNCATE)
			tell(op);
	}
}

__attribute__((format(printf, 2, 3), noreturn))
static void wrong(uint64_t at, const char *format, ...)
{
	va_list args;

	printf("WRONG %s: ", path);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf(", in\n");
	tell(&now);
	printf("earlier operations on it, oldest first:\n");
	history_tell(at);
	exit(1);
}

/* @good_so: the system call succeeded; otherwise report its errno and exit. */
static void must(bool good_so, const char *what)
{
	if (!good_so)
		wrong(now.at, "%s: %s", what, strerror(errno));
}

/* Returns true for @result 0, false if the file system lacks the operation.  Exits on an error. */
static bool has(int result)
{
	if (result && (errno == EOPNOTSUPP || errno == ENOSYS || errno == EXDEV)) {
		lacks[now.action] = true;
		return false;
	}
	must(!result, names[now.action]);
	return true;
}

static void compare(const unsigned char *found, uint64_t at, uint64_t length)
{
	uint64_t i, bad = 0, first = 0;

	if (!memcmp(found, good + at, length))
		return;
	for (i = 0; i < length; i++)
		if (found[i] != good[at + i] && !bad++)
			first = i;
	printf("from byte %llu on, expected / found:", (unsigned long long)(at + first));
	for (i = first; i < length && i < first + 16; i++)
		printf(" %02x/%02x", good[at + i], found[i]);
	printf("\n");
	wrong(at + first, "%llu bytes are not what was written", (unsigned long long)bad);
}

/* Put new content into the copy in memory; it depends on the number of the operation. */
static void fill(uint64_t at, uint64_t length)
{
	uint64_t i, word = (now.number + 1) * 0x9e3779b97f4a7c15ULL;

	for (i = at; i < at + length; i++)
		good[i] = (word + i * 0x0101010101ULL) >> (i % 8 * 8) | 1;
}

static void grow(uint64_t end)
{
	if (end > size)
		size = end;
}

static void do_read(void)
{
	int from = now.action == READ_DIRECT ? direct_fd : fd;
	ssize_t r;

	memset(buffer, 0xee, now.length);
	r = pread(from, buffer, now.length, now.at);
	must(r >= 0, "read");
	if (r != least(now.length, now.at < size ? size - now.at : 0))
		wrong(now.at, "%zd bytes read", r);
	compare(buffer, now.at, r);
}

static void do_mapped(bool writes)
{
	uint64_t at = now.at & ~(PAGE - 1ULL), end = now.at + now.length;
	unsigned char *map;

	if (writes && end > size) {
		must(!ftruncate(fd, end), "ftruncate");
		size = end;
	}
	end = least(end, size);
	if (now.at >= end)
		return;
	map = mmap(NULL, end - at, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);
	must(map != MAP_FAILED, "mmap");
	if (writes) {
		fill(now.at, end - now.at);
		memcpy(map + now.at - at, good + now.at, end - now.at);
		must(below(3) || !msync(map, end - at, MS_SYNC), "msync");
	} else {
		compare(map + now.at - at, now.at, end - now.at);
	}
	must(!munmap(map, end - at), "munmap");
}

static void do_write(void)
{
	int to = now.action == WRITE_DIRECT ? direct_fd : fd;
	struct iovec iov = { .iov_base = buffer, .iov_len = now.length };

	fill(now.at, now.length);
	memcpy(buffer, good + now.at, now.length);
	must(pwritev2(to, &iov, 1, now.at, now.action == WRITE_DSYNC ? RWF_DSYNC : 0) ==
	     now.length, "write");
	grow(now.at + now.length);
}

static void do_truncate(void)
{
	now.length = 0;
	must(!ftruncate(fd, now.at), "ftruncate");
	if (now.at < size)
		memset(good + now.at, 0, size - now.at);
	size = now.at;
}

static void do_allocate(void)
{
	static const int modes[ACTIONS] = {
		[ALLOCATE_KEEP] = FALLOC_FL_KEEP_SIZE,
		[PUNCH] = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		[ZERO] = FALLOC_FL_ZERO_RANGE,
	};

	if (!has(fallocate(fd, modes[now.action], now.at, now.length)))
		return;
	if (now.action == PUNCH || now.action == ZERO)
		memset(good + now.at, 0, now.length);
	if (now.action == ALLOCATE || now.action == ZERO)
		grow(now.at + now.length);
}

static void do_copy(void)
{
	off_t from, to = now.at;
	ssize_t r;

	if (size < 2)
		return;
	now.from = below(size);
	now.length = least(now.length, size - now.from);
	/* copy_file_range() refuses overlapping ranges of one file. */
	if (now.from < now.at + now.length && now.at < now.from + now.length)
		return;
	from = now.from;
	r = copy_file_range(fd, &from, fd, &to, now.length, 0);
	if (!has(r < 0 ? -1 : 0))
		return;
	now.length = r;
	memcpy(good + now.at, good + now.from, r);
	grow(now.at + r);
}

/* Drop the page cache, so that the next read comes from the device. */
static void do_drop(void)
{
	must(!fdatasync(fd), "fdatasync");
	must(!posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), "fadvise");
}

static void act(void)
{
	switch (now.action) {
	case READ:
	case READ_DIRECT:
		do_read();
		break;
	case READ_MAPPED:
	case WRITE_MAPPED:
		do_mapped(now.action == WRITE_MAPPED);
		break;
	case WRITE:
	case WRITE_DIRECT:
	case WRITE_DSYNC:
		do_write();
		break;
	case TRUNCATE:
		do_truncate();
		break;
	case COPY:
		do_copy();
		break;
	case SYNC:
		must(!fsync(fd), "fsync");
		break;
	case DROP:
		do_drop();
		break;
	default:
		do_allocate();
	}
}

static enum action pick_action(void)
{
	unsigned int sum = 0, i, dice;

	for (i = 0; i < ACTIONS; i++)
		sum += weight[i];
	do {
		for (dice = below(sum), i = 0; dice >= weight[i]; i++)
			dice -= weight[i];
	} while (lacks[i]);
	return i;
}

static void one(uint64_t number)
{
	struct stat st;

	now = (struct operation){ .number = number, .action = pick_action() };
	/* Use lengths of all magnitudes; most ranges start inside the file. */
	now.length = 1 + below(LENGTH_MAX >> below(18));
	now.at = below(below(4) && size ? size : room);
	if (now.action == READ_DIRECT || now.action == WRITE_DIRECT || !below(4)) {
		now.at &= ~(ALIGN - 1ULL);
		now.length = (now.length + ALIGN - 1) & ~(ALIGN - 1ULL);
	}
	now.length = least(now.length, room - now.at);
	now.size = size;
	history[number % HISTORY] = now;
	act();
	now.size = size;
	history[number % HISTORY] = now;
	done[now.action]++;
	must(!fstat(fd, &st), "fstat");
	if (st.st_size != size)
		wrong(size, "the size is %lld and not %llu", (long long)st.st_size,
		      (unsigned long long)size);
}

/* Drop the page cache and check the whole file; write the content to the file @copy, if given. */
static void finish(const char *copy)
{
	int out;

	now = (struct operation){ .number = operations, .action = READ, .length = size };
	do_drop();
	do_read();
	if (!copy)
		return;
	out = device_open(copy, O_WRONLY | O_CREAT | O_TRUNC);
	if (size)
		write_exactly(out, good, size, 0);
	close(out);
}

static const char *parse(int argc, char **argv)
{
	const char *copy = NULL;
	int c;

	while ((c = getopt(argc, argv, "n:S:s:m:")) != -1)
		switch (c) {
		case 'n':
			operations = strtoull(optarg, NULL, 0);
			break;
		case 'S':
			state = strtoull(optarg, NULL, 0) * 0x9e3779b97f4a7c15ULL | 1;
			break;
		case 's':
			room = strtoull(optarg, NULL, 0) << 10;
			break;
		case 'm':
			copy = optarg;
			break;
		default:
			exit(2);
		}
	return copy;
}

int main(int argc, char **argv)
{
	const char *copy;
	uint64_t i;

	if (argc < 2)
		return 2;
	path = argv[1];
	copy = parse(argc - 1, argv + 1);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0) {
		perror(path);
		return 1;
	}
	direct_fd = device_open(path, O_RDWR | O_DIRECT);
	good = calloc(1, room);
	buffer = aligned_room(room > LENGTH_MAX ? room : LENGTH_MAX);
	if (!good)
		return 1;
	for (i = 0; i < operations; i++)
		one(i);
	finish(copy);
	printf("%s:", path);
	for (i = 0; i < ACTIONS; i++)
		printf(" %s %llu%s", names[i], (unsigned long long)done[i],
		       lacks[i] ? " (not here)" : "");
	printf(", size %llu\n", (unsigned long long)size);
	return 0;
}
