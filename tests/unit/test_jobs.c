// SPDX-License-Identifier: GPL-2.0-only
/* kmod/prefetch/job.c: which job runs next, what another pass brings, when a job is dropped. */
#include <stdlib.h>

#include "helper/unit.h"
#include "prefetch/job.h"

static struct nc_jobs jobs;

static struct nc_job *add(u8 priority, unsigned long deadline)
{
	struct nc_job *job = calloc(1, sizeof(*job));

	assert_non_null(job);
	job->priority = priority;
	job->deadline = deadline;
	job->pieces = 2;
	job->at = NC_JOB_SPARE;
	assert_true(nc_jobs_add(&jobs, job));
	return job;
}

static int setup(void **state)
{
	(void)state;
	jobs = (struct nc_jobs){ 0 };
	nc_jobs_init(&jobs);
	return 0;
}

static int teardown(void **state)
{
	struct list_head gone;

	(void)state;
	INIT_LIST_HEAD(&gone);
	nc_jobs_detach(&jobs, &gone);
	/* Reclaim may look at the empty lists while the jobs are freed. */
	assert_null(nc_jobs_next(&jobs, 0));
	nc_jobs_free(&gone);
	return 0;
}

static struct nc_job *pick(void)
{
	unsigned long wait = ~0UL;

	return nc_jobs_pick(&jobs, 1000, false, false, &wait);
}

static void end(struct nc_job *job)
{
	job->state = NEARCACHE_JOB_DONE;
	nc_job_free(nc_jobs_end(&jobs, job));
}

static void in_order(void **state)
{
	struct nc_job *late, *soon, *high, *none;

	(void)state;
	assert_null(pick());
	none = add(0, 0);
	late = add(0, 3000);
	soon = add(0, 2000);
	high = add(1, 0);
	assert_ptr_equal(pick(), high);
	assert_ptr_equal(pick(), high);
	end(high);
	assert_ptr_equal(pick(), soon);
	end(soon);
	assert_ptr_equal(pick(), late);
	end(late);
	assert_ptr_equal(pick(), none);
	assert_int_equal(jobs.count, 1);
	assert_int_equal(jobs.pieces, 2);
}

/* Equal jobs take turns.  A job that waits for a cache slot holds up no other job. */
static void alike(void **state)
{
	struct nc_job *a = add(2, 0), *b = add(2, 0), *c = add(1, 0);
	unsigned long wait = 500;

	(void)state;
	assert_ptr_equal(pick(), a);
	assert_ptr_equal(pick(), b);
	assert_ptr_equal(pick(), a);
	assert_int_equal(nc_job_state(a), NEARCACHE_JOB_RUNNING);
	a->waits = true;
	a->due = 9000;
	assert_int_equal(nc_job_state(a), NEARCACHE_JOB_WAITING);
	assert_ptr_equal(pick(), b);
	assert_ptr_equal(pick(), b);
	b->waits = true;
	b->due = 9000;
	assert_ptr_equal(pick(), c);
	/* All jobs that wait try again; a job that a bandwidth limit holds back does not. */
	c->due = 9000;
	assert_null(pick());
	nc_jobs_retry(&jobs);
	assert_ptr_equal(pick(), a);
	assert_ptr_equal(pick(), b);
	assert_int_equal(c->due, 9000);
	/* A job that waits and has used its bandwidth tries again when the bandwidth allows. */
	a->due = 9000;
	a->pace = 1200;
	b->due = 9000;
	nc_jobs_retry(&jobs);
	assert_ptr_equal(pick(), b);
	b->due = 9000;
	assert_null(nc_jobs_pick(&jobs, 1000, false, false, &wait));
	assert_int_equal(wait, 200);
	assert_ptr_equal(nc_jobs_pick(&jobs, 1200, false, false, &wait), a);
	a->state = NEARCACHE_JOB_CANCELLED;
	assert_int_equal(nc_job_state(a), NEARCACHE_JOB_CANCELLED);
}

/* A job is not picked before @due, nor before @pace; @wait falls to the time left. */
static void kept_back(void **state)
{
	struct nc_job *slow = add(7, 0), *fast = add(0, 0);
	unsigned long wait = 500;

	(void)state;
	slow->due = 1200;
	assert_ptr_equal(nc_jobs_pick(&jobs, 1000, false, false, &wait), fast);
	assert_int_equal(wait, 200);
	end(fast);
	wait = 100;
	assert_null(nc_jobs_pick(&jobs, 1000, false, false, &wait));
	assert_int_equal(wait, 100);
	assert_ptr_equal(nc_jobs_pick(&jobs, 1200, false, false, &wait), slow);
	slow->pace = 1300;
	assert_null(nc_jobs_pick(&jobs, 1250, false, false, &wait));
	assert_int_equal(wait, 50);
	slow->pace = 0;
	/* Jiffies wrap: 5 is 10 jiffies after ~0UL - 4. */
	slow->due = 5;
	assert_null(nc_jobs_pick(&jobs, ~0UL - 4, false, false, &wait));
	assert_int_equal(wait, 10);
	assert_ptr_equal(nc_jobs_pick(&jobs, 6, false, false, &wait), slow);
	fast = add(7, 0);
	slow->at = NC_JOB_SPARE + slow->pieces;
	slow->flying = 1;
	assert_ptr_equal(nc_jobs_pick(&jobs, 6, false, false, &wait), fast);
	slow->flying = 0;
	slow->priority = 0;
	slow->due = 5000;
	assert_ptr_equal(nc_jobs_pick(&jobs, 6, false, false, &wait), slow);
	slow->at = NC_JOB_SPARE;
	slow->state = NEARCACHE_JOB_CANCELLED;
	assert_ptr_equal(nc_jobs_pick(&jobs, 6, false, false, &wait), slow);
}

static void numbered(void **state)
{
	struct nc_job *a, *b, *c;

	(void)state;
	jobs.last = ~0U - 1;
	a = add(0, 0);
	b = add(0, 0);
	assert_int_equal(a->id, ~0U);
	/* Numbers wrap and skip 0, which is no job, and numbers in use. */
	assert_int_equal(b->id, 1);
	jobs.last = ~0U - 1;
	c = add(0, 0);
	assert_int_equal(c->id, 2);
	end(b);
	assert_ptr_equal(nc_jobs_find(&jobs, 1), b);
	assert_ptr_equal(nc_jobs_find(&jobs, ~0U), a);
	assert_null(nc_jobs_find(&jobs, 3));
	assert_ptr_equal(nc_jobs_next(&jobs, 0), b);
	assert_ptr_equal(nc_jobs_next(&jobs, 1), c);
	assert_ptr_equal(nc_jobs_next(&jobs, 2), a);
	assert_null(nc_jobs_next(&jobs, ~0U));
}

static void bounded(void **state)
{
	struct nc_job more = { .pieces = 1 }, *job;
	u32 i;

	(void)state;
	for (i = 0; i < NC_JOBS_MAX; i++)
		add(0, 0);
	assert_false(nc_jobs_add(&jobs, &more));
	/* An ended job can be looked up until NC_JOBS_OVER_MAX newer jobs have ended. */
	for (i = 1; i <= NC_JOBS_MAX; i++)
		end(nc_jobs_find(&jobs, i));
	assert_int_equal(jobs.count + jobs.pieces, 0);
	assert_int_equal(jobs.over_count, NC_JOBS_OVER_MAX);
	job = add(0, 0);
	end(job);
	assert_null(nc_jobs_find(&jobs, 1));
	assert_ptr_equal(nc_jobs_find(&jobs, job->id), job);
	assert_int_equal(jobs.over_count, NC_JOBS_OVER_MAX);
	more.pieces = NC_JOB_PIECES_MAX + 1;
	assert_false(nc_jobs_add(&jobs, &more));
	more.pieces = NC_JOB_PIECES_MAX;
	assert_true(nc_jobs_add(&jobs, &more));
	job = calloc(1, sizeof(*job));
	job->pieces = 1;
	assert_false(nc_jobs_add(&jobs, job));
	free(job);
	list_del(&more.list);
}

/* Jobs that read the origin and jobs that read at peers are held back apart. */
static void held(void **state)
{
	struct nc_job *far = add(7, 0), *near = add(0, 0);
	unsigned long wait = 500;

	(void)state;
	near->peer_dev = 1;
	assert_ptr_equal(nc_jobs_pick(&jobs, 6, true, false, &wait), near);
	assert_ptr_equal(nc_jobs_pick(&jobs, 6, false, true, &wait), far);
	assert_null(nc_jobs_pick(&jobs, 6, true, true, &wait));
	near->flying = NC_JOB_PEER_BYTES / 2 + 1;
	assert_null(nc_jobs_pick(&jobs, 6, true, false, &wait));
	assert_int_equal(wait, 500);
	near->flying = 0;
}

/* A job whose peer fails too often ends: nothing more is submitted or kept. */
static void lost(void **state)
{
	struct nc_job *job = add(7, 0), *other = add(0, 0);
	unsigned long wait = 500;

	(void)state;
	job->piece = calloc(NC_JOB_SPARE + 2, sizeof(*job->piece));
	job->failures = NC_JOB_FAILURES_MAX - 1;
	assert_false(nc_job_is_sent(job));
	assert_true(nc_job_keep(job, 8, 16, 4096));
	job->failures++;
	assert_true(nc_job_is_sent(job));
	assert_false(nc_job_keep(job, 24, 32, 4096));
	job->flying = 4096;
	assert_ptr_equal(nc_jobs_pick(&jobs, 6, false, false, &wait), other);
	job->flying = 0;
	assert_ptr_equal(nc_jobs_pick(&jobs, 6, false, false, &wait), job);
}

/* A further pass brings only what was kept: adjacent data as one piece, and no more than fits. */
static void again(void **state)
{
	struct nc_job *job = add(0, 0);
	u32 i, end = NC_JOB_SPARE + 2;

	(void)state;
	job->piece = calloc(end, sizeof(*job->piece));
	assert_true(nc_job_keep(job, 8, 16, 4096));
	assert_true(nc_job_keep(job, 16, 24, 4096));
	assert_true(nc_job_keep(job, 40, 48, 4096));
	assert_int_equal(job->kept, 2);
	assert_int_equal(job->again, 3 * 4096);
	job->at = end;
	nc_job_again(job);
	assert_int_equal(job->pass, 1);
	assert_int_equal(job->again + job->kept, 0);
	assert_int_equal(job->at, end - 2);
	assert_int_equal(job->sector, 8);
	assert_int_equal(job->piece[end - 2].end, 24);
	assert_int_equal(job->piece[end - 1].first, 40);
	for (i = 0; i < job->at; i++)
		assert_true(nc_job_keep(job, 64 * i, 64 * i + 8, 4096));
	assert_false(nc_job_keep(job, 8000, 8008, 4096));
	assert_int_equal(job->again, job->at * 4096);
	assert_int_equal(job->piece[end - 2].first, 8);
	job->at = end;
	nc_job_again(job);
	/* No pass comes after the third. */
	assert_false(nc_job_keep(job, 8000, 8008, 4096));
}

/* Each block of 16 sectors counts once, however few sectors of it the pieces want. */
static void blocks(void **state)
{
	struct nc_job *job = add(0, 0);

	(void)state;
	job->piece = calloc(NC_JOB_SPARE + 4, sizeof(*job->piece));
	job->piece[NC_JOB_SPARE] = (struct nc_piece){ 8, 40 };
	job->piece[NC_JOB_SPARE + 1] = (struct nc_piece){ 40, 48 };
	job->sector = 8;
	assert_int_equal(nc_job_blocks(job, 4), 3);
	job->sector = 32;
	assert_int_equal(nc_job_blocks(job, 4), 1);
	job->at++;
	job->sector = 40;
	assert_int_equal(nc_job_blocks(job, 4), 1);
	job->at++;
	assert_int_equal(nc_job_blocks(job, 4), 0);
	job->pieces = 4;
	job->piece[NC_JOB_SPARE + 2] = (struct nc_piece){ 64, 72 };
	job->piece[NC_JOB_SPARE + 3] = (struct nc_piece){ 808, 816 };
	job->sector = 64;
	assert_int_equal(nc_job_blocks(job, 4), 2);
	job->pieces = 2;
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(in_order),
		TEST(alike),
		TEST(kept_back),
		TEST(numbered),
		TEST(bounded),
		TEST(held),
		TEST(lost),
		TEST(again),
		TEST(blocks),
	};

	return RUN(tests);
}
