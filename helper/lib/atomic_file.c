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

/*
 * Modes of new files. The record of pins names files that their owners may hide: only root reads
 * it. Metrics, heat maps and traces have counts and offsets, nothing secret, and their readers are
 * others: node_exporter, a web server, the user who analyses a trace.
 */
#define PRIVATE	0600
#define PUBLIC	0644

/*
 * Flushes the folder of @path, to make new and changed names in it durable. A failure is only a
 * warning: the running system already sees the new content.
 */
static void sync_folder(const char *path)
{
	char copy[PATH_MAX];
	const char *folder;
	int fd;

	snprintf(copy, sizeof(copy), "%s", path);
	folder = dirname(copy);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd))
		warn("cannot sync the folder '%s': %s; a crash may restore the old content of '%s'",
		     folder, strerror(errno), path);
	if (fd >= 0)
		close(fd);
}

/* Creates the missing folders above @path. */
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
			return fail_errno(errno, "cannot create the folder '%s'",
					  folder);
		*slash = '/';
	}
	return 0;
}

/* Returns 0 or an errno. */
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

/*
 * Gives the new @file the owner and the mode of the file at @path, which it will replace. If the
 * owner cannot be kept, only the owner may write. Without an old file the mode is @mode, whatever
 * the umask: the readers of these files are other users. A file system without modes refuses, which
 * is no error. @file has the mode PRIVATE, so that no other user opens it before it has its owner.
 */
static void set_owner_mode(int file, const char *path, mode_t mode)
{
	struct stat st;

	if (!lstat(path, &st) && S_ISREG(st.st_mode)) {
		mode = st.st_mode & 0777;
		if (fchown(file, st.st_uid, st.st_gid))
			mode &= ~(mode_t)022;
	}
	(void)fchmod(file, mode);
}

static const char *new_of(const char *path, char *new)
{
	snprintf(new, PATH_MAX, "%s.new", path);
	return new;
}

/*
 * Writes @text durably to PATH.new, for atomic_file_commit(). @path is absolute; missing folders
 * are created. The caller holds a lock, because all calls for a file share PATH.new.
 */
int atomic_file_prepare(const char *path, const char *text)
{
	char new[PATH_MAX];
	int fd, error;

	if (make_folders(path))
		return fail_code();
	/* The file of an interrupted run may have another owner and mode. */
	unlink(new_of(path, new));
	fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, PRIVATE);
	if (fd < 0)
		return fail_errno(errno, "cannot write '%s'", new);
	set_owner_mode(fd, path, PRIVATE);
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

/* Renames PATH.new to @path. After an error @path is unchanged and PATH.new removed. */
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

void atomic_file_abandon(const char *path)
{
	char new[PATH_MAX];

	unlink(new_of(path, new));
}

/* Cuts the file @fd at @offset, writes @data there, and makes both durable. Returns 0 or errno. */
static int write_end(int fd, off_t offset, const char *data, size_t bytes)
{
	int error;

	if (ftruncate(fd, offset) || lseek(fd, offset, SEEK_SET) < 0)
		return errno;
	error = write_all(fd, data, bytes);
	return error || !fdatasync(fd) ? error : errno;
}

/* Opens a file of @size bytes for write_end(). Returns -1 after an error. */
static int open_sized(const char *path, off_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		fail_errno(errno, "cannot write '%s'", path);
	} else if (st.st_size != size) {
		fail(CODE_BUSY,
		     "'%s' has changed since this command read it: another one is running; try again",
		     path);
	} else {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

/*
 * Appends @data durably at @offset, and drops what the file has from there on. The caller can
 * recognise an incomplete end of the file, which a crash may leave. After an error the file ends at
 * @offset, if that is possible. Fails with CODE_BUSY, and changes nothing, if the file has not
 * @size bytes, as when the caller read it.
 */
int atomic_file_append(const char *path, off_t size, off_t offset, const char *data, size_t bytes)
{
	int fd = open_sized(path, size), error;

	if (fd < 0)
		return fail_code();
	error = write_end(fd, offset, data, bytes);
	if (error)
		write_end(fd, offset, NULL, 0);
	close(fd);
	return error ? fail_errno(error, "cannot write '%s'", path) : 0;
}

/* Cuts a file of @size bytes durably at @offset. Returns 0 or an errno; records no error. */
int atomic_file_cut(const char *path, off_t size, off_t offset)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), error;
	struct stat st;

	if (fd < 0)
		return errno;
	error = !fstat(fd, &st) && st.st_size != size ? EBUSY :
							 write_end(fd, offset, NULL, 0);
	close(fd);
	return error;
}

/* Removes a file. Not an error if there is none. @found: whether the file existed. */
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

/* Creates PATH.new and stores its name in @new. Returns a descriptor, or -1 after an error. */
static int open_new(const char *path, char *new)
{
	struct stat st;
	int file;

	/* rename() would replace a device node or a link by a regular file: refuse these. */
	if (!lstat(path, &st) && !S_ISREG(st.st_mode)) {
		fail(CODE_DEVICE, "'%s' is not a regular file: name another one", path);
		return -1;
	}
	if (snprintf(new, PATH_MAX, "%s.new", path) >= PATH_MAX) {
		fail(CODE_USAGE, "the name is too long: '%s'", path);
		return -1;
	}
	/* Remove the file of an interrupted run, or a link that another user placed there. */
	unlink(new);
	file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, PRIVATE);
	if (file < 0)
		fail_errno(errno, "cannot write '%s'", new);
	return file;
}

/*
 * Checks that atomic_file_write() could replace @path, before a caller begins long work. Changes
 * nothing; @path need not exist.
 */
int atomic_file_check(const char *path)
{
	char new[PATH_MAX];
	int file;

	/* An empty name is probably an unset shell variable. */
	if (!*path)
		return fail(CODE_USAGE, "'' is not a file: name one");
	file = open_new(path, new);
	if (file < 0)
		return fail_code();
	close(file);
	unlink(new);
	return 0;
}

/*
 * Replaces the content of @path. A new file is readable by everybody; an old one keeps its owner
 * and mode. A reader sees all of the old or all of the
 * new content. After a crash the file has the old or the new content if @durable; otherwise it may
 * be empty. After an error @path is unchanged.
 */
int atomic_file_write(const char *path, const void *data, size_t bytes, bool durable)
{
	char new[PATH_MAX];
	int file = open_new(path, new), error;

	if (file < 0)
		return fail_code();
	set_owner_mode(file, path, PUBLIC);
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
