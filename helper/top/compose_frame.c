// SPDX-License-Identifier: GPL-2.0-only
#include "top/compose_frame.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/error.h"
#include "top/section_heights.h"
#include "top/sections.h"
#include "top/text_width.h"

#define SECOND	1000000000ULL
#define KEYS	"  h help  q quit"

/* Adds a line and takes ownership of @text. Records an error if @text is NULL: memory ran out. */
static void add_line(struct frame *frame, enum line_style style, char *text)
{
	size_t room = frame->room ? 2 * frame->room : 32;
	struct line *line;

	if (text && frame->lines == frame->room) {
		line = reallocarray(frame->line, room, sizeof(*line));
		if (line) {
			frame->line = line;
			frame->room = room;
		}
	}
	if (!text || frame->lines == frame->room) {
		fail_memory();
		free(text);
		return;
	}
	frame->line[frame->lines++] = (struct line){ text, style };
}

/* Adds a text, cut to @columns. */
__attribute__((format(printf, 4, 5)))
static void add_text(struct frame *frame, enum line_style style, size_t columns,
		     const char *format, ...)
{
	char text[512], fits[sizeof(text)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	width_copy(text, columns, fits, sizeof(fits));
	add_line(frame, style, strdup(fits));
}

static size_t columns_of(const struct view *view)
{
	return view->columns ? view->columns : SIZE_MAX;
}

/* Returns the time that the numbers cover, for the title: "each 1 s", or "since load" at first. */
static const char *span_word(const struct top_model *model, const struct view *view,
			     char *text, size_t size)
{
	size_t i;

	for (i = 0; i < model->devices; i++)
		if (model->device[i].span)
			break;
	if (model->devices && i == model->devices)
		return "since load";
	snprintf(text, size, "each %g s", view->interval / 1000.0);
	return text;
}

static void add_title(struct frame *frame, const struct top_model *model,
		      const struct view *view)
{
	time_t seconds = (time_t)(model->wall / SECOND);
	char clock[16] = "", span[32], text[256];
	size_t columns = columns_of(view), i, wrong = 0;
	struct tm parts;

	if (localtime_r(&seconds, &parts))
		strftime(clock, sizeof(clock), "%H:%M:%S", &parts);
	for (i = 0; i < model->devices; i++)
		wrong += !model->device[i].calm;
	snprintf(text, sizeof(text), "nearcache %s  %zu device%s", clock,
		 model->devices, model->devices == 1 ? "" : "s");
	if (wrong)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 ", %zu not normal", wrong);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), "  %s%s%s",
		 span_word(model, view, span, sizeof(span)),
		 model->classifies ? "  streams by " : "",
		 model->classifies ? view_sort_word(view->sort) : "");
	add_text(frame, LINE_TITLE, columns, "%s%s", text,
		 view->live && width_of(text) + width_of(KEYS) <= columns ? KEYS : "");
}

static void add_hint(struct frame *frame, const struct top_model *model,
		     const struct view *view)
{
	size_t columns = columns_of(view);

	if (!model->devices)
		add_text(frame, LINE_HINT, columns, "no nearcache device is open");
	else if (model->unprivileged)
		add_text(frame, LINE_HINT, columns, "only for root: labels, streams, latencies");
	else if (*model->foreign)
		add_text(frame, LINE_HINT, columns,
			 "not shown: streams ('%s' has none)%s", model->foreign,
			 model->measures ? "" : ", latencies ('nearcache latency load')");
	else if (!model->classifies && !model->measures)
		add_text(frame, LINE_HINT, columns,
			 "for streams: 'nearcache classifier load'; latencies: 'nearcache latency load'");
	else if (!model->classifies)
		add_text(frame, LINE_HINT, columns, "for streams: 'nearcache classifier load'");
	else if (!model->measures)
		add_text(frame, LINE_HINT, columns, "for latencies: 'nearcache latency load'");
}

/* A section: @rows rows from @first on are visible. @more: one more line counts the hidden rows. */
struct block {
	struct grid grid;
	bool heading;
	size_t first;
	size_t rows;
	bool more;
};

/* Selects the rows that fit into @give lines, from row @first on if possible. */
static void cut_block(struct block *block, size_t give, size_t first)
{
	size_t rows = grid_rows(&block->grid), room = give - block->heading;

	block->more = rows > room;
	block->rows = block->more ? room - 1 : rows;
	block->first = first > rows - block->rows ? rows - block->rows : first;
}

static void add_more(struct frame *frame, const struct block *block, size_t columns)
{
	size_t below = grid_rows(&block->grid) - block->first - block->rows;

	if (block->first)
		add_text(frame, LINE_HINT, columns, "... %zu above, %zu below",
			 block->first, below);
	else
		add_text(frame, LINE_HINT, columns, "... %zu more", below);
}

static void add_block(struct frame *frame, const struct block *block, bool focus,
		      size_t columns)
{
	struct grid_widths widths;
	size_t i;

	grid_fit(&block->grid, columns, &widths);
	if (block->heading)
		add_line(frame, focus ? LINE_FOCUS : LINE_HEADING,
			 grid_heading(&block->grid, &widths, columns));
	for (i = block->first; i < block->first + block->rows; i++)
		add_line(frame, block->grid.alarm[i] ? LINE_ALARM : LINE_PLAIN,
			 grid_row(&block->grid, &widths, i, columns));
	if (block->more)
		add_more(frame, block, columns);
}

/* Adds a line that names the sections for which there is no room. */
static void add_omitted(struct frame *frame, const struct block block[SECTIONS],
			const size_t give[SECTIONS], size_t columns)
{
	char text[256] = "";
	size_t s;

	for (s = 0; s < SECTIONS; s++)
		if (!give[s] && grid_rows(&block[s].grid))
			snprintf(text + strlen(text), sizeof(text) - strlen(text),
				 "%s %s (%zu)", *text ? "," : "",
				 view_section_word(s), grid_rows(&block[s].grid));
	if (*text)
		add_text(frame, LINE_HINT, columns, "no room:%s", text);
}

/* Adds the sections in @room lines. If some do not fit, reserves the last line to name them. */
static void add_blocks(struct frame *frame, struct block block[SECTIONS],
		       const struct view *view, size_t room)
{
	size_t need[SECTIONS], give[SECTIONS], s;

	for (s = 0; s < SECTIONS; s++) {
		size_t rows = grid_rows(&block[s].grid);

		block[s].heading = block[s].grid.column->title;
		need[s] = rows ? rows + block[s].heading : 0;
		frame->shown |= rows ? 1U << s : 0;
	}
	if (!room_share(need, room, view->focus, give))
		room_share(need, room ? room - 1 : 0, view->focus, give);
	for (s = 0; s < SECTIONS; s++) {
		bool focus = s == view->focus;

		if (!give[s])
			continue;
		cut_block(&block[s], give[s], focus ? view->first : 0);
		if (focus)
			frame->last = grid_rows(&block[s].grid) - block[s].rows;
		add_block(frame, &block[s], focus && view->live, columns_of(view));
	}
	if (room)
		add_omitted(frame, block, give, columns_of(view));
}

/* Adds the keys and the words of the headings, as many lines as fit. */
static void add_help(struct frame *frame, const struct view *view, size_t room)
{
	static const char *const text[] = {
		"",
		"  h or ?      this help; h again ends it",
		"  q           quit",
		"  s           sort streams by rate, bytes, accesses, process",
		"  e           show or hide streams of ended processes",
		"  p           show each process, or the workers of a parent process in one row",
		"  Tab         select the next section, which gets the most lines",
		"  arrows      scroll the section, as do Page Up, Page Down, Home and End",
		"  ^L          redraw",
		"",
		"  HITS        part of the bytes read that was a hit, in the last interval",
		"  CACHE/s     bytes read from the cache device per second",
		"  ORIGIN/s    bytes read from the origin: fills, prefetch, bypasses",
		"  FILL/s      bytes written to the cache device",
		"  LATE/s      bytes that were prefetched too late; WASTED/s: in vain",
		"  HIT 50%     upper bound of half of the latencies; 99%: of 99 of 100",
		"  PROCS       processes of the row; PID is the parent process of several",
		"  RUNS        accesses that did not continue the one before",
	};
	size_t i;

	for (i = 0; i < sizeof(text) / sizeof(text[0]) && i < room; i++)
		add_text(frame, LINE_PLAIN, columns_of(view), "%s", text[i]);
}

/* The lines fit the size of the terminal. Call frame_free() after success and failure. */
int frame_make(const struct top_model *model, const struct view *view,
	       struct frame *frame)
{
	size_t rows = view->rows ? view->rows : SIZE_MAX, s;
	struct block block[SECTIONS];

	memset(frame, 0, sizeof(*frame));
	memset(block, 0, sizeof(block));
	if (view->help) {
		add_title(frame, model, view);
		add_help(frame, view, rows - frame->lines);
		return fail_code();
	}
	for (s = 0; s < SECTIONS; s++)
		sections_fill(model, view, s, &block[s].grid);
	add_title(frame, model, view);
	if (rows > 2)
		add_hint(frame, model, view);
	if (!fail_code())
		add_blocks(frame, block, view, rows - frame->lines);
	for (s = 0; s < SECTIONS; s++)
		grid_free(&block[s].grid);
	return fail_code();
}

void frame_free(struct frame *frame)
{
	size_t i;

	for (i = 0; i < frame->lines; i++)
		free(frame->line[i].text);
	free(frame->line);
	memset(frame, 0, sizeof(*frame));
}
