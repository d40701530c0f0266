/* SPDX-License-Identifier: GPL-2.0-only */
/* Locks that nobody else takes: who does it twice has a fault. */
#ifndef UNIT_LINUX_SPINLOCK_H
#define UNIT_LINUX_SPINLOCK_H

#include <stdlib.h>

typedef struct {
	int held;
} spinlock_t;

#define spin_lock_init(lock)	((lock)->held = 0)
#define spin_lock(lock)		do { if ((lock)->held++) abort(); } while (0)
#define spin_unlock(lock)	do { if (--(lock)->held) abort(); } while (0)
#define lockdep_assert_held(lock)	do { if (!(lock)->held) abort(); } while (0)

#endif /* UNIT_LINUX_SPINLOCK_H */
