// SPDX-License-Identifier: GPL-2.0-only
#include "lib/likely_word.h"

#include <string.h>

#define MIN(a, b)	((a) < (b) ? (a) : (b))

/* Starts a search for the word that @typed, of @length bytes, stands for. */
struct likely_word likely_start(const char *typed, size_t length)
{
	/* One error in up to five letters, two in more: others are other words. */
	return (struct likely_word) { typed, length, NULL, length > 5 ? 3 : 2 };
}

/*
 * Counts the typing errors between two words of at most LIKELY_MAX bytes: letters that are missing,
 * added, wrong, or swapped with their neighbour. This is the optimal string alignment distance.
 */
static size_t typing_errors(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t row[3][LIKELY_MAX + 1], i, j;

	for (j = 0; j <= b_length; j++)
		row[0][j] = j;
	for (i = 1; i <= a_length; i++) {
		size_t *now = row[i % 3], *before = row[(i - 1) % 3];

		now[0] = i;
		for (j = 1; j <= b_length; j++) {
			now[j] = before[j - 1] + (a[i - 1] != b[j - 1]);
			now[j] = MIN(now[j], MIN(before[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = MIN(now[j], row[(i - 2) % 3][j - 2] + 1);
		}
	}
	return row[a_length % 3][b_length];
}

/* Keeps @candidate if it resembles the typed word more than those before it. */
void likely_try(struct likely_word *likely, const char *candidate)
{
	size_t length = strlen(candidate), errors;

	if (length > LIKELY_MAX || likely->length > LIKELY_MAX || likely->length < 2)
		return;
	/* The beginning of a word counts as one error. */
	errors = likely->length > 2 && !strncmp(candidate, likely->typed, likely->length) ? 1 :
		 typing_errors(likely->typed, likely->length, candidate, length);
	if (errors >= likely->distance)
		return;
	likely->best = candidate;
	likely->distance = errors;
}
