/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether what is written to a folder outlives a reboot. */
#ifndef HELPER_BLOCK_LASTING_H
#define HELPER_BLOCK_LASTING_H

int persistent_folder_check(int folder, const char *path);

#endif /* HELPER_BLOCK_LASTING_H */
