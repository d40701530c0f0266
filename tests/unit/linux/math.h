/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_MATH_H
#define UNIT_LINUX_MATH_H

#define DIV_ROUND_UP(n, by)	(((n) + (by) - 1) / (by))
#define reciprocal_scale(n, end)	((u32)((u64)(u32)(n) * (end) >> 32))

#endif /* UNIT_LINUX_MATH_H */
