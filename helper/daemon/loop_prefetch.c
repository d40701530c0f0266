// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/loop_prefetch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "netlink/client.h"
#include "lib/size.h"
#include "lib/periodic_wait.h"

/* If at most this percentage of the bytes comes from the origin, the loop fits into the cache. */
#define MISSES		5U
/* Of 1000 reads the recorder may lose at most LOST: a replay does not prefetch lost reads. */
#define LOST		10U
/* Maximum extents of a job: a quarter of the kernel's limit for all jobs. */
#define EXTENTS_MOST	262144U
/* Passes that a job covers if it has no more than EXTENTS_MOST extents: no new job at each pass. */
#define PASSES		32U
/* Deadline of a job, seconds: without one, the job of a killed daemon would wait for ever. */
#define DEADLINE	300U
/* A new job begins only when less than 1 / AHEAD of a pass is prefetched ahead of the reader. */
#define AHEAD		2U
/*
 * A new job begins 1 / HEAD seconds ahead of the reader, because its first data takes this long.
 * No reader would use data that arrives later, and it would occupy slots of the prefetch reserve.
 */
#define HEAD		4U
/*
 * If the reader is more than 1 / JUMP of a pass ahead of the job for PATIENCE, it has jumped.  A
 * job that is only late catches up within this time: after five seconds of waiting it gets slots
 * with unread data of jobs that are over.
 */
#define JUMP		64U
#define PATIENCE	(10 * SECOND)
#define SECOND		1000000000ULL
#define SECTOR		512U
/* With fewer bytes read, nothing is concluded from the reads. */
#define READ_LEAST	(4U << 20)

static void tell_news(const struct replay_look *what, struct replay_news *news)
{
	what->told(news, what->arg);
}

/* Turn the replay off without ending its job, which replay_stop() does.  @held keeps its value. */
void replay_free(struct replay *replay)
{
	uint64_t held = replay->held;

	if (replay->state != REPLAY_OFF)
		recorder_close(&replay->recorder);
	loop_free(&replay->loop);
	memset(replay, 0, sizeof(*replay));
	replay->held = held;
}

/* Get the job of a replay. After 'nearcache upgrade' its number may be that of a job of another user. */
static int get_job(const struct replay *replay, dev_t number, struct nl_job *job, bool *found)
{
	if (nl_job_get(number, replay->job, job, found))
		return fail_code();
	*found &= !strcmp(job->label, REPLAY_LABEL);
	return 0;
}

/* Turn the replay off and end its job.  Returns the bytes of the pass that was replayed, or 0. */
uint64_t replay_stop(struct replay *replay, dev_t number)
{
	uint64_t bytes = replay->state == REPLAY_ON ? replay->loop.trace.bytes : 0;
	struct nl_job job;
	bool found;

	/* Ignore a failure: a removed device has no jobs, and a job ends at its deadline. */
	if (replay->job &&
	    (get_job(replay, number, &job, &found) || (found && nl_job_end(number, replay->job))))
		fail_reset();
	replay_free(replay);
	return bytes;
}

/* Start no recording or replay before @until, seconds.  The replay must be off. */
void replay_hold(struct replay *replay, uint64_t until)
{
	replay->held = until;
}

/* Running jobs with REPLAY_LABEL: one of this daemon, and one per daemon that was killed. */
struct ours {
	uint32_t id[8];
	size_t count;
};

static void take_ours(const struct nl_job *job, void *arg)
{
	struct ours *ours = arg;

	if (!nl_job_is_over(job) && !strcmp(job->label, REPLAY_LABEL) &&
	    ours->count < sizeof(ours->id) / sizeof(ours->id[0]))
		ours->id[ours->count++] = job->id;
}

/* Cancel the jobs with REPLAY_LABEL, also those of killed daemons.  @count: number cancelled. */
int replay_cancel(dev_t number, uint64_t *count)
{
	struct ours ours = { .count = 0 };
	size_t i;

	*count = 0;
	if (nl_job_each(number, take_ours, &ours))
		return fail_code();
	for (i = 0; i < ours.count && !nl_job_end(number, ours.id[i]); i++)
		++*count;
	return fail_code();
}

static int see_read(uint64_t sector, uint32_t sectors, void *arg)
{
	struct replay *replay = arg;

	replay->seen++;
	if (replay->state == REPLAY_ON)
		*(loop_follow(&replay->loop, sector, sectors) ? &replay->ours : &replay->others) +=
			(uint64_t)sectors * SECTOR;
	else if (!loop_is_too_long(&replay->loop))
		return loop_record(&replay->loop, sector, sectors);
	return 0;
}

static void add_measure(struct measure *sum, const struct measure *more)
{
	sum->read += more->read;
	sum->origin += more->origin;
	sum->stall += more->stall;
}

/* Count samples in a row that may loop and miss, and samples in a row that do not loop. */
static void count_looks(struct replay *replay, const struct look *look)
{
	bool may_loop;

	if (!judge_may_loop(look, &may_loop))
		return;
	replay->said = look->time;
	replay->other = may_loop ? 0 : replay->other + 1;
	replay->missing = may_loop && look->measure.origin * 100 >= look->measure.read * MISSES ?
			  replay->missing + 1 : 0;
}

/* Turn the replay off, keep it off for conf->hold seconds, and report @news. */
static void give_up(struct replay *replay, const struct dm_device *dev,
		    const struct replay_look *what, struct replay_news *news)
{
	news->from = replay_stop(replay, dev->number);
	replay_hold(replay, what->look->time + what->conf->hold);
	tell_news(what, news);
}

static void begin_replay(struct replay *replay, const struct dm_device *dev,
			 const struct replay_look *what)
{
	struct replay_news news = {
		.why = "reads continue to miss: recording them to see whether their order repeats",
	};

	replay->state = REPLAY_RECORDS;
	replay->recorder = (struct recorder) { .visit = see_read, .arg = replay };
	if (loop_begin(&replay->loop, what->unit, dev->size) ||
	    recorder_open(&replay->recorder, dev->number)) {
		replay_free(replay);
		replay_hold(replay, what->look->time + what->conf->hold);
		return;
	}
	tell_news(what, &news);
}

/*
 * End a recording that has a complete pass.  Start the replay if the second pass has the order of
 * the first; otherwise, and with @observe, give_up().
 */
static void turn_on(struct replay *replay, const struct dm_device *dev,
		    const struct replay_look *what)
{
	const struct measure *m = &replay->before;
	bool repeats;
	uint64_t bytes = replay->loop.trace.bytes;
	struct replay_news news = { .state = what->observe ? "would" : "done", .to = bytes };
	char size[SIZE_TEXT];

	if (loop_close(&replay->loop)) {
		replay_free(replay);
		return;
	}
	repeats = loop_repeats(&replay->loop);
	trace_free(&replay->loop.second);
	if (!repeats) {
		news = (struct replay_news) { .why = "the same data was read again in another order" };
		give_up(replay, dev, what, &news);
		return;
	}
	snprintf(news.why, sizeof(news.why),
		 "%s were read again in the same order; %u %% of the last %" PRIu64
		 " bytes came from the origin", size_print(bytes, size),
		 (unsigned int)(100 * m->origin / m->read), m->read);
	if (what->observe) {
		give_up(replay, dev, what, &news);
		return;
	}
	replay->state = REPLAY_ON;
	replay->since = what->look->time;
	replay->tried = true;
	tell_news(what, &news);
}

static void look_at_record(struct replay *replay, const struct dm_device *dev,
			   const struct replay_look *what)
{
	uint64_t lost = recorder_lost(&replay->recorder);
	struct replay_news news = { .state = NULL };

	/* The first pass may have filled the cache: only the cost of the second one is comparable. */
	if (replay->loop.trace.bytes > replay->recorded)
		memset(&replay->before, 0, sizeof(replay->before));
	else
		add_measure(&replay->before, &what->look->measure);
	replay->recorded = replay->loop.trace.bytes;
	if (replay->other >= what->conf->settle) {
		replay_free(replay);
		return;
	}
	if (lost * 1000 > (replay->seen + lost) * LOST)
		snprintf(news.why, sizeof(news.why),
			 "reads came too fast to record: %" PRIu64 " of %" PRIu64
			 " were lost", lost, replay->seen + lost);
	else if (loop_is_too_long(&replay->loop))
		snprintf(news.why, sizeof(news.why),
			 "too many reads to record: %zu extents so far",
			 replay->loop.trace.count);
	else if (!loop_is_whole(&replay->loop) || what->busy ||
		 replay->before.read < READ_LEAST)
		return;
	else if (replay->before.origin * 100 <= replay->before.read * MISSES)
		snprintf(news.why, sizeof(news.why), "the data of the pass fits into the cache");
	if (*news.why)
		give_up(replay, dev, what, &news);
	else
		turn_on(replay, dev, what);
}

/* Evaluate the trial only at the end of a pass, because misses are not spread evenly over it. */
static void look_at_trial(struct replay *replay, const struct dm_device *dev,
			  const struct replay_look *what)
{
	uint64_t bytes = replay->loop.trace.bytes, passes = replay->after.read / bytes;
	struct replay_news news = { .from = bytes, .to = bytes, .state = "kept" };
	struct balance balance;

	add_measure(&replay->after, &what->look->measure);
	if (what->look->time < replay->since + what->conf->trial ||
	    replay->after.read / bytes == passes)
		return;
	replay->tried = false;
	judge_weigh(&replay->before, &replay->after, &balance);
	memcpy(news.why, balance.why, sizeof(news.why));
	/* Keep the replay only if reads take less time: it costs additional reads of the origin. */
	if (balance.stall_less) {
		tell_news(what, &news);
		return;
	}
	news.state = "taken-back";
	news.to = 0;
	give_up(replay, dev, what, &news);
}

static int submit_job(struct replay *replay, dev_t number, uint64_t from)
{
	struct nl_job wishes = { .label = REPLAY_LABEL, .deadline = DEADLINE };
	struct range *range;
	size_t count;

	range = loop_unroll(&replay->loop, from, replay->loop.trace.bytes * PASSES, EXTENTS_MOST,
			    &count);
	if (!range)
		return fail_code();
	replay->from = from;
	replay->come = from;
	replay->behind = 0;
	nl_job_submit(number, &wishes, range, count, &replay->job);
	free(range);
	return fail_code();
}

/* Update the place that the job has reached.  Returns whether the job still runs. */
static bool follow_job(struct replay *replay, dev_t number)
{
	uint32_t id = replay->job;
	struct nl_job job;
	bool found;

	if (!id || get_job(replay, number, &job, &found))
		return false;
	if (found && !nl_job_is_over(&job)) {
		replay->come = replay->from + job.fetched + job.present + job.left + job.flying;
		return true;
	}
	replay->job = 0;
	/* At its deadline a job leaves out the data that found no slot, so @come is unknown. */
	replay->come = found && !job.left ? replay->from + job.bytes : 0;
	/* Later data may be evicted before the reader comes to it. */
	if (replay->come > replay->loop.reader + replay->loop.trace.bytes)
		replay->come = replay->loop.reader + replay->loop.trace.bytes;
	if (found && job.state == NEARCACHE_JOB_CANCELLED)
		snprintf(replay->why, sizeof(replay->why), "a user cancelled job %u", id);
	return false;
}

/* Whether the job has been behind the reader for PATIENCE, so that the reader has jumped. */
static bool is_behind(struct replay *replay)
{
	uint64_t now = watch_now();

	if (replay->come + replay->loop.trace.bytes / JUMP >= replay->loop.reader)
		replay->behind = 0;
	else if (!replay->behind)
		replay->behind = now;
	return replay->behind && now - replay->behind >= PATIENCE;
}

/* Measure the speed of the reader once per second.  A pause of the reader does not change @pace. */
static void measure_pace(struct replay *replay)
{
	uint64_t now = watch_now(), took = now - replay->looked;

	if (replay->looked && took < SECOND)
		return;
	if (replay->looked && replay->loop.reader > replay->place)
		replay->pace = (uint64_t)((double)(replay->loop.reader - replay->place) /
					  (double)took * SECOND);
	/* Faster than a pass per second: reads of another process were mistaken for the reader. */
	if (replay->pace > replay->loop.trace.bytes)
		replay->pace = 0;
	replay->looked = now;
	replay->place = replay->loop.reader;
}

/*
 * Keep one job running with the data that the reader needs next, for several passes.  The kernel
 * brings as much of it ahead of the reader as the prefetch reserve holds, and leaves out what the
 * reader has passed.  End a job that stays behind the reader, and begin another one at its place.
 */
static int steer_job(struct replay *replay, dev_t number)
{
	bool runs = follow_job(replay, number);
	uint64_t from, bytes = replay->loop.trace.bytes;

	if (fail_code() || *replay->why)
		return fail_code();
	measure_pace(replay);
	if (!replay->pace || (runs && !is_behind(replay)) ||
	    (!runs && replay->come >= replay->loop.reader + bytes / AHEAD))
		return 0;
	if (runs && nl_job_end(number, replay->job))
		return fail_code();
	replay->job = 0;
	/* A job that ends at once must not be followed by one in each step. */
	replay->retry = watch_now() + SECOND;
	from = replay->loop.reader + replay->pace / HEAD;
	if (!runs && replay->come > from)
		from = replay->come;
	return submit_job(replay, number, from - from % SECTOR);
}

/*
 * Read the recorder, and submit the next job if necessary.  If the device is busy (suspended, or
 * about to get another table), retry in a second.  replay_look() reports other errors from @why.
 */
void replay_step(struct replay *replay, dev_t number)
{
	if (replay->state == REPLAY_OFF || *replay->why)
		return;
	if (!recorder_look(&replay->recorder) && replay->state == REPLAY_ON &&
	    replay->loop.known && watch_now() >= replay->retry)
		steer_job(replay, number);
	if (fail_code() == CODE_BUSY)
		replay->retry = watch_now() + SECOND;
	else if (fail_code())
		snprintf(replay->why, sizeof(replay->why), "%s", fail_message());
	fail_reset();
}

/* True if @looks times in a row most of READ_LEAST (or more) bytes were outside the loop. */
static bool is_strange(struct replay *replay, unsigned int looks)
{
	if (replay->ours + replay->others >= READ_LEAST) {
		replay->strange = replay->others > replay->ours ? replay->strange + 1 : 0;
		replay->ours = 0;
		replay->others = 0;
	}
	return replay->strange >= looks;
}

/* End the replay: the loop is no longer read.  Unlike give_up(), allow a new start at once. */
static void end_replay(struct replay *replay, const struct dm_device *dev,
		       const struct replay_look *what, const char *why)
{
	struct replay_news news = { .state = replay->state == REPLAY_ON ? "done" : NULL };

	snprintf(news.why, sizeof(news.why), "%s", why);
	news.from = replay_stop(replay, dev->number);
	tell_news(what, &news);
}

static void look_at_loop(struct replay *replay, const struct dm_device *dev,
			 const struct replay_look *what)
{
	if (replay->other >= what->conf->settle)
		end_replay(replay, dev, what, "the device is no longer read in the same order");
	else if (is_strange(replay, what->conf->settle))
		end_replay(replay, dev, what, "most reads are outside the loop now");
	else if (replay->tried)
		look_at_trial(replay, dev, what);
}

/* Evaluate a sample: start, continue or end recording and replay. */
int replay_look(struct replay *replay, const struct dm_device *dev,
		const struct replay_look *what)
{
	const struct look *look = what->look;
	struct replay_news news = { .state = replay->state == REPLAY_ON ? "done" : NULL };

	count_looks(replay, look);
	replay_step(replay, dev->number);
	if (*replay->why) {
		memcpy(news.why, replay->why, sizeof(news.why));
		give_up(replay, dev, what, &news);
		return fail_code();
	}
	/* Nothing was classified for conf->hold seconds: reads or the classifier have stopped. */
	if (replay->state != REPLAY_OFF && look->time >= replay->said + what->conf->hold) {
		end_replay(replay, dev, what, "the class of its reads is no longer known");
		return fail_code();
	}
	switch (replay->state) {
	case REPLAY_OFF:
		if (replay->missing >= what->conf->settle && look->time >= replay->held)
			begin_replay(replay, dev, what);
		break;
	case REPLAY_RECORDS:
		look_at_record(replay, dev, what);
		break;
	case REPLAY_ON:
		look_at_loop(replay, dev, what);
		break;
	}
	return fail_code();
}
