// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many threads write and read a device at random. Each sector read must hold a value that the model
 * (stress_model.h) allows: no overwritten value, no mixture of two writes, no data of another
 * sector or device.
 *
 *	stress init DEV MODEL [-S SEED]		write all of DEV, save the content to MODEL
 *	stress run DEV MODEL [options]		load MODEL, run, read all of DEV, save MODEL
 *	stress verify DEV MODEL			check DEV, or a bare origin, against MODEL
 * Options of run:
 *	-s SECONDS		(10)
 *	-t THREADS		(16)
 *	-S SEED			of the random operations (1)
 *	-b PERCENT		of the device for buffered I/O, at its end (12)
 *	-d			discard; the model treats a discard as a write of zeros
 *	-z PATH			send discards and zeroes to PATH, another device over the same
 *				data: these ioctls lock out other I/O on their device (DEV)
 *	-f FILE			stop early when FILE exists
 *
 * Direct I/O of all threads may overlap. Buffered I/O has its own region, as the page cache does
 * not see direct writes. In this region, locks keep writers from readers of the same pages, because
 * even a correct page cache lets a buffered read see half of a write; only writeback overlaps.
 */
#include <errno.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <time.h>

#include "device.h"
#include "stress_history.h"
#include "stress_saved.h"

#define IO_MAX	2048U	/* sectors */
#define SKEW	8U	/* sectors: bound of the random offset of I/O buffers */
#define CHUNK	128U	/* sectors per lock of the buffered region */
#define FAILURES_TOLD	4

struct region {
	uint64_t first, count;
};

struct worker {
	unsigned int number;
	pthread_t thread;
	uint64_t random, cursor, ops[ACTIONS], bytes[ACTIONS];
	struct stress_sector *buffer;
	struct operation *record;
};

static struct {
	const char *path, *zero_path, *stop_file;
	uint64_t seed;
	unsigned int seconds, threads, buffered;
	bool discards;
} o = { .seed = 1, .seconds = 10, .threads = 16, .buffered = 12 };

static struct model model;
static uint64_t device_seed = 1;
static struct region direct, cached;
static pthread_rwlock_t *chunk;
static int direct_fd, cached_fd, zero_fd;
static _Atomic uint64_t next_id;
static _Atomic unsigned int failures;
static _Atomic bool over, no_punch;
static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;

static uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545f4914f6cdd1dULL >> 8;
}

static uint64_t below(struct worker *w, uint64_t limit)
{
	return random_next(&w->random) % limit;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t device_sectors(int fd)
{
	uint64_t bytes;

	if (ioctl(fd, BLKGETSIZE64, &bytes)) {
		perror("size of the device");
		exit(1);
	}
	return bytes / SECTOR;
}

static void *room(void)
{
	return aligned_room((IO_MAX + SKEW) * SECTOR);
}

static void load(const char *path, int fd)
{
	struct saved head;

	model_load(&model, &head, path, device_sectors(fd));
	device_seed = head.seed;
	next_id = head.next_id;
}

static void save(const char *path)
{
	struct saved head = { SAVED_MAGIC, model.sectors, device_seed,
			      next_id };

	model_save(&model, &head, path);
}

/* --- failures ------------------------------------------------------------- */

/* Read the sector again and print the result: if it is right, only the first read was wrong. */
static void again_tell(uint64_t sector)
{
	struct stress_sector *s = aligned_room(4096);

	if (pread(direct_fd, s, SECTOR, sector * SECTOR) == SECTOR) {
		printf("read again: ");
		sector_tell(s, sector, device_seed);
		printf("\n");
	}
	free(s);
}

/* Stop the run and report @bad wrong sectors of a read, from @sector (content: @s) to @last. */
static void wrong(const struct operation *op, uint64_t sector,
		  const struct stress_sector *s, uint64_t bad, uint64_t last)
{
	over = true;
	if (failures++ >= FAILURES_TOLD)
		return;
	pthread_mutex_lock(&telling);
	printf("WRONG sector %llu in\n", (unsigned long long)sector);
	operation_tell(op);
	printf("found: ");
	sector_tell(s, sector, device_seed);
	if (bad > 1)
		printf("\nand %llu more up to sector %llu",
		       (unsigned long long)bad - 1, (unsigned long long)last);
	printf("\nmay be (as known now):\n");
	pthread_mutex_lock(&model_stripe(&model, sector)->lock);
	candidates_tell(&model, sector);
	pthread_mutex_unlock(&model_stripe(&model, sector)->lock);
	again_tell(sector);
	history_tell(sector);
	fflush(stdout);
	pthread_mutex_unlock(&telling);
}

static void broken(const struct operation *op, const char *what)
{
	int error = errno;

	over = true;
	if (failures++ >= FAILURES_TOLD)
		return;
	pthread_mutex_lock(&telling);
	printf("FAILED %s: %s, in\n", what, strerror(error));
	operation_tell(op);
	pthread_mutex_unlock(&telling);
}

/* --- operations ----------------------------------------------------------- */

static void begin(struct worker *w, struct operation *op)
{
	op->thread = w->number;
	op->start = op->action <= READ_BUFFERED ?
			    model_read_begin(&model, w->number) :
			    model_now(&model);
	w->ops[op->action]++;
	w->bytes[op->action] += op->count * (uint64_t)SECTOR;
	w->record = history_add(op);
}

/* The history is a ring: a newer operation may have overwritten the record of @op. */
static void end(struct worker *w, struct operation *op)
{
	op->end = model_now(&model);
	if (w->record->start == op->start)
		w->record->end = op->end;
}

static uint64_t new_id(struct worker *w)
{
	return atomic_fetch_add(&next_id, 1) << ID_THREAD_BITS | w->number;
}

/* Split a buffer at random sectors into 1 to 4 vectors, so that bio_vecs end at any sector. */
static unsigned int pieces(struct worker *w, struct stress_sector *data,
			   uint64_t count, struct iovec *iov)
{
	unsigned int n = 0;
	uint64_t piece;

	while (count) {
		piece = n == 3 || below(w, 2) ? count : 1 + below(w, count);
		iov[n].iov_base = data;
		iov[n++].iov_len = piece * SECTOR;
		data += piece;
		count -= piece;
	}
	return n;
}

static void check(const struct operation *op, const struct stress_sector *s)
{
	uint64_t i, id, bad = 0, first = 0, last = 0;

	for (i = op->first; i < op->first + (uint64_t)op->count; i++) {
		id = sector_id(&s[i - op->first], i, device_seed);
		if (id && model_read(&model, i, id, op->start, op->end))
			continue;
		last = i;
		if (!bad++)
			first = i;
	}
	if (bad)
		wrong(op, first, &s[first - op->first], bad, last);
}

static ssize_t read_pieces(struct worker *w, int fd, struct stress_sector *data,
			   uint64_t first, uint64_t count, bool nowait)
{
	struct iovec iov[4];
	unsigned int n = pieces(w, data, count, iov);
	ssize_t r;

	if (nowait) {
		r = preadv2(fd, iov, n, first * SECTOR, RWF_NOWAIT);
		if (r == count * SECTOR ||
		    (r < 0 && errno != EAGAIN && errno != EOPNOTSUPP))
			return r;
	}
	return preadv(fd, iov, n, first * SECTOR);
}

static void do_read(struct worker *w, enum action action, uint64_t first,
		    uint64_t count)
{
	struct operation op = { .action = action,
				.first = first,
				.count = count };
	int fd = action == READ_BUFFERED ? cached_fd : direct_fd;
	struct stress_sector *data = w->buffer + below(w, SKEW);
	uint64_t i;

	/* Invalidate the old sectors in the buffer, to detect a read that leaves some unchanged. */
	for (i = 0; i < count; i++)
		data[i].magic = ~STRESS_MAGIC;
	begin(w, &op);
	if (read_pieces(w, fd, data, first, count, action == READ_NOWAIT) !=
	    count * SECTOR) {
		broken(&op, "read");
	} else {
		end(w, &op);
		check(&op, data);
	}
	model_read_end(&model, w->number);
}

static void do_write(struct worker *w, enum action action, uint64_t first,
		     uint64_t count)
{
	struct operation op = { .action = action,
				.first = first,
				.count = count,
				.id = new_id(w) };
	int fd = action == WRITE_BUFFERED ? cached_fd : direct_fd;
	struct stress_sector *data = w->buffer + below(w, SKEW);
	int flags = action == WRITE_DSYNC ? RWF_DSYNC : 0;
	struct iovec iov[4];
	uint64_t i;

	for (i = 0; i < count; i++)
		sector_make(&data[i], first + i, op.id, device_seed);
	begin(w, &op);
	model_write_begin(&model, first, count, op.id);
	if (pwritev2(fd, iov, pieces(w, data, count, iov), first * SECTOR,
		     flags) != count * SECTOR) {
		broken(&op, "write");
		return;
	}
	end(w, &op);
	model_write_end(&model, first, count, op.id);
}

static int zero_range(struct worker *w, int fd, uint64_t at, uint64_t bytes)
{
	uint64_t range[2] = { at, bytes };

	/* Test both calls: PUNCH_HOLE lets the device unmap the range, BLKZEROOUT does not. */
	if (!no_punch && below(w, 2)) {
		if (!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			       at, bytes))
			return 0;
		if (errno != EOPNOTSUPP)
			return -1;
		no_punch = true;
	}
	return ioctl(fd, BLKZEROOUT, range);
}

static void do_zero(struct worker *w, enum action action, int fd,
		    uint64_t first, uint64_t count)
{
	struct operation op = { .action = action,
				.first = first,
				.count = count,
				.id = new_id(w) | MODEL_ZERO };
	uint64_t range[2] = { first * SECTOR, count * SECTOR };

	begin(w, &op);
	model_write_begin(&model, first, count, op.id);
	if (action == ZERO ? zero_range(w, fd, range[0], range[1]) :
			     ioctl(fd, BLKDISCARD, range)) {
		broken(&op, action_names[action]);
		return;
	}
	end(w, &op);
	model_write_end(&model, first, count, op.id);
}

static void do_sync(struct worker *w, int fd)
{
	struct operation op = { .action = SYNC };

	begin(w, &op);
	if (fdatasync(fd))
		broken(&op, "fdatasync");
	end(w, &op);
}

/* Write back and drop the cached pages, so that the next buffered read reads the device. */
static void do_drop(struct worker *w, uint64_t first, uint64_t count)
{
	struct operation op = { .action = DROP,
				.first = first,
				.count = count };

	begin(w, &op);
	if (sync_file_range(cached_fd, first * SECTOR, count * SECTOR,
			    SYNC_FILE_RANGE_WAIT_BEFORE |
				    SYNC_FILE_RANGE_WRITE |
				    SYNC_FILE_RANGE_WAIT_AFTER) ||
	    posix_fadvise(cached_fd, first * SECTOR, count * SECTOR,
			  POSIX_FADV_DONTNEED))
		broken(&op, "writeback");
	end(w, &op);
}

/* --- what to do where ----------------------------------------------------- */

/* A random count from 1 to @max; small counts are as likely as large ones. */
static uint64_t pick_count(struct worker *w, uint64_t max)
{
	unsigned int bits = 0;

	while (max >> bits > 1)
		bits++;
	return 1 + below(w, 1ULL << below(w, bits + 1));
}

/* Draw a range: 20 % in 256 sectors, 40 % in 1/32 of the region, 30 % anywhere, 10 % sequential. */
static void pick(struct worker *w, const struct region *region, uint64_t *first,
		 uint64_t *count)
{
	uint64_t dice = below(w, 100), max = IO_MAX, part = region->count, at;

	if (dice < 20) {
		max = 32;
		part = 256;
	} else if (dice < 60) {
		max = 256;
		part = region->count / 32;
	}
	part = least(part, region->count);
	*count = least(pick_count(w, max), part);
	at = below(w, part - *count + 1);
	if (dice >= 90) {
		*count = least(128 + below(w, IO_MAX - 127), part);
		at = w->cursor + *count <= part ? w->cursor : 0;
		w->cursor = at + *count;
	} else if (below(w, 2)) {
		/* Round to whole pages, as file systems write. */
		at &= ~7ULL;
		*count = least((*count + 7) & ~7ULL, part - at);
	}
	*first = region->first + at;
}

static bool wants_read(struct worker *w)
{
	static const unsigned int percent[] = { 92, 70, 50, 20 };

	return below(w, 100) < percent[w->number % 4];
}

static void direct_operation(struct worker *w)
{
	uint64_t first, count, dice = below(w, 100);

	pick(w, &direct, &first, &count);
	if (wants_read(w))
		do_read(w, dice < 5 ? READ_NOWAIT : READ, first, count);
	else if (dice < 4)
		do_zero(w, ZERO, zero_fd, first, count);
	else if (dice < 10 && o.discards)
		do_zero(w, DISCARD, zero_fd, first, count);
	else if (dice < 12)
		do_sync(w, direct_fd);
	else
		do_write(w, dice < 18 ? WRITE_DSYNC : WRITE, first, count);
}

static void cached_write(struct worker *w, uint64_t first, uint64_t count)
{
	uint64_t dice = below(w, 100);

	if (dice >= 6 || (dice >= 3 && !o.discards)) {
		do_write(w, WRITE_BUFFERED, first, count);
		return;
	}
	/* With another device on top of this one, the ioctls fail (EBUSY) while pages are dirty. */
	do_drop(w, first, count);
	do_zero(w, dice < 3 ? ZERO : DISCARD, cached_fd, first, count);
}

static void cached_operation(struct worker *w)
{
	uint64_t first, count, i, begins, ends;
	bool read = wants_read(w);

	pick(w, &cached, &first, &count);
	begins = (first - cached.first) / CHUNK;
	ends = (first + count - 1 - cached.first) / CHUNK;
	for (i = begins; i <= ends; i++)
		if (read)
			pthread_rwlock_rdlock(&chunk[i]);
		else
			pthread_rwlock_wrlock(&chunk[i]);
	if (!read)
		cached_write(w, first, count);
	else if (below(w, 4))
		do_read(w, READ_BUFFERED, first, count);
	else
		do_read(w, READ, first, count);
	if (!below(w, 4))
		do_drop(w, first, count);
	for (i = begins; i <= ends; i++)
		pthread_rwlock_unlock(&chunk[i]);
	if (!below(w, 64))
		do_sync(w, cached_fd);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	w->buffer = room();
	while (!over)
		if (cached.count && below(w, 100) < o.buffered)
			cached_operation(w);
		else
			direct_operation(w);
	free(w->buffer);
	return NULL;
}

/* --- the commands --------------------------------------------------------- */

static void totals(const struct worker *workers)
{
	uint64_t ops, bytes;
	unsigned int a, i;

	printf("ops");
	for (a = 0; a < ACTIONS; a++) {
		for (ops = bytes = i = 0; i < o.threads; i++) {
			ops += workers[i].ops[a];
			bytes += workers[i].bytes[a];
		}
		printf(" %s %llu (%llu MB)", action_names[a],
		       (unsigned long long)ops,
		       (unsigned long long)bytes / 1000000);
	}
	printf("\nsectors that might have held one of several writes when read: %llu\n",
	       (unsigned long long)model.raced);
}

static void run_threads(void)
{
	struct worker *workers = calloc(o.threads, sizeof(*workers));
	struct timespec tenth = { .tv_nsec = 100000000 };
	time_t end = time(NULL) + o.seconds;
	unsigned int i;

	for (i = 0; i < o.threads; i++) {
		workers[i].number = i;
		workers[i].random = (o.seed * 1000003 + i + 1) * STRESS_STEP;
		workers[i].cursor = direct.count / o.threads * i;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			exit(1);
	}
	while (!over && time(NULL) < end &&
	       !(o.stop_file && !access(o.stop_file, F_OK)))
		nanosleep(&tenth, NULL);
	over = true;
	for (i = 0; i < o.threads; i++)
		pthread_join(workers[i].thread, NULL);
	totals(workers);
	free(workers);
}

/* Read the whole device, with no write in flight: then the model allows only the value read. */
static int read_all(const char *path)
{
	int fd = device_open(path, O_RDONLY | O_DIRECT);
	struct stress_sector *s = room();
	uint64_t at, n, i, id, bad = 0;
	struct operation op;

	over = false;
	direct_fd = fd;
	for (at = 0; at < model.sectors; at += n) {
		n = least(IO_MAX, model.sectors - at);
		op = (struct operation){ .action = READ,
					 .first = at,
					 .count = n,
					 .start = model_now(&model) };
		read_exactly(fd, s, n * SECTOR, at * SECTOR);
		op.end = model_now(&model);
		for (i = 0; i < n; i++) {
			id = sector_id(&s[i], at + i, device_seed);
			if (id && model_settle(&model, at + i, id))
				continue;
			bad++;
			wrong(&op, at + i, &s[i], 1, at + i);
		}
	}
	printf("%llu sectors of %s read, %llu of them wrong\n",
	       (unsigned long long)model.sectors, path,
	       (unsigned long long)bad);
	free(s);
	close(fd);
	return bad != 0;
}

static void regions(uint64_t sectors)
{
	uint64_t i;

	cached.count = sectors * o.buffered / 100 & ~(CHUNK - 1ULL);
	direct.count = (sectors - cached.count) & ~(CHUNK - 1ULL);
	cached.first = direct.count;
	chunk = calloc(cached.count / CHUNK + 1, sizeof(*chunk));
	for (i = 0; i < cached.count / CHUNK; i++)
		pthread_rwlock_init(&chunk[i], NULL);
}

static int run(const char *saved)
{
	int bad;

	/*
	 * The threads use all processors; lower their priority so that the rest of the test
	 * progresses.
	 */
	if (nice(15) < 0)
		perror("nice");
	direct_fd = device_open(o.path, O_RDWR | O_DIRECT);
	cached_fd = device_open(o.path, O_RDWR);
	zero_fd = device_open(o.zero_path ? o.zero_path : o.path, O_RDWR);
	load(saved, direct_fd);
	regions(model.sectors);
	run_threads();
	if (fsync(cached_fd) ||
	    posix_fadvise(cached_fd, 0, 0, POSIX_FADV_DONTNEED)) {
		perror("fsync");
		failures++;
	}
	close(cached_fd);
	close(zero_fd);
	close(direct_fd);
	bad = read_all(o.path);
	if (!bad && !failures)
		save(saved);
	printf("%s: %u failures\n", o.path, failures);
	return bad || failures;
}

static int init(const char *saved)
{
	int fd = device_open(o.path, O_WRONLY | O_DIRECT);
	uint64_t sectors = device_sectors(fd), at, n, i,
		 id = 1 << ID_THREAD_BITS;
	struct stress_sector *s = room();

	model_init(&model, sectors);
	device_seed = o.seed;
	next_id = 2;
	for (at = 0; at < sectors; at += n) {
		n = least(IO_MAX, sectors - at);
		for (i = 0; i < n; i++) {
			sector_make(&s[i], at + i, id, device_seed);
			model_set(&model, at + i, id);
		}
		write_exactly(fd, s, n * SECTOR, at * SECTOR);
	}
	save(saved);
	return close(fd);
}

static int verify(const char *saved)
{
	int fd = device_open(o.path, O_RDONLY);

	load(saved, fd);
	close(fd);
	return read_all(o.path);
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "s:t:S:b:dz:f:")) != -1)
		switch (c) {
		case 's':
			o.seconds = strtoul(optarg, NULL, 0);
			break;
		case 't':
			o.threads = strtoul(optarg, NULL, 0);
			break;
		case 'S':
			o.seed = strtoull(optarg, NULL, 0);
			break;
		case 'b':
			o.buffered = strtoul(optarg, NULL, 0);
			break;
		case 'd':
			o.discards = true;
			break;
		case 'z':
			o.zero_path = optarg;
			break;
		case 'f':
			o.stop_file = optarg;
			break;
		default:
			exit(2);
		}
	if (!o.threads || o.threads > MODEL_THREADS || o.buffered > 90)
		exit(2);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	o.path = argv[2];
	parse(argc - 3, argv + 3);
	if (!strcmp(argv[1], "init"))
		return init(argv[3]);
	if (!strcmp(argv[1], "run"))
		return run(argv[3]);
	if (!strcmp(argv[1], "verify"))
		return verify(argv[3]);
	return 2;
}
