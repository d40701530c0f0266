// SPDX-License-Identifier: GPL-2.0-only
#include "lib/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/error.h"

/* Resolves the folder of @path, which must exist, but not the last component. */
char *path_absolute(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *folder = slash ? strndup(path, slash - path + 1) : strdup(".");
	char *real = folder ? realpath(folder, NULL) : NULL, *whole = NULL;

	if (!folder) {
		fail_memory();
	} else if (!real) {
		fail_errno(errno, "the folder of '%s'", path);
	} else if (asprintf(&whole, "%s/%s", real[1] ? real : "", name) < 0) {
		whole = NULL;
		fail_memory();
	}
	free(real);
	free(folder);
	return whole;
}

/* Removes redundant slashes. */
char *path_tidy(const char *path)
{
	char *tidy = strdup(path), *to = tidy;
	const char *from = tidy;

	if (!tidy) {
		fail_memory();
		return NULL;
	}
	for (; *from; from++)
		if (*from != '/' || to == tidy || to[-1] != '/')
			*to++ = *from;
	if (to > tidy + 1 && to[-1] == '/')
		to--;
	*to = '\0';
	return tidy;
}

/* Resolves the part of @path that exists and appends the rest. @path has no redundant slashes. */
static char *extend_path(const char *path)
{
	char *whole = path_absolute(path), *above, *slash;
	char *front = NULL;

	if (whole || fail_code() == CODE_MEMORY || !strchr(path + 1, '/'))
		return whole;
	fail_reset();
	above = strdup(path);
	if (!above) {
		fail_memory();
		return NULL;
	}
	slash = strrchr(above, '/');
	*slash = '\0';
	front = extend_path(above);
	if (front && asprintf(&whole, "%s/%s", front, slash + 1) < 0) {
		whole = NULL;
		fail_memory();
	}
	free(front);
	free(above);
	return whole;
}

/*
 * Makes a path absolute even if its file or folder was deleted. The result for a file is the path
 * that path_absolute() returned while the file existed; for a folder, the start of the paths that
 * path_absolute() returned for files in it.
 */
char *path_once(const char *path)
{
	char *tidy, *once = NULL;
	struct stat st;

	if (!*path) {
		fail(CODE_DEVICE, "'' is not a path");
		return NULL;
	}
	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		once = realpath(path, NULL);
		if (!once)
			fail_errno(errno, "the folder '%s'", path);
		return once;
	}
	tidy = path_tidy(path);
	if (tidy)
		once = extend_path(tidy);
	free(tidy);
	return once;
}
