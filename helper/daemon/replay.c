// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "netlink/client.h"
#include "lib/size.h"
#include "lib/interval.h"

/* Of 100 bytes read, so many must come from the origin: below, it fits, but for noise. */
#define MISSES		5U
/* Of 1000 reads, so many may be lost to the recorder: what is not recorded is not brought. */
#define LOST		10U
/* Extents of a job: a quarter of what the kernel takes of all of them. */
#define EXTENTS_MOST	262144U
/* What the reader reads in so many seconds is brought before he does.  After five a job that waits
 * drops what nobody has read.
 */
#define AHEAD		4U
/* Until a job is under way he reads for a second, divided by this. */
#define HEAD		4U
#define SECOND		1000000000ULL
#define SECTOR		512U
/* So much must be read before it is said whether it is of the loop. */
#define READ_LEAST	(4U << 20)

static void tell_news(const struct replay_look *what, struct replay_news *news)
{
	what->told(news, what->arg);
}

/**
 * replay_free() - forget a device that is no more
 * @replay: it; what it was held for stays
 */
void replay_free(struct replay *replay)
{
	uint64_t held = replay->held;

	if (replay->state != REPLAY_OFF)
		recorder_close(&replay->recorder);
	loop_free(&replay->loop);
	memset(replay, 0, sizeof(*replay));
	replay->held = held;
}

/**
 * replay_stop() - bring no more
 * @replay: of the device
 * @number: of it
 *
 * Return: bytes of the pass that was brought so far, 0: none was.
 */
uint64_t replay_stop(struct replay *replay, dev_t number)
{
	uint64_t bytes = replay->state == REPLAY_ON ? replay->loop.trace.bytes : 0;

	/* A device that is gone has no jobs; another job ends soon, as nobody reads what it brings. */
	if (replay->job && nl_job_end(number, replay->job))
		fail_reset();
	replay_free(replay);
	return bytes;
}

/**
 * replay_hold() - leave a device alone that is off
 * @replay: of it
 * @until: time
 */
void replay_hold(struct replay *replay, uint64_t until)
{
	replay->held = until;
}

/**
 * struct ours - jobs of the daemon that run
 * @id: numbers; it never has more than one, and one of a daemon that was killed
 * @count: how many
 */
struct ours {
	uint32_t id[8];
	size_t count;
};

static void take_ours(const struct nl_job *job, void *arg)
{
	struct ours *ours = arg;

	if (job->state == NEARCACHE_JOB_RUNNING && !strcmp(job->label, REPLAY_LABEL) &&
	    ours->count < sizeof(ours->id) / sizeof(ours->id[0]))
		ours->id[ours->count++] = job->id;
}

/**
 * replay_cancel() - end what a daemon brings, which may be another process, or none any more
 * @number: of the device
 * @count: how many jobs that were
 *
 * Return: 0 or the exit code.
 */
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

/* Count looks in a row that say so, or say something else. */
static void count_looks(struct replay *replay, const struct look *look)
{
	bool loops;

	if (!judge_says(look, NEARCACHE_CLASS_LOOPING, &loops))
		return;
	replay->said = look->time;
	replay->other = loops ? 0 : replay->other + 1;
	replay->looping = loops && look->measure.origin * 100 >= look->measure.read * MISSES ?
			  replay->looping + 1 : 0;
}

/* Off, and left alone for a while. */
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
	struct replay_news news = { .why = "looping reads go on to miss: a pass is recorded" };

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

/* A pass was recorded. */
static void turn_on(struct replay *replay, const struct dm_device *dev,
		    const struct replay_look *what)
{
	const struct measure *m = &replay->before;
	uint64_t bytes = replay->loop.trace.bytes;
	struct replay_news news = { .state = what->observe ? "would" : "done", .to = bytes };
	char size[SIZE_TEXT];

	snprintf(news.why, sizeof(news.why),
		 "%s were read in the same order again; %u %% of the last %" PRIu64
		 " bytes came from the origin", size_print(bytes, size),
		 (unsigned int)(100 * m->origin / m->read), m->read);
	if (what->observe) {
		give_up(replay, dev, what, &news);
		return;
	}
	if (loop_close(&replay->loop)) {
		replay_free(replay);
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

	/* What is read again until that is believed is of no pass. */
	add_measure(&replay->again, &what->look->measure);
	if (replay->loop.trace.bytes > replay->recorded) {
		add_measure(&replay->before, &replay->again);
		memset(&replay->again, 0, sizeof(replay->again));
	}
	replay->recorded = replay->loop.trace.bytes;
	if (replay->other >= what->conf->settle) {
		replay_free(replay);
		return;
	}
	if (lost * 1000 > (replay->seen + lost) * LOST)
		snprintf(news.why, sizeof(news.why),
			 "looping reads come too fast to be recorded: %" PRIu64 " of %" PRIu64
			 " were lost", lost, replay->seen + lost);
	else if (loop_is_too_long(&replay->loop))
		snprintf(news.why, sizeof(news.why),
			 "looping reads are too many to be recorded: %zu pieces so far",
			 replay->loop.trace.count);
	else if (!loop_is_whole(&replay->loop))
		return;
	else if (replay->before.origin * 100 <= replay->before.read * MISSES)
		snprintf(news.why, sizeof(news.why), "what is read again and again fits by now");
	if (*news.why)
		give_up(replay, dev, what, &news);
	else
		turn_on(replay, dev, what);
}

/* Did it help?  Of whole passes, as what is missing of one is not spread evenly. */
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
	/* It is no use that things are as they were. */
	if (balance.stall_less) {
		tell_news(what, &news);
		return;
	}
	news.state = "taken-back";
	news.to = 0;
	give_up(replay, dev, what, &news);
}

static int submit_range(struct replay *replay, dev_t number, uint64_t from, uint64_t bytes)
{
	struct nl_job wishes = { .label = REPLAY_LABEL };
	struct range *range;
	size_t count;

	range = loop_unroll(&replay->loop, from, bytes, EXTENTS_MOST, &count);
	if (!range)
		return fail_code();
	replay->from = from;
	replay->come = from;
	replay->follows = true;
	if (!nl_job_submit(number, &wishes, range, count, &replay->job))
		replay->next = replay->loop.reader + replay->pace;
	free(range);
	return fail_code();
}

/* Where the job is.  Return: whether it runs. */
static bool follow_job(struct replay *replay, dev_t number)
{
	uint32_t id = replay->job;
	struct nl_job job;
	bool found;

	if (!id || nl_job_get(number, id, &job, &found))
		return false;
	if (found && job.state == NEARCACHE_JOB_RUNNING) {
		replay->come = replay->from + job.fetched + job.present + job.left + job.flying;
		return true;
	}
	replay->job = 0;
	replay->come = replay->from + job.bytes;
	/* Nobody came to read what it had brought, and so it has left the rest. */
	replay->follows = found && !job.left;
	if (found && job.state == NEARCACHE_JOB_CANCELLED)
		snprintf(replay->why, sizeof(replay->why), "somebody cancelled job %u", id);
	return false;
}

/* How fast he reads, while he does. */
static void measure_pace(struct replay *replay)
{
	uint64_t now = watch_now(), took = now - replay->looked;

	if (replay->looked && took < SECOND)
		return;
	if (replay->looked && replay->loop.reader > replay->place)
		replay->pace = (uint64_t)((double)(replay->loop.reader - replay->place) /
					  (double)took * SECOND);
	/* Somebody else's reads were taken for his. */
	if (replay->pace > replay->loop.trace.bytes)
		replay->pace = 0;
	replay->looked = now;
	replay->place = replay->loop.reader;
}

/*
 * One job at a time, of what the reader wants next.  All of a pass would not do: what is missing
 * of it is what was read last in the pass that filled the cache, and before that a job would wait
 * for the reader for longer than jobs do.  One that is behind brings what was read already.
 */
static int steer_job(struct replay *replay, dev_t number)
{
	bool runs = follow_job(replay, number);
	uint64_t from, bytes;

	if (fail_code() || *replay->why)
		return fail_code();
	measure_pace(replay);
	if (!replay->pace || (runs && replay->come >= replay->loop.reader))
		return 0;
	if (runs && nl_job_end(number, replay->job))
		return fail_code();
	replay->job = 0;
	/* What was left would be left again. */
	if (!replay->follows && replay->loop.reader < replay->next)
		return 0;
	bytes = loop_next(&replay->loop, replay->follows ? &replay->come : NULL,
			  replay->pace / HEAD, replay->pace * AHEAD, &from);
	return bytes ? submit_range(replay, number, from, bytes) : 0;
}

/**
 * replay_step() - see what was read, and bring what is next
 * @replay: of a device
 * @number: of it
 *
 * What fails is for the next replay_look(), but that a device is busy for a while: suspended, or
 * given another table.
 */
void replay_step(struct replay *replay, dev_t number)
{
	if (replay->state == REPLAY_OFF || *replay->why)
		return;
	if (!recorder_look(&replay->recorder) && replay->state == REPLAY_ON &&
	    replay->loop.known && watch_now() >= replay->retry)
		steer_job(replay, number);
	if (fail_code() == CODE_BUSY) {
		replay->retry = watch_now() + SECOND;
		replay->follows = false;
	} else if (fail_code()) {
		snprintf(replay->why, sizeof(replay->why), "%s", fail_message());
	}
	fail_reset();
}

/* Is something else read by now? */
static bool is_strange(struct replay *replay, unsigned int looks)
{
	if (replay->ours + replay->others >= READ_LEAST) {
		replay->strange = replay->others > replay->ours ? replay->strange + 1 : 0;
		replay->ours = 0;
		replay->others = 0;
	}
	return replay->strange >= looks;
}

/* Without a fault of its own. */
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
		end_replay(replay, dev, what, "it is not read in the same order any more");
	else if (is_strange(replay, what->conf->settle))
		end_replay(replay, dev, what, "something else is read by now");
	else if (replay->tried)
		look_at_trial(replay, dev, what);
}

/**
 * replay_look() - see what is to be done about looping reads, and do it
 * @replay: what is known of the device
 * @dev: device
 * @what: happened, and may be done
 *
 * Return: 0 or the exit code.
 */
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
	/* Nobody reads, or nothing tells how. */
	if (replay->state != REPLAY_OFF && look->time >= replay->said + what->conf->hold) {
		end_replay(replay, dev, what, "it is not known any more how it is read");
		return fail_code();
	}
	switch (replay->state) {
	case REPLAY_OFF:
		if (replay->looping >= what->conf->settle && look->time >= replay->held &&
		    !what->busy)
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
