// SPDX-License-Identifier: GPL-2.0-only
#include "lib/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"

static int write_all(int file, const char *data, size_t bytes)
{
	ssize_t written;

	while (bytes) {
		written = write(file, data, bytes);
		if (written < 0 && errno != EINTR)
			return errno;
		if (written > 0) {
			data += written;
			bytes -= (size_t)written;
		}
	}
	return 0;
}

/* What is to be the file is beside it before; there is a descriptor, or -1. */
static int open_new(const char *path, char *new)
{
	struct stat st;
	int file;

	/* What is no file would be one afterwards, and a link none. */
	if (!lstat(path, &st) && !S_ISREG(st.st_mode)) {
		fail(CODE_DEVICE, "'%s' is not a regular file: name another one", path);
		return -1;
	}
	if (snprintf(new, PATH_MAX, "%s.new", path) >= PATH_MAX) {
		fail(CODE_USAGE, "the name is too long: '%s'", path);
		return -1;
	}
	/* Left by one that was cut off, or put there by somebody who may. */
	unlink(new);
	file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (file < 0)
		fail_errno(errno, "cannot write '%s'", new);
	return file;
}

/**
 * replace_check() - demand a file that replace_file() can replace
 * @path: of the file, which need not be there
 *
 * For who has work to do before there is something to be written.
 *
 * Return: 0 or the exit code; nothing is changed.
 */
int replace_check(const char *path)
{
	char new[PATH_MAX];
	int file;

	/* More likely a variable that is not set. */
	if (!*path)
		return fail(CODE_USAGE, "'' is no file: name one");
	file = open_new(path, new);
	if (file < 0)
		return fail_code();
	close(file);
	unlink(new);
	return 0;
}

/**
 * replace_file() - put something into a file
 * @path: of the file; who reads it sees all of it, or what was there before; it is for everybody
 * @data: what it is to hold
 * @bytes: of @data
 * @durable: a crash leaves that, or what was there; without, it may leave an empty file
 *
 * Return: 0 or the exit code; then the file is as it was.
 */
int replace_file(const char *path, const void *data, size_t bytes, bool durable)
{
	char new[PATH_MAX];
	int file = open_new(path, new), error;

	if (file < 0)
		return fail_code();
	error = write_all(file, data, bytes);
	if (!error && durable && fsync(file))
		error = errno;
	if (close(file) && !error)
		error = errno;
	if (!error && rename(new, path))
		error = errno;
	if (!error)
		return 0;
	unlink(new);
	return fail_errno(error, "cannot write '%s'", path);
}
