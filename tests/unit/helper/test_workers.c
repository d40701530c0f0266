// SPDX-License-Identifier: GPL-2.0-only
/* verify/workers.c and checksum.c: the verdict for each of many files, checked in parallel. */
#include <errno.h>
#include <fcntl.h>
#include <openssl/sha.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verify/checksum.h"
#include "unit.h"
#include "verify/verify_threads.h"

#define FILES	40

static char top[] = "/tmp/verifying.XXXXXX";
static char path[FILES][32];
static unsigned char digest[FILES][32];
static struct verifying file[FILES];
/* Number of reads that succeed before one read fails; negative: none fails. */
static atomic_int fails_in = -1;

ssize_t __real_pread(int fd, void *buffer, size_t bytes, off_t offset);
ssize_t __wrap_pread(int fd, void *buffer, size_t bytes, off_t offset);
ssize_t __wrap_pread(int fd, void *buffer, size_t bytes, off_t offset)
{
	if (fails_in >= 0 && !fails_in--) {
		errno = EIO;
		return -1;
	}
	return __real_pread(fd, buffer, bytes, offset);
}

/* If true, mincore() reports that the last page of a file is in memory; if false, that none is. */
static atomic_bool resident;

int __wrap_mincore(void *map, size_t bytes, unsigned char *pages);
int __wrap_mincore(void *map, size_t bytes, unsigned char *pages)
{
	(void)map;
	memset(pages, 0, (bytes + 4095) / 4096);
	pages[(bytes - 1) / 4096] = resident;
	return 0;
}

/* If true, statx() reports that direct I/O is impossible; if false, nothing about direct I/O. */
static atomic_bool no_direct;

int __wrap_statx(int fd, const char *name, int flags, unsigned int mask,
		 struct statx *st);
int __wrap_statx(int fd, const char *name, int flags, unsigned int mask,
		 struct statx *st)
{
	(void)fd;
	(void)name;
	(void)flags;
	memset(st, 0, sizeof(*st));
	st->stx_mask = no_direct ? mask : 0;
	return 0;
}

/* Make files from 0 to 2.6 MiB and compute their digests. */
static int set_up(void **state)
{
	unsigned int i;
	size_t b;

	(void)state;
	if (!mkdtemp(top) || chdir(top))
		return -1;
	for (i = 0; i < FILES; i++) {
		size_t bytes = i * i * 1777;
		unsigned char *data = malloc(bytes + 1);
		int fd;

		snprintf(path[i], sizeof(path[i]), "%u", i);
		for (b = 0; b < bytes; b++)
			data[b] = (unsigned char)(b * 7 + i);
		SHA256(data, bytes, digest[i]);
		fd = open(path[i], O_WRONLY | O_CREAT, 0600);
		if (write(fd, data, bytes) != (ssize_t)bytes)
			return -1;
		close(fd);
		free(data);
		file[i].size = bytes;
	}
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", top);
	return chdir("/") || system(command);
}

static void prepare(void)
{
	unsigned int i;

	for (i = 0; i < FILES; i++) {
		file[i].path = path[i];
		file[i].digest = digest[i];
		file[i].verdict = VERDICT_NONE;
	}
}

static unsigned int count(enum verdict verdict)
{
	unsigned int i, found = 0;

	for (i = 0; i < FILES; i++)
		found += file[i].verdict == verdict;
	return found;
}

static void sound(void **state)
{
	(void)state;
	prepare();
	assert_int_equal(verifying_run(file, FILES, true), 0);
	assert_int_equal(count(VERDICT_SOUND), FILES);
	prepare();
	assert_int_equal(verifying_run(file, 1, true), 0);
	assert_int_equal(count(VERDICT_SOUND), 1);
	assert_int_equal(verifying_run(file, 0, true), 0);
}

static void wrong(void **state)
{
	(void)state;
	prepare();
	digest[7][31] ^= 1;
	digest[39][0] ^= 1;
	file[8].path = "none";
	file[9].path = ".";
	file[10].path = "/dev/null";
	/* File 11 has a verdict already, which must stay. */
	file[11].verdict = VERDICT_UNLISTED;
	file[11].path = "none";
	verifying_run(file, FILES, true);
	digest[7][31] ^= 1;
	digest[39][0] ^= 1;
	assert_int_equal(file[7].verdict, VERDICT_MISMATCH);
	assert_int_equal(file[39].verdict, VERDICT_MISMATCH);
	assert_int_equal(file[8].verdict, VERDICT_MISSING);
	assert_int_equal(file[9].verdict, VERDICT_UNREADABLE);
	assert_int_equal(file[9].error, EISDIR);
	assert_int_equal(file[10].verdict, VERDICT_UNREADABLE);
	assert_int_equal(file[11].verdict, VERDICT_UNLISTED);
	assert_int_equal(count(VERDICT_SOUND), FILES - 6);
}

static void unreadable(void **state)
{
	unsigned int i;

	(void)state;
	prepare();
	fails_in = 30;
	verifying_run(file, FILES, true);
	assert_int_equal(count(VERDICT_UNREADABLE), 1);
	assert_int_equal(count(VERDICT_SOUND), FILES - 1);
	for (i = 0; i < FILES; i++)
		if (file[i].verdict == VERDICT_UNREADABLE)
			assert_int_equal(file[i].error, EIO);
}

/* A file with pages in memory is unreadable: reads of it would not test the device. */
static void in_memory(void **state)
{
	unsigned int i;

	(void)state;
	resident = no_direct = true;
	prepare();
	verifying_run(file, FILES, true);
	/* An empty file has no pages in memory. */
	assert_int_equal(count(VERDICT_UNREADABLE), FILES - 1);
	for (i = 1; i < FILES; i++)
		assert_int_equal(file[i].error, CHECKSUM_RESIDENT);
	resident = false;
	prepare();
	verifying_run(file, FILES, true);
	assert_int_equal(count(VERDICT_SOUND), FILES);
	no_direct = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sound),
		cmocka_unit_test(wrong),
		cmocka_unit_test(unreadable),
		cmocka_unit_test(in_memory),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
