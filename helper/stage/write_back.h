/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lets the writes that are in the memory of this node reach a stage.  Functions that return int
 * return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_STAGE_WRITE_BACK_H
#define HELPER_STAGE_WRITE_BACK_H

#include <sys/types.h>

int write_back_all(dev_t stage);
int write_back_path(dev_t stage, const char *name, const char *path);

#endif /* HELPER_STAGE_WRITE_BACK_H */
