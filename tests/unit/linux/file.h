/* SPDX-License-Identifier: GPL-2.0-only */
/* No object of a unit test has an open file. */
#ifndef UNIT_LINUX_FILE_H
#define UNIT_LINUX_FILE_H

#include <stdlib.h>

#define fput(file)	((file) ? abort() : (void)0)

#endif /* UNIT_LINUX_FILE_H */
