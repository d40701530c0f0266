/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_BITMAP_H
#define UNIT_LINUX_BITMAP_H

#include <stdbool.h>
#include <string.h>

#define BITS_TO_LONGS(n)	(((n) + 63UL) / 64)

static inline bool test_bit(unsigned long n, const unsigned long *map)
{
	return map[n / 64] >> n % 64 & 1;
}

static inline void __assign_bit(unsigned long n, unsigned long *map, bool value)
{
	map[n / 64] = (map[n / 64] & ~(1UL << n % 64)) | (unsigned long)value << n % 64;
}

#define assign_bit	__assign_bit

static inline void bitmap_zero(unsigned long *map, unsigned long n)
{
	memset(map, 0, BITS_TO_LONGS(n) * sizeof(*map));
}

#endif /* UNIT_LINUX_BITMAP_H */
