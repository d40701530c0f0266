// SPDX-License-Identifier: GPL-2.0-only
/*
 * Crashes that a log allows: what is durable at some point of it, any part of what was
 * written since the last flush, and any part of what is being written, torn at sectors of
 * 512 bytes.  From each such cache device the kernel must serve nothing stale, torn or
 * another block's; and it must be warm.
 *
 *	crash BASE LOG ORIGIN_SECTORS STATES SEED
 *
 * The log has the order in which writes became durable, not that in which they were sent:
 * a write that was under way while a flush was is seen one flush later than it may have
 * reached the medium.
 *
 * BASE is the logged device as it was when the log began: first the origin, then the cache
 * device.  Marks in the log: "told,GENERATION,FIRST,SECTORS": from here on no older
 * generation of these sectors of the origin may come back.
 * The last line is one JSON object.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../selftests/nearcache/sector.h"
#include "log.h"
#include "recovered.h"

#define PENDING_MAX	65536U
#define FAILURES_TOLD	5U

/* The device as it is durable, and what a state changed in it, to take it back. */
static unsigned char *image;
static size_t image_bytes;
static struct undo {
	uint64_t sector;
	unsigned char data[SECTOR];
} *undo;
static size_t undo_count, undo_room;

static uint64_t origin_sectors, random_state;
static uint64_t *oldest;

static const struct log_entry *pending[PENDING_MAX];
static size_t pending_count, marks;
/* All that is cached is being declared invalid: nothing has to be warm. */
static bool telling;

static struct {
	uint64_t states, stale, torn, lost, cold, damaged, unsound, bytes, older, failures;
	double ratio;
} sum = { .ratio = 1 };

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static uint64_t oldest_of(uint64_t sector)
{
	return oldest[sector];
}

static bool chance(unsigned int percent)
{
	return random_next(&random_state) % 100 < percent;
}

static void put_sector(uint64_t sector, const unsigned char *data, bool durable)
{
	unsigned char *at = image + sector * SECTOR;

	if (!durable) {
		if (undo_count == undo_room) {
			undo_room = undo_room * 2 + 1024;
			undo = must(realloc(undo, undo_room * sizeof(*undo)));
		}
		undo[undo_count].sector = sector;
		memcpy(undo[undo_count++].data, at, SECTOR);
	}
	memcpy(at, data, SECTOR);
}

/* @percent of its sectors. */
static void put(const struct log_entry *e, unsigned int percent, bool durable)
{
	uint64_t i;

	if (!e->data)
		return;
	if ((e->sector + e->sectors) * SECTOR > image_bytes) {
		fprintf(stderr, "a write behind the end of the device\n");
		exit(2);
	}
	for (i = 0; i < e->sectors; i++)
		if (percent == 100 || chance(percent))
			put_sector(e->sector + i, e->data + i * SECTOR, durable);
}

static void take_back(void)
{
	while (undo_count) {
		undo_count--;
		memcpy(image + undo[undo_count].sector * SECTOR, undo[undo_count].data, SECTOR);
	}
}

static uint64_t judge(size_t position, const char *what)
{
	struct recovered r;

	recover(image + origin_sectors * SECTOR, image_bytes - origin_sectors * SECTOR,
		oldest_of, &r);
	sum.states++;
	sum.stale += r.stale;
	sum.torn += r.torn;
	sum.lost += r.lost;
	sum.cold += r.cold;
	sum.damaged += r.damaged;
	sum.unsound += r.unsound;
	sum.bytes += r.bytes;
	sum.older += r.older;
	if ((r.stale || r.torn || r.lost || r.cold || r.damaged || r.unsound) &&
	    sum.failures++ < FAILURES_TOLD)
		printf("before entry %zu, %s: %" PRIu64 " sectors stale, %" PRIu64
		       " torn or another's, %" PRIu64 " devices refused, %" PRIu64
		       " cold, %" PRIu64 " pages lost, %" PRIu64 " checksums wrong\n",
		       position, what, r.stale, r.torn, r.lost, r.cold, r.damaged, r.unsound);
	return r.bytes;
}

/* What is there at least, and at most: a commit takes away what was evicted, no more. */
static void corners(size_t position)
{
	uint64_t none = judge(position, "nothing of what is not flushed"), all;
	size_t i;

	for (i = 0; i < pending_count; i++)
		put(pending[i], 100, false);
	all = judge(position, "all of what is not flushed");
	take_back();
	if (none && !telling && (double)all / none < sum.ratio)
		sum.ratio = (double)all / none;
}

/* Some of what is not flushed, some of what is under way; part of it torn. */
static void some(size_t position, const struct log_entry *under_way)
{
	unsigned int present = random_next(&random_state) % 101;
	unsigned int torn = chance(50) ? 30 : 0;
	size_t i;

	for (i = 0; i < pending_count; i++)
		if (chance(present))
			put(pending[i], chance(torn) ? 50 : 100, false);
	if (under_way && chance(70))
		put(under_way, random_next(&random_state) % 101, false);
	judge(position, "some of what is not flushed");
	take_back();
}

static void mark(const char *text)
{
	uint64_t generation, first, count;

	telling = !strcmp(text, "telling");
	if (sscanf(text, "told,%" SCNu64 ",%" SCNu64 ",%" SCNu64, &generation, &first,
		   &count) != 3)
		return;
	if (count > origin_sectors || first > origin_sectors - count) {
		fprintf(stderr, "mark '%s' is beyond the origin\n", text);
		exit(2);
	}
	while (count--)
		oldest[first++] = generation;
	marks++;
}

static void flushed(void)
{
	size_t i;

	for (i = 0; i < pending_count; i++)
		put(pending[i], 100, true);
	pending_count = 0;
}

/* Entry @e happened. */
static void pass(const struct log_entry *e)
{
	if (e->mark)
		mark(e->mark);
	if (e->flush)
		flushed();
	if (e->data && e->fua)
		put(e, 100, true);
	else if (e->data)
		pending[pending_count++] = e;
	if (pending_count == PENDING_MAX) {
		fprintf(stderr, "more than %u writes without a flush\n", PENDING_MAX);
		exit(2);
	}
}

/* Does this entry, or what is pending, touch metadata? There the crashes are that matter. */
static unsigned int weight(const struct log_entry *e)
{
	uint64_t first = origin_sectors, last = origin_sectors + recover_data_sectors();
	size_t i;

	if (e->data && e->sector >= first && e->sector < last)
		return 16;
	for (i = 0; i < pending_count; i++)
		if (pending[i]->sector >= first && pending[i]->sector < last)
			return 16;
	return 1;
}

/* Twice: to see how many states each place gets, and to try them. */
static void run(const struct log *log, uint64_t states)
{
	uint64_t total = 0, so_far = 0, done = 0;
	unsigned int w;
	size_t i;

	for (i = 0; i < log->count; i++) {
		total += weight(&log->entry[i]);
		if (log->entry[i].flush)
			pending_count = 0;
		else if (log->entry[i].data && !log->entry[i].fua &&
			 pending_count < PENDING_MAX)
			pending[pending_count++] = &log->entry[i];
	}
	pending_count = 0;
	for (i = 0; i < log->count; i++) {
		const struct log_entry *e = &log->entry[i];

		w = weight(e);
		so_far += w;
		if (e->flush && pending_count && w > 1)
			corners(i);
		/* As many as are due until here. */
		for (; done * total < states * so_far; done++)
			some(i, e);
		pass(e);
	}
	corners(i);
}

/* A log that ended early, or a search that found nothing to look at, proves nothing. */
static bool worth_something(const struct log *log)
{
	if (!log->count || !log->entry[log->count - 1].mark ||
	    strcmp(log->entry[log->count - 1].mark, "dm-log-writes-end"))
		printf("the log does not end with its end\n");
	else if (!marks)
		printf("no mark in the log\n");
	else if (!sum.bytes)
		printf("no state had anything cached\n");
	else if (!sum.older)
		printf("no state had a torn page whose older copy counts\n");
	else
		return true;
	return false;
}

static void load_base(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st)) {
		perror(path);
		exit(2);
	}
	image_bytes = st.st_size;
	image = mmap(NULL, image_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	if (image == MAP_FAILED || image_bytes <= origin_sectors * SECTOR) {
		fprintf(stderr, "%s: cannot be read, or is shorter than the origin\n", path);
		exit(2);
	}
	oldest = must(calloc(origin_sectors, sizeof(*oldest)));
}

int main(int argc, char **argv)
{
	struct log log;
	bool worth;

	if (argc != 6) {
		fprintf(stderr, "usage: crash BASE LOG ORIGIN_SECTORS STATES SEED\n");
		return 2;
	}
	origin_sectors = strtoull(argv[3], NULL, 10);
	random_state = strtoull(argv[5], NULL, 10);
	load_base(argv[1]);
	if (log_open(&log, argv[2]))
		return 2;
	recover_geometry(image + origin_sectors * SECTOR, image_bytes - origin_sectors * SECTOR);
	run(&log, strtoull(argv[4], NULL, 10));
	worth = worth_something(&log);
	printf("{\"crash_states\": %" PRIu64 ", \"stale\": %" PRIu64 ", \"torn\": %" PRIu64
	       ", \"lost\": %" PRIu64 ", \"cold\": %" PRIu64 ", \"damaged_pages\": %" PRIu64
	       ", \"wrong_checksums\": %" PRIu64
	       ", \"older_copies\": %" PRIu64 ", \"told\": %zu"
	       ", \"warm_ratio_min\": %.3f, \"entries\": %zu}\n",
	       sum.states, sum.stale, sum.torn, sum.lost, sum.cold, sum.damaged,
	       sum.unsound, sum.older, marks, sum.ratio, log.count);
	log_close(&log);
	return sum.failures || !worth;
}
