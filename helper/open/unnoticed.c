// SPDX-License-Identifier: GPL-2.0-only
#include "open/unnoticed.h"

#include <stdio.h>

#include "lib/print.h"

/*
 * Say what is not noticed because nothing on the origin, or on some of its volumes, is recognised.
 * @sampled: open compares a sample. @text has UNNOTICED_TEXT bytes. Returns @text, or NULL if the
 * whole content is recognised.
 */
const char *unnoticed_text(const struct fsprint_result *content, bool sampled, char *text)
{
	if (!content->type)
		snprintf(text, UNNOTICED_TEXT,
			 "writes by others while it is closed, except in the first and last 64 KiB%s: nothing on the origin is recognised",
			 sampled ? " and in the blocks that open samples" : "");
	else if (content->unknown)
		snprintf(text, UNNOTICED_TEXT,
			 "writes by others while it is closed%s in %u of %u partitions and logical volumes: nothing in them is recognised",
			 sampled ? ", except in the blocks that open samples," : "",
			 content->unknown, content->volumes);
	else
		return NULL;
	return text;
}

/* Print the text as a line of a report; JSON has null if the whole content is recognised. */
void unnoticed_print(const struct fsprint_result *content, bool sampled)
{
	char text[UNNOTICED_TEXT];
	const char *line = unnoticed_text(content, sampled, text);

	print_string("not_noticed", line ? "not noticed" : NULL, line);
}
