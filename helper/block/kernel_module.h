/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HELPER_BLOCK_KERNEL_MODULE_H
#define HELPER_BLOCK_KERNEL_MODULE_H

#include <stdbool.h>
#include <stddef.h>

void kernel_module_load(const char *name);
bool kernel_module_error(const char *name, char *text, size_t size);
bool kernel_module_is_unsigned(const char *text);

#endif /* HELPER_BLOCK_KERNEL_MODULE_H */
