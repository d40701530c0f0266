/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HELPER_UPGRADE_TABLES_H
#define HELPER_UPGRADE_TABLES_H

#include "upgrade/upgrade.h"

bool upgrade_written(dev_t number, uint64_t *sectors);
int upgrade_check_loops(const struct upgrade *u);
int upgrade_check_discards(const struct upgrade_device *dev);
void upgrade_made(dev_t number, char *made, size_t size);
int upgrade_look(struct upgrade_device *dev, bool *suspended);

#endif /* HELPER_UPGRADE_TABLES_H */
