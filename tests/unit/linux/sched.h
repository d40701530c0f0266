/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_SCHED_H
#define UNIT_LINUX_SCHED_H

#define cond_resched()	((void)0)

#endif /* UNIT_LINUX_SCHED_H */
