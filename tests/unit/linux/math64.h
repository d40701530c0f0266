/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_MATH64_H
#define UNIT_LINUX_MATH64_H

#include <linux/types.h>

#define div_u64(a, b)	((a) / (b))
#define div64_u64(a, b)	((a) / (b))

static inline u64 div64_u64_rem(u64 a, u64 b, u64 *rest)
{
	*rest = a % b;
	return a / b;
}

static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 c)
{
	return (unsigned __int128)a * b / c;
}

#endif /* UNIT_LINUX_MATH64_H */
