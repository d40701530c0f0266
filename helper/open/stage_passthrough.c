// SPDX-License-Identifier: GPL-2.0-only
/* A pass-through device above a stage whose cache is lost or not found. */
#include "open/stage_device.h"

#include "lib/error.h"
#include "open/passthrough.h"

/*
 * Make the stage, and @pass above it. If @pass is writable, a cache of this stage that comes back is
 * emptied. @uuid: of the log; NULL: @args names its device. The caller must call stage_close().
 */
int stage_pass_through(struct stage *stage, const unsigned char *uuid, struct passthrough *pass,
		       const struct arguments *args)
{
	struct device upper = DEVICE_CLOSED;

	stage->cache = pass->name;
	pass->origin = &upper;
	if (!option_given(args, OPTION_MODE | OPTION_READ_ONLY))
		pass->mode = NEARCACHE_WRITEAROUND;
	if (!stage_open(stage, args, uuid)) {
		if (stage->running && !device_open_number(&upper, stage->number, "origin"))
			passthrough_start(pass, option_given(args, OPTION_DRY_RUN));
		if (fail_code())
			stage_undo(stage);
	}
	pass->origin = NULL;
	device_close(&upper);
	return fail_code();
}
