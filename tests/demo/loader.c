// SPDX-License-Identifier: GPL-2.0-only
/*
 * A data loader as in training; each call reads one epoch.
 *
 * Readers take shards in an order that seed and epoch determine, read each shard sequentially with
 * O_DIRECT (so the page cache has no effect), parse the tar structure and check every byte against
 * the manifest.  Their samples form batches in a short queue.  The trainer takes a batch per step
 * and pauses for the time that a GPU would compute.  The stall is the time it waits for batches.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "manifest.h"
#include "pipeline.h"
#include "tar.h"

#define READERS_MAX	64
#define DIRECT_ALIGN	4096
#define TICK_NS		200000000L
#define BAR		24

static struct {
	const char *manifest;
	const char *dir;
	const char *label;
	const char *result;
	const char *timeline;
	uint64_t epoch;
	uint64_t seed;
	uint64_t readers;
	uint64_t batch;
	uint64_t depth;
	uint64_t pause_us;
	uint64_t read_size;
	int sha256;
	int progress;
} opt = {
	.label = "epoch",
	.epoch = 1,
	.readers = 4,
	.batch = 64,
	.depth = 2,
	.read_size = 256 << 10,
};

static struct manifest manifest;
static struct pipeline pipe_;
static size_t *order;

/* Progress: readers and trainer write these, the monitor reads them. */
static atomic_size_t next_shard;
static atomic_ullong bytes_read;
static atomic_ullong stall_ns;
static atomic_ullong steps;

/* @ended (protected by @end_lock): the epoch has ended.  @end_cond wakes the monitor. */
static pthread_mutex_t end_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t end_cond;
static int ended;

static void __attribute__((format(printf, 1, 2), noreturn))
die(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%sloader: ", opt.progress ? "\n" : "");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	/* _exit(): exit() would wait for stdio locks that other threads may hold. */
	fflush(stderr);
	_exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* splitmix64: even similar seeds give unrelated sequences. */
static uint64_t random_next(uint64_t *state)
{
	uint64_t value = *state += 0x9e3779b97f4a7c15ULL;

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ULL;
	value = (value ^ value >> 27) * 0x94d049bb133111ebULL;
	return value ^ value >> 31;
}

/* Draw the order of the shards (Fisher-Yates); it depends only on seed and epoch. */
static void shuffle(void)
{
	uint64_t state = opt.seed << 20 ^ opt.epoch;
	size_t i, j, swap;

	order = calloc(manifest.count, sizeof(*order));
	if (!order)
		die("no memory for %zu shards", manifest.count);
	for (i = 0; i < manifest.count; i++)
		order[i] = i;
	for (i = manifest.count - 1; i > 0; i--) {
		j = random_next(&state) % (i + 1);
		swap = order[i];
		order[i] = order[j];
		order[j] = swap;
	}
}

struct reader {
	pthread_t thread;
	uint64_t *buffer;
	EVP_MD_CTX *sha;
};

struct checks {
	struct tar_check tar;
	struct sum64 sum;
	uint64_t bytes;
};

static void chunk_check(struct reader *reader, const struct shard *shard,
			struct checks *checks, size_t length)
{
	uint64_t before = checks->tar.samples;

	if (length % TAR_BLOCK)
		die("%s: cut at byte %llu", shard->name,
		    (unsigned long long)checks->bytes + length);
	if (tar_check_feed(&checks->tar, reader->buffer, length))
		die("%s: %s", shard->name, checks->tar.error);
	sum64_add(&checks->sum, reader->buffer, length);
	if (opt.sha256)
		EVP_DigestUpdate(reader->sha, reader->buffer, length);
	checks->bytes += length;
	atomic_fetch_add(&bytes_read, length);
	pipeline_add(&pipe_, checks->tar.samples - before);
}

static void shard_check(struct reader *reader, const struct shard *shard,
			struct checks *checks)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	uint64_t before = checks->tar.samples;
	char hex[SHA256_HEX + 1];

	if (tar_check_end(&checks->tar))
		die("%s: %s", shard->name, checks->tar.error);
	pipeline_add(&pipe_, checks->tar.samples - before);
	if (checks->bytes != shard->bytes ||
	    checks->tar.samples != shard->samples)
		die("%s: %llu bytes and %llu samples, the manifest says %llu and %llu",
		    shard->name, (unsigned long long)checks->bytes,
		    (unsigned long long)checks->tar.samples,
		    (unsigned long long)shard->bytes,
		    (unsigned long long)shard->samples);
	if (sum64_value(&checks->sum) != shard->sum)
		die("%s: WRONG DATA: its checksum differs from the manifest's",
		    shard->name);
	if (!opt.sha256)
		return;
	EVP_DigestFinal_ex(reader->sha, digest, NULL);
	sha256_hex(digest, hex);
	if (strcmp(hex, shard->sha256))
		die("%s: WRONG DATA: SHA-256 %s, the manifest says %s",
		    shard->name, hex, shard->sha256);
}

static void shard_read(struct reader *reader, const struct shard *shard)
{
	struct checks checks = {};
	char path[4096];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", opt.dir, shard->name);
	fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		die("cannot open %s: %s", path, strerror(errno));
	tar_check_start(&checks.tar);
	if (opt.sha256 &&
	    !EVP_DigestInit_ex(reader->sha, EVP_sha256(), NULL))
		die("no SHA-256 in libcrypto");
	while ((got = read(fd, reader->buffer, opt.read_size)) > 0)
		chunk_check(reader, shard, &checks, got);
	if (got < 0)
		die("cannot read %s at %llu: %s", path,
		    (unsigned long long)checks.bytes, strerror(errno));
	close(fd);
	shard_check(reader, shard, &checks);
}

static void *reader_run(void *data)
{
	struct reader *reader = data;
	size_t i;

	while ((i = atomic_fetch_add(&next_shard, 1)) < manifest.count)
		shard_read(reader, &manifest.shards[order[i]]);
	pipeline_reader_done(&pipe_);
	return NULL;
}

/* Sleep for the time that a GPU would compute a batch. */
static void compute(void)
{
	struct timespec pause = {
		.tv_sec = opt.pause_us / 1000000,
		.tv_nsec = opt.pause_us % 1000000 * 1000,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, &pause) == EINTR)
		;
}

static void *trainer_run(void *data)
{
	uint64_t start = now_ns();

	(void)data;
	while (pipeline_take(&pipe_)) {
		atomic_fetch_add(&stall_ns, now_ns() - start);
		atomic_fetch_add(&steps, 1);
		if (opt.pause_us)
			compute();
		start = now_ns();
	}
	pthread_mutex_lock(&end_lock);
	ended = 1;
	pthread_cond_signal(&end_cond);
	pthread_mutex_unlock(&end_lock);
	return NULL;
}

static void progress_line(uint64_t start, uint64_t now, double rate)
{
	double done = (double)atomic_load(&bytes_read) / manifest.bytes;
	int filled = done * BAR;
	char bar[BAR + 1];

	memset(bar, '.', BAR);
	memset(bar, '#', filled < BAR ? filled : BAR);
	bar[BAR] = '\0';
	printf("\r  %-13s epoch %llu [%s] %3.0f %%  %6.1f MB/s  waiting for data %2.0f %% ",
	       opt.label, (unsigned long long)opt.epoch, bar, done * 100,
	       rate / 1e6, 100.0 * atomic_load(&stall_ns) / (now - start));
	fflush(stdout);
}

/* Wait for the next tick or the end of the epoch; returns whether the epoch has ended. */
static int await_tick(struct timespec *tick)
{
	int over;

	tick->tv_nsec += TICK_NS;
	if (tick->tv_nsec >= 1000000000L) {
		tick->tv_nsec -= 1000000000L;
		tick->tv_sec++;
	}
	pthread_mutex_lock(&end_lock);
	while (!ended &&
	       pthread_cond_timedwait(&end_cond, &end_lock, tick) != ETIMEDOUT)
		;
	over = ended;
	pthread_mutex_unlock(&end_lock);
	return over;
}

/* Write timeline lines LABEL EPOCH NANOSECONDS BYTES: time and bytes since the epoch's start. */
static void monitor(uint64_t start)
{
	FILE *file = opt.timeline ? fopen(opt.timeline, "a") : NULL;
	uint64_t before = 0, last = start, bytes, now;
	struct timespec tick;
	int over;

	if (opt.timeline && !file)
		die("cannot write %s: %s", opt.timeline, strerror(errno));
	clock_gettime(CLOCK_MONOTONIC, &tick);
	do {
		over = await_tick(&tick);
		now = now_ns();
		bytes = atomic_load(&bytes_read);
		if (file)
			fprintf(file, "%s %llu %llu %llu\n", opt.label,
				(unsigned long long)opt.epoch,
				(unsigned long long)(now - start),
				(unsigned long long)bytes);
		if (opt.progress && now > last)
			progress_line(start, now,
				      (bytes - before) * 1e9 / (now - last));
		before = bytes;
		last = now;
	} while (!over);
	if (opt.progress)
		printf("\r\033[K");
	if (file)
		fclose(file);
}

static void reader_start(struct reader *reader)
{
	reader->sha = EVP_MD_CTX_new();
	if (!reader->sha ||
	    posix_memalign((void **)&reader->buffer, DIRECT_ALIGN,
			   opt.read_size))
		die("no memory for a reader");
	if (pthread_create(&reader->thread, NULL, reader_run, reader))
		die("cannot start a reader");
}

/* Write the result line: EPOCH SECONDS BYTES STALL_SECONDS STEPS SAMPLES. */
static void result_write(uint64_t ns)
{
	FILE *file = opt.result ? fopen(opt.result, "w") : stdout;

	if (!file)
		die("cannot write %s: %s", opt.result, strerror(errno));
	fprintf(file, "%llu %.6f %llu %.6f %llu %llu\n",
		(unsigned long long)opt.epoch, ns / 1e9,
		(unsigned long long)atomic_load(&bytes_read),
		atomic_load(&stall_ns) / 1e9,
		(unsigned long long)atomic_load(&steps),
		(unsigned long long)manifest.samples);
	if (opt.result ? fclose(file) : fflush(file))
		die("cannot write the result");
}

static void epoch_run(void)
{
	static struct reader readers[READERS_MAX];
	pthread_condattr_t monotonic;
	pthread_t trainer;
	uint64_t start, i;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&end_cond, &monotonic);
	pipeline_init(&pipe_, opt.batch, opt.depth, opt.readers);
	start = now_ns();
	for (i = 0; i < opt.readers; i++)
		reader_start(&readers[i]);
	if (pthread_create(&trainer, NULL, trainer_run, NULL))
		die("cannot start the trainer");
	monitor(start);
	pthread_join(trainer, NULL);
	for (i = 0; i < opt.readers; i++)
		pthread_join(readers[i].thread, NULL);
	result_write(now_ns() - start);
}

enum option_kind { FLAG, TEXT, NUMBER };

static const struct {
	const char *name;
	enum option_kind kind;
	void *value;
	uint64_t min;
	uint64_t max;
} options[] = {
	{ .name = "manifest", .kind = TEXT, .value = &opt.manifest },
	{ .name = "dir", .kind = TEXT, .value = &opt.dir },
	{ .name = "label", .kind = TEXT, .value = &opt.label },
	{ .name = "result", .kind = TEXT, .value = &opt.result },
	{ .name = "timeline", .kind = TEXT, .value = &opt.timeline },
	{ "epoch", NUMBER, &opt.epoch, 0, 1000000 },
	{ "seed", NUMBER, &opt.seed, 0, UINT32_MAX },
	{ "readers", NUMBER, &opt.readers, 1, READERS_MAX },
	{ "batch", NUMBER, &opt.batch, 1, UINT32_MAX },
	{ "depth", NUMBER, &opt.depth, 1, 1000000 },
	{ "pause-us", NUMBER, &opt.pause_us, 0, 3600000000ULL },
	{ "read-size", NUMBER, &opt.read_size, DIRECT_ALIGN, 1 << 30 },
	{ .name = "sha256", .kind = FLAG, .value = &opt.sha256 },
	{ .name = "progress", .kind = FLAG, .value = &opt.progress },
};

#define OPTIONS	(sizeof(options) / sizeof(options[0]))

static void option_set(size_t i, const char *text)
{
	uint64_t value;
	char *end;

	switch (options[i].kind) {
	case FLAG:
		*(int *)options[i].value = 1;
		return;
	case TEXT:
		*(const char **)options[i].value = text;
		return;
	case NUMBER:
		break;
	}
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || end == text || value < options[i].min ||
	    value > options[i].max)
		die("--%s '%s' is not a number from %llu to %llu",
		    options[i].name, text,
		    (unsigned long long)options[i].min,
		    (unsigned long long)options[i].max);
	*(uint64_t *)options[i].value = value;
}

static void options_parse(int argc, char **argv)
{
	struct option table[OPTIONS + 1] = {};
	int index, got;
	size_t i;

	for (i = 0; i < OPTIONS; i++) {
		table[i].name = options[i].name;
		table[i].has_arg = options[i].kind == FLAG ? no_argument :
							     required_argument;
	}
	while ((got = getopt_long(argc, argv, "", table, &index)) == 0)
		option_set(index, optarg);
	if (got != -1 || optind < argc)
		die("bad argument: see options[] in loader.c");
	if (!opt.manifest || !opt.dir)
		die("--manifest FILE and --dir DIRECTORY are needed");
	if (opt.read_size % DIRECT_ALIGN)
		die("--read-size %llu is no multiple of %u",
		    (unsigned long long)opt.read_size, DIRECT_ALIGN);
}

int main(int argc, char **argv)
{
	options_parse(argc, argv);
	manifest_read(&manifest, opt.manifest);
	shuffle();
	epoch_run();
	return 0;
}
