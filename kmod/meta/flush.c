// SPDX-License-Identifier: GPL-2.0-only
/* Flushes of the origin that no user asked for, and whose errors users have to hear. */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/completion.h>

#include "cache.h"
#include "meta/flush.h"

/**
 * struct origin_flush - a flush of ours that somebody waits for
 * @bio: of the origin
 * @c: live cache
 * @done: it is over
 */
struct origin_flush {
	struct bio bio;
	struct nc_cache *c;
	struct completion done;
};

/* Here, and not by who waits for it: the next flush of a writer may be over by then. */
static void flush_done(struct bio *bio)
{
	struct origin_flush *flush =
		container_of(bio, struct origin_flush, bio);

	if (bio->bi_status)
		WRITE_ONCE(flush->c->flush_owed, true);
	complete(&flush->done);
}

/**
 * nc_flush_origin() - make durable what was written to the origin
 * @c: live cache
 *
 * An error is owed to the next flush of a user, see nc_cache.flush_owed.
 *
 * Context: may sleep, for as long as the origin needs.
 * Return: 0 or what flushing it returned.
 */
int nc_flush_origin(struct nc_cache *c)
{
	struct origin_flush flush = { .c = c };
	int r;

	init_completion(&flush.done);
	bio_init(&flush.bio, c->origin, NULL, 0,
		 REQ_OP_WRITE | REQ_PREFLUSH | REQ_SYNC);
	flush.bio.bi_end_io = flush_done;
	submit_bio(&flush.bio);
	/* An origin that takes its time is no hung task. */
	while (!wait_for_completion_io_timeout(&flush.done, 10 * HZ))
		;
	r = blk_status_to_errno(flush.bio.bi_status);
	bio_uninit(&flush.bio);
	return r;
}
