// SPDX-License-Identifier: GPL-2.0-only
#include "block/kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/error.h"

/* From the kernel's include/linux/kern_levels.h. */
#define LEVEL_WARNING	4
#define LEVEL_INFO	6

/*
 * Return a mark at the end of the kernel log for kmsg_explain(), which prefers lines about the
 * device @number (0: no device). Needs kmsg_close().
 */
struct kmsg kmsg_mark(dev_t number)
{
	struct kmsg log = {
		.fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC),
	};

	if (log.fd >= 0)
		lseek(log.fd, 0, SEEK_END);
	snprintf(log.device, sizeof(log.device), ": %u:%u: ", major(number),
		 minor(number));
	return log;
}

/*
 * Return "text" of a record "3,123,456,-;text\n KEY=value\n". The three lowest bits of the first
 * number are the level. Returns NULL if the record is less severe than @level.
 */
static char *text_of(char *record, unsigned int level)
{
	char *text = strchr(record, ';');

	if (!text || (strtoul(record, NULL, 10) & 7) > level)
		return NULL;
	text++;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/* Copy @text to @kept if @kept is still empty: the first line names the cause. */
static void keep_text(char *kept, size_t size, const char *text)
{
	if (!kept[0])
		snprintf(kept, size, "%s", text);
}

/*
 * Return the text of the next record, at @record, that is not less severe than @level. NULL at the
 * end.
 */
static char *next_text(struct kmsg *log, unsigned int level, char *record, size_t size)
{
	while (log->fd >= 0) {
		ssize_t n = read(log->fd, record, size - 1);
		char *text;

		/* EPIPE: records were overwritten before they were read. */
		if (n < 0 && errno == EPIPE)
			continue;
		if (n <= 0)
			break;
		record[n] = '\0';
		text = text_of(record, level);
		if (text)
			return text;
	}
	return NULL;
}

/* Does a line after the mark contain @word? Also finds informational lines. Moves the mark. */
bool kmsg_has(struct kmsg *log, const char *word)
{
	char record[8192], *line;

	do
		line = next_text(log, LEVEL_INFO, record, sizeof(record));
	while (line && !strstr(line, word));
	return line;
}

/*
 * Copy the first warning after the mark that contains @word to @text, and move the mark behind it.
 * Returns false, with the mark at the end, if there is none.
 */
bool kmsg_find(struct kmsg *log, const char *word, char *text, size_t size)
{
	char record[8192], *line;

	do
		line = next_text(log, LEVEL_WARNING, record, sizeof(record));
	while (line && !strstr(line, word));
	if (line)
		snprintf(text, size, "%s", line);
	return line;
}

/*
 * Call @visit with each line of the kernel log that starts with @beginning, from the oldest one, and
 * with its time since the boot.
 */
void kmsg_each(const char *beginning,
	       void (*visit)(const char *text, uint64_t microseconds, void *arg), void *arg)
{
	struct kmsg log = { .fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC) };
	char record[8192], *line;

	if (log.fd < 0)
		fail_errno(errno, "cannot read the kernel log (/dev/kmsg)");
	while ((line = next_text(&log, LEVEL_INFO, record, sizeof(record)))) {
		unsigned long long microseconds;

		if (!strncmp(line, beginning, strlen(beginning)) &&
		    sscanf(record, "%*u,%*u,%llu", &microseconds) == 1)
			visit(line, microseconds, arg);
	}
	kmsg_close(&log);
}

/*
 * Add the kernel's reason to the recorded error: the first line since the mark that contains @word,
 * if possible one about the device of the mark. If there is no such line, point to dmesg.
 */
void kmsg_explain(struct kmsg *log, const char *word)
{
	char line[512], own[512] = "", any[512] = "";

	while (kmsg_find(log, word, line, sizeof(line))) {
		keep_text(any, sizeof(any), line);
		if (strstr(line, log->device))
			keep_text(own, sizeof(own), line);
	}
	if (any[0])
		fail_add("the kernel log says: %s", own[0] ? own : any);
	else
		fail_add("the kernel log (dmesg) may say why");
}

void kmsg_close(struct kmsg *log)
{
	if (log->fd >= 0)
		close(log->fd);
	log->fd = -1;
}
