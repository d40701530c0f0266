/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HELPER_LIB_PROCESS_H
#define HELPER_LIB_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

bool process_ended(uint32_t pid);

#endif /* HELPER_LIB_PROCESS_H */
