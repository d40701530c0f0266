// SPDX-License-Identifier: GPL-2.0-only
/* Takes the fingerprints of an origin: of its first and last 64 KiB, and of its file system. */
#include "ondisk/fingerprint_ends.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "meta/ondisk_check.h"
#include "lib/sha256.h"

/* Bytes hashed at each end of the device. */
#define END_BYTES	65536U

_Static_assert(FINGERPRINT_SIZE == SHA256_DIGEST_SIZE, "SHA-256");

/*
 * Take a fingerprint of type NEARCACHE_FP_ENDS: SHA-256 of the first and last 64 KiB of a device.
 * If the device has less than 64 KiB, all its bytes are hashed twice. @size: bytes of the device,
 * or fewer: its size before it grew. @digest: FINGERPRINT_SIZE bytes.
 */
int fingerprint_ends(const struct device *dev, uint64_t size,
		     unsigned char *digest)
{
	size_t bytes = size < END_BYTES ? size : END_BYTES;
	unsigned char *ends = device_buffer(2 * END_BYTES);
	int error;

	if (!ends)
		return fail_code();
	error = device_read(dev, ends, bytes, 0);
	if (!error)
		error = device_read(dev, ends + END_BYTES, bytes,
				    size - bytes);
	if (!error)
		sha256_of(ends, 2 * END_BYTES, digest);
	free(ends);
	return error;
}

/* Store the fingerprint of the file systems in @sb; the caller seals @sb. */
void fingerprint_put(struct nearcache_super *sb, const struct fsprint_result *content)
{
	sb->file_system_type = cpu_to_le32(content->type + NEARCACHE_FP_MORE);
	memcpy(sb->file_system_fingerprint, content->digest, FSPRINT_SIZE);
}

/*
 * Take the fingerprints of the first sb->origin_size bytes of @dev, set @content, and store both
 * fingerprints in @sb; the caller seals @sb.
 */
int fingerprint_record(const struct device *dev, struct nearcache_super *sb,
		       struct fsprint_result *content)
{
	uint64_t size = le64_to_cpu(sb->origin_size);

	if (fingerprint_ends(dev, size, sb->origin_fingerprint) ||
	    fsprint_take(dev, size, content))
		return fail_code();
	sb->origin_fingerprint_type = cpu_to_le32(NEARCACHE_FP_ENDS);
	fingerprint_put(sb, content);
	return 0;
}
