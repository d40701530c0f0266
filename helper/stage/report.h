/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows a stage.  Functions that return int return 0, or an exit code after recording an error with
 * fail().
 */
#ifndef HELPER_STAGE_REPORT_H
#define HELPER_STAGE_REPORT_H

#include "block/dm.h"
#include "block/stage_params.h"

uint64_t stage_seconds_behind(const struct stage_status *status);
const char *stage_shows(const struct stage_status *status, char *text);
const char *stage_origin_error(const struct stage_status *status);
int stage_report(const struct dm_device *dev);
void stage_report_brief(const struct dm_device *cache);
void stage_report_list(const struct dm_device *cache);

#endif /* HELPER_STAGE_REPORT_H */
