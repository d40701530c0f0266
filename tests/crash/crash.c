// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replay a log of writes and build states that a crash can leave: all writes that are durable at
 * some entry of the log, plus any subset of the pending writes (sent, not durable), torn at 512
 * bytes.  recover() decides which data the kernel would serve from a state of origin and cache
 * device.  This must be data of the same state's origin, and the kernel must start warm, unless the
 * test also damaged a sector of metadata.
 *
 *	crash [-r] [-w] [-m DEVICES] [-s SAMPLES FILE] BASE LOG ORIGIN_SECTORS STATES SEED
 *
 * BASE is an image of the logged device from before the log: the origin, at most ORIGIN_SECTORS
 * long, then the cache device.  The log contains marks.  "changing,FIRST,SECTORS": another host
 * begins to change these sectors of the origin; cached copies may have the old content.
 * "told,GENERATION,FIRST,SECTORS": the change is complete, nearcache has invalidated the sectors,
 * and an older generation is stale from here on.  "telling": all cached data is being invalidated.
 *
 * -r: the log is of a recovery; BASE is the state after a crash, and the origin does not change.
 * -w: the log is of sessions in writing modes; only writers of the device change the origin, and
 *     the witness record follows the cache device in BASE.
 * -m: number of cache devices, all of one size, concatenated in BASE; in the log the origin is
 *     device 0 and the cache devices are 1, 2, ...  Each device loses its own unflushed writes.
 *     In some states one device has the content of an earlier moment, as after it was pulled and
 *     plugged in again: the kernel may reject it, but data that the kernel serves must be right.
 * -s: write SAMPLES states, concatenated, to FILE, and per state one line to FILE.list with five
 *     numbers: origin sectors, blocks and bytes that the kernel must find cached, slot-table pages
 *     whose older copy counts, and the device that the kernel must reject (0: none).
 * The last line of output is one JSON object.
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
#include "nearcache_format.h"
#include "recovered.h"

#define FAILURES_TOLD	5U
/* Percent of the random states that rot() also damages. */
#define ROTTEN		15U
/* With several devices: percentages of the states that use put_older() and keep_older(). */
#define AGED		15U
#define AGED_ANEW	10U
#define USAGE	"usage: crash [-r] [-w] [-m DEVICES] [-s SAMPLES FILE] BASE LOG ORIGIN_SECTORS STATES SEED\n"

/* Durable content of all devices, plus changes for the current state; take_back() undoes these. */
static unsigned char *image;
static size_t image_bytes;
static struct undo {
	uint64_t sector;
	unsigned char data[SECTOR];
} *undo;
static size_t undo_count, undo_room;

/* Per sector: number of the log entry that wrote its durable content. */
static uint32_t *writer;

static uint64_t origin_sectors, random_state;
static struct truth truth = { .devices = 1 };

/* Entries of the writes that were sent and are not durable yet; number of marks "told" so far. */
static size_t *pending, pending_count, marks;
/* @telling: last mark was "telling", so the cache may be cold; @recovery: -r; @writing: -w. */
static bool telling, recovery, writing;
/* Bytes of all cache devices in the image. */
static size_t cache_bytes;
/* Number of origin sectors that another host is changing. */
static uint64_t changing;
/* Of the current state: rot() damaged a sector; put_older() gave a device older content. */
static bool rotten, aged;

/* With several cache devices: @data is the content that @device had in an earlier state. */
static struct {
	unsigned char *data;
	unsigned int device;
	bool known;
} older;

/* Samples of states, of which @wanted / @criteria are wanted by each criterion, @due of them now. */
static struct {
	FILE *images, *list;
	uint64_t wanted, taken;
	uint64_t due, taken_by[3];
	unsigned int criteria;
} samples;

static struct {
	uint64_t states, stale, torn, lost, cold, damaged, unsound, bytes, older, failures;
	uint64_t doubt, marked, misprinted, marking, rotten, aged, differing;
	double ratio;
} sum = { .ratio = 1 };

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
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

/* Write @percent of the sectors of entry @n, except those with durable data of a later entry. */
static void put(const struct log *log, size_t n, unsigned int percent, bool durable)
{
	const struct log_entry *e = &log->entry[n];
	uint64_t i;

	if ((e->sector + e->sectors) * SECTOR > image_bytes) {
		fprintf(stderr, "a logged write is beyond the end of the device\n");
		exit(2);
	}
	for (i = 0; i < e->sectors; i++) {
		if (writer[e->sector + i] > n || (percent < 100 && !chance(percent)))
			continue;
		put_sector(e->sector + i, e->data + i * SECTOR, durable);
		if (durable)
			writer[e->sector + i] = n;
	}
}

static void take_back(void)
{
	while (undo_count) {
		undo_count--;
		memcpy(image + undo[undo_count].sector * SECTOR, undo[undo_count].data, SECTOR);
	}
}

/* Returns the criterion that wants the state as a sample, or samples.criteria if none does.  With one
 * device: (0) a slot-table page is torn, or two samples are overdue.  With several devices also: (1)
 * only some devices know of a commit that began; (2) the kernel must reject a device.  Each criterion
 * has its own share of the samples: a turn of a rare one would delay the others.
 */
static unsigned int wanted_by(const struct recovered *r)
{
	const bool meets[] = {
		!r->cold && (r->older || samples.due >= samples.taken_by[0] + 2),
		!r->cold && r->begun && r->blocks,
		r->differs,
	};
	uint64_t share = samples.wanted / samples.criteria;
	uint64_t due = samples.due < share ? samples.due : share;
	unsigned int i;

	for (i = samples.criteria; i-- > 0;)
		if (meets[i] && samples.taken_by[i] < due)
			return i;
	return samples.criteria;
}

static void sample(const struct recovered *r)
{
	unsigned int criterion;

	if (changing || rotten || r->lost)
		return;
	criterion = wanted_by(r);
	if (criterion == samples.criteria)
		return;
	samples.taken_by[criterion]++;
	samples.taken++;
	if (fwrite(image, image_bytes, 1, samples.images) != 1 ||
	    fprintf(samples.list, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		    r->origin_sectors, r->blocks, r->bytes, r->older, r->differs) < 0) {
		perror("sample");
		exit(2);
	}
}

/* Returns true if the kernel would lose cached data for no valid reason.  A cold start is valid if
 * 1. all cached data on several devices is being invalidated, so the devices' epochs may differ, or
 * 2. a device has older content and the kernel rejects it (device 1 if device 0 is older).
 */
static bool is_cold(const struct recovered *r)
{
	bool may_differ = (telling && truth.devices > 1) ||
			  (aged && r->differs == older.device + !older.device);

	return r->lost || (r->cold && !may_differ) || r->damaged || r->unsound || r->misprinted;
}

static void judge_warmth(const struct recovered *r)
{
	sum.lost += r->lost;
	sum.cold += r->cold;
	sum.damaged += r->damaged;
	sum.unsound += r->unsound;
	sum.older += r->older;
	sum.doubt += r->doubt;
	sum.marked += r->marked;
	sum.marking += !!r->marked;
	sum.misprinted += r->misprinted;
}

static uint64_t judge(size_t position, const char *what)
{
	struct recovered r;

	recover(image + origin_sectors * SECTOR, cache_bytes, &truth, &r);
	sum.states++;
	sum.stale += r.stale;
	sum.torn += r.torn;
	sum.bytes += r.bytes;
	if (rotten)
		sum.rotten += !!r.bytes;
	else if (!r.differs || is_cold(&r))
		judge_warmth(&r);
	sum.aged += aged && r.bytes;
	sum.differing += aged && r.differs;
	if ((r.stale || r.torn || (!rotten && is_cold(&r))) && sum.failures++ < FAILURES_TOLD)
		printf("before entry %zu, %s: %" PRIu64 " sectors stale, %" PRIu64
		       " torn or misplaced, %" PRIu64 " devices refused, %" PRIu64
		       " cold, %" PRIu64 " pages lost, %" PRIu64 " checksums wrong, %" PRIu64
		       " fingerprints wrong\n",
		       position, what, r.stale, r.torn, r.lost, r.cold, r.damaged, r.unsound,
		       r.misprinted);
	if (samples.wanted)
		sample(&r);
	return r.bytes;
}

/* Test the state in which only the pending writes of @device arrived; if not @alone: all others. */
static void one_device(const struct log *log, size_t position, unsigned int device, bool alone)
{
	char what[80];
	size_t i;

	for (i = 0; i < pending_count; i++)
		if ((log->entry[pending[i]].device == device) == alone)
			put(log, pending[i], 100, false);
	snprintf(what, sizeof(what), "%s those of device %u",
		 alone ? "no pending writes except" : "all pending writes except", device);
	judge(position, what);
	take_back();
}

/* Test two states: no pending write has arrived, and all have arrived.  With several devices, test
 * two more per device: only its pending writes have arrived, and only those of the other devices.
 * sum.ratio is the lowest quotient (bytes cached in the state with all pending writes) / (bytes
 * cached in the state with none): it shows how much a commit loses.
 */
static void corners(const struct log *log, size_t position)
{
	uint64_t none = judge(position, "no pending writes"), all;
	unsigned int device;
	size_t i;

	for (i = 0; i < pending_count; i++)
		put(log, pending[i], 100, false);
	all = judge(position, "all pending writes");
	take_back();
	if (none && !telling && !writing && (double)all / none < sum.ratio)
		sum.ratio = (double)all / none;
	for (device = 0; truth.devices > 1 && device <= truth.devices; device++) {
		one_device(log, position, device, false);
		one_device(log, position, device, true);
	}
}

/* Draw a kind of metadata (RECOVER_*) that this cache device has. */
static unsigned int draw_kind(void)
{
	unsigned int kind;
	uint64_t sector;

	do
		kind = random_next(&random_state) % RECOVER_PLACES;
	while (!recover_place(kind, 0, &sector));
	return kind;
}

/* Draw a metadata sector of kind @kind, or with @other of another kind; avoid all-zero sectors. */
static uint64_t place(unsigned int kind, bool other)
{
	static const unsigned char nothing[SECTOR];
	uint64_t sector = 0, tries;

	for (tries = 0; tries < 1000; tries++) {
		unsigned int its = other ? draw_kind() : kind;

		if (other && its == kind)
			continue;
		recover_place(its, random_next(&random_state), &sector);
		sector += origin_sectors;
		if (memcmp(image + sector * SECTOR, nothing, SECTOR))
			break;
	}
	return sector;
}

/* Damage a metadata sector as a failing drive does: flip a bit of the sector, or replace the sector
 * by zeros or by one of another kind of metadata.  (One of the same kind could pass all checks.)
 */
static void rot(void)
{
	unsigned int kind = draw_kind();
	bool witness = writing && chance(10);
	uint64_t at = witness ? origin_sectors + cache_bytes / SECTOR : place(kind, false);
	unsigned char data[SECTOR] = { };
	uint64_t named;

	/* In half of the cases damage a page of the last commit, whose other copy may be torn. */
	if (chance(50) && recover_named(image + origin_sectors * SECTOR,
					random_next(&random_state), &named)) {
		at = origin_sectors + named;
		kind = RECOVER_TABLE;
	}
	switch (random_next(&random_state) % 3) {
	case 0:
		memcpy(data, image + at * SECTOR, SECTOR);
		data[random_next(&random_state) % SECTOR] ^= 1 << random_next(&random_state) % 8;
		break;
	case 1:
		memcpy(data, image + place(kind, true) * SECTOR, SECTOR);
		break;
	}
	if (!memcmp(data, image + at * SECTOR, SECTOR))
		return;
	put_sector(at, data, false);
	rotten = true;
}

static unsigned char *device_data(unsigned int device)
{
	return image + origin_sectors * SECTOR + device * (cache_bytes / truth.devices);
}

/* Save the content of a random device in this state; put_older() restores it in a later state. */
static void keep_older(void)
{
	older.device = random_next(&random_state) % truth.devices;
	memcpy(older.data, device_data(older.device), cache_bytes / truth.devices);
	older.known = true;
}

static void put_older(void)
{
	uint64_t first = (device_data(older.device) - image) / SECTOR, i;

	for (i = 0; i < cache_bytes / truth.devices / SECTOR; i++)
		if (memcmp(older.data + i * SECTOR, image + (first + i) * SECTOR, SECTOR))
			put_sector(first + i, older.data + i * SECTOR, false);
	aged = true;
}

/* Draw the percentage of a device's pending writes to apply.  Several devices: often 0 or 100. */
static unsigned int share(void)
{
	if (truth.devices > 1 && chance(50))
		return chance(50) ? 100 : 0;
	return random_next(&random_state) % 101;
}

static void put_some(const struct log *log, size_t position)
{
	unsigned int present[LOG_DEVICES], torn, i;
	size_t n;

	for (i = 0; i < LOG_DEVICES; i++)
		present[i] = i <= truth.devices ? share() : 0;
	torn = chance(50) ? 30 : 0;
	for (n = 0; n < pending_count; n++) {
		const struct log_entry *e = &log->entry[pending[n]];
		bool under_way = e->done >= position;

		if (chance(under_way ? 70 : present[e->device]))
			put(log, pending[n], chance(under_way ? 70 : torn) ?
				    random_next(&random_state) % 101 : 100, false);
	}
}

/* Test a state with some of the pending writes, at random also with damage or an older device. */
static void some(const struct log *log, size_t position)
{
	const char *what = "some pending writes";

	put_some(log, position);
	if (chance(ROTTEN)) {
		rot();
		what = "some pending writes, and damage";
	} else if (older.known && chance(AGED)) {
		put_older();
		what = "some pending writes, and an older device";
	}
	judge(position, what);
	if (truth.devices > 1 && !rotten && !aged && chance(AGED_ANEW))
		keep_older();
	rotten = false;
	aged = false;
	take_back();
}

static void check_mark(uint64_t first, uint64_t count, const char *text)
{
	if (count <= origin_sectors && first <= origin_sectors - count)
		return;
	fprintf(stderr, "mark '%s' is beyond the origin\n", text);
	exit(2);
}

static void mark(const char *text)
{
	uint64_t generation, first, count;

	telling = !strcmp(text, "telling");
	if (sscanf(text, "changing,%" SCNu64 ",%" SCNu64, &first, &count) == 2) {
		check_mark(first, count, text);
		memset(truth.changing + first, true, count);
		changing += count;
	}
	if (sscanf(text, "told,%" SCNu64 ",%" SCNu64 ",%" SCNu64, &generation, &first,
		   &count) == 3) {
		check_mark(first, count, text);
		memset(truth.changing + first, false, count);
		changing -= count;
		while (count--)
			truth.oldest[first++] = generation;
		marks++;
	}
}

/* Process log entry @n: make writes pending or durable, or note the mark. */
static void pass(const struct log *log, size_t n)
{
	const struct log_entry *e = &log->entry[n];
	size_t i, left = 0;

	if (e->mark)
		mark(e->mark);
	if (e->sectors)
		pending[pending_count++] = n;
	if (e->ends == LOG_NEVER)
		return;
	for (i = 0; i < pending_count; i++)
		if (log->entry[pending[i]].durable == n)
			put(log, pending[i], 100, true);
		else
			pending[left++] = pending[i];
	pending_count = left;
}

/* Weight of each log position, so that most crashes fall where metadata writes are in flight. */
static unsigned int *weights(const struct log *log)
{
	unsigned int *weight = must(calloc(log->count + 1, sizeof(*weight)));
	size_t i, j;

	for (i = 0; i < log->count; i++)
		weight[i] = 1;
	for (i = 0; i < log->count; i++) {
		const struct log_entry *e = &log->entry[i];

		if (e->sector < origin_sectors ||
		    !recover_is_metadata(e->sector - origin_sectors))
			continue;
		for (j = i + 1; j <= e->durable && j < log->count; j++)
			weight[j] = j <= e->done ? 64 : weight[j] < 16 ? 16 : weight[j];
	}
	return weight;
}

/* Returns true if entry @n completes a flush while metadata writes are pending. */
static bool settles(const struct log *log, size_t n, unsigned int weight)
{
	const struct log_entry *e = &log->entry[n];

	return e->ends != LOG_NEVER && !log->entry[e->ends].sectors && pending_count &&
	       weight > 1;
}

static void run(const struct log *log, uint64_t states)
{
	unsigned int *weight = weights(log);
	uint64_t total = 0, so_far = 0, done = 0;
	size_t i;

	pending = must(calloc(log->count, sizeof(*pending)));
	for (i = 0; i < log->count; i++)
		total += weight[i];
	for (i = 0; i < log->count; i++) {
		so_far += weight[i];
		samples.due = so_far * (samples.wanted / samples.criteria + 2) / total;
		if (settles(log, i, weight[i]))
			corners(log, i);
		/* Test as many random states here as the weight of this position demands. */
		for (; done * total < states * so_far; done++)
			some(log, i);
		pass(log, i);
	}
	corners(log, i);
	free(pending);
	free(weight);
}

/* Returns false if the run proves nothing: the log is truncated, or a case did not occur. */
static bool worth_something(const struct log *log)
{
	if (!log_complete(log))
		printf("the log has no end mark\n");
	else if (!marks && !recovery && !writing)
		printf("the log has no mark\n");
	else if (!sum.bytes)
		printf("no state had cached data\n");
	else if (writing && (!sum.marking || !sum.doubt))
		printf("no state had cached data in a marked region, or had the ends in doubt\n");
	else if (!sum.rotten && !recovery)
		printf("no state with damage had cached data\n");
	else if (!sum.older && !recovery && !writing)
		printf("no state had a torn page whose older copy counts\n");
	else if (truth.devices > 1 && !recovery && (!sum.aged || !sum.differing))
		printf("no older device was accepted, or none was rejected\n");
	else if (samples.taken < samples.wanted)
		printf("found only %" PRIu64 " of %" PRIu64 " samples\n", samples.taken,
		       samples.wanted);
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
		fprintf(stderr, "%s: cannot map it, or it is shorter than the origin\n", path);
		exit(2);
	}
	cache_bytes = image_bytes - origin_sectors * SECTOR;
	if (writing) {
		cache_bytes -= NEARCACHE_WITNESS_SIZE;
		truth.witness = (const void *)(image + image_bytes - NEARCACHE_WITNESS_SIZE);
	}
	older.data = must(malloc(cache_bytes / truth.devices));
	truth.origin = image;
	truth.oldest = must(calloc(origin_sectors, sizeof(*truth.oldest)));
	truth.changing = must(calloc(origin_sectors, 1));
	writer = must(calloc(image_bytes / SECTOR, sizeof(*writer)));
}

static void open_samples(const char *count, const char *path)
{
	char list[4096];

	samples.wanted = strtoull(count, NULL, 10);
	snprintf(list, sizeof(list), "%s.list", path);
	samples.images = fopen(path, "w");
	samples.list = fopen(list, "w");
	if (!samples.images || !samples.list) {
		perror(path);
		exit(2);
	}
}

/* Returns the index of the first argument that is no option. */
static int options(int argc, char **argv)
{
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++)
		if (!strcmp(argv[i], "-r")) {
			recovery = true;
		} else if (!strcmp(argv[i], "-w")) {
			writing = true;
		} else if (!strcmp(argv[i], "-m") && i + 1 < argc) {
			truth.devices = strtoul(argv[++i], NULL, 10);
		} else if (!strcmp(argv[i], "-s") && i + 2 < argc) {
			open_samples(argv[i + 1], argv[i + 2]);
			i += 2;
		} else {
			break;
		}
	return i;
}

static void close_samples(void)
{
	if (samples.wanted && (fclose(samples.images) || fclose(samples.list))) {
		perror("samples");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	int words = options(argc, argv);
	char ratio[16];
	struct log log;
	bool worth;

	argv += words;
	if (argc - words != 5) {
		fprintf(stderr, USAGE);
		return 2;
	}
	origin_sectors = strtoull(argv[2], NULL, 10);
	random_state = strtoull(argv[4], NULL, 10);
	if (!truth.devices || truth.devices > NEARCACHE_MEMBERS_MAX) {
		fprintf(stderr, USAGE);
		return 2;
	}
	samples.criteria = truth.devices > 1 ? 3 : 1;
	if (samples.wanted % samples.criteria) {
		fprintf(stderr, "with -m SAMPLES must be a multiple of %u, one share per criterion\n",
			samples.criteria);
		return 2;
	}
	load_base(argv[0]);
	if (log_open(&log, argv[1]))
		return 2;
	recover_geometry(image + origin_sectors * SECTOR, cache_bytes, truth.devices);
	run(&log, strtoull(argv[3], NULL, 10));
	close_samples();
	/* With -w the kernel also drops data that the write intent marks, so print no ratio. */
	snprintf(ratio, sizeof(ratio), writing ? "null" : "%.3f", sum.ratio);
	worth = worth_something(&log);
	printf("{\"crash_states\": %" PRIu64 ", \"stale\": %" PRIu64 ", \"torn\": %" PRIu64
	       ", \"lost\": %" PRIu64 ", \"cold\": %" PRIu64 ", \"damaged_pages\": %" PRIu64
	       ", \"wrong_checksums\": %" PRIu64
	       ", \"wrong_fingerprints\": %" PRIu64 ", \"ends_in_doubt\": %" PRIu64
	       ", \"states_with_marks\": %" PRIu64 ", \"states_with_damage\": %" PRIu64
	       ", \"older_copies\": %" PRIu64 ", \"older_devices_used\": %" PRIu64
	       ", \"states_that_differ\": %" PRIu64 ", \"told\": %zu"
	       ", \"warm_ratio_min\": %s, \"entries\": %zu}\n",
	       sum.states, sum.stale, sum.torn, sum.lost, sum.cold, sum.damaged,
	       sum.unsound, sum.misprinted, sum.doubt, sum.marking, sum.rotten, sum.older,
	       sum.aged, sum.differing, marks, ratio, log.count);
	log_close(&log);
	return sum.failures || !worth;
}
