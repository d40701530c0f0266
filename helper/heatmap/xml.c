// SPDX-License-Identifier: GPL-2.0-only
#include "heatmap/xml.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sanitize.h"

/* Returns whether @p is at U+FFFE or U+FFFF, which text_clean() keeps but XML forbids. */
static bool is_forbidden(const char *p)
{
	return !strncmp(p, "\xef\xbf\xbe", 3) || !strncmp(p, "\xef\xbf\xbf", 3);
}

static const char *char_entity(char character)
{
	switch (character) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&apos;";
	default:
		return NULL;
	}
}

/* Writes text as content or attribute value, with '?' for characters that XML forbids. */
void xml_text(FILE *file, const char *text)
{
	char *clean = strdup(text), *p;

	if (!clean)
		return;
	for (p = text_clean(clean); *p; p++) {
		const char *name = char_entity(*p);

		if (name) {
			fputs(name, file);
		} else if (is_forbidden(p)) {
			putc('?', file);
			p += 2;
		} else {
			putc(*p, file);
		}
	}
	free(clean);
}
