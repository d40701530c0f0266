// SPDX-License-Identifier: GPL-2.0-only
/* nearcache close: a clean stop. */
#include "commands.h"
#include "name.h"
#include "print.h"
#include "stop.h"

int cmd_close(const struct arguments *args)
{
	bool dry_run = given(args, OPTION_DRY_RUN);
	struct dm_device dev;
	int error = dm_need_ours(name_of_operand(args->operand[0]), &dev);

	if (error)
		return error;
	error = dry_run ? stop_check(&dev) : stop(&dev);
	if (!error) {
		print_string("name", dry_run ? "would close" : NULL, dev.name);
		print_flag("closed", NULL, !dry_run);
		print_flag("dry_run", NULL, dry_run);
	}
	dm_device_free(&dev);
	return error;
}
