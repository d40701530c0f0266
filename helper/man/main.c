// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run when the command is built: writes what its tables say into a template, so that manual
 * page and completion know each verb and option.
 *   usage: fill <TEMPLATE >OUT     a line that is only @WORD@ becomes that part
 */
#include <stdio.h>
#include <string.h>

#include "man/writers.h"

static const struct part {
	const char *line;
	void (*write)(void);
} parts[] = {
	{ "@PAGE_VERSION@\n", page_version },
	{ "@PAGE_VERBS@\n", page_verbs },
	{ "@PAGE_OPTIONS@\n", page_options },
	{ "@PAGE_CODES@\n", page_codes },
	{ "@PAGE_FIELDS@\n", page_fields },
	{ "@PAGE_COUNTERS@\n", page_counters },
	{ "@BASH_VERBS@\n", bash_verbs },
	{ "@BASH_NAMES@\n", bash_names },
	{ "@BASH_SETTINGS@\n", bash_settings },
	{ "@ZSH_VERBS@\n", zsh_verbs },
	{ "@ZSH_NAMES@\n", zsh_names },
	{ "@ZSH_SETTINGS@\n", zsh_settings },
};

#define PARTS	(sizeof(parts) / sizeof(parts[0]))

/* Return: whether there is such a part. */
static int write_part(const char *line)
{
	size_t i;

	for (i = 0; i < PARTS; i++)
		if (!strcmp(parts[i].line, line)) {
			parts[i].write();
			return 1;
		}
	return 0;
}

int main(void)
{
	char line[1024];

	while (fgets(line, sizeof(line), stdin)) {
		if (*line != '@') {
			fputs(line, stdout);
		} else if (!write_part(line)) {
			fprintf(stderr, "fill: nothing is called %s", line);
			return 1;
		}
	}
	if (fflush(stdout) || ferror(stdout)) {
		perror("fill: cannot write");
		return 1;
	}
	return 0;
}
