// SPDX-License-Identifier: GPL-2.0-only
#include "block/uevent.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/error.h"

/* Multicast group of the kernel; group 2 is that of udev. */
#define GROUP_KERNEL	1
/* Receive buffer: many devices may change while the output is slow. */
#define BUFFER_BYTES	(1 << 20)

/* Opens a socket that gets each uevent. Returns 0, or an exit code after recording an error. */
int uevents_open(int *fd)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = GROUP_KERNEL };
	int bytes = BUFFER_BYTES;

	*fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
		     NETLINK_KOBJECT_UEVENT);
	if (*fd < 0)
		return fail_errno(errno, "cannot listen to uevents");
	/* Beyond the limit of the system with CAP_NET_ADMIN only. */
	if (setsockopt(*fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(*fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	if (!bind(*fd, (struct sockaddr *)&address, sizeof(address)))
		return 0;
	fail_errno(errno, "cannot listen to uevents");
	close(*fd);
	return fail_code();
}

/* Returns the value of KEY=VALUE, one of the words that follow each other in a message; or NULL. */
static const char *value_of(const char *message, size_t bytes, const char *key)
{
	size_t length = strlen(key), at;

	for (at = 0; at < bytes; at += strlen(message + at) + 1)
		if (!strncmp(message + at, key, length) && message[at + length] == '=')
			return message + at + length + 1;
	return NULL;
}

/*
 * Parses a message "add@/devices/...", followed by words KEY=VALUE; each ends with NUL. Returns false
 * if it is not about a block device, if a program asked for it, or if it tells only that the device is
 * read-only. A new size is a change: since kernel 6.3 the uevent of the resume tells it.
 */
bool uevent_parse(const char *message, size_t bytes, struct uevent *event)
{
	const char *action, *subsystem, *major_text, *minor_text;

	if (!bytes || message[bytes - 1])
		return false;
	action = value_of(message, bytes, "ACTION");
	subsystem = value_of(message, bytes, "SUBSYSTEM");
	major_text = value_of(message, bytes, "MAJOR");
	minor_text = value_of(message, bytes, "MINOR");
	/* A program wrote to the file "uevent": udev does so after each close of a device that was written. */
	if (value_of(message, bytes, "SYNTH_UUID"))
		return false;
	/* One of the uevents while a read-only device is opened. */
	if (value_of(message, bytes, "DISK_RO"))
		return false;
	if (!action || !subsystem || strcmp(subsystem, "block") || !major_text || !minor_text)
		return false;
	snprintf(event->action, sizeof(event->action), "%s", action);
	event->number = makedev(atoi(major_text), atoi(minor_text));
	return true;
}

/*
 * Reads the next uevent of a block device. Returns false if there is none now. @lost becomes true if the
 * kernel had to drop uevents since the last call.
 */
bool uevents_read(int fd, struct uevent *event, bool *lost)
{
	char message[8192 + 1];
	ssize_t n;

	do {
		struct sockaddr_nl from = { 0 };
		socklen_t length = sizeof(from);

		n = recvfrom(fd, message, sizeof(message) - 1, 0, (struct sockaddr *)&from, &length);
		if (n < 0 && errno == ENOBUFS)
			*lost = true;
		if (n <= 0)
			continue;
		message[n] = '\0';
		/* Only the kernel has port 0. */
		if (!from.nl_pid && uevent_parse(message, (size_t)n + 1, event))
			return true;
	} while (n > 0 || (n < 0 && (errno == ENOBUFS || errno == EINTR)));
	return false;
}
