// SPDX-License-Identifier: GPL-2.0-only
/*
 * A data loader with the shape of MLPerf Storage's training workloads, one epoch per call.
 *
 *	train DEV WORKLOAD ACCELERATOR [options]	read an epoch
 * WORKLOAD is unet3d, resnet50 or cosmoflow, ACCELERATOR a100 or h100. Options:
 *	-k SCALE	divide all sizes and rates by SCALE (1), except the size of a read: one read
 *			represents SCALE reads
 *	-n FILES	files of the dataset (168)
 *	-e EPOCH	number of the epoch (1)
 *	-o		the same order in each epoch; default: a new random order
 *	-p PART/PARTS	read only the files of one of several nodes: of the order, every PARTS-th file
 *			from PART on (0/1)
 *	-B		buffered reads, and drop each file from the page cache; default: direct I/O
 *	-l		only print "OFFSET LENGTH" of each file in bytes, in the order of the epoch
 *	-i		only print "BYTES DEMAND": size of the dataset, bytes per second of training
 *
 * Files are contiguous on the device. Each reader thread takes the next file and reads it in
 * pieces; from a zip archive (npz) it first reads the directory at the end, then the head. Samples
 * form batches; at most two batches wait. A step takes a batch and sleeps for the accelerator's
 * computing time. An incomplete last batch is dropped.
 *
 * Prints "AU STALLS P99 SECONDS": fraction of the time spent computing, number of steps that waited
 * for more than a hundredth of a step, 99th percentile of the waits for a batch in nanoseconds, and
 * duration. All exclude the first step, which waits for the loader to start.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "../demo/pipeline.h"
#include "orders.h"

#define PIECE		(256U << 10)
#define SMALL		4096U
#define READERS_MAX	16
#define STEPS_MAX	65536
#define AHEAD		2
#define FILES_MAX	65536

/**
 * struct workload - parameters from the rules of MLPerf Storage
 * @name: name of the model
 * @record: mean bytes of a sample
 * @deviation: standard deviation of @record
 * @samples: samples in a file
 * @batch: samples in a batch
 * @readers: reader threads
 * @step: seconds to compute a batch on an A100, on an H100
 * @zip: files are zip archives: a reader first reads the directory at the end
 */
static const struct workload {
	const char *name;
	double record, deviation;
	unsigned int samples, batch, readers;
	double step[2];
	bool zip;
} workloads[] = {
	{ "unet3d", 146600628, 68341808, 1, 7, 4, { 0.636, 0.323 }, true },
	{ "resnet50", 114660, 0, 1251, 400, 8, { 0.435, 0.224 }, false },
	{ "cosmoflow", 2828486, 71311, 1, 1, 4, { 0.00551, 0.00350 }, false },
};

static const struct workload *w;
static double scale = 1, step;
static uint32_t files = 168, epoch = 1, part, parts = 1;
static bool same_order, buffered;
static const char *path;

/* Start of each file in bytes; start[files]: end of the last file. */
static uint64_t start[FILES_MAX + 1];
/* The files that this node reads, in this order. */
static uint32_t order[FILES_MAX], order_files;
static struct pipeline batches;
static atomic_uint next_file;

static void __attribute__((format(printf, 1, 2), noreturn)) die(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "train: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	fflush(stderr);
	_exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* Sample of the standard normal distribution, approximated by twelve uniform samples. */
static double normal(uint64_t seed)
{
	double sum = -6;
	int i;

	for (i = 0; i < 12; i++)
		sum += (double)mixed(seed, i) / UINT64_MAX;
	return sum;
}

/* Lay out the files and shuffle their order. Each file is a multiple of PIECE, so that all reads
 * have one size. The random lengths are scaled so that their mean is exactly w->record; the mean of
 * a few random samples would differ.
 */
static void lay_out(void)
{
	double mean = 0;
	uint32_t i;

	for (i = 0; i < files; i++)
		mean += (w->record + w->deviation * normal(i + 1)) / files;
	for (i = 0; i < files; i++) {
		double part = (w->record + w->deviation * normal(i + 1)) / mean;
		double bytes = w->record * w->samples / scale * part;
		uint64_t pieces = bytes > PIECE ? llround(bytes / PIECE) : 1;

		start[i + 1] = start[i] + pieces * PIECE;
		order[i] = i;
	}
	shuffle(order, files, same_order ? 1 : 1 + epoch);
	for (i = part; i < files; i += parts)
		order[order_files++] = order[i];
}

static uint64_t steps_of_epoch(void)
{
	return (uint64_t)order_files * w->samples / w->batch;
}

static void read_piece(int fd, void *buffer, uint64_t offset, uint32_t bytes)
{
	ssize_t got = pread(fd, buffer, bytes, offset);

	if (got != bytes)
		die("%u bytes at %llu of %s: %s", bytes, (unsigned long long)offset, path,
		    got < 0 ? strerror(errno) : "short");
}

static void read_file(int fd, void *buffer, uint32_t file)
{
	uint64_t at = start[file], end = start[file + 1], bytes = end - at;
	uint64_t told = 0, samples;

	if (w->zip) {
		read_piece(fd, buffer, end - SMALL, SMALL);
		read_piece(fd, buffer, at, SMALL);
	}
	for (; at < end; at += PIECE) {
		read_piece(fd, buffer, at, PIECE);
		samples = w->samples * (at + PIECE - start[file]) / bytes;
		if (samples > told)
			pipeline_add(&batches, samples - told);
		told = samples;
	}
	if (buffered)
		posix_fadvise(fd, start[file], bytes, POSIX_FADV_DONTNEED);
}

static void *reader_run(void *unused)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | (buffered ? 0 : O_DIRECT));
	void *buffer;
	uint32_t i;

	(void)unused;
	if (fd < 0)
		die("cannot open %s: %s", path, strerror(errno));
	if (posix_memalign(&buffer, SMALL, PIECE))
		die("no memory");
	while ((i = atomic_fetch_add(&next_file, 1)) < order_files)
		read_file(fd, buffer, order[i]);
	pipeline_reader_done(&batches);
	close(fd);
	free(buffer);
	return NULL;
}

static void compute(void)
{
	struct timespec t = { .tv_sec = step, .tv_nsec = fmod(step, 1) * 1e9 };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
		;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Print the result of all steps after the first. */
static void report(uint64_t *waits, uint64_t count, uint64_t ns)
{
	uint64_t stalls = 0, i;

	for (i = 0; i < count; i++)
		stalls += waits[i] > step * 1e9 / 100;
	qsort(waits, count, sizeof(*waits), by_value);
	printf("%.4f %llu %llu %.4f\n", count * step * 1e9 / ns, (unsigned long long)stalls,
	       (unsigned long long)waits[(count * 99 + 99) / 100 - 1], ns / 1e9);
}

static void train(void)
{
	static uint64_t waits[STEPS_MAX];
	uint64_t steps = steps_of_epoch(), begun = 0, ended = 0, i;

	for (i = 0; i < steps; i++) {
		uint64_t before = now();

		if (!pipeline_take(&batches))
			die("no batch %llu", (unsigned long long)i);
		waits[i] = now() - before;
		compute();
		ended = now();
		if (!i)
			begun = ended;
	}
	/* Drop the incomplete last batch; the readers end only when the queue is drained. */
	while (pipeline_take(&batches))
		;
	report(waits + 1, steps - 1, ended - begun);
}

static void run(void)
{
	pthread_t readers[READERS_MAX];
	unsigned int i;

	if (steps_of_epoch() < 2 || steps_of_epoch() > STEPS_MAX)
		die("%llu steps, need 2 to %u", (unsigned long long)steps_of_epoch(),
		    STEPS_MAX);
	/* Least timer slack (1 ns), so that the sleeps of compute() end on time. */
	prctl(PR_SET_TIMERSLACK, 1);
	pipeline_init(&batches, w->batch, AHEAD, w->readers);
	for (i = 0; i < w->readers; i++)
		if (pthread_create(&readers[i], NULL, reader_run, NULL))
			die("cannot start a reader");
	train();
	for (i = 0; i < w->readers; i++)
		pthread_join(readers[i], NULL);
}

static void print_list(void)
{
	uint32_t i;

	for (i = 0; i < order_files; i++)
		printf("%llu %llu\n", (unsigned long long)start[order[i]],
		       (unsigned long long)(start[order[i] + 1] - start[order[i]]));
}

static void choose(const char *name, const char *accelerator)
{
	size_t i;

	for (i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++)
		if (!strcmp(workloads[i].name, name))
			w = &workloads[i];
	if (!w || (strcmp(accelerator, "a100") && strcmp(accelerator, "h100")))
		die("unknown workload '%s' with '%s'", name, accelerator);
	step = w->step[!strcmp(accelerator, "h100")];
}

int main(int argc, char **argv)
{
	bool list = false, info = false;
	int option;

	while ((option = getopt(argc, argv, "k:n:e:op:Bli")) != -1) {
		switch (option) {
		case 'k':
			scale = strtod(optarg, NULL);
			break;
		case 'n':
			files = strtoul(optarg, NULL, 10);
			break;
		case 'e':
			epoch = strtoul(optarg, NULL, 10);
			break;
		case 'o':
			same_order = true;
			break;
		case 'p':
			if (sscanf(optarg, "%u/%u", &part, &parts) != 2 || part >= parts)
				die("-p %s: PART/PARTS expected", optarg);
			break;
		case 'B':
			buffered = true;
			break;
		case 'l':
			list = true;
			break;
		case 'i':
			info = true;
			break;
		default:
			die("see train.c");
		}
	}
	if (argc - optind != 3 || scale < 1 || !files || files > FILES_MAX)
		die("DEV WORKLOAD ACCELERATOR [options]: see train.c");
	path = argv[optind];
	choose(argv[optind + 1], argv[optind + 2]);
	lay_out();
	if (list)
		print_list();
	else if (info)
		printf("%llu %.0f\n", (unsigned long long)start[files],
		       start[files] / ((double)files * w->samples / w->batch * step));
	else
		run();
	return 0;
}
