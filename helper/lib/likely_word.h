/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the word that a user probably meant by a misspelled one. */
#ifndef HELPER_LIB_LIKELY_WORD_H
#define HELPER_LIB_LIKELY_WORD_H

#include <stddef.h>

/* Longer words resemble nothing. */
#define LIKELY_MAX	32

/**
 * struct likely_word - a search
 * @typed: the misspelled word of @length bytes
 * @best: the candidate that resembles it most, or NULL
 * @distance: the number of typing errors that lead from @best to @typed
 */
struct likely_word {
	const char *typed;
	size_t length;
	const char *best;
	size_t distance;
};

struct likely_word likely_start(const char *typed, size_t length);
void likely_try(struct likely_word *likely, const char *candidate);

#endif /* HELPER_LIB_LIKELY_WORD_H */
