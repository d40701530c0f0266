// SPDX-License-Identifier: GPL-2.0-only
#include "lib/progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/size.h"

#define SECOND		1000000000ULL
/* Time between two updates of a bar, and between two lines, ns. */
#define BAR_PAUSE	(SECOND / 10)
#define LINE_PAUSE	(5 * SECOND)
/* The speed is shown after this time, ns. */
#define SPEED_AFTER	(SECOND / 2)

#define CELLS		30

static uint64_t now_nanoseconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

/* @what (one word, not copied) names the work, @total its bytes. If @quiet, nothing is shown. */
void progress_start(struct progress *progress, const char *what,
		    uint64_t total, bool quiet)
{
	memset(progress, 0, sizeof(*progress));
	progress->what = what;
	progress->total = total;
	progress->started = now_nanoseconds();
	progress->shown = progress->started;
	if (quiet)
		progress->form = PROGRESS_NONE;
	else
		progress->form = isatty(STDERR_FILENO) ? PROGRESS_BAR :
							 PROGRESS_LINES;
}

/* Writes "47 %, 1.2 GiB of 2.6 GiB, 310 MiB/s, 5 s left" to @text. */
static void describe_progress(const struct progress *progress, uint64_t elapsed,
			      char *text, size_t size)
{
	char done[SIZE_TEXT], total[SIZE_TEXT], speed[SIZE_TEXT];
	double ratio = progress->total ? (double)progress->done /
					 (double)progress->total : 1;
	double rate = (double)progress->done * SECOND /
		      (double)(elapsed ? elapsed : 1);
	size_t used;

	used = (size_t)snprintf(text, size, "%.0f %%, %s of %s", 100 * ratio,
				size_print(progress->done, done),
				size_print(progress->total, total));
	if (elapsed < SPEED_AFTER || rate < 1)
		return;
	used += (size_t)snprintf(text + used, size - used, ", %s/s",
				 size_print((uint64_t)rate, speed));
	if (progress->done < progress->total)
		snprintf(text + used, size - used, ", %.0f s left",
			 (double)(progress->total - progress->done) / rate);
}

static void draw_bar(struct progress *progress, uint64_t elapsed)
{
	unsigned int cells = CELLS;
	char bar[CELLS + 1], text[160];

	if (progress->total)
		cells = (unsigned int)((double)progress->done /
				       (double)progress->total * CELLS);
	memset(bar, '.', CELLS);
	memset(bar, '#', cells);
	bar[CELLS] = '\0';
	describe_progress(progress, elapsed, text, sizeof(text));
	/* The escape clears the rest of a longer previous text. */
	fprintf(stderr, "\r%s [%s] %s\033[K", progress->what, bar, text);
	progress->drawn = true;
}

static void show_line(struct progress *progress, uint64_t time)
{
	uint64_t elapsed = time - progress->started;
	char text[160];

	progress->shown = time;
	if (progress->form == PROGRESS_BAR) {
		draw_bar(progress, elapsed);
		return;
	}
	describe_progress(progress, elapsed, text, sizeof(text));
	fprintf(stderr, "%s: %s\n", progress->what, text);
}

/*
 * Shows the progress if the last output is old enough. @done: bytes so far; a value above the total
 * counts as the total. Cheap enough to call after each MiB. Callers serialize their calls.
 */
void progress_update(struct progress *progress, uint64_t done)
{
	uint64_t pause = progress->form == PROGRESS_BAR ? BAR_PAUSE :
							  LINE_PAUSE;
	uint64_t time;

	progress->done = done < progress->total ? done : progress->total;
	if (progress->form == PROGRESS_NONE)
		return;
	time = now_nanoseconds();
	if (time - progress->shown >= pause)
		show_line(progress, time);
}

/*
 * Shows @text instead of a number of bytes, for work whose duration is unknown, if the last
 * output is old enough.
 */
void progress_say(struct progress *progress, const char *text)
{
	uint64_t pause = progress->form == PROGRESS_BAR ? BAR_PAUSE : LINE_PAUSE;
	uint64_t time = now_nanoseconds();

	if (progress->form == PROGRESS_NONE || time - progress->shown < pause)
		return;
	progress->shown = time;
	progress->drawn = progress->form == PROGRESS_BAR;
	fprintf(stderr, progress->drawn ? "\r%s: %s\033[K" : "%s: %s\n", progress->what, text);
}

/* Removes the bar, so that the results appear in its place. PROGRESS_LINES stay on the screen. */
void progress_end(struct progress *progress)
{
	if (progress->drawn)
		fputs("\r\033[K", stderr);
	progress->drawn = false;
}
