/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HELPER_BLOCK_KERNEL_MODULE_H
#define HELPER_BLOCK_KERNEL_MODULE_H

void kernel_module_load(const char *name);

#endif /* HELPER_BLOCK_KERNEL_MODULE_H */
