/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_MINMAX_H
#define UNIT_LINUX_MINMAX_H

#include <linux/types.h>

#define max(a, b) \
	({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max3(a, b, c)	max(max(a, b), c)
#define clamp(n, low, high)	min(max(n, low), high)

#endif /* UNIT_LINUX_MINMAX_H */
