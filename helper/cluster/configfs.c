// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/configfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"

enum edit_kind {
	EDIT_MAKE,
	EDIT_REMOVE,
	EDIT_LINK,
	EDIT_UNLINK,
	EDIT_WRITE,
};

/*
 * struct configfs_edit - an edit that was made
 * @before: the edit before this one
 * @kind: the edit
 * @path: folder, link or attribute
 * @value: target of the link, or the attribute's value before; may be a secret
 */
struct configfs_edit {
	struct configfs_edit *before;
	enum edit_kind kind;
	char *path;
	char *value;
};

/* Write a path to @path (PATH_MAX bytes) and return it. Names of hosts and subsystems are short. */
const char *configfs_path(char *path, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(path, PATH_MAX, format, args);
	va_end(args);
	return path;
}

/* Record the errno of an edit, if it is one. Returns an exit code. @doing: verb of the edit. */
int configfs_edited(int error, const char *doing, const char *path)
{
	return error ? fail_errno(error, "cannot %s '%s'", doing, path) : 0;
}

static void free_edit(struct configfs_edit *edit)
{
	if (edit->value)
		explicit_bzero(edit->value, strlen(edit->value));
	free(edit->value);
	free(edit->path);
	free(edit);
}

/* Record an edit before it is made: afterwards, memory might lack for the record. */
static int record_edit(struct configfs_edit **edits, enum edit_kind kind, const char *path,
		       const char *value)
{
	struct configfs_edit *edit = calloc(1, sizeof(*edit));

	if (!edit)
		return ENOMEM;
	edit->kind = kind;
	edit->path = strdup(path);
	edit->value = strdup(value);
	if (!edit->path || !edit->value) {
		free_edit(edit);
		return ENOMEM;
	}
	edit->before = *edits;
	*edits = edit;
	return 0;
}

/* Drop the record of an edit that failed with @error. Returns @error. */
static int drop_record(struct configfs_edit **edits, int error)
{
	struct configfs_edit *edit = *edits;

	*edits = edit->before;
	free_edit(edit);
	return error;
}

int configfs_make_folder(struct configfs_edit **edits, const char *path)
{
	int error = record_edit(edits, EDIT_MAKE, path, "");

	if (error || !mkdir(path, 0755))
		return error;
	error = drop_record(edits, errno);
	return error == EEXIST ? 0 : error;
}

/*
 * Keep everybody except root out of a folder: nvmet shows the secret of a host to all users.
 * mkdir() cannot do this, because configfs ignores its mode.
 */
int configfs_make_private(const char *path)
{
	return chmod(path, 0700) ? errno : 0;
}

/* The folder may be private, and is so again if this is undone. */
int configfs_remove_folder(struct configfs_edit **edits, const char *path)
{
	int error = record_edit(edits, EDIT_REMOVE, path, "");

	if (error || !rmdir(path))
		return error;
	error = drop_record(edits, errno);
	return error == ENOENT ? 0 : error;
}

int configfs_link(struct configfs_edit **edits, const char *path, const char *target)
{
	int error = record_edit(edits, EDIT_LINK, path, target);

	if (error || !symlink(target, path))
		return error;
	error = drop_record(edits, errno);
	return error == EEXIST ? 0 : error;
}

/* @target: of the link, to restore it. */
int configfs_unlink(struct configfs_edit **edits, const char *path, const char *target)
{
	int error = record_edit(edits, EDIT_UNLINK, path, target);

	if (error || !unlink(path))
		return error;
	error = drop_record(edits, errno);
	return error == ENOENT ? 0 : error;
}

static int write_value(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), error = 0;

	if (fd < 0)
		return errno;
	/* One write() is one change of the attribute. */
	if (write(fd, value, strlen(value)) < 0)
		error = errno;
	close(fd);
	return error;
}

/* Read an attribute, without the newline at its end, to @value (CONFIGFS_VALUE bytes). */
int configfs_read(const char *path, char *value)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error = 0;
	ssize_t n;

	if (fd < 0)
		return errno;
	n = read(fd, value, CONFIGFS_VALUE - 1);
	if (n < 0)
		error = errno;
	value[n < 0 ? 0 : n] = '\0';
	value[strcspn(value, "\n")] = '\0';
	close(fd);
	return error;
}

/* Record the value of an attribute whose folder goes next, to restore it. */
int configfs_save(struct configfs_edit **edits, const char *path)
{
	char value[CONFIGFS_VALUE];
	int error = configfs_read(path, value);

	if (!error)
		error = record_edit(edits, EDIT_WRITE, path, value);
	explicit_bzero(value, sizeof(value));
	return error;
}

int configfs_write(struct configfs_edit **edits, const char *path, const char *value)
{
	char old[CONFIGFS_VALUE];
	int error = configfs_read(path, old);

	if (!error && strcmp(old, value)) {
		error = record_edit(edits, EDIT_WRITE, path, old);
		if (!error) {
			error = write_value(path, value);
			if (error)
				drop_record(edits, error);
		}
	}
	explicit_bzero(old, sizeof(old));
	return error;
}

/* Set an attribute of a folder. Returns 0, or an exit code after recording an error. */
int configfs_set(struct configfs_edit **edits, const char *folder, const char *name,
		 const char *value)
{
	char path[PATH_MAX];

	configfs_path(path, "%s/%s", folder, name);
	return configfs_edited(configfs_write(edits, path, value), "set", path);
}

static int undo_edit(const struct configfs_edit *edit)
{
	switch (edit->kind) {
	case EDIT_MAKE:
		return rmdir(edit->path) ? errno : 0;
	case EDIT_REMOVE:
		return mkdir(edit->path, 0755) ? errno : configfs_make_private(edit->path);
	case EDIT_LINK:
		return unlink(edit->path) ? errno : 0;
	case EDIT_UNLINK:
		return symlink(edit->value, edit->path) ? errno : 0;
	case EDIT_WRITE:
		/* An attribute that had no value cannot lose its new one; its folder goes next. */
		return *edit->value ? write_value(edit->path, edit->value) : 0;
	}
	return EINVAL;
}

/* Undo all edits, the last one first. Adds failures to the recorded error. */
void configfs_undo(struct configfs_edit **edits)
{
	while (*edits) {
		int error = undo_edit(*edits);

		if (error)
			fail_errno(error, "cannot undo the change of '%s'", (*edits)->path);
		drop_record(edits, error);
	}
}

/* Forget how to undo the edits. */
void configfs_keep(struct configfs_edit **edits)
{
	while (*edits)
		drop_record(edits, 0);
}

void configfs_names_free(char **names, size_t count)
{
	while (count)
		free(names[--count]);
	free(names);
}

static int add_name(char ***names, size_t *count, const char *name)
{
	char **longer = realloc(*names, (*count + 1) * sizeof(**names));

	if (!longer)
		return ENOMEM;
	*names = longer;
	longer[*count] = strdup(name);
	return longer[*count] ? (*count += 1, 0) : ENOMEM;
}

/*
 * List the folders and links in a folder. @names, for configfs_names_free(), is set in any case.
 * Returns 0 or an errno.
 */
int configfs_names(const char *path, char ***names, size_t *count)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int error = 0;

	*names = NULL;
	*count = 0;
	if (!folder)
		return errno;
	while (!error && (errno = 0, entry = readdir(folder)))
		if (entry->d_name[0] != '.' && entry->d_type != DT_REG)
			error = add_name(names, count, entry->d_name);
	if (!error)
		error = errno;
	closedir(folder);
	return error;
}
