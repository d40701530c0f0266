/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_JIFFIES_H
#define UNIT_LINUX_JIFFIES_H

#define time_before(a, b)	((long)((a) - (b)) < 0)

#endif /* UNIT_LINUX_JIFFIES_H */
