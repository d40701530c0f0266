/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far a long run is: a bar on a terminal, now and then a line elsewhere, on
 * stderr; nothing for programs that read JSON.
 */
#ifndef HELPER_LIB_PROGRESS_H
#define HELPER_LIB_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * enum progress_form - what is shown
 * @PROGRESS_NONE: nothing
 * @PROGRESS_LINES: a line every few seconds
 * @PROGRESS_BAR: a line that is drawn over
 */
enum progress_form {
	PROGRESS_NONE,
	PROGRESS_LINES,
	PROGRESS_BAR,
};

/**
 * struct progress - one run
 * @what: what is done, one word
 * @form: what is shown
 * @total: bytes in all
 * @done: bytes so far
 * @started: when, nanoseconds
 * @shown: when the last time, nanoseconds
 * @drawn: there is a bar on the terminal
 */
struct progress {
	const char *what;
	enum progress_form form;
	uint64_t total;
	uint64_t done;
	uint64_t started;
	uint64_t shown;
	bool drawn;
};

void progress_start(struct progress *progress, const char *what,
		    uint64_t total, bool quiet);
void progress_update(struct progress *progress, uint64_t done);
void progress_end(struct progress *progress);

#endif /* HELPER_LIB_PROGRESS_H */
