// SPDX-License-Identifier: GPL-2.0-only
/* Print the name of each word of the target's status line, in order, one per line. */
#include <linux/types.h>
#include <stdio.h>

#include "nearcache_counters.h"

#define NAME(symbol, name, unit, help)	name "\n"

int main(void)
{
	fputs(NEARCACHE_STATUS_FIELDS(NAME) NEARCACHE_COUNTERS(NAME), stdout);
	return 0;
}
