// SPDX-License-Identifier: GPL-2.0-only
/* block/uevent.c: messages of the kernel about block devices, and others. */
#include <sys/sysmacros.h>

#include "block/uevent.h"
#include "unit.h"

#define PARSE(message, event)	uevent_parse(message, sizeof(message), event)

static void block_devices(void **state)
{
	struct uevent event;

	(void)state;
	assert_true(PARSE("change@/devices/virtual/block/dm-3\0ACTION=change\0SUBSYSTEM=block\0MAJOR=253\0MINOR=3\0DEVNAME=dm-3",
			  &event));
	assert_string_equal(event.action, "change");
	assert_int_equal(event.number, makedev(253, 3));
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
	assert_false(PARSE("change@/x\0ACTION=change\0SUBSYSTEM=block\0RESIZE=1\0MAJOR=253\0MINOR=3",
			   &event));
	assert_false(uevent_parse("", 0, &event));
	/* A message without its end. */
	assert_false(uevent_parse("ACTION=add", 10, &event));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(block_devices),
		cmocka_unit_test(other_messages),
	};

	return RUN(tests);
}
