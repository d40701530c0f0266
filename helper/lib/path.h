/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes paths absolute. Functions return a path for free(), or NULL after recording an error. */
#ifndef HELPER_LIB_PATH_H
#define HELPER_LIB_PATH_H

char *path_absolute(const char *path);
char *path_tidy(const char *path);
char *path_once(const char *path);

#endif /* HELPER_LIB_PATH_H */
