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

/* Room for a word of a line, NUL included. A longer word cannot name a nearcache device. */
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

/* True if @folder is @path or a parent of it. */
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
			    "'%s' line %u mounts '%s' on '%s', but the device is opened only after " GAPS_FOLDER " is mounted: mount another device there",
			    path, number, device, folder);
	if (has_option(options, "_netdev") || has_option(options, "nofail") ||
	    has_option(options, "noauto"))
		return 0;
	return fail(CODE_USAGE,
		    "'%s' line %u: '%s' is mounted before the network is up, but the device appears only after that: add the options _netdev,nofail",
		    path, number, device);
}

/*
 * Fail if a mount needs the device at a time when the device cannot exist yet: the device and the
 * mount would wait for each other, and systemd would drop one of them. A missing file is no error.
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
	/* check_line() accepts a comment, because the first word of a comment is no device. */
	while (!fail_code() && getline(&line, &size, file) > 0)
		check_line(path, ++number, line, device);
	free(line);
	fclose(file);
	return fail_code();
}

/*
 * Visit the folder of each mount that systemd makes at boot after the network is up, no matter on
 * which device: a mount may name a nearcache device by the uuid or label of its file system. A
 * missing file is no error.
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
