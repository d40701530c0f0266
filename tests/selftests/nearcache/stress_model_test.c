// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check which values the model of 'stress' (stress_model.h) lets a read return, on short histories
 * of one sector. A write lasts from BEGIN to END. Calls happen in the order of the lines.
 */
#include "../kselftest_harness.h"

#include "stress_model.h"

#define A	1
#define B	2
#define C	3
#define READERS	4

FIXTURE(model)
{
	struct model m;
	uint64_t start[READERS];
};

FIXTURE_SETUP(model)
{
	model_init(&self->m, 1);
	model_set(&self->m, 0, MODEL_ZERO);
}

FIXTURE_TEARDOWN(model)
{
	free(self->m.sector);
}

#define BEGIN(id)	model_write_begin(&self->m, 0, 1, id)
#define END(id)		model_write_end(&self->m, 0, 1, id)
#define WRITE(id)	do { BEGIN(id); END(id); } while (0)
/* Thread n reads from ASK to ANSWER, which is true if the model lets this read return id. */
#define ASK(n)		(self->start[n] = model_read_begin(&self->m, n))
#define ANSWER(n, id)							       \
	({								       \
		bool _good = model_read(&self->m, 0, id, self->start[n],       \
					model_now(&self->m));		       \
									       \
		model_read_end(&self->m, n);				       \
		_good;							       \
	})
#define READ(id)	(ASK(0), ANSWER(0, id))

TEST_F(model, last_write_and_nothing_else)
{
	EXPECT_TRUE(READ(MODEL_ZERO));
	EXPECT_FALSE(READ(A));
	WRITE(A);
	EXPECT_TRUE(READ(A));
	EXPECT_FALSE(READ(MODEL_ZERO));
	WRITE(B);
	EXPECT_FALSE(READ(A));
	EXPECT_TRUE(READ(B));
}

TEST_F(model, in_flight_either)
{
	WRITE(A);
	BEGIN(B);
	EXPECT_TRUE(READ(A));
	EXPECT_TRUE(READ(B));
	END(B);
	EXPECT_TRUE(READ(B));
}

TEST_F(model, never_back_while_in_flight)
{
	WRITE(A);
	BEGIN(B);
	EXPECT_TRUE(READ(B));
	EXPECT_FALSE(READ(A));
}

TEST_F(model, never_back_after_the_end)
{
	WRITE(A);
	BEGIN(B);
	EXPECT_TRUE(READ(A));
	END(B);
	EXPECT_FALSE(READ(A));
	EXPECT_TRUE(READ(B));
}

TEST_F(model, reader_that_began_before_may_have_old)
{
	WRITE(A);
	ASK(1);
	WRITE(B);
	EXPECT_TRUE(READ(B));
	WRITE(C);
	EXPECT_FALSE(READ(B));
	EXPECT_TRUE(ANSWER(1, A));
	ASK(1);
	EXPECT_FALSE(ANSWER(1, A));
}

TEST_F(model, reader_that_ends_later_may_have_new)
{
	WRITE(A);
	ASK(1);
	BEGIN(B);
	EXPECT_TRUE(ANSWER(1, B));
	/* The first read returned B, so B has overwritten A: no later read may return A. */
	EXPECT_FALSE(READ(A));
}

TEST_F(model, nothing_from_the_future)
{
	uint64_t start, end;

	WRITE(A);
	start = model_now(&self->m);
	end = model_now(&self->m);
	BEGIN(B);
	EXPECT_FALSE(model_read(&self->m, 0, B, start, end));
}

TEST_F(model, overlapping_writes_either_wins)
{
	BEGIN(A);
	BEGIN(B);
	END(A);
	END(B);
	EXPECT_TRUE(READ(A));
	EXPECT_FALSE(READ(B));
	EXPECT_FALSE(READ(MODEL_ZERO));
	EXPECT_TRUE(READ(A));
}

TEST_F(model, overlapping_writes_the_other_wins)
{
	BEGIN(A);
	BEGIN(B);
	END(B);
	END(A);
	EXPECT_TRUE(READ(A));
	EXPECT_FALSE(READ(B));
}

TEST_F(model, overlap_seen_in_flight)
{
	BEGIN(A);
	BEGIN(B);
	EXPECT_TRUE(READ(A));
	EXPECT_TRUE(READ(B));
	/* Reads returned A, then B, so B overwrote A although neither write has ended. */
	EXPECT_FALSE(READ(A));
	END(A);
	END(B);
	EXPECT_FALSE(READ(A));
	EXPECT_TRUE(READ(B));
}

TEST_F(model, readers_that_overlap_need_not_agree_yet)
{
	BEGIN(A);
	BEGIN(B);
	END(A);
	END(B);
	ASK(1);
	ASK(2);
	EXPECT_TRUE(ANSWER(1, B));
	/* Both writes ended before the reads began, so both reads find the same value. */
	EXPECT_FALSE(ANSWER(2, A));
	EXPECT_TRUE(READ(B));
}

TEST_F(model, chain_of_overlaps)
{
	/* C starts after A has ended, so A cannot win.  B overlaps with both and may win. */
	BEGIN(A);
	BEGIN(B);
	END(A);
	BEGIN(C);
	END(B);
	END(C);
	EXPECT_FALSE(READ(A));
	EXPECT_TRUE(READ(B));
	EXPECT_FALSE(READ(C));
}

TEST_F(model, zeros_are_alike)
{
	WRITE(A);
	BEGIN(B | MODEL_ZERO);
	BEGIN(C | MODEL_ZERO);
	EXPECT_TRUE(READ(MODEL_ZERO));
	EXPECT_FALSE(READ(A));
	END(B | MODEL_ZERO);
	END(C | MODEL_ZERO);
	EXPECT_TRUE(READ(MODEL_ZERO));
	EXPECT_FALSE(READ(A));
	WRITE(A + 4);
	EXPECT_FALSE(READ(MODEL_ZERO));
	EXPECT_TRUE(READ(A + 4));
}

TEST_F(model, settled)
{
	BEGIN(A);
	BEGIN(B);
	END(A);
	END(B);
	EXPECT_FALSE(model_settle(&self->m, 0, MODEL_ZERO));
	EXPECT_TRUE(model_settle(&self->m, 0, B));
	EXPECT_FALSE(model_settle(&self->m, 0, A));
	EXPECT_TRUE(READ(B));
}

/* The model drops overwritten writes, so that its lists do not grow with each write. */
TEST_F(model, lists_stay_short)
{
	struct model_write *w;
	unsigned int n = 0;
	uint64_t i;

	for (i = 1; i < 1000; i++)
		WRITE(i);
	for (w = self->m.sector[0]; w; w = w->next)
		n++;
	EXPECT_LE(n, 3);
}

TEST_HARNESS_MAIN
