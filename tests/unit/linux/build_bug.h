/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_BUILD_BUG_H
#define UNIT_LINUX_BUILD_BUG_H

#include <assert.h>

#endif /* UNIT_LINUX_BUILD_BUG_H */
