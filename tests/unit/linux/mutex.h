/* SPDX-License-Identifier: GPL-2.0-only */
/* Mutexes that never wait: a second lock, or an unlock of a free one, aborts the test. */
#ifndef UNIT_LINUX_MUTEX_H
#define UNIT_LINUX_MUTEX_H

#include <stdlib.h>

struct mutex {
	int held;
};

#define mutex_init(lock)	((lock)->held = 0)
#define mutex_lock(lock)	do { if ((lock)->held++) abort(); } while (0)
#define mutex_unlock(lock)	do { if (--(lock)->held) abort(); } while (0)
#define lockdep_assert_held(lock)	do { if (!(lock)->held) abort(); } while (0)

#endif /* UNIT_LINUX_MUTEX_H */
