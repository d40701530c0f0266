/* SPDX-License-Identifier: GPL-2.0-only */
/* Parsing and printing of the table line. */
#ifndef NEARCACHE_DM_TABLE_LINE_H
#define NEARCACHE_DM_TABLE_LINE_H

#include <linux/types.h>

struct nc_target;

const char *nc_args_mode(int mode);
int nc_args_parse(struct nc_target *t, unsigned int argc, char **argv);
void nc_args_print(const struct nc_target *t, char *result, size_t room);

#endif /* NEARCACHE_DM_TABLE_LINE_H */
