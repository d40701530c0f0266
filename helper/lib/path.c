// SPDX-License-Identifier: GPL-2.0-only
#include "lib/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/error.h"

/**
 * path_absolute() - name a file from the root
 * @path: of a file in a folder that is there
 *
 * Links in the folder's path are followed; what the file itself is called stays.
 *
 * Return: the path, for free(); NULL after recording the error.
 */
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

/**
 * path_tidy() - leave out slashes that say nothing
 * @path: any
 *
 * Return: the path, for free(); NULL after recording the error.
 */
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

/* @path: tidy; as much of it as is there, and what is missing as it was written. */
static char *extend(const char *path)
{
	char *whole = path_absolute(path), *above, *slash;
	char *front = NULL;

	if (whole || !strchr(path + 1, '/'))
		return whole;
	above = strdup(path);
	if (!above)
		return NULL;
	fail_reset();
	slash = strrchr(above, '/');
	*slash = '\0';
	front = extend(above);
	if (front && asprintf(&whole, "%s/%s", front, slash + 1) < 0) {
		whole = NULL;
		fail_memory();
	}
	free(front);
	free(above);
	return whole;
}

/**
 * path_once() - name a file or folder from the root that need not be there any more
 * @path: what it was called
 *
 * It is what path_absolute() made of a file, or of files in a folder, when they were there.
 *
 * Return: the path, for free(); NULL after recording the error.
 */
char *path_once(const char *path)
{
	char *tidy, *once = NULL;
	struct stat st;

	if (!*path) {
		fail(CODE_DEVICE, "'' is no path");
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
		once = extend(tidy);
	free(tidy);
	return once;
}
