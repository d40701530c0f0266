/* SPDX-License-Identifier: GPL-2.0-only */
/* Many files compared with their checksums at once. */
#ifndef HELPER_VERIFY_WORKERS_H
#define HELPER_VERIFY_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * enum verdict - what came of a file
 * @VERDICT_NONE: it was not looked at
 * @VERDICT_SOUND: it is as it should be
 * @VERDICT_MISMATCH: it has another checksum
 * @VERDICT_MISSING: there is no such file
 * @VERDICT_UNREADABLE: it cannot be read
 * @VERDICT_ELSEWHERE: it is not on the device
 * @VERDICT_UNLISTED: nobody said what its checksum should be
 */
enum verdict {
	VERDICT_NONE,
	VERDICT_SOUND,
	VERDICT_MISMATCH,
	VERDICT_MISSING,
	VERDICT_UNREADABLE,
	VERDICT_ELSEWHERE,
	VERDICT_UNLISTED,
	VERDICTS,
};

/**
 * struct verifying - a file to be compared
 * @path: of the file
 * @digest: its SHA-256, as it should be
 * @size: bytes
 * @verdict: what came of it; VERDICT_NONE: it is to be read
 * @error: errno, where it cannot be read
 */
struct verifying {
	const char *path;
	const unsigned char *digest;
	uint64_t size;
	enum verdict verdict;
	int error;
};

int verifying_run(struct verifying *file, size_t files, bool quiet);

#endif /* HELPER_VERIFY_WORKERS_H */
