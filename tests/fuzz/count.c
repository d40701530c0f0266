// SPDX-License-Identifier: GPL-2.0-only
#include "count.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTS	16

static struct {
	const char *name;
	unsigned long long count;
} counts[COUNTS];

static void print_counts(void)
{
	size_t i;

	fprintf(stderr, "fuzz: {");
	for (i = 0; i < COUNTS && counts[i].name; i++)
		fprintf(stderr, "%s\"%s\": %llu", i ? ", " : "", counts[i].name,
			counts[i].count);
	fprintf(stderr, "}\n");
}

/* Add @n to the counter @name, a string constant; at exit all counters are printed. */
void fuzz_count(const char *name, unsigned long long n)
{
	size_t i = 0;

	if (!counts[0].name)
		atexit(print_counts);
	while (i < COUNTS - 1 && counts[i].name && strcmp(counts[i].name, name))
		i++;
	counts[i].name = name;
	counts[i].count += n;
}
