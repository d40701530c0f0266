// SPDX-License-Identifier: GPL-2.0-only
#include "shard/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"

#define PAGE		4096U
#define WINDOW		65536U

/* The caller has set @path, @fd, @size, @check and @index, and zeroed the rest. */
int scan_start(struct index_scan *scan)
{
	scan->window = malloc(WINDOW);
	if (!scan->window)
		return fail_memory();
	/*
	 * Without @check the parser needs only headers, so readahead would fetch useless data. A
	 * file system may ignore this advice.
	 */
	posix_fadvise(scan->fd, 0, 0, scan->check ? POSIX_FADV_SEQUENTIAL :
						    POSIX_FADV_RANDOM);
	return 0;
}

/* Frees the window, but not the index. */
void scan_end(struct index_scan *scan)
{
	free(scan->window);
	scan->window = NULL;
}

/* Records an error at byte @offset of the file. Returns the exit code. */
int scan_damage(const struct index_scan *scan, uint64_t offset,
		const char *format, ...)
{
	char what[512];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	scan->index->damaged = true;
	return fail(CODE_DEVICE, "'%.*s', byte %llu: %s", PATH_SHOWN,
		    scan->path, (unsigned long long)offset, what);
}

bool scan_has(const struct index_scan *scan, uint64_t offset, uint64_t bytes)
{
	return offset <= scan->size && bytes <= scan->size - offset;
}

/* Reads a range inside the file into @buffer, without changing the window. */
int scan_read(const struct index_scan *scan, uint64_t offset, void *buffer,
	      size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t n = pread(scan->fd, (char *)buffer + done, bytes - done,
				  (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		/* A test of one more format must not report the same error again. */
		if (n < 0)
			return fail_code() ?:
			       fail_errno(errno, "cannot read '%.*s' at byte %llu",
					  PATH_SHOWN, scan->path,
					  (unsigned long long)(offset + done));
		if (!n)
			return scan_damage(scan, offset + done,
					   "the file ends here: it became shorter during the scan");
		done += (size_t)n;
	}
	return 0;
}

static int move_window(struct index_scan *scan, uint64_t offset, size_t bytes)
{
	uint64_t start = offset - offset % PAGE;
	uint64_t end = scan->window_at + scan->window_length;
	bool follows = scan->window_length && start >= scan->window_at &&
		       start <= end;
	uint64_t length;

	scan->ahead = follows ? 2 * scan->ahead : PAGE;
	if (scan->ahead > WINDOW)
		scan->ahead = WINDOW;
	length = offset - start + bytes;
	length += -length % PAGE;
	if (length < scan->ahead)
		length = scan->ahead;
	if (length > scan->size - start)
		length = scan->size - start;
	scan->window_length = 0;
	if (scan_read(scan, start, scan->window, length))
		return fail_code();
	scan->window_at = start;
	scan->window_length = length;
	return 0;
}

/*
 * Returns @bytes (at most SCAN_LOOK_MAX) at @offset of the file, valid until the next call. Returns
 * NULL after recording an error if the bytes lie beyond the end of the file or cannot be read.
 */
const unsigned char *scan_look(struct index_scan *scan, uint64_t offset,
			       size_t bytes)
{
	uint64_t end = scan->window_at + scan->window_length;

	if (!scan_has(scan, offset, bytes)) {
		scan_damage(scan, offset,
			    "%zu bytes are expected here, but the file ends at %llu: was it cut off?",
			    bytes, (unsigned long long)scan->size);
		return NULL;
	}
	if ((offset < scan->window_at || offset + bytes > end) &&
	    move_window(scan, offset, bytes))
		return NULL;
	return scan->window + (offset - scan->window_at);
}

/* Returns whether the file begins with @magic. After recording a read error returns false. */
bool scan_starts(struct index_scan *scan, const char *magic, size_t bytes)
{
	const unsigned char *start;

	if (!scan_has(scan, 0, bytes))
		return false;
	start = scan_look(scan, 0, bytes);
	return start && !memcmp(start, magic, bytes);
}
