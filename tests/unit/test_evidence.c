// SPDX-License-Identifier: GPL-2.0-only
/* Rules of bpf/evidence.h on streams of every class.  The classifier must recognise the class in
 * time and keep its verdict.  A cold cache reports each access, a warm cache totals and some runs.
 */
#include <stdio.h>
#include <stdlib.h>

#include "evidence.h"
#include "helper/unit.h"

#define NONE	(~0ULL)

/* The part of a stream's state that kmod/io/stream.c has between two calls of the classifier. */
struct kept {
	__u64 run, before, end, bytes;
	__s64 gap;
	__u32 same_gaps, accesses, runs, sample;
};

/* The state of the present process, and of all workers: see turn_to() and respawn(). */
static struct kept kept;
static struct stream stream;
#define WORKERS	3
static struct {
	struct kept kept;
	struct stream stream;
} worker[WORKERS];
static __u32 present;

static struct set set;

/* Sampled runs of the set, in place of the BPF program's map; index: start sector / 128. */
#define PLACES	(1U << 20)
static struct unit unit[PLACES];
static __u32 unit_of[PLACES];
static unsigned int changes;
/* From the second pass on, read_set() omits this percentage of the reads, as if the page cache had
 * served them.
 */
static __u32 hidden;

static __u64 state;

static __u32 draw(__u32 below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (__u32)(((state >> 33) * below) >> 31);
}

/* Begin the present process: it has read nothing. */
static void respawn(void)
{
	memset(&kept, 0, sizeof(kept));
	memset(&stream, 0, sizeof(stream));
	kept.run = NONE;
	kept.before = NONE;
	kept.end = NONE;
	kept.sample = NEARCACHE_SAMPLE;
}

/* The next reads are by worker @which. */
static void turn_to(__u32 which)
{
	worker[present].kept = kept;
	worker[present].stream = stream;
	present = which;
	kept = worker[present].kept;
	stream = worker[present].stream;
}

static void begin(__u64 seed)
{
	__u32 i;

	for (i = 0; i < WORKERS; i++) {
		turn_to(i);
		respawn();
	}
	turn_to(0);
	memset(&set, 0, sizeof(set));
	memset(unit, 0, sizeof(unit));
	set.class = NEARCACHE_CLASS_SCATTERED;
	changes = 0;
	hidden = 0;
	state = seed;
}

static __u32 verdict(void)
{
	return stream.class == NEARCACHE_CLASS_SCATTERED ? set.class : stream.class;
}

static void tell(__u32 op, __u32 why, __u32 hash)
{
	struct nearcache_classify told = {
		.io = { .op = (__u16)op },
		.why = why,
		.run = kept.run,
		.before = kept.before,
		.gap = kept.gap,
		.same_gaps = kept.same_gaps,
		.accesses = kept.accesses,
		.runs = kept.runs,
		.hash = hash,
	};
	__u32 was = verdict();

	evidence_stream(&stream, &told);
	kept.accesses = 0;
	kept.runs = 0;
	if (stream.class == NEARCACHE_CLASS_SCATTERED) {
		set.runs += told.runs;
		if (evidence_is_sampled(&set, &told)) {
			__u32 at = told.run / 128 % PLACES;
			bool known = unit[at].count && unit_of[at] == set.id;

			evidence_set(&set, known ? &unit[at] : NULL, told.before);
			if (!known)
				unit[at] = (struct unit){ set.runs, told.before, 1, 0 };
			unit_of[at] = set.id;
		}
	}
	kept.sample = set.sample;
	changes += verdict() != was;
}

static void access(__u64 sector, __u32 sectors, __u32 op, bool warm)
{
	bool begins = sector != kept.end;
	__s64 gap = 0;
	__u32 why = warm ? 0 : NEARCACHE_WHY_MISS, hash;

	kept.accesses++;
	if (begins) {
		if (kept.end != NONE)
			gap = (__s64)(sector - kept.end);
		kept.same_gaps = gap && gap == kept.gap ? kept.same_gaps + 1 : 0;
		kept.gap = gap;
		kept.before = kept.run;
		kept.run = sector;
		kept.runs++;
	}
	kept.end = sector + sectors;
	hash = (__u32)((kept.run * 0x61C8864680B583EBULL) >> 32);
	if (begins && (kept.before == NONE || !(hash & ((1U << kept.sample) - 1))))
		why |= NEARCACHE_WHY_RUN;
	if (kept.accesses >= NEARCACHE_AMOUNT)
		why |= NEARCACHE_WHY_AMOUNT;
	if (why)
		tell(op, why, hash);
}

/* Read run @number of a set in @pieces accesses of 64 KiB. */
static void read_run(__u32 number, __u32 pieces, bool warm)
{
	__u32 i;

	for (i = 0; i < pieces; i++)
		access(number * 2048ULL + 128ULL * i, 128, 0, warm);
}

static void shuffle(__u32 *order, __u32 count)
{
	__u32 i, k, t;

	for (i = count - 1; i; i--) {
		k = draw(i + 1);
		t = order[i];
		order[i] = order[k];
		order[k] = t;
	}
}

static void assert_class(__u32 class)
{
	if (verdict() != class)
		fail_msg("class %u, not %u: follows %d strides %d draws %u units %u singles %u loops %d shuffles %d sample %u",
			 verdict(), class, stream.follows, stream.strides, set.draws, set.units,
			 set.singles, set.loops, set.shuffles, set.sample);
}

/* Whole files, each read by 16 accesses, in an order that jumps: sequential after 256 accesses. */
static void sequential(void **state_)
{
	__u32 i, warm;

	(void)state_;
	for (warm = 0; warm < 2; warm++) {
		begin(1);
		for (i = 0; i < 20000; i++) {
			access((i / 16 * 37 % 4096 * 16 + i % 16) * 256ULL, 256, 0, warm);
			if (i >= 255)
				assert_class(NEARCACHE_CLASS_SEQUENTIAL);
		}
		assert_true(changes == 1);
	}
}

static void strided(void **state_)
{
	__u32 i, warm;

	(void)state_;
	for (warm = 0; warm < 2; warm++) {
		begin(1);
		for (i = 0; i < 20000; i++) {
			access((__u64)i * 2048, 8, 0, warm);
			if (i >= 255)
				assert_class(NEARCACHE_CLASS_STRIDED);
		}
		assert_true(changes <= 2);
	}
}

static void checkpoint(void **state_)
{
	__u32 i;

	(void)state_;
	begin(1);
	for (i = 0; i < 256; i++)
		access((i + i / 40) * 2048ULL, 2048, 1, false);
	assert_class(NEARCACHE_CLASS_CHECKPOINT);
}

/* Read @quarters / 4 passes over a set of @count runs of sectors, in an order typical of @class. */
static void read_set(__u32 count, __u32 pieces, __u32 class, __u32 quarters, bool warm)
{
	static __u32 order[20000];
	__u32 i, n;

	for (i = 0; i < count; i++)
		order[i] = i;
	shuffle(order, count);
	for (n = 0; n < (__u64)count * quarters / 4; n++) {
		if (class == NEARCACHE_CLASS_RANDOM) {
			read_run(draw(count), pieces, warm);
			continue;
		}
		if (n && !(n % count) && class == NEARCACHE_CLASS_SHUFFLED)
			shuffle(order, count);
		if (n < count || draw(100) >= hidden)
			read_run(order[n % count], pieces, warm);
		if ((n + 1) * pieces == 256 && verdict() < NEARCACHE_CLASS_SCATTERED)
			assert_class(NEARCACHE_CLASS_SCATTERED);
	}
}

static void sets(__u32 class, __u32 hides)
{
	static const __u32 counts[] = { 200, 500, 2000, 20000 };
	static const __u32 pieces[] = { 1, 2, 4 };
	__u32 i, p, warm, seed, right = 0, all = 0, least = NEARCACHE_CLASS_SCATTERED;

	for (i = 0; i < 4; i++)
		for (p = 0; p < 3; p++)
			for (warm = 0; warm < 2; warm++)
				for (seed = 0; seed < 5; seed++) {
					begin(seed * 1000 + i * 10 + p);
					hidden = hides;
					read_set(counts[i], pieces[p], class, 5, warm);
					right += verdict() == class;
					if (verdict() != class)
						print_message("# class %u, not %u: %u runs of %u, warm %u: draws %u units %u singles %u loops %d shuffles %d sample %u\n",
							      verdict(), class, counts[i], pieces[p],
							      warm, set.draws, set.units, set.singles,
							      set.loops, set.shuffles, set.sample);
					all++;
					least = verdict() < least ? verdict() : least;
				}
	print_message("# class %u: %u of %u right after 1.25 passes, %u %% hidden\n", class, right,
		      all, hides);
	assert_true(100 * right >= 95 * all);
	assert_int_equal(least, NEARCACHE_CLASS_SCATTERED);
}

static void shuffled(void **state_)
{
	(void)state_;
	sets(NEARCACHE_CLASS_SHUFFLED, 0);
}

static void looping(void **state_)
{
	(void)state_;
	sets(NEARCACHE_CLASS_LOOPING, 0);
}

static void random_reads(void **state_)
{
	(void)state_;
	sets(NEARCACHE_CLASS_RANDOM, 0);
}

/* The class is recognised even if a page cache hides a third of the reads from the device. */
static void hides(void **state_)
{
	(void)state_;
	sets(NEARCACHE_CLASS_SHUFFLED, 33);
	sets(NEARCACHE_CLASS_LOOPING, 33);
}

/* One read in four is of run 0, the rest is random.  Equal gaps occur, but are not a stride. */
static void popular(void **state_)
{
	__u32 i, seed;

	(void)state_;
	for (seed = 0; seed < 50; seed++) {
		begin(seed);
		for (i = 0; i < 2000; i++) {
			read_run(draw(4) ? draw(500) : 0, 1, false);
			assert_int_not_equal(verdict(), NEARCACHE_CLASS_STRIDED);
		}
		assert_class(NEARCACHE_CLASS_RANDOM);
	}
}

/* Return the answer after @read sectors of run @runs.  The earlier runs had @mean sectors each. */
static struct nearcache_classify window_of(__u64 read, __u64 runs, __u64 mean)
{
	struct nearcache_classify told = {
		.io = { .sector = 5000 + read - 8, .nr_sectors = 8 },
		.run = 5000,
	};

	begin(1);
	stream.runs = runs;
	stream.bytes = ((runs - 1) * mean + read) * 512;
	evidence_window(&stream, &told, 32768);
	return told;
}

/* In run 1 the window is the run's length so far; in run 4 the maximum until the predicted end. */
static void windows(void **state_)
{
	struct nearcache_classify told;

	(void)state_;
	told = window_of(8, 1, 0);
	assert_int_equal(told.window, WINDOW_LEAST);
	assert_int_equal(told.length, 0);
	told = window_of(20000, 1, 0);
	assert_int_equal(told.window, 20000);
	told = window_of(50000, 1, 0);
	assert_int_equal(told.window, 32768);
	told = window_of(8, 4, 20000);
	assert_int_equal(told.window, 32768);
	assert_int_equal(told.length, 21250);
	/* Behind the predicted end (21250), at 24000, the window is a quarter of the run so far. */
	told = window_of(20000, 4, 20000);
	assert_int_equal(told.length, 21250);
	told = window_of(24000, 4, 20000);
	assert_int_equal(told.window, 6000);
	assert_int_equal(told.length, 0);
	told = window_of(500000, 4, 20000);
	assert_int_equal(told.window, 32768);
	begin(1);
	told = (struct nearcache_classify) { 0 };
	evidence_window(&stream, &told, 0);
	assert_int_equal(told.window, 0);
}

/* After ten more passes the verdict is still right, although at most 1 run in 32 is sampled. */
static void steady(void **state_)
{
	static const __u32 classes[] = {
		NEARCACHE_CLASS_SHUFFLED, NEARCACHE_CLASS_LOOPING, NEARCACHE_CLASS_RANDOM,
	};
	__u32 i, seed;

	(void)state_;
	for (i = 0; i < 3; i++)
		for (seed = 0; seed < 5; seed++) {
			begin(seed);
			read_set(2000, 2, classes[i], 4, true);
			changes = 0;
			/* With the same seed read_set() repeats the order of the first pass. */
			if (classes[i] == NEARCACHE_CLASS_LOOPING)
				state = seed;
			read_set(2000, 2, classes[i], 40, true);
			assert_int_equal(verdict(), classes[i]);
			/* One change is allowed: the first pass may end without the verdict. */
			assert_true(changes <= 1);
			assert_true(set.sample > 4);
		}
}

/* Read @passes passes over 500 runs as a reader of @class does. */
static void read_passes(__u32 class, __u32 passes)
{
	static __u32 order[500];
	__u32 i, n;

	for (i = 0; i < 500; i++)
		order[i] = i;
	shuffle(order, 500);
	for (n = 0; n < 500 * passes; n++) {
		if (class == NEARCACHE_CLASS_SHUFFLED && !(n % 500))
			shuffle(order, 500);
		read_run(class == NEARCACHE_CLASS_RANDOM ? draw(500) : order[n % 500], 1, true);
	}
}

/* If a reader changes the way it reads its runs, the class changes, even after 20 passes. */
static void switches(void **state_)
{
	__u32 from, to, seed;

	(void)state_;
	for (from = NEARCACHE_CLASS_SHUFFLED; from <= NEARCACHE_CLASS_RANDOM; from++)
		for (to = NEARCACHE_CLASS_SHUFFLED; to <= NEARCACHE_CLASS_RANDOM; to++)
			for (seed = 0; seed < 5; seed++) {
				begin(seed);
				read_passes(from, 20);
				assert_class(from);
				read_passes(to, from + to == NEARCACHE_CLASS_SHUFFLED +
					    NEARCACHE_CLASS_RANDOM ? 20 : 3);
				assert_class(to);
			}
}

/* A classifier that starts amid a pass recognises 'shuffled' after two more passes. */
static void halfway(void **state_)
{
	static __u32 order[2000];
	__u32 i, n, seed;

	(void)state_;
	for (seed = 0; seed < 10; seed++) {
		begin(seed);
		for (i = 0; i < 2000; i++)
			order[i] = i;
		shuffle(order, 2000);
		for (n = 200 * seed; n < 6000; n++) {
			if (n && !(n % 2000))
				shuffle(order, 2000);
			read_run(order[n % 2000], 2, true);
		}
		assert_class(NEARCACHE_CLASS_SHUFFLED);
	}
}

/* Fail if the class has ever been more than scattered. */
static void assert_once(void)
{
	if (verdict() > NEARCACHE_CLASS_SCATTERED)
		assert_class(NEARCACHE_CLASS_SCATTERED);
}

/* How a first pass differs from reading each run once. */
enum oddity {
	PLAIN,		/* it does not */
	INDEX,		/* before every fourth run, the reader reads one of 4 index blocks, in order */
	HEADER,		/* each of 3 workers first reads the same 4 header blocks */
	SPLIT,		/* each 16th run is read again at once, as parts of a split read are */
	ODDITIES
};

/* Workers take turns to read batches of 8 samples, as those of a PyTorch DataLoader do. */
#define BATCH	8
/* Sector / 2048 of the index, outside of the set. */
#define INDEX_RUN 30000U

/* Read a pass of @count runs in the order @order.  New workers have read nothing. */
static void read_pass(const __u32 *order, __u32 count, enum oddity oddity, bool persistent,
		      bool once, bool warm)
{
	__u32 i, k;

	for (i = 0; i < WORKERS; i++) {
		turn_to(i);
		if (!persistent)
			respawn();
		for (k = 0; oddity == HEADER && k < 4; k++)
			read_run(INDEX_RUN + k, 1, warm);
	}
	for (i = 0; i < count; i++) {
		turn_to(i / BATCH % WORKERS);
		if (oddity == INDEX && !(i % 4))
			read_run(INDEX_RUN + i / 4 % 4, 1, warm);
		read_run(order[i], 2, warm);
		if (oddity == SPLIT && !(i % 16))
			read_run(order[i], 1, warm);
		if (once)
			assert_once();
	}
}

/* 3 workers, persistent or started again in each pass: at most scattered in the first pass, and
 * each process has the right class before the third pass.
 */
static void workers(void **state_)
{
	static const __u32 counts[] = { 300, 3000, 20000 };
	static __u32 order[20000];
	__u32 c, class, i, seed, oddity, mode;

	(void)state_;
	for (c = 0; c < 3; c++)
		for (oddity = 0; oddity < ODDITIES; oddity++)
			for (seed = 0; seed < 40; seed++) {
				mode = seed & 3;
				class = seed & 4 ? NEARCACHE_CLASS_LOOPING : NEARCACHE_CLASS_SHUFFLED;
				begin(seed * 100 + c);
				for (i = 0; i < counts[c]; i++)
					order[i] = i;
				shuffle(order, counts[c]);
				read_pass(order, counts[c], oddity, mode & 1, true, mode & 2);
				for (i = 0; i < 2; i++) {
					if (class == NEARCACHE_CLASS_SHUFFLED)
						shuffle(order, counts[c]);
					read_pass(order, counts[c], oddity, mode & 1, false, mode & 2);
				}
				for (i = 0; i < WORKERS; i++) {
					turn_to(i);
					assert_class(class);
				}
			}
}

/* fio draws from 49,152 blocks: never shuffled or looping, and random within a third of a pass. */
static void many(void **state_)
{
	__u32 i, known, most = 0, seed;

	(void)state_;
	for (seed = 0; seed < 40; seed++) {
		begin(seed);
		known = 0;
		for (i = 0; i < 49152 * 3; i++) {
			read_run(draw(49152), 1, seed & 1);
			assert_int_not_equal(verdict(), NEARCACHE_CLASS_SHUFFLED);
			assert_int_not_equal(verdict(), NEARCACHE_CLASS_LOOPING);
			if (!known && verdict() == NEARCACHE_CLASS_RANDOM)
				known = i;
		}
		assert_class(NEARCACHE_CLASS_RANDOM);
		most = known > most ? known : most;
	}
	print_message("# random after at most %u of 49152 reads\n", most);
	assert_true(most < 49152 / 3);
}

/* A program of the same set that reads other runs once does not get the earlier program's class. */
static void next_program(void **state_)
{
	static __u32 order[8000];
	__u32 i, seed, class, late = 0;

	(void)state_;
	for (i = 0; i < 8000; i++)
		order[i] = 1000 + i;
	for (class = NEARCACHE_CLASS_SHUFFLED; class <= NEARCACHE_CLASS_RANDOM; class++)
		for (seed = 0; seed < 20; seed++) {
			begin(seed);
			read_set(1000, 1, class, 80, true);
			respawn();
			shuffle(order, 8000);
			for (i = 0; i < 8000; i++) {
				read_run(order[i], 1, true);
				if (i >= 2500)
					assert_once();
				else if (verdict() > NEARCACHE_CLASS_SCATTERED)
					late = i > late ? i : late;
			}
		}
	print_message("# the earlier class ends after at most %u runs\n", late);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sequential),
		cmocka_unit_test(strided),
		cmocka_unit_test(checkpoint),
		cmocka_unit_test(shuffled),
		cmocka_unit_test(looping),
		cmocka_unit_test(random_reads),
		cmocka_unit_test(hides),
		cmocka_unit_test(popular),
		cmocka_unit_test(windows),
		cmocka_unit_test(steady),
		cmocka_unit_test(halfway),
		cmocka_unit_test(switches),
		cmocka_unit_test(workers),
		cmocka_unit_test(many),
		cmocka_unit_test(next_program),
	};

	return RUN(tests);
}
