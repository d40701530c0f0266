/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_OVERFLOW_H
#define UNIT_LINUX_OVERFLOW_H

#define array_size(a, b)	((size_t)(a) * (b))

#endif /* UNIT_LINUX_OVERFLOW_H */
