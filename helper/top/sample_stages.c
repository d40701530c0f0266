// SPDX-License-Identifier: GPL-2.0-only
/* Samples the stages below the caches of the model. */
#include "top/sample_stages.h"

#include <stdio.h>
#include <string.h>

#include "block/dm.h"
#include "block/stage_params.h"
#include "lib/error.h"
#include "lib/sanitize.h"
#include "open/stage_device.h"
#include "stage/report.h"

/* True if @stage is NAME-stage, and @cache NAME. */
static bool is_below(const char *stage, const char *cache)
{
	char name[NAME_SIZE];

	return strlen(cache) + strlen(STAGE_ENDING) < sizeof(name) &&
	       !strcmp(stage_name(cache, name), stage);
}

static void take_stage(struct top_stage *stage, const struct dm_device *dev)
{
	struct stage_status status;

	if (!dev->status || !stage_status_parse(dev->status, &status))
		return;
	snprintf(stage->name, sizeof(stage->name), "%s", dev->name);
	text_clean(stage->name);
	stage->state = stage_state_word(status.state);
	stage->calm = status.state == NEARCACHE_STAGE_NORMAL;
	stage->behind = status.behind_bytes;
	stage->seconds = stage_seconds_behind(&status);
	stage->retained = status.retained_bytes;
	stage->written = status.written_bytes;
	stage->drained = status.drained_bytes;
}

int stages_take(struct top_model *model)
{
	struct dm_device *list;
	size_t i, d, count;

	if (dm_all_stages(&list, &count))
		return fail_code();
	for (i = 0; i < count; i++)
		for (d = 0; d < model->devices; d++)
			if (is_below(list[i].name, model->device[d].name))
				take_stage(&model->device[d].stage, &list[i]);
	dm_device_free_all(list, count);
	return fail_code();
}
