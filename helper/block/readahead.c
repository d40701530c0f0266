// SPDX-License-Identifier: GPL-2.0-only
#include "block/readahead.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/error.h"
#include "block/device_sysfs.h"
#include "lib/size.h"

#define ATTRIBUTE	"queue/read_ahead_kb"
#define KIB		1024U
/* Bytes of a page: the kernel would round the read-ahead to whole pages. */
#define GRAIN		4096U
#define MOST		(1ULL << 30)

/* Parse a size in bytes. Returns false if it is not in READAHEAD_RANGE. */
bool readahead_parse(const char *text, uint64_t *bytes)
{
	const char *why;

	return size_parse(text, bytes, &why) && *bytes <= MOST &&
	       *bytes % GRAIN == 0;
}

/* Get the read-ahead in bytes. Returns false if it is unknown. */
bool readahead_get(dev_t number, uint64_t *bytes)
{
	char text[32];

	if (!identity_attribute(number, ATTRIBUTE, text, sizeof(text)))
		return false;
	*bytes = strtoull(text, NULL, 10) * KIB;
	return true;
}

/* @bytes: accepted by readahead_parse(). */
int readahead_set(dev_t number, uint64_t bytes)
{
	char path[80], text[32];
	int fd, length, error = 0;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/" ATTRIBUTE,
		 major(number), minor(number));
	length = snprintf(text, sizeof(text), "%llu",
			  (unsigned long long)(bytes / KIB));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, (size_t)length) != length)
		error = fail_errno(errno, "cannot set the read-ahead (%s)",
				   path);
	if (fd >= 0)
		close(fd);
	return error;
}
