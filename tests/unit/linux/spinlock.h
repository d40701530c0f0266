/* SPDX-License-Identifier: GPL-2.0-only */
/* Spinlocks of cooperative tasks: where another processor may run in between, unit_elsewhere() of
 * the test runs another task.
 */
#ifndef UNIT_LINUX_SPINLOCK_H
#define UNIT_LINUX_SPINLOCK_H

#include <stdbool.h>
#include <stdlib.h>

void unit_elsewhere(void);

typedef struct {
	bool held;
} spinlock_t;

#define spin_lock_init(lock)	((lock)->held = false)

static inline void spin_lock(spinlock_t *lock)
{
	do
		unit_elsewhere();
	while (lock->held);
	lock->held = true;
}

static inline void spin_unlock(spinlock_t *lock)
{
	if (!lock->held)
		abort();
	lock->held = false;
	unit_elsewhere();
}

#define spin_lock_irqsave(lock, flags)	((flags) = 0, spin_lock(lock))
#define spin_unlock_irqrestore(lock, flags)	((void)(flags), spin_unlock(lock))

#endif /* UNIT_LINUX_SPINLOCK_H */
