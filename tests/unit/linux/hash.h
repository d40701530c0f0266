/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_HASH_H
#define UNIT_LINUX_HASH_H

#define hash_64(n, bits)	((unsigned int)((n) * 0x61c8864680b583ebULL >> (64 - (bits))))

#endif /* UNIT_LINUX_HASH_H */
