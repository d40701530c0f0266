/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_MINMAX_H
#define UNIT_LINUX_MINMAX_H

#include <linux/types.h>

#define max(a, b) \
	({ __typeof__(a) x = (a); __typeof__(b) y = (b); x > y ? x : y; })
#define clamp(n, low, high)	min(max(n, low), high)

#endif /* UNIT_LINUX_MINMAX_H */
