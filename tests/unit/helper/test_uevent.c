// SPDX-License-Identifier: GPL-2.0-only
/* block/uevent.c: messages of the kernel about block devices, and others. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>

#include "block/uevent.h"
#include "unit.h"

/* What recvfrom() returns, the last one first; then nothing is there. */
static struct answer {
	ssize_t bytes;
	int error;
	const char *message;
} answer[2];
static unsigned int answers;

ssize_t __wrap_recvfrom(int fd, void *buffer, size_t size, int flags, struct sockaddr *from,
			socklen_t *length);
ssize_t __wrap_recvfrom(int fd, void *buffer, size_t size, int flags, struct sockaddr *from,
			socklen_t *length)
{
	const struct answer *next = answers ? &answer[--answers] : NULL;

	(void)fd;
	(void)size;
	(void)flags;
	(void)from;
	(void)length;
	errno = next ? next->error : EAGAIN;
	if (!next || next->error)
		return -1;
	memcpy(buffer, next->message, (size_t)next->bytes);
	return next->bytes;
}

#define PARSE(message, event)	uevent_parse(message, sizeof(message), event)

static void block_devices(void **state)
{
	struct uevent event;

	(void)state;
	assert_true(PARSE("change@/devices/virtual/block/dm-3\0ACTION=change\0SUBSYSTEM=block\0MAJOR=253\0MINOR=3\0DEVNAME=dm-3",
			  &event));
	assert_string_equal(event.action, "change");
	assert_int_equal(event.number, makedev(253, 3));
	/* A resume with another size is one uevent. */
	assert_true(PARSE("change@/x\0ACTION=change\0SUBSYSTEM=block\0RESIZE=1\0MAJOR=253\0MINOR=4",
			  &event));
	assert_int_equal(event.number, makedev(253, 4));
}

static void other_messages(void **state)
{
	struct uevent event;

	(void)state;
	assert_false(PARSE("add@/x\0ACTION=add\0SUBSYSTEM=net\0MAJOR=1\0MINOR=2", &event));
	assert_false(PARSE("add@/x\0ACTION=add\0SUBSYSTEM=block\0MAJOR=1", &event));
	assert_false(PARSE("add@/x\0SUBSYSTEM=block\0MAJOR=1\0MINOR=2", &event));
	assert_false(PARSE("\0\0\0", &event));
	assert_false(PARSE("change@/x\0ACTION=change\0SUBSYSTEM=block\0MAJOR=253\0MINOR=3\0DISK_RO=1",
			   &event));
	assert_false(PARSE("change@/x\0ACTION=change\0SUBSYSTEM=block\0SYNTH_UUID=0\0MAJOR=253\0MINOR=3",
			   &event));
	assert_false(uevent_parse("", 0, &event));
	/* A message without its end. */
	assert_false(uevent_parse("ACTION=add", 10, &event));
}

/* The kernel drops what a full socket has no room for. @lost tells it, and the others are read. */
static void lost_messages(void **state)
{
	static const char message[] = "change@/x\0ACTION=change\0SUBSYSTEM=block\0MAJOR=253\0MINOR=3";
	struct uevent event;
	bool lost = false;

	(void)state;
	answers = 2;
	answer[1] = (struct answer){ -1, ENOBUFS, NULL };
	answer[0] = (struct answer){ sizeof(message) - 1, 0, message };
	assert_true(uevents_read(7, &event, &lost));
	assert_true(lost);
	assert_int_equal(event.number, makedev(253, 3));
	lost = false;
	assert_false(uevents_read(7, &event, &lost));
	assert_false(lost);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(block_devices),
		cmocka_unit_test(other_messages),
		cmocka_unit_test(lost_messages),
	};

	return RUN(tests);
}
