/* SPDX-License-Identifier: GPL-2.0-only */
/* What can be changed on a device in use: NAME=VALUE. */
#ifndef HELPER_SETTING_H
#define HELPER_SETTING_H

#include "params.h"

const char *setting_witness(char **words, int count);
int setting_apply(char **words, int count, struct params *params);

#endif /* HELPER_SETTING_H */
