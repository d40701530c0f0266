// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzes the parser of nearcachetab.  Each line must either be valid, with usable values, or be
 * refused with a reason.  The result of a line must not depend on the other lines, except that a
 * name may occur once.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"
#include "lib/error.h"
#include "lib/name.h"
#include "open/nearcachetab.h"
#include "lib/sanitize.h"

#define HOLDS(what)	((what) ? (void)0 : bug(#what))

static void __attribute__((noreturn)) bug(const char *what)
{
	fprintf(stderr, "does not hold: %s; %s\n", what, fail_message());
	abort();
}

static void check_right(const struct tab *tab, const struct tab_entry *entry)
{
	const struct tab_entry *found;
	const char *why;

	HOLDS(name_check(entry->name, &why));
	HOLDS(entry->origin[0] == '/');
	HOLDS(entry->cache[0] == '/' ||
	      !strncmp(entry->cache, TAB_UUID, strlen(TAB_UUID)));
	HOLDS(entry->timeout && entry->timeout <= TAB_TIMEOUT_MAX);
	HOLDS(!(entry->args.given & ~(option_set)OPTIONS_OPEN));
	HOLDS(!option_given(&entry->args, OPTION_CACHE | OPTION_ORIGIN | OPTION_FORCE |
			    OPTION_ALL | OPTION_TAB | OPTION_WAIT_DEVICES));
	HOLDS(!option_given(&entry->args, OPTION_WITNESS) || *entry->args.witness);
	HOLDS(!option_given(&entry->args, OPTION_READ_ONLY) ||
	      !mode_writes(entry->args.mode));
	HOLDS(!entry->cluster ||
	      (entry->cluster[0] == '/' && !strpbrk(entry->cluster, " \t%$\"'\\") &&
	       strlen(entry->name) > strlen(TAB_HOME) && strstr(entry->name, TAB_HOME)));
	HOLDS(tab_find(tab, entry->name) == entry);
	HOLDS(!tab_need(tab, entry->name, &found) && found == entry);
}

static void check(const struct tab *tab)
{
	size_t i, j, right = 0;

	for (i = 0; i < tab->entries; i++) {
		const struct tab_entry *entry = &tab->entry[i];

		HOLDS(entry->line > (i ? tab->entry[i - 1].line : 0));
		if (entry->why) {
			HOLDS(*entry->why);
			continue;
		}
		check_right(tab, entry);
		right++;
		for (j = 0; j < i; j++)
			HOLDS(tab->entry[j].why ||
			      strcmp(tab->entry[j].name, entry->name));
	}
	fuzz_count("fuzz_inputs", 1);
	fuzz_count("lines_right", right);
	fuzz_count("lines_wrong", tab->entries - right);
}

/* A line that is refused when parsed alone must be refused for the same reason in @tab. */
static void check_alone(const struct tab *tab, const char *text, size_t bytes)
{
	const char *end = text + bytes, *line = text;
	unsigned int number = 0;
	size_t i = 0;

	for (; line <= end && i < tab->entries; line++) {
		const char *next = memchr(line, '\n', (size_t)(end - line));
		struct tab alone;

		next = next ? next : end;
		HOLDS(!tab_parse(&alone, "TAB", line, (size_t)(next - line)));
		HOLDS(alone.entries <= 1);
		if (alone.entries) {
			HOLDS(tab->entry[i].line == number + 1);
			if (alone.entry->why)
				HOLDS(!strcmp(tab->entry[i].why,
					      alone.entry->why));
			i++;
		}
		tab_free(&alone);
		number++;
		line = next;
	}
	HOLDS(i == tab->entries);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tab tab;
	int error;

	fail_reset();
	error = tab_parse(&tab, "TAB", (const char *)data, size);
	HOLDS(error == (int)fail_code());
	if (error) {
		HOLDS(error == CODE_USAGE && strstr(fail_message(), "'TAB'"));
	} else {
		check(&tab);
		check_alone(&tab, (const char *)data, size);
	}
	tab_free(&tab);
	return 0;
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room,
			       unsigned int seed);

/* Insert a word of the syntax at a random position or at the end. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room,
			       unsigned int seed)
{
	static const char *const words[] = {
		"a", "/dev/o", "/dev/c", " ", "\t", "\n", ",", "=", "#", "\\040",
		"UUID=ffc45aad-60bf-42f0-88b9-7283dbfab37d", "_netdev", "nofail",
		"fail", "noauto", "timeout=", "9", "mode=writearound", "grow",
		"read-only", "witness=", "verify=1", "dataset-version=", "help",
		"\na /dev/o /dev/c ", "\nb /dev/o /dev/c nofail,", "--", "force",
		"\nn-home /dev/o /dev/c cluster=/etc/n", "cluster=", "-home", "fill-memory=64M", "on-change=drop", "\r\n", "\\", "\xc3\xa9",
	};
	const char *word = words[(seed >> 8) % (sizeof(words) / sizeof(words[0]))];
	size_t length = strlen(word), at;

	if (seed % 4 == 0 || size + length > room)
		return LLVMFuzzerMutate(data, size, room);
	at = (seed >> 16) % 3 && size ? (seed >> 18) % (size + 1) : size;
	memmove(data + at + length, data + at, size - at);
	memcpy(data + at, word, length);
	return size + length;
}
