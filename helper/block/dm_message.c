// SPDX-License-Identifier: GPL-2.0-only
/* Messages to a target, and events of a device. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "block/dm.h"
#include "block/dm_task.h"
#include "block/kmsg.h"
#include "lib/error.h"

/* dm_message() retries for one second while the device is suspended and refuses messages. */
#define BUSY_TRIES	10
#define BUSY_PAUSE_US	(100 * 1000)

/*
 * Send a message once. Returns 0 on success. If the kernel refuses the message, returns its errno
 * without recording an error. After any other failure, records an error and returns -1. @answer:
 * receives the answer of the target in @size bytes; NULL: the caller needs none.
 */
static int try_message(const char *name, const char *message, char *answer, size_t size)
{
	struct dm_task *task = dm_begin(DM_DEVICE_TARGET_MSG, name);
	int error = 0;

	if (!task)
		return -1;
	if (!dm_task_set_sector(task, 0) ||
	    !dm_task_set_message(task, message)) {
		fail_memory();
		error = -1;
	} else if (!dm_task_run(task)) {
		error = dm_task_get_errno(task);
		if (!error) {
			dm_missing();
			error = -1;
		}
	} else if (answer) {
		const char *text = dm_task_get_message_response(task);

		snprintf(answer, size, "%s", text ? text : "");
	}
	dm_task_destroy(task);
	return error;
}

/*
 * Send a message to the target. The error of a refusal quotes the kernel log. @answer receives the
 * answer of the target in @size bytes, "" if there is none; NULL: the caller needs none.
 */
int dm_ask(const struct dm_device *dev, const char *message, char *answer, size_t size)
{
	struct kmsg log = kmsg_mark(dev->number);
	int tries, error = try_message(dev->name, message, answer, size);

	/* EBUSY: the device is suspended, perhaps only while another process replaces its table. */
	for (tries = 0; error == EBUSY && tries < BUSY_TRIES; tries++) {
		usleep(BUSY_PAUSE_US);
		error = try_message(dev->name, message, answer, size);
	}
	if (error == EBUSY) {
		fail(CODE_BUSY,
		     "device '%s' is suspended: 'dmsetup resume %s' first, or try again when it is running",
		     dev->name, dev->name);
	} else if (error > 0) {
		fail_errno(error, "cannot send '%s' to '%s'", message,
			   dev->name);
		kmsg_explain(&log, DM_TARGET);
	}
	kmsg_close(&log);
	return fail_code();
}

/* As dm_ask(), for a message without an answer. */
int dm_message(const struct dm_device *dev, const char *message)
{
	return dm_ask(dev, message, NULL, 0);
}

/*
 * Wait until the device has had more events than @dev->event, or a signal with a handler arrives.
 * The removal of the device, and a new table, end the wait as well.
 */
int dm_wait_event(const struct dm_device *dev)
{
	struct dm_task *task = dm_begin(DM_DEVICE_WAITEVENT, dev->name);
	int error = 0;

	if (!task)
		return fail_code();
	if (!dm_task_set_event_nr(task, dev->event))
		error = fail_memory();
	else if (!dm_task_run(task) && dm_task_get_errno(task) != EINTR)
		error = dm_failed(task, "wait for the device", dev->name);
	dm_task_destroy(task);
	return error;
}
