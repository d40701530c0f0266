/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Logs on this machine that hold writes which their origin lacks, while no stage uses them.
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_STAGE_CLOSED_LOGS_H
#define HELPER_STAGE_CLOSED_LOGS_H

#include "open/find_cache_devices.h"

int closed_logs_drop_running(struct logs *all);
int closed_logs_find(struct logs *all);
uint64_t closed_log_seconds(const struct log_carrier *log);
int closed_logs_print(void);

#endif /* HELPER_STAGE_CLOSED_LOGS_H */
