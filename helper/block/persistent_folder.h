/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Make a folder, and check that files in a folder survive a reboot.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_BLOCK_PERSISTENT_FOLDER_H
#define HELPER_BLOCK_PERSISTENT_FOLDER_H

int persistent_folder_make(const char *path);
int persistent_folder_check(int folder, const char *path);

#endif /* HELPER_BLOCK_PERSISTENT_FOLDER_H */
