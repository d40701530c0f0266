// SPDX-License-Identifier: GPL-2.0-only
/* files/job_parts.c: more ranges than a job may have become several jobs, two at a time. */
#include <stdlib.h>
#include <string.h>

#include "files/job_parts.h"
#include "files/job_wait.h"
#include "lib/error.h"
#include "unit.h"

#define FILES	1300000U

static const struct dm_device dev = { .name = "nc" };
static const struct nl_job wishes = { .label = "l" };
static struct range *piece;
static struct nl_job sum;
static size_t parts, next_piece, running, most_running, most_pieces, cancelled;
static uint32_t ids, cancel_at, stall_at, fail_at;

int nl_job_submit(dev_t number, const struct nl_job *job, const struct range *range, size_t count,
		  uint32_t *id)
{
	(void)number;
	assert_string_equal(job->label, "l");
	assert_ptr_equal(range, piece + next_piece);
	assert_true(count <= NL_JOB_PIECES_MAX);
	if (fail_at == ids + 1)
		return (fail)(CODE_DEVICE, "NO JOB");
	next_piece += count;
	most_pieces = count > most_pieces ? count : most_pieces;
	if (++running > most_running)
		most_running = running;
	*id = ++ids;
	return 0;
}

int job_wait(const struct dm_device *of, uint32_t id, bool quiet, struct nl_job *job)
{
	(void)of;
	(void)quiet;
	running--;
	*job = (struct nl_job){ .id = id, .state = NEARCACHE_JOB_DONE, .bytes = 10, .fetched = 7,
				.left = 3 };
	if (cancel_at && id >= cancel_at)
		job->state = NEARCACHE_JOB_CANCELLED;
	return 0;
}

int job_wait_or_stall(const struct dm_device *of, uint32_t id, bool quiet, struct nl_job *job)
{
	if (stall_at != id)
		return job_wait(of, id, quiet, job);
	*job = (struct nl_job){ .id = id, .state = NEARCACHE_JOB_WAITING };
	return 0;
}

int nl_job_end(dev_t number, uint32_t id)
{
	(void)number;
	assert_true(id > cancel_at);
	cancelled++;
	return 0;
}

static int try_parts(size_t count, bool wait)
{
	next_piece = running = most_running = most_pieces = cancelled = ids = 0;
	return job_parts_run(&dev, &wishes, piece, count, wait, true, &sum, &parts);
}

static void run_parts(size_t count, bool wait)
{
	assert_int_equal(try_parts(count, wait), 0);
}

static void one_job(void **state)
{
	(void)state;
	run_parts(NL_JOB_PIECES_MAX, false);
	assert_int_equal(parts, 1);
	assert_int_equal(sum.id, 1);
	assert_int_equal(sum.bytes, 0);
	run_parts(5, true);
	assert_int_equal(parts, 1);
	assert_int_equal(sum.bytes, 10);
	assert_int_equal(sum.left, 3);
}

static void many_jobs(void **state)
{
	(void)state;
	run_parts(FILES, true);
	assert_int_equal(parts, 5);
	assert_int_equal(next_piece, FILES);
	assert_int_equal(most_running, 2);
	assert_int_equal(running, 0);
	assert_int_equal(most_pieces, PART_PIECES);
	assert_int_equal(sum.bytes, 50);
	assert_int_equal(sum.fetched, 35);
	assert_int_equal(sum.state, NEARCACHE_JOB_DONE);
	run_parts(FILES, false);
	assert_int_equal(running, 2);
	assert_int_equal(sum.id, 5);
	assert_int_equal(sum.bytes, 0);
}

/* ^C cancels the job that is awaited: the next is cancelled too, and no more are submitted. */
static void interrupted(void **state)
{
	(void)state;
	cancel_at = 2;
	run_parts(FILES, false);
	cancel_at = 0;
	assert_int_equal(parts, 3);
	assert_int_equal(running, 0);
	assert_int_equal(cancelled, 1);
	assert_int_equal(sum.state, NEARCACHE_JOB_CANCELLED);
	assert_int_equal(sum.bytes, 30);
}

static void says(const char *text)
{
	if (!strstr(fail_message(), text))
		fail_msg("'%s' does not say '%s'", fail_message(), text);
}

/* Without --wait the command ends although a job waits for readers; with --wait it goes on. */
static void stalled(void **state)
{
	(void)state;
	stall_at = 2;
	assert_int_equal(try_parts(FILES, false), CODE_BUSY);
	says("job 2 of 'nc' waits until data in the cache has been read");
	says("jobs 2 to 3 go on");
	says("for 513568 of 1300000 ranges were not started");
	fail_reset();
	run_parts(FILES, true);
	stall_at = 0;
	assert_int_equal(parts, 5);
}

static void refused(void **state)
{
	(void)state;
	fail_at = 4;
	assert_int_equal(try_parts(FILES, false), CODE_DEVICE);
	says("NO JOB");
	says("jobs 3 to 3 go on");
	fail_reset();
	fail_at = 1;
	assert_int_equal(try_parts(5, false), CODE_DEVICE);
	fail_at = 0;
	assert_string_equal(fail_message(), "NO JOB");
	fail_reset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_job),
		cmocka_unit_test(many_jobs),
		cmocka_unit_test(interrupted),
		cmocka_unit_test(stalled),
		cmocka_unit_test(refused),
	};
	int failed;

	piece = calloc(FILES, sizeof(*piece));
	failed = piece ? RUN(tests) : 1;
	free(piece);
	return failed;
}
