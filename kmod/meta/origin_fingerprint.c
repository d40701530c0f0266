// SPDX-License-Identifier: GPL-2.0-only
/*
 * The origin's fingerprint.  The helper computes it at create.  After a session
 * that wrote to the origin, the kernel computes it again, so that the next load does
 * not mistake these writes for writes of another host.
 *
 * Also sends flushes to the origin.  If one fails, the next flush of a user fails.
 */
#include <crypto/sha2.h>
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/completion.h>

#include "cache.h"
#include "meta/origin_fingerprint.h"
#include "meta/superblock.h"

static_assert(NC_FINGERPRINT_SIZE == SHA256_DIGEST_SIZE);

/**
 * nc_origin_fingerprint() - compute a fingerprint of type NEARCACHE_FP_ENDS
 * @bdev: origin
 * @io: for synchronous I/O
 * @size: size of the origin, bytes
 * @buffer: two times NC_FINGERPRINT_END bytes from vmalloc()
 * @digest: NC_FINGERPRINT_SIZE bytes, set to the SHA-256 of the first 64 KiB and the last
 *	64 KiB, concatenated; a shorter origin is taken whole for each part, padded
 *	with zeros
 *
 * Context: may sleep.
 * Return: 0 or the read error.
 */
int nc_origin_fingerprint(struct block_device *bdev, struct dm_io_client *io,
			  u64 size, void *buffer, u8 *digest)
{
	size_t bytes = min(size, NC_FINGERPRINT_END);
	int r;

	memset(buffer, 0, 2 * NC_FINGERPRINT_END);
	r = nc_super_io(io, bdev, REQ_OP_READ, 0, buffer, bytes);
	if (!r)
		r = nc_super_io(io, bdev, REQ_OP_READ, size - bytes,
				buffer + NC_FINGERPRINT_END, bytes);
	if (!r)
		sha256(buffer, 2 * NC_FINGERPRINT_END, digest);
	return r;
}

/**
 * struct origin_flush - a flush with a waiting caller
 * @bio: sent to the origin
 * @c: live cache
 * @done: completed together with @bio
 */
struct origin_flush {
	struct bio bio;
	struct nc_cache *c;
	struct completion done;
};

/* Sets flush_owed here, because a user's next flush may complete before the waiting caller runs. */
static void flush_done(struct bio *bio)
{
	struct origin_flush *flush =
		container_of(bio, struct origin_flush, bio);

	if (bio->bi_status)
		WRITE_ONCE(flush->c->origin.flush_owed, true);
	complete(&flush->done);
}

/**
 * nc_origin_flush() - flush the origin, so that completed writes are durable
 * @c: live cache
 *
 * After an error the next flush of a user fails, see nc_origin.flush_owed.
 *
 * Context: may sleep, without a time limit.
 * Return: 0 or the error of the flush.
 */
int nc_origin_flush(struct nc_cache *c)
{
	struct origin_flush flush = { .c = c };
	int r;

	init_completion(&flush.done);
	bio_init(&flush.bio, c->origin.bdev, NULL, 0,
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
