// SPDX-License-Identifier: GPL-2.0-only
#include "checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of one read, and how buffers are aligned: enough for any block device. */
#define CHUNK	(1U << 20)
#define ALIGN	4096U

/**
 * struct reading - a file that is read
 * @fd: the file
 * @direct: past the page cache
 * @size: bytes it had when it was opened
 * @at: bytes read so far
 * @buffer: CHUNK bytes
 */
struct reading {
	int fd;
	bool direct;
	uint64_t size;
	uint64_t at;
	void *buffer;
};

/* What is in the page cache is not what the device has. */
static void forget(const struct reading *r)
{
	posix_fadvise(r->fd, 0, 0, POSIX_FADV_DONTNEED);
}

static int start(struct reading *r, const char *path)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	struct stat st;

	r->direct = true;
	r->fd = open(path, flags | O_DIRECT);
	/* Some cannot, like EROFS with compressed files. */
	if (r->fd < 0 && errno == EINVAL) {
		r->direct = false;
		r->fd = open(path, flags);
	}
	if (r->fd < 0 || fstat(r->fd, &st))
		return errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	r->size = (uint64_t)st.st_size;
	forget(r);
	r->buffer = aligned_alloc(ALIGN, CHUNK);
	return r->buffer ? 0 : ENOMEM;
}

static int go_buffered(struct reading *r)
{
	r->direct = false;
	return fcntl(r->fd, F_SETFL, 0) ? errno : 0;
}

/* Return: 0 or errno; *@n is 0 at the end of the file. */
static int read_some(struct reading *r, ssize_t *n)
{
	/* Only a file that grows goes on behind an odd end. */
	if (r->direct && r->at % ALIGN && go_buffered(r))
		return errno;
	do {
		*n = pread(r->fd, r->buffer, CHUNK, (off_t)r->at);
		if (*n < 0 && errno == EINVAL && r->direct) {
			go_buffered(r);
			errno = EINTR;
		}
	} while (*n < 0 && errno == EINTR);
	if (*n < 0)
		return errno;
	r->at += (uint64_t)*n;
	return 0;
}

static int digest_all(struct reading *r, EVP_MD_CTX *sum,
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
		if (!EVP_DigestUpdate(sum, r->buffer, (size_t)n))
			return ENOMEM;
		advance((uint64_t)n, arg);
	}
	return 0;
}

/**
 * checksum_file() - the SHA-256 of a file
 * @path: a regular file
 * @digest: filled in, CHECKSUM_BYTES
 * @advance: called with the bytes of each read, from 1 byte to 1 MiB
 * @arg: for @advance
 *
 * Reads the device and leaves nothing in the page cache.  Safe in threads: records no
 * error.
 *
 * Return: 0 or an errno.
 */
int checksum_file(const char *path, unsigned char *digest,
		  void (*advance)(uint64_t bytes, void *arg), void *arg)
{
	struct reading r = { .fd = -1 };
	EVP_MD_CTX *sum = EVP_MD_CTX_new();
	int error = ENOMEM;

	if (sum && EVP_DigestInit_ex(sum, EVP_sha256(), NULL))
		error = start(&r, path);
	if (!error)
		error = digest_all(&r, sum, advance, arg);
	if (!error && !EVP_DigestFinal_ex(sum, digest, NULL))
		error = ENOMEM;
	if (r.fd >= 0) {
		forget(&r);
		close(r.fd);
	}
	free(r.buffer);
	EVP_MD_CTX_free(sum);
	return error;
}
