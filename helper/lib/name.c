// SPDX-License-Identifier: GPL-2.0-only
#include "lib/name.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/error.h"
#include "lib/sanitize.h"

/* The characters that libdevmapper does not encode in names of /dev/mapper. */
static const char allowed[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	"0123456789#+-.:=@_";

/* Returns whether device-mapper and a superblock can hold @name. @why: the reason if not. */
bool name_check(const char *name, const char **why)
{
	size_t length = strlen(name);

	*why = NULL;
	if (!length)
		*why = "it is empty";
	else if (length >= NAME_SIZE)
		*why = "it is longer than 63 bytes";
	else if (name[strspn(name, allowed)])
		*why = "use only letters, digits and #+-.:=@_";
	else if (name[0] == '-')
		*why = "it starts with '-'";
	else if (!strcmp(name, ".") || !strcmp(name, ".."))
		*why = "it names a directory";
	else if (!strcmp(name, "control"))
		*why = "/dev/mapper/control belongs to device-mapper";
	return !*why;
}

/* Returns NAME in "NAME" or "/dev/mapper/NAME": a pointer into @operand. */
const char *name_of_operand(const char *operand)
{
	static const char dir[] = "/dev/mapper/";

	if (!strncmp(operand, dir, sizeof(dir) - 1))
		return operand + sizeof(dir) - 1;
	return operand;
}

/* Returns NULL, or the reason why @label is invalid. */
const char *label_check(const char *label)
{
	if (!*label)
		return "it is empty";
	if (strlen(label) > NEARCACHE_LABEL_MAX)
		return "it is longer than 127 bytes";
	if (text_check(label) != strlen(label))
		return "it contains control characters or is not UTF-8";
	return NULL;
}

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

	if (whole || !strchr(path + 1, '/'))
		return whole;
	above = strdup(path);
	if (!above)
		return NULL;
	fail_reset();
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
 * Makes the path of a file or folder absolute that may have been deleted. The result is the path
 * that path_absolute() returned for that file, or the start of the paths it returned for files in
 * that folder, while they existed.
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
