/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_MATH_H
#define UNIT_LINUX_MATH_H

#define DIV_ROUND_UP(n, by)	(((n) + (by) - 1) / (by))

#endif /* UNIT_LINUX_MATH_H */
