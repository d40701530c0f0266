/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HELPER_LIB_PROCESS_H
#define HELPER_LIB_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool process_ended(uint32_t pid);
uint32_t process_parent(uint32_t pid);
const char *process_command(uint32_t pid, char *text, size_t size);

#endif /* HELPER_LIB_PROCESS_H */
