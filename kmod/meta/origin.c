// SPDX-License-Identifier: GPL-2.0-only
/*
 * The origin's fingerprint.  The helper computes it at create.  After a session that wrote
 * to the origin the kernel computes it again, so that its own writes do not look like
 * foreign ones.
 */
#include <crypto/sha2.h>

#include "meta/origin.h"
#include "meta/superblock.h"

static_assert(NC_FINGERPRINT_SIZE == SHA256_DIGEST_SIZE);

/**
 * nc_identity_ends() - fingerprint of type NEARCACHE_FP_ENDS
 * @bdev: origin
 * @io: for synchronous I/O
 * @size: of the origin, bytes
 * @buffer: two times NC_IDENTITY_END bytes from vmalloc()
 * @digest: NC_FINGERPRINT_SIZE bytes: SHA-256 of the first 64 KiB and the last
 *	64 KiB, concatenated; a shorter origin is taken whole for each part, padded
 *	with zeros
 *
 * Context: may sleep.
 * Return: 0 or the read error.
 */
int nc_identity_ends(struct block_device *bdev, struct dm_io_client *io,
		     u64 size, void *buffer, u8 *digest)
{
	size_t bytes = min(size, NC_IDENTITY_END);
	int r;

	memset(buffer, 0, 2 * NC_IDENTITY_END);
	r = nc_super_io(io, bdev, REQ_OP_READ, 0, buffer, bytes);
	if (!r)
		r = nc_super_io(io, bdev, REQ_OP_READ, size - bytes,
				buffer + NC_IDENTITY_END, bytes);
	if (!r)
		sha256(buffer, 2 * NC_IDENTITY_END, digest);
	return r;
}
