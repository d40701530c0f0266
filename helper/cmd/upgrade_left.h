/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HELPER_CMD_UPGRADE_LEFT_H
#define HELPER_CMD_UPGRADE_LEFT_H

#include <stdbool.h>

int upgrade_left(const char *name, bool *done);

#endif /* HELPER_CMD_UPGRADE_LEFT_H */
