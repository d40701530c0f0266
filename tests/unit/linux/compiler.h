/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_COMPILER_H
#define UNIT_LINUX_COMPILER_H

#define READ_ONCE(what)		(*(const volatile __typeof__(what) *)&(what))
#define WRITE_ONCE(what, value)	(*(volatile __typeof__(what) *)&(what) = (value))

#define smp_load_acquire(from)		__atomic_load_n(from, __ATOMIC_ACQUIRE)
#define smp_store_release(to, value)	__atomic_store_n(to, value, __ATOMIC_RELEASE)

#define unlikely(what)	(what)

#endif /* UNIT_LINUX_COMPILER_H */
