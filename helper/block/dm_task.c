// SPDX-License-Identifier: GPL-2.0-only
#include "block/dm_task.h"

#include <errno.h>
#include <unistd.h>

#include "block/dm.h"
#include "lib/error.h"

/* Drop libdevmapper's messages: fail() reports errors. */
static void drop_log(int level, const char *file, int line, int class,
		     const char *format, ...)
{
	(void)level;
	(void)file;
	(void)line;
	(void)class;
	(void)format;
}

/* Fail because libdevmapper could not open device-mapper. */
int dm_missing(void)
{
	if (geteuid())
		return fail(CODE_PERMISSION, "device-mapper needs root");
	return fail(CODE_DEVICE,
		    "the kernel has no device-mapper: modprobe dm-mod");
}

/* Returns NULL after recording an error. @name: dm name, NULL for a task without a device. */
struct dm_task *dm_begin(int type, const char *name)
{
	struct dm_task *task;

	dm_log_with_errno_init(drop_log);
	/* Use names unchanged: name_check() accepts none that libdevmapper would have to mangle. */
	dm_set_name_mangling_mode(DM_STRING_MANGLING_NONE);
	if (access(DM_CONTROL_NODE, R_OK | W_OK) && errno == EACCES) {
		fail_errno(errno,
			   "cannot use device-mapper (" DM_CONTROL_NODE ")");
		return NULL;
	}
	task = dm_task_create(type);
	if (!task) {
		dm_missing();
		return NULL;
	}
	if (!name || dm_task_set_name(task, name))
		return task;
	dm_task_destroy(task);
	/* The name is too long for the kernel, so no such device can exist. */
	fail(CODE_DEVICE, "there is no device '%s'", name);
	return NULL;
}

/* Record the error of a task that did not run. */
int dm_failed(struct dm_task *task, const char *what, const char *name)
{
	int error = dm_task_get_errno(task);

	/* No errno: libdevmapper could not open device-mapper, so there was no ioctl. */
	if (!error)
		return dm_missing();
	return fail_errno(error, "cannot %s '%s'", what, name);
}
