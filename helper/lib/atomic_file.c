// SPDX-License-Identifier: GPL-2.0-only
#include "lib/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"

/* A name is durable when its folder is.  Without, all that is there sees it all the same. */
static void sync_folder(const char *path)
{
	char copy[PATH_MAX];
	const char *folder;
	int fd;

	snprintf(copy, sizeof(copy), "%s", path);
	folder = dirname(copy);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd))
		warn("cannot write the folder '%s': %s; a crash may bring back what '%s' was",
		     folder, strerror(errno), path);
	if (fd >= 0)
		close(fd);
}

/* The folder of @path, and those above it that are missing. */
static int make_folders(const char *path)
{
	char folder[PATH_MAX];
	char *slash;

	snprintf(folder, sizeof(folder), "%s", path);
	for (slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (!mkdir(folder, 0755))
			sync_folder(folder);
		else if (errno != EEXIST)
			return fail_errno(errno, "cannot make the folder '%s'",
					  folder);
		*slash = '/';
	}
	return 0;
}

/* Return: 0 or an errno. */
static int write_all(int fd, const char *data, size_t bytes)
{
	while (bytes) {
		ssize_t written = write(fd, data, bytes);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return errno;
		data += written;
		bytes -= (size_t)written;
	}
	return 0;
}

static const char *new_of(const char *path, char *new)
{
	snprintf(new, PATH_MAX, "%s.new", path);
	return new;
}

/**
 * atomic_file_prepare() - write beside a file what it is to hold
 * @path: absolute; folders are made
 * @text: what it is to hold
 *
 * One at a time: who calls holds a lock.
 *
 * Return: 0 or the exit code; the file is as before.
 */
int atomic_file_prepare(const char *path, const char *text)
{
	char new[PATH_MAX];
	int fd, error;

	if (make_folders(path))
		return fail_code();
	fd = open(new_of(path, new), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		  0600);
	if (fd < 0)
		return fail_errno(errno, "cannot write '%s'", new);
	error = write_all(fd, text, strlen(text));
	if (!error && fsync(fd))
		error = errno;
	if (close(fd) && !error)
		error = errno;
	if (!error)
		return 0;
	unlink(new);
	return fail_errno(error, "cannot write '%s'", path);
}

/**
 * atomic_file_commit() - the file holds from now on what was prepared
 * @path: as atomic_file_prepare() took it
 *
 * Return: 0 or the exit code; then the file is as before.
 */
int atomic_file_commit(const char *path)
{
	char new[PATH_MAX];

	if (rename(new_of(path, new), path)) {
		fail_errno(errno, "cannot write '%s'", path);
		unlink(new);
		return fail_code();
	}
	sync_folder(path);
	return 0;
}

/* What was prepared is not to be. */
void atomic_file_abandon(const char *path)
{
	char new[PATH_MAX];

	unlink(new_of(path, new));
}

/**
 * atomic_file_remove() - remove a file
 * @path: absolute
 * @found: it was there
 *
 * Return: 0 or the exit code.
 */
int atomic_file_remove(const char *path, bool *found)
{
	*found = !unlink(path);
	if (!*found)
		return errno == ENOENT ? 0 :
					 fail_errno(errno, "cannot remove '%s'",
						    path);
	sync_folder(path);
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
 * atomic_file_check() - demand a file that atomic_file_write() can replace
 * @path: of the file, which need not be there
 *
 * For who has work to do before there is something to be written.
 *
 * Return: 0 or the exit code; nothing is changed.
 */
int atomic_file_check(const char *path)
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
 * atomic_file_write() - put something into a file
 * @path: of the file; who reads it sees all of it, or what was there before; it is for everybody
 * @data: what it is to hold
 * @bytes: of @data
 * @durable: a crash leaves that, or what was there; without, it may leave an empty file
 *
 * Return: 0 or the exit code; then the file is as it was.
 */
int atomic_file_write(const char *path, const void *data, size_t bytes, bool durable)
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
