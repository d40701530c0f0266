// SPDX-License-Identifier: GPL-2.0-only
/* Flushes of the origin issued by the module.  Their errors are reported to users' flushes. */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/completion.h>

#include "cache.h"
#include "meta/flush.h"

/**
 * struct origin_flush - a flush with a waiting caller
 * @bio: sent to the origin
 * @c: live cache
 * @done: completion
 */
struct origin_flush {
	struct bio bio;
	struct nc_cache *c;
	struct completion done;
};

/* Set here, not by the waiter: a writer's next flush may complete before the waiter runs. */
static void flush_done(struct bio *bio)
{
	struct origin_flush *flush =
		container_of(bio, struct origin_flush, bio);

	if (bio->bi_status)
		WRITE_ONCE(flush->c->flush_owed, true);
	complete(&flush->done);
}

/**
 * nc_flush_origin() - make the writes to the origin durable
 * @c: live cache
 *
 * After an error the next flush of a user fails, see nc_cache.flush_owed.
 *
 * Context: may sleep, without a time limit.
 * Return: 0 or the error of the flush.
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
	/* A short timeout in a loop: a slow origin must not trigger the hung-task warning. */
	while (!wait_for_completion_io_timeout(&flush.done, 10 * HZ))
		;
	r = blk_status_to_errno(flush.bio.bi_status);
	bio_uninit(&flush.bio);
	return r;
}
