// SPDX-License-Identifier: GPL-2.0-only
/* nearcache stats: every number of the status line by its name. */
#include "commands.h"
#include "describe.h"
#include "print.h"

static int describe(const struct dm_device *dev, const struct status *status)
{
	unsigned int i;

	print_string("name", NULL, dev->name);
	for (i = 0; i < NEARCACHE_STATUS_FIELD_COUNT; i++) {
		const struct status_row *row = &status_field_row[i];
		const char *word = status_word(i, status->field[i]);

		if (word)
			print_word(row->name, word, row->help);
		else
			print_quantity(row->name, status->field[i], row->unit,
				       row->help);
	}
	for (i = 0; i < NEARCACHE_COUNTER_COUNT; i++)
		print_quantity(status_counter_row[i].name, status->counter[i],
			       status_counter_row[i].unit,
			       status_counter_row[i].help);
	return 0;
}

int cmd_stats(const struct arguments *args)
{
	return describe_devices(args->operand, args->operands, describe);
}
