/* SPDX-License-Identifier: GPL-2.0-only */
/* Compare many files with their checksums, several at a time. */
#ifndef HELPER_VERIFY_VERIFY_THREADS_H
#define HELPER_VERIFY_VERIFY_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * enum verdict - result for a file
 * @VERDICT_NONE: not read yet
 * @VERDICT_SOUND: the checksum matches
 * @VERDICT_MISMATCH: the checksum differs
 * @VERDICT_MISSING: there is no such file
 * @VERDICT_UNREADABLE: the file cannot be read
 * @VERDICT_ELSEWHERE: the file is not on the device that the user wants to verify
 * @VERDICT_UNLISTED: the manifest has no checksum for the file
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
 * struct verifying - a file to compare
 * @path: path of the file
 * @digest: expected SHA-256
 * @size: bytes of the file, for the progress bar
 * @verdict: the result. A file is read only if this is VERDICT_NONE at first
 * @error: errno for VERDICT_UNREADABLE
 */
struct verifying {
	const char *path;
	const unsigned char *digest;
	uint64_t size;
	enum verdict verdict;
	int error;
};

int verifying_run(struct verifying *file, size_t files, bool quiet);

#endif /* HELPER_VERIFY_VERIFY_THREADS_H */
