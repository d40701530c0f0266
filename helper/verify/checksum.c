// SPDX-License-Identifier: GPL-2.0-only
#include "verify/checksum.h"
#include "lib/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes per read; alignment of buffers and offsets, which suffices for any block device. */
#define CHUNK	(1U << 20)
#define ALIGN	4096U
/* Bytes of a file that one mincore() checks. */
#define WINDOW	(64UL << 20)

/*
 * A file that is being read. @direct: reads bypass the page cache (O_DIRECT). @size: bytes when it
 * was opened. @at: bytes read so far. @buffer: has CHUNK bytes.
 */
struct reading {
	int fd;
	bool direct;
	uint64_t size;
	uint64_t at;
	void *buffer;
};

/* Drop the pages of the file from the page cache: they may differ from the device. */
static void forget_pages(const struct reading *r)
{
	posix_fadvise(r->fd, 0, 0, POSIX_FADV_DONTNEED);
}

/* Check that no page of a part of the file is cached. Returns 0, CHECKSUM_RESIDENT or an errno. */
static int check_window(const struct reading *r, uint64_t at, size_t bytes)
{
	unsigned char resident[WINDOW / ALIGN];
	size_t i, pages, page = (size_t)sysconf(_SC_PAGESIZE);
	void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, r->fd, (off_t)at);
	int error;

	if (map == MAP_FAILED)
		return errno;
	error = mincore(map, bytes, resident) ? errno : 0;
	munmap(map, bytes);
	pages = (bytes + page - 1) / page;
	for (i = 0; i < pages && !error; i++)
		if (resident[i] & 1)
			error = CHECKSUM_RESIDENT;
	return error;
}

/*
 * Drop the pages of the file from the page cache and check that none remains: a buffered read would
 * return the data of such a page. A page that a process has mapped or just written cannot be
 * dropped. Returns 0, CHECKSUM_RESIDENT or an errno.
 */
static int check_forgotten(const struct reading *r)
{
	uint64_t at;
	int error = 0;

	forget_pages(r);
	for (at = 0; at < r->size && !error; at += WINDOW)
		error = check_window(r, at, r->size - at < WINDOW ?
				     (size_t)(r->size - at) : WINDOW);
	return error;
}

/*
 * False if O_DIRECT has no effect: some file systems, such as ext4 with data=journal, accept the
 * flag O_DIRECT but read through the page cache.
 */
static bool is_direct(const struct reading *r)
{
#ifdef STATX_DIOALIGN
	struct statx st;

	if (!statx(r->fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &st) &&
	    st.stx_mask & STATX_DIOALIGN)
		return st.stx_dio_mem_align;
#endif
	(void)r;
	return true;
}

static int start_reading(struct reading *r, const char *path)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	struct stat st;

	r->direct = true;
	r->fd = open(path, flags | O_DIRECT);
	/* EROFS rejects O_DIRECT for compressed files: read through the page cache. */
	if (r->fd < 0 && errno == EINVAL) {
		r->direct = false;
		r->fd = open(path, flags);
	}
	if (r->fd < 0 || fstat(r->fd, &st))
		return errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	r->size = (uint64_t)st.st_size;
	r->buffer = aligned_alloc(ALIGN, CHUNK);
	if (!r->buffer)
		return ENOMEM;
	if (r->direct)
		r->direct = is_direct(r);
	if (!r->direct)
		return check_forgotten(r);
	forget_pages(r);
	return 0;
}

static int go_buffered(struct reading *r)
{
	r->direct = false;
	return fcntl(r->fd, F_SETFL, 0) ? errno : check_forgotten(r);
}

/* Read up to CHUNK bytes; *@n receives their number. Returns 0, CHECKSUM_RESIDENT or an errno. */
static int read_some(struct reading *r, ssize_t *n)
{
	/* After a short read the offset may be unaligned, which O_DIRECT does not accept. */
	int error = r->direct && r->at % ALIGN ? go_buffered(r) : 0;

	while (!error) {
		*n = pread(r->fd, r->buffer, CHUNK, (off_t)r->at);
		if (*n >= 0)
			break;
		if (errno == EINVAL && r->direct)
			error = go_buffered(r);
		else if (errno != EINTR)
			error = errno;
	}
	if (!error)
		r->at += (uint64_t)*n;
	return error;
}

static int digest_all(struct reading *r, struct sha256_ctx *sum,
		      void (*advance)(uint64_t bytes, void *arg), void *arg)
{
	ssize_t n = 0;
	int error;

	while (r->at < r->size) {
		error = read_some(r, &n);
		if (error)
			return error;
		if (!n)
			break;
		sha256_update(sum, (size_t)n, r->buffer);
		advance((uint64_t)n, arg);
	}
	return 0;
}

/*
 * Compute the SHA-256 of the regular file @path (@digest: CHECKSUM_BYTES) from its device, and
 * leave nothing in the page cache. Calls @advance after each read with its size, up to 1 MiB.
 * Returns 0, an errno or CHECKSUM_RESIDENT. Records no error with fail(), so threads may call it.
 */
int checksum_file(const char *path, unsigned char *digest,
		  void (*advance)(uint64_t bytes, void *arg), void *arg)
{
	struct reading r = { .fd = -1 };
	struct sha256_ctx sum;
	int error;

	sha256_init(&sum);
	error = start_reading(&r, path);
	if (!error)
		error = digest_all(&r, &sum, advance, arg);
	if (!error)
		sha256_digest(&sum, CHECKSUM_BYTES, digest);
	if (r.fd >= 0) {
		forget_pages(&r);
		close(r.fd);
	}
	free(r.buffer);
	return error;
}

/* The message for an error of checksum_file(). */
const char *checksum_error(int error)
{
	return error == CHECKSUM_RESIDENT ?
	       "parts of it stay in the page cache, and its file system does not read past the cache: stop the programs that use it, or remount the file system" :
	       strerror(error);
}
