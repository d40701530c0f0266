// SPDX-License-Identifier: GPL-2.0-only
#include "path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

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
