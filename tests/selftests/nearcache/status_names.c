// SPDX-License-Identifier: GPL-2.0-only
/* Print the name of each word of the target's status line, in order, one per line.
 *   usage: status_names [stage]	stage: of the target nearcache-stage
 */
#include <linux/types.h>
#include <stdio.h>

#include "nearcache_counters.h"
#include "nearcache_stage.h"

#define NAME(symbol, name, unit, help)	name "\n"
#define STAGE_NAME(name)		#name "\n"

int main(int argc, char **argv)
{
	fputs(argc > 1 ? NEARCACHE_STAGE_STATUS(STAGE_NAME) :
			 NEARCACHE_STATUS_FIELDS(NAME) NEARCACHE_COUNTERS(NAME), stdout);
	return 0;
}
