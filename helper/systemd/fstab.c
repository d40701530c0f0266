// SPDX-License-Identifier: GPL-2.0-only
#include "systemd/fstab.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "open/uncached_writes.h"
#include "open/nearcachetab.h"

/* Bytes of a word that are looked at; what is longer is none of ours. */
#define WORD	512

static bool has_option(const char *options, const char *wanted)
{
	size_t length = strlen(wanted);

	for (; *options; options += strcspn(options, ","), options += *options == ',')
		if (strcspn(options, ",") == length &&
		    !strncmp(options, wanted, length))
			return true;
	return false;
}

/* Whether one folder is another or lies above it. */
static bool is_above(const char *folder, const char *path)
{
	size_t length = strlen(folder);

	if (length && folder[length - 1] == '/')
		length--;
	return !strncmp(folder, path, length) &&
	       (!path[length] || path[length] == '/');
}

static int check_line(const char *path, unsigned int number, const char *line,
		      const char *device)
{
	char source[WORD], folder[WORD], options[WORD] = "";

	if (sscanf(line, " %511s %511s %*s %511s", source, folder, options) < 2 ||
	    strcmp(source, device))
		return 0;
	if (is_above(folder, GAPS_FOLDER))
		return fail(CODE_USAGE,
			    "'%s' line %u mounts '%s' on '%s', and the device is opened only when " GAPS_FOLDER " is there: mount something else there",
			    path, number, device, folder);
	if (has_option(options, "_netdev") || has_option(options, "nofail") ||
	    has_option(options, "noauto"))
		return 0;
	return fail(CODE_USAGE,
		    "'%s' line %u: '%s' is needed before the network, and is there only after it: add the options _netdev,nofail",
		    path, number, device);
}

/**
 * fstab_check() - demand that nothing needs a device before it can be there
 * @path: of the file
 * @name: of the device
 *
 * The device would wait for what waits for it, and systemd would leave something out.
 *
 * Return: 0 or the exit code; 0 if there is no such file.
 */
int fstab_check(const char *path, const char *name)
{
	FILE *file = fopen(path, "re");
	char device[128];
	char *line = NULL;
	unsigned int number = 0;
	size_t size = 0;

	if (!file)
		return errno == ENOENT ? 0 :
		       fail_errno(errno, "cannot open '%s'", path);
	snprintf(device, sizeof(device), "/dev/mapper/%s", name);
	/* A comment's first word is no device. */
	while (!fail_code() && getline(&line, &size, file) > 0)
		check_line(path, ++number, line, device);
	free(line);
	fclose(file);
	return fail_code();
}

/**
 * fstab_each_late() - what is mounted after the network, at boot
 * @path: of the file
 * @visit: called for each folder
 * @arg: for @visit
 *
 * All of them, since a device may be named by the uuid or label of its file system.
 *
 * Return: 0 or the exit code; 0 if there is no such file.
 */
int fstab_each_late(const char *path,
		    void (*visit)(const char *folder, void *arg), void *arg)
{
	FILE *file = fopen(path, "re");
	char source[WORD], folder[WORD], options[WORD];
	char *line = NULL;
	size_t size = 0;

	if (!file)
		return errno == ENOENT ? 0 :
		       fail_errno(errno, "cannot open '%s'", path);
	while (getline(&line, &size, file) > 0) {
		if (sscanf(line, " %511s %511s %*s %511s", source, folder,
			   options) < 3 || *source == '#' || *folder != '/' ||
		    !has_option(options, "_netdev") ||
		    has_option(options, "noauto"))
			continue;
		tab_unescape(folder);
		visit(folder, arg);
	}
	free(line);
	fclose(file);
	return 0;
}
