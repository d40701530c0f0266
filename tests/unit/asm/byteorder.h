/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_ASM_BYTEORDER_H
#define UNIT_ASM_BYTEORDER_H

#include_next <asm/byteorder.h>

#define le32_to_cpu	__le32_to_cpu
#define le64_to_cpu	__le64_to_cpu

#endif /* UNIT_ASM_BYTEORDER_H */
