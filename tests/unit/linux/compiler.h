/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_COMPILER_H
#define UNIT_LINUX_COMPILER_H

#define READ_ONCE(what)		(*(const volatile __typeof__(what) *)&(what))
#define WRITE_ONCE(what, value)	(*(volatile __typeof__(what) *)&(what) = (value))

#endif /* UNIT_LINUX_COMPILER_H */
