// SPDX-License-Identifier: GPL-2.0-only
#include "open/unnoticed.h"

#include <stdio.h>

#include "lib/print.h"

/*
 * Say which writes of others are not noticed. @sampled: open compares a sample. @blind: the
 * fingerprint of the file systems was not compared this time. @text has UNNOTICED_TEXT bytes.
 */
const char *unnoticed_text(const struct fsprint_result *content, bool sampled, bool blind,
			   char *text)
{
	const char *sample = sampled ? ", except in the blocks that open compares" : "";

	if (!content->type || content->mixed || blind)
		snprintf(text, UNNOTICED_TEXT,
			 "writes by others while it %s closed, except in the first and last 64 KiB%s: %s",
			 blind ? "was" : "is", sampled ? " and in the blocks that open compares" : "",
			 blind ? "the last session recorded no fingerprint of the content" :
			 content->type ? "the origin has signatures of several kinds of content" :
					 "nothing on the origin is recognised");
	else if (content->unknown)
		snprintf(text, UNNOTICED_TEXT,
			 "writes by others while it is closed%s, in %u of %u partitions and logical volumes: their content is not recognised",
			 sample, content->unknown, content->volumes);
	else
		snprintf(text, UNNOTICED_TEXT,
			 "data that others overwrite without mounting the file system%s", sample);
	return text;
}

/* Print the text as a line of a report. */
void unnoticed_print(const struct fsprint_result *content, bool sampled, bool blind)
{
	char text[UNNOTICED_TEXT];

	print_string("not_noticed", "not noticed", unnoticed_text(content, sampled, blind, text));
}
