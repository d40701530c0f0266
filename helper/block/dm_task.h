/* SPDX-License-Identifier: GPL-2.0-only */
/* Tasks of libdevmapper, for the files of this folder that use it. */
#ifndef HELPER_BLOCK_DM_TASK_H
#define HELPER_BLOCK_DM_TASK_H

#include <libdevmapper.h>

struct dm_task *dm_begin(int type, const char *name);
int dm_failed(struct dm_task *task, const char *what, const char *name);
int dm_missing(void);

#endif /* HELPER_BLOCK_DM_TASK_H */
