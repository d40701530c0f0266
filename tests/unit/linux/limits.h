/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_LIMITS_H
#define UNIT_LINUX_LIMITS_H

#include <stdint.h>

#define U32_MAX		UINT32_MAX
#define U64_MAX		UINT64_MAX

#endif /* UNIT_LINUX_LIMITS_H */
