// SPDX-License-Identifier: GPL-2.0-only
/* files/job_wait.c: waiting for the end of a prefetch job, with a fake kernel and fake ^C. */
#include "lib/error.h"
#include "files/job_wait.h"
#include "block/signals.h"
#include "unit.h"

/* Answer of the kernel to a query.  @signal: then ^C comes.  @too_late: then a cancel fails. */
struct look {
	bool gone;
	bool signal;
	bool too_late;
	struct nl_job job;
};

static const struct look *script;
static size_t rows, at, cancels;

int nl_job_get(dev_t number, uint32_t id, struct nl_job *job, bool *found)
{
	(void)number;
	assert_int_equal(id, 7);
	assert_in_range(at, 0, rows - 1);
	*found = !script[at].gone;
	*job = script[at].job;
	job->id = id;
	return 0;
}

int nl_job_cancel(dev_t number, uint32_t id, uint64_t *count)
{
	(void)number;
	assert_int_equal(id, 7);
	cancels++;
	*count = !script[at - 1].too_late;
	return *count ? 0 : (fail)(CODE_DEVICE, "it is over");
}

bool signals_wait(unsigned int milliseconds)
{
	(void)milliseconds;
	return script[at++].signal;
}

void signals_hold(sigset_t *before)
{
	(void)before;
}

void signals_release(const sigset_t *before)
{
	(void)before;
}

void print_ratio(const char *key, const char *label, uint64_t part,
		 uint64_t whole)
{
	(void)key;
	(void)label;
	(void)part;
	(void)whole;
}

#define RUNNING(...)	{ .job = { .label = "a", .bytes = 100, __VA_ARGS__ } }
#define CTRL_C(...)	{ .signal = true, .job = { .label = "a", .bytes = 100, __VA_ARGS__ } }
#define GONE		{ .gone = true }

/* Wait with answers @look; expect job state @state and @asked cancel requests.  Return the code. */
static int waited(const struct look *look, size_t count, uint32_t state,
		  size_t asked)
{
	static const struct dm_device dev = { .name = "nc" };
	struct nl_job job = { .label = "a" };

	fail_reset();
	script = look;
	rows = count;
	at = 0;
	cancels = 0;
	assert_int_equal(job_wait(&dev, 7, true, &job), 0);
	assert_int_equal(at, count - 1);
	assert_int_equal(job.id, 7);
	assert_int_equal(job.state, state);
	assert_int_equal(cancels, asked);
	return job_judge(&dev, &job);
}

#define WAITED(state, asked, ...)						\
	waited((const struct look[]){ __VA_ARGS__ },				\
	       sizeof((const struct look[]){ __VA_ARGS__ }) / sizeof(struct look), \
	       state, asked)

static void ends(void **state)
{
	(void)state;
	assert_int_equal(WAITED(NEARCACHE_JOB_DONE, 0, RUNNING(.flying = 9),
				RUNNING(.fetched = 40),
				RUNNING(.state = NEARCACHE_JOB_DONE,
					.fetched = 100)), CODE_OK);
	assert_int_equal(WAITED(NEARCACHE_JOB_INCOMPLETE, 0,
				RUNNING(.state = NEARCACHE_JOB_WAITING),
				RUNNING(.state = NEARCACHE_JOB_INCOMPLETE,
					.left = 10)), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), "left out 10 B of 100 B"));
}

/* The kernel has forgotten the ended job, or another job has its number: no error. */
static void forgotten(void **state)
{
	(void)state;
	assert_int_equal(WAITED(JOB_FORGOTTEN, 0, GONE), CODE_OK);
	assert_int_equal(WAITED(JOB_FORGOTTEN, 0, RUNNING(.fetched = 40), GONE),
			 CODE_OK);
	assert_int_equal(WAITED(JOB_FORGOTTEN, 0, RUNNING(.fetched = 40),
				{ .job = { .label = "a", .bytes = 99 } }),
			 CODE_OK);
	assert_int_equal(WAITED(JOB_FORGOTTEN, 0,
				{ .job = { .label = "b", .bytes = 100,
					   .state = NEARCACHE_JOB_DONE,
					   .left = 100 } }), CODE_OK);
	assert_string_equal(job_state_word(JOB_FORGOTTEN), "forgotten");
}

/* After ^C the helper cancels the job once and waits until no read is in flight. */
static void cancelled(void **state)
{
	(void)state;
	assert_int_equal(WAITED(NEARCACHE_JOB_CANCELLED, 1, CTRL_C(.fetched = 40),
				RUNNING(.state = NEARCACHE_JOB_CANCELLED,
					.fetched = 40, .flying = 9),
				RUNNING(.state = NEARCACHE_JOB_CANCELLED,
					.fetched = 49)), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), "cancelled: 49 B of 100 B are cached"));
	assert_null(strstr(fail_message(), "in flight"));
	assert_int_equal(WAITED(NEARCACHE_JOB_CANCELLED, 1, CTRL_C(.fetched = 40),
				GONE), CODE_DEVICE);
	assert_int_equal(WAITED(JOB_FORGOTTEN, 1,
				{ .signal = true, .too_late = true,
				  .job = { .label = "a", .bytes = 100 } },
				GONE), CODE_OK);
}

/* A read in flight hangs: the second ^C ends the wait. */
static void cancelled_twice(void **state)
{
	(void)state;
	assert_int_equal(WAITED(NEARCACHE_JOB_CANCELLED, 1,
				CTRL_C(.fetched = 40, .flying = 9),
				RUNNING(.state = NEARCACHE_JOB_CANCELLED,
					.fetched = 40, .flying = 9),
				CTRL_C(.state = NEARCACHE_JOB_CANCELLED,
				       .fetched = 40, .flying = 9),
				GONE), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), "cancelled: 40 B of 100 B are cached, still in flight: 9 B"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends),
		cmocka_unit_test(forgotten),
		cmocka_unit_test(cancelled),
		cmocka_unit_test(cancelled_twice),
	};

	return RUN(tests);
}
