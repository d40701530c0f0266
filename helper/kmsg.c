// SPDX-License-Identifier: GPL-2.0-only
#include "kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"

/**
 * kmsg_mark() - remember the end of the kernel log
 *
 * Return: the place, for kmsg_explain() and kmsg_close().
 */
struct kmsg kmsg_mark(void)
{
	struct kmsg log = {
		.fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC),
	};

	if (log.fd >= 0)
		lseek(log.fd, 0, SEEK_END);
	return log;
}

/* "6,123,456,-;text\n KEY=value\n" to "text". */
static char *text_of(char *record)
{
	char *text = strchr(record, ';');

	if (!text)
		return NULL;
	text++;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/**
 * kmsg_explain() - add the kernel's reason to the recorded error
 * @log: place remembered before the kernel was asked
 * @word: lines with this word count
 *
 * Says where to look when there is no such line.
 */
void kmsg_explain(struct kmsg *log, const char *word)
{
	char record[8192], last[512] = "";
	ssize_t n = -1;

	do {
		if (log->fd >= 0)
			n = read(log->fd, record, sizeof(record) - 1);
		if (n > 0) {
			char *text;

			record[n] = '\0';
			text = text_of(record);
			/* The first line names the cause. */
			if (text && strstr(text, word) && !last[0])
				strncat(last, text, sizeof(last) - 1);
		}
	} while (n > 0 || (n < 0 && log->fd >= 0 && errno == EPIPE));
	if (last[0])
		fail_add("the kernel log says: %s", last);
	else
		fail_add("the kernel log (dmesg) may say why");
}

/* Forget the place. */
void kmsg_close(struct kmsg *log)
{
	if (log->fd >= 0)
		close(log->fd);
	log->fd = -1;
}
