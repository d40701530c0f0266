// SPDX-License-Identifier: GPL-2.0-only
/* kmod/prefetch/pipe.c, with a model of an origin: one pipe with a latency and a bandwidth. */
#include "helper/unit.h"
#include "prefetch/pipe.h"

#define MS	1000000ULL
#define MIB	(1ULL << 20)
#define READ	MIB
#define FLYING	8192U

/*
 * @latency: ns; @rate: bytes per second
 * @now: time, ns; @free: time from which on the pipe has room for the next read
 * @sent, @ends: times of the reads in flight, which end in turn: @first, @count
 * @arrived: bytes; @deepest: most bytes in flight
 */
struct origin {
	u64 latency, rate;
	u64 now, free;
	u64 sent[FLYING], ends[FLYING];
	unsigned int first, count;
	u64 arrived, deepest;
};

static struct origin origin;
static struct nc_pipe pipe_;

static void send_reads(u64 window)
{
	struct origin *o = &origin;
	unsigned int i;

	while (!o->count || (o->count + 1) * READ <= window) {
		assert_true(o->count < FLYING);
		i = (o->first + o->count++) % FLYING;
		o->sent[i] = o->now;
		o->free = (o->free > o->now ? o->free : o->now) + READ * 1000 * MS / o->rate;
		o->ends[i] = o->free + o->latency;
		nc_pipe_sent(&pipe_, o->count * READ);
	}
	if (o->count * READ > o->deepest)
		o->deepest = o->count * READ;
}

/* Let jobs read for this time, with a window of at most @most bytes.  Returns bytes per second. */
static u64 run(u64 ns, u64 most)
{
	struct origin *o = &origin;
	u64 end = o->now + ns, before = o->arrived;
	unsigned int i;

	for (;;) {
		if (!o->count)
			nc_pipe_begin(&pipe_, o->now);
		send_reads(pipe_.window);
		i = o->first;
		if (!o->count || o->ends[i] > end)
			break;
		o->now = o->ends[i];
		nc_pipe_see_read(&pipe_, o->now, o->now - o->sent[i], READ, o->count * READ, most);
		o->first = (i + 1) % FLYING;
		o->count--;
		o->arrived += READ;
	}
	o->now = end;
	return (o->arrived - before) * 1000 * MS / ns;
}

static void begin(u64 latency, u64 rate)
{
	origin = (struct origin){ .latency = latency, .rate = rate, .now = 1000 * MS };
	nc_pipe_init(&pipe_);
}

static const struct { u64 latency, rate; } origins[] = {
	{ MS / 5, 4000 * MIB }, { MS, 1000 * MIB }, { 5 * MS, 4000 * MIB }, { 20 * MS, 50 * MIB },
	{ 20 * MS, 1000 * MIB }, { 20 * MS, 4000 * MIB }, { 50 * MS, 1000 * MIB }, { 50 * MS, 4000 * MIB },
};

#define EACH(i)	for (i = 0; i < sizeof(origins) / sizeof(origins[0]); i++)

static void fills_the_pipe(void **state)
{
	unsigned int i;

	(void)state;
	EACH(i) {
		begin(origins[i].latency, origins[i].rate);
		/* Doubled in each round, from 8 MiB to at most 360 MiB: six rounds. */
		run(8 * origins[i].latency + 20 * MS, 1ULL << 40);
		assert_true(run(1000 * MS, 1ULL << 40) >= origins[i].rate * 98 / 100);
	}
}

/* The first read of a new reader waits behind the data in flight.  Until the pipe is full, the window
 * may become twice as large as needed.
 */
static void keeps_the_queue_short(void **state)
{
	unsigned int i;
	u64 needed;

	(void)state;
	EACH(i) {
		begin(origins[i].latency, origins[i].rate);
		run(3000 * MS, 1ULL << 40);
		needed = origins[i].rate / 1000 * (origins[i].latency + 80 * MS) / MS + 8 * MIB;
		assert_true(origin.deepest <= 2 * needed);
		origin.deepest = 0;
		run(15000 * MS, 1ULL << 40);
		assert_true(origin.deepest <= needed + needed / 2);
	}
}

static void stays_within_memory(void **state)
{
	(void)state;
	begin(50 * MS, 4000 * MIB);
	run(3000 * MS, 32 * MIB);
	assert_true(origin.deepest <= 32 * MIB);
	assert_true(pipe_.window == 32 * MIB);
	/* The pipe is full before the memory is. */
	begin(20 * MS, 1000 * MIB);
	run(3000 * MS, 64 * MIB);
	assert_true(pipe_.full);
	assert_true(origin.deepest <= 64 * MIB);
}

/* The jobs, and not the window, limit the data in flight: the window stays as it is. */
static void learns_nothing_without_use(void **state)
{
	unsigned int i;

	(void)state;
	begin(20 * MS, 4000 * MIB);
	nc_pipe_sent(&pipe_, READ);
	for (i = 0; i < 1000; i++)
		nc_pipe_see_read(&pipe_, (1000 + i) * MS, 20 * MS, READ, READ, 1ULL << 40);
	assert_true(pipe_.window == 8 * MIB);
	assert_false(pipe_.full);
}

/* Other nodes take three quarters of the bandwidth, and end later: the window follows. */
static void follows_rate(void **state)
{
	(void)state;
	begin(20 * MS, 1000 * MIB);
	run(2000 * MS, 1ULL << 40);
	origin.rate /= 4;
	run(5000 * MS, 1ULL << 40);
	assert_true(pipe_.window <= 250 * MIB * 125 / 1000);
	origin.rate *= 4;
	run(3000 * MS, 1ULL << 40);
	assert_true(run(1000 * MS, 1ULL << 40) >= 980 * MIB);
}

/* The path gets longer by more than reads may queue, then as short as before. */
static void follows_latency(void **state)
{
	(void)state;
	begin(20 * MS, 1000 * MIB);
	run(2000 * MS, 1ULL << 40);
	origin.latency = 150 * MS;
	run(2500 * MS, 1ULL << 40);
	assert_true(run(1000 * MS, 1ULL << 40) >= 980 * MIB);
	/* Each probe halves the minimum. */
	origin.latency = 20 * MS;
	run(40000 * MS, 1ULL << 40);
	origin.deepest = 0;
	assert_true(run(1000 * MS, 1ULL << 40) >= 960 * MIB);
	assert_true(origin.deepest <= 130 * MIB);
}

/* The minimum was measured while the path was short by chance, and then the path gets longer by less
 * than reads may queue: within LEAST_TIME a probe finds the new minimum.
 */
static void forgets_minimum(void **state)
{
	(void)state;
	begin(MS, 1000 * MIB);
	run(2000 * MS, 1ULL << 40);
	origin.latency = 41 * MS;
	run(11000 * MS, 1ULL << 40);
	assert_true(pipe_.least >= 41 * MS);
	assert_true(run(1000 * MS, 1ULL << 40) >= 980 * MIB);
}

/* Jobs pause for 30 s, longer than LEAST_TIME, at any time of a latency probe.  The next jobs fill
 * the pipe within a round.
 */
static void resumes_after_pause(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 2000; i += 20) {
		begin(190 * MS, 400 * MIB);
		run((9000 + i) * MS, 1ULL << 40);
		origin.now += 30000 * MS;
		origin.count = 0;
		run(195 * MS, 1ULL << 40);
		assert_true(pipe_.rate >= 400 * MIB * 9 / 10);
		assert_true(run(400 * MS, 1ULL << 40) >= 400 * MIB * 9 / 10);
	}
}

/* A probe that finds the minimum unchanged ends after a round. */
static void probes_cheaply(void **state)
{
	(void)state;
	begin(190 * MS, 400 * MIB);
	run(3000 * MS, 1ULL << 40);
	assert_true(run(30000 * MS, 1ULL << 40) >= 400 * MIB * 98 / 100);
}

/* Reads queued until the jobs ended.  The next job, a second later, finds an idle origin: its first
 * reads do not queue, and the pipe does not count as full.  When reads queue, it does again.
 */
static void forgets_queue(void **state)
{
	struct origin *o = &origin;
	unsigned int i;

	(void)state;
	begin(20 * MS, 1000 * MIB);
	run(2000 * MS, 1ULL << 40);
	assert_true(pipe_.full);
	/* The reads in flight end; a short pause changes nothing. */
	for (i = 0; i < o->count; i++) {
		o->now = o->ends[(o->first + i) % FLYING];
		nc_pipe_see_read(&pipe_, o->now, o->now - o->sent[(o->first + i) % FLYING], READ,
				 (o->count - i) * READ, 1ULL << 40);
	}
	o->count = 0;
	nc_pipe_begin(&pipe_, o->now + 900 * MS);
	assert_true(pipe_.full);
	o->now += 1100 * MS;
	nc_pipe_begin(&pipe_, o->now);
	assert_false(pipe_.full);
	/* Few reads, none of which queues. */
	for (i = 1; i <= 10; i++) {
		nc_pipe_sent(&pipe_, READ);
		nc_pipe_see_read(&pipe_, o->now + i * 21 * MS, 21 * MS, READ, READ, 1ULL << 40);
		assert_false(pipe_.full);
	}
	o->now += 10 * 21 * MS;
	o->deepest = 0;
	run(500 * MS, 1ULL << 40);
	assert_true(pipe_.full);
	assert_true(o->deepest <= 2 * (1000 * MIB / 1000 * 100 + 8 * MIB));
	assert_true(run(1000 * MS, 1ULL << 40) >= 980 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fills_the_pipe),
		cmocka_unit_test(keeps_the_queue_short),
		cmocka_unit_test(stays_within_memory),
		cmocka_unit_test(learns_nothing_without_use),
		cmocka_unit_test(follows_rate),
		cmocka_unit_test(follows_latency),
		cmocka_unit_test(forgets_minimum),
		cmocka_unit_test(resumes_after_pause),
		cmocka_unit_test(probes_cheaply),
		cmocka_unit_test(forgets_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
