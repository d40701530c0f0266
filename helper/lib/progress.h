/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows the progress of a long operation on stderr: a bar on a terminal, otherwise a line from time
 * to time. Shows nothing in JSON mode.
 */
#ifndef HELPER_LIB_PROGRESS_H
#define HELPER_LIB_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* PROGRESS_LINES: a line every few seconds. PROGRESS_BAR: a line that is redrawn. */
enum progress_form {
	PROGRESS_NONE,
	PROGRESS_LINES,
	PROGRESS_BAR,
};

/*
 * @what: the work, one word. @total, @done: bytes. @started, @shown: time of the start and of the
 * last output, monotonic clock, ns. @drawn: a bar is on the terminal.
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
void progress_say(struct progress *progress, const char *text);
void progress_end(struct progress *progress);

#endif /* HELPER_LIB_PROGRESS_H */
