// SPDX-License-Identifier: GPL-2.0-only
#include "lib/name.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/error.h"
#include "lib/sanitize.h"

/* What libdevmapper leaves as it is; other bytes get mangled in /dev. */
static const char allowed[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	"0123456789#+-.:=@_";

/**
 * name_check() - judge the name of a device
 * @name: the name
 * @why: on failure: what is wrong with it
 *
 * Return: whether device-mapper and the superblock's label can hold it.
 */
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
		*why = "it is a directory";
	else if (!strcmp(name, "control"))
		*why = "/dev/mapper/control belongs to device-mapper";
	return !*why;
}

/**
 * name_of_operand() - the name in what the user typed
 * @operand: NAME or /dev/mapper/NAME
 *
 * Return: a place inside @operand.
 */
const char *name_of_operand(const char *operand)
{
	static const char dir[] = "/dev/mapper/";

	if (!strncmp(operand, dir, sizeof(dir) - 1))
		return operand + sizeof(dir) - 1;
	return operand;
}

/**
 * label_check() - judge a label
 * @label: as the user gave it
 *
 * Return: NULL, or what is wrong with it.
 */
const char *label_check(const char *label)
{
	if (!*label)
		return "it is empty";
	if (strlen(label) > NEARCACHE_LABEL_MAX)
		return "it is longer than 127 bytes";
	if (text_check(label) != strlen(label))
		return "it has control characters, or is not UTF-8";
	return NULL;
}

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
		once = extend_path(tidy);
	free(tidy);
	return once;
}
