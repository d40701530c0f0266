// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cut the power at many moments of a recording of writes below a file system (tests/selftests/
 * nearcache/recording.sh), and check the media.
 *
 *	cuts [-l COPIES] [-p] [-b SECTORS] [-s FILE] [-r BASE "NUMBERS"] RECORDING ORIGIN_SECTORS
 *		LOG_SECTORS CUTS SEED DIR
 *
 * Device 0 of the recording is the origin, device 1 a cache device or the log of a stage.  The
 * sectors of device 1 follow those of the origin.  Each cut makes a state of both: see state.h.
 * Then the file system is checked
 *
 * thrown: on the origin alone, as after the loss of the other device: the file system is valid,
 *	no file is a mixture, and all changes that are known to be drained are there;
 * kept: on the origin with all that recovery finds in the log: all flushed changes are there.
 *
 * -l: device 1 is the log of a stage; test each cut both ways.  With 2 COPIES, device 2 is a mirror
 *     of it (raid1), behind it: either of them alone must be enough.
 * -p: device 1 is a cache device of a peer; nothing is known to be on the origin.
 * -b: the file system begins at this sector of the origin.
 * -s: check no state here; write all states, concatenated, to FILE, and per state a line to
 *     FILE.list: "thrown" or "kept", and the numbers of struct required.
 * -r: the recording is of a recovery from the state in BASE, of which "kept" must have NUMBERS, the
 *     five of struct required.
 * DIR is a folder for temporary files.  Half of the cuts are at the completion of a flush or a FUA
 * write, or just before it; the others are at random entries.  The last line is a JSON object.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ext4.h"
#include "recovery.h"
#include "state.h"

#define FAILURES_SAID	3U
#define USAGE	"usage: cuts [-l COPIES] [-p] [-b SECTORS] [-s FILE] [-r BASE NUMBERS] RECORDING " \
		"ORIGIN_SECTORS LOG_SECTORS CUTS SEED DIR\n"

/* Marks that checkpoints.c writes into the recording; not the marks of epochs. */
enum { STEP, STATE, LINES, DB, DROP, MARKS };
static const char *const mark_names[MARKS] = { "step", "state", "lines", "db", "drop" };

/* A mark; @epoch: newest epoch that was committed before it. */
struct mark {
	size_t position;
	unsigned int what;
	unsigned long number;
	uint64_t epoch;
};

static uint64_t origin_sectors, log_sectors, fs_sector, random_state;
static unsigned long copies;
static bool peer;
static struct log recording;
static struct mark *marks;
static size_t mark_count, first, last;
/* Per entry of the recording: newest epoch that was marked in the superblock before it. */
static uint64_t *drained;
static struct state media;
static FILE *samples, *sample_list;
/* With -r: the state from which the recovery began, and its files. */
static const char *base;
static struct required base_need;

static struct {
	unsigned long cuts, failed[2], refused, dirty, mixed, lost, errors, behind, epochs;
	unsigned long retained, differs, flushes, steps, dropped;
} sum;

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static void mark_add(size_t n, uint64_t epoch)
{
	const char *text = recording.entry[n].mark;
	struct mark *m = &marks[mark_count];
	char what[16];

	if (!strcmp(text, "begin"))
		first = n + 1;
	else if (!strcmp(text, "end"))
		last = n;
	if (sscanf(text, "%15[a-z],%lu", what, &m->number) != 2)
		return;
	for (m->what = 0; m->what < MARKS; m->what++)
		if (!strcmp(what, mark_names[m->what]))
			break;
	m->position = n;
	m->epoch = epoch;
	mark_count++;
}

/* Collect the marks, with the epoch that was committed at each. */
static void marks_collect(void)
{
	struct watched_log watched = { 0 };
	size_t n;

	drained = must(calloc(recording.count + 1, sizeof(*drained)));
	marks = must(calloc(recording.count + 1, sizeof(*marks)));
	for (n = 0; n < recording.count; n++) {
		const struct log_entry *e = &recording.entry[n];

		drained[n] = watched.drained;
		if (copies && e->ends != LOG_NEVER && recording.entry[e->ends].device == 1)
			log_watch(&watched, &recording.entry[e->ends], origin_sectors);
		if (e->mark)
			mark_add(n, watched.committed);
	}
	drained[n] = watched.drained;
}

/* Requirements after a cut at @position, if all epochs up to @epoch are there. */
static struct required required_at(size_t position, uint64_t epoch)
{
	struct required need = { .first = 1 };
	unsigned long newest[MARKS] = { 0 };
	size_t i;

	if (base)
		return epoch == UINT64_MAX ? base_need : need;
	for (i = 0; i < mark_count && marks[i].position < position; i++)
		if (marks[i].what == DROP || marks[i].epoch <= epoch)
			newest[marks[i].what] = marks[i].number;
	need.first = newest[DROP] + 1;
	need.last = newest[STEP];
	need.state = newest[STATE];
	need.lines = newest[LINES];
	need.db = newest[DB];
	return need;
}

static void failed(size_t position, bool kept, const char *what, const char *said)
{
	if (sum.failed[kept]++ < FAILURES_SAID)
		printf("cut before entry %zu, other device %s: %s%s\n", position,
		       kept ? "kept" : "lost", what, said);
}

/* Check the origin in the image. */
static void check(size_t position, bool kept, const struct required *need)
{
	struct fs_checked found;

	ext4_check(media.image + fs_sector * SECTOR, need, &found);
	sum.refused += found.refused;
	sum.dirty += found.dirty;
	sum.mixed += !!found.files.mixed;
	sum.lost += !!found.files.lost;
	sum.steps += found.files.steps;
	if (found.refused || found.dirty || found.files.mixed || found.files.lost)
		failed(position, kept, found.refused ? "replay: " : found.dirty ? "check: " : "",
		       found.said);
}

static void check_kept(size_t position, unsigned int copy)
{
	struct required need = required_at(position, UINT64_MAX);
	struct recovered_log r;

	log_recover(&media, origin_sectors, origin_sectors + copy * log_sectors, log_sectors, &r);
	sum.epochs += r.epochs;
	sum.dropped += r.dropped;
	sum.retained += !!r.retained;
	sum.differs += !!r.differs;
	if (r.why) {
		sum.errors++;
		failed(position, true, "recovery: ", r.why);
		return;
	}
	if (r.differs)
		failed(position, true, "marked sectors are not on the origin", "");
	check(position, true, &need);
}

static void check_thrown(size_t position)
{
	struct required all = required_at(position, UINT64_MAX), need = all;

	if (peer)
		need = (struct required){ .first = 1 };
	else if (copies)
		need = required_at(position, drained[position]);
	sum.behind += need.db < all.db;
	check(position, false, &need);
}

/* Write the state and its line; leave pages of zeros out. */
static void sample(size_t position)
{
	bool kept = copies && sum.cuts % 2;
	struct required need = required_at(position, kept || !copies ? UINT64_MAX : drained[position]);
	static const unsigned char zeros[4096];
	uint64_t bytes = media.sectors * SECTOR, i;

	for (i = 0; i < bytes; i += sizeof(zeros)) {
		if (!memcmp(media.image + i, zeros, sizeof(zeros)))
			continue;
		if (fseek(samples, (sum.cuts - 1) * bytes + i, SEEK_SET) ||
		    fwrite(media.image + i, sizeof(zeros), 1, samples) != 1)
			abort();
	}
	if (fprintf(sample_list, "%s %lu %lu %lu %lu %lu\n", kept ? "kept" : "thrown", need.first,
		    need.last, need.state, need.lines, need.db) < 0)
		abort();
}

static void cut(size_t position)
{
	size_t changes;
	unsigned int i;

	state_cut(&media, &recording, position, &random_state);
	sum.cuts++;
	if (samples) {
		sample(position);
	} else {
		check_thrown(position);
		changes = media.undo_count;
		for (i = 0; i < copies; i++) {
			check_kept(position, i);
			state_undo(&media, changes);
		}
	}
	state_undo(&media, 0);
}

/* Does entry @n complete a flush or a FUA write? */
static bool ends_flush(size_t n)
{
	const struct log_entry *e = &recording.entry[n];

	return e->ends != LOG_NEVER &&
	       (!recording.entry[e->ends].sectors || recording.entry[e->ends].fua);
}

/* Number of cuts before each entry. */
static unsigned int *cuts_choose(unsigned long cuts)
{
	unsigned int *at = must(calloc(recording.count + 2, sizeof(*at)));
	unsigned long taken = 0, seen = 0, skip;
	size_t n;

	for (n = first; n < last; n++)
		sum.flushes += ends_flush(n);
	/* Few cuts are at other flushes with another seed. */
	skip = random_next(&random_state) % (sum.flushes * 4 / cuts + 1);
	for (n = first; n < last; n++) {
		if (!ends_flush(n))
			continue;
		seen++;
		/* As many as the share of the flushes so far demands, and none twice. */
		if (seen <= skip || taken * sum.flushes >= (seen - skip) * (cuts / 4))
			continue;
		at[n]++;
		at[n + 1]++;
		taken++;
	}
	for (taken *= 2; taken < cuts; taken++)
		at[first + random_next(&random_state) % (last - first + 1)]++;
	return at;
}

static void run(unsigned long cuts)
{
	unsigned int *at = cuts_choose(cuts);
	size_t n;

	state_begin(&media, &recording, base, origin_sectors + (copies > 1 ? copies : 1) * log_sectors);
	/* ext4 relies on sectors of 4 KiB for its superblock, which has a checksum. */
	media.atomic = fs_sector;
	for (n = 0; n <= last; n++) {
		for (; at[n]; at[n]--)
			cut(n);
		state_pass(&media, &recording, n);
	}
	state_end(&media);
	free(at);
}

static void samples_open(const char *path)
{
	char list[4096];

	snprintf(list, sizeof(list), "%s.list", path);
	samples = fopen(path, "w");
	sample_list = fopen(list, "w");
	if (!samples || !sample_list) {
		perror(path);
		exit(2);
	}
}

static int options(int argc, char **argv)
{
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++)
		if (!strcmp(argv[i], "-l") && i + 1 < argc)
			copies = strtoul(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "-p"))
			peer = true;
		else if (!strcmp(argv[i], "-b") && i + 1 < argc)
			fs_sector = strtoull(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "-s") && i + 1 < argc)
			samples_open(argv[++i]);
		else if (!strcmp(argv[i], "-r") && i + 2 < argc &&
			 sscanf(argv[i + 2], "%lu %lu %lu %lu %lu", &base_need.first, &base_need.last,
				&base_need.state, &base_need.lines, &base_need.db) == 5)
			base = argv[(i += 2) - 1];
		else
			break;
	return i;
}

int main(int argc, char **argv)
{
	int words = options(argc, argv);

	argv += words;
	if (argc - words != 6) {
		fprintf(stderr, USAGE);
		return 2;
	}
	origin_sectors = strtoull(argv[1], NULL, 10);
	log_sectors = strtoull(argv[2], NULL, 10);
	random_state = strtoull(argv[4], NULL, 10);
	if (log_open(&recording, argv[0]))
		return 2;
	marks_collect();
	if (!first || last <= first || !log_complete(&recording)) {
		fprintf(stderr, "%s: no end, or no marks 'begin' and 'end'\n", argv[0]);
		return 2;
	}
	ext4_begin(argv[5], (origin_sectors - fs_sector) * SECTOR / 4096 * 4096);
	run(strtoul(argv[3], NULL, 10));
	if (samples && (fclose(samples) || fclose(sample_list)))
		return 2;
	printf("{\"cuts\": %lu, \"crash_states\": %lu, \"flushes\": %lu, \"failed_thrown\": %lu"
	       ", \"failed_kept\": %lu, \"refused\": %lu, \"dirty\": %lu, \"torn\": %lu"
	       ", \"lost\": %lu, \"recovery_errors\": %lu, \"behind\": %lu, \"epochs\": %lu"
	       ", \"commits_dropped\": %lu"
	       ", \"retained\": %lu, \"retained_wrong\": %lu, \"checkpoints\": %lu"
	       ", \"entries\": %zu}\n",
	       sum.cuts, sum.cuts * (1 + copies), sum.flushes, sum.failed[0], sum.failed[1],
	       sum.refused, sum.dirty, sum.mixed, sum.lost, sum.errors, sum.behind, sum.epochs,
	       sum.dropped, sum.retained, sum.differs, sum.steps, recording.count);
	log_close(&recording);
	return sum.failed[0] || sum.failed[1];
}
