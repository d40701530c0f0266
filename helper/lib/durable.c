// SPDX-License-Identifier: GPL-2.0-only
#include "lib/durable.h"

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

static int write_all(int fd, const char *text, size_t bytes)
{
	while (bytes) {
		ssize_t written = write(fd, text, bytes);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -1;
		text += written;
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
 * durable_prepare() - write beside a file what it is to hold
 * @path: absolute; folders are made
 * @text: what it is to hold
 *
 * One at a time: who calls holds a lock.
 *
 * Return: 0 or the exit code; the file is as before.
 */
int durable_prepare(const char *path, const char *text)
{
	char new[PATH_MAX];
	int fd, error;

	if (make_folders(path))
		return fail_code();
	fd = open(new_of(path, new), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		  0600);
	if (fd < 0)
		return fail_errno(errno, "cannot write '%s'", new);
	error = write_all(fd, text, strlen(text)) || fsync(fd) ? errno : 0;
	if (close(fd) && !error)
		error = errno;
	if (!error)
		return 0;
	unlink(new);
	return fail_errno(error, "cannot write '%s'", path);
}

/**
 * durable_commit() - the file holds from now on what was prepared
 * @path: as durable_prepare() took it
 *
 * Return: 0 or the exit code; then the file is as before.
 */
int durable_commit(const char *path)
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
void durable_abandon(const char *path)
{
	char new[PATH_MAX];

	unlink(new_of(path, new));
}

/**
 * durable_remove() - remove a file
 * @path: absolute
 * @found: it was there
 *
 * Return: 0 or the exit code.
 */
int durable_remove(const char *path, bool *found)
{
	*found = !unlink(path);
	if (!*found)
		return errno == ENOENT ? 0 :
					 fail_errno(errno, "cannot remove '%s'",
						    path);
	sync_folder(path);
	return 0;
}
