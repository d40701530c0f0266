/* SPDX-License-Identifier: GPL-2.0-only */
/* What of a look is shown, and in which order: what keys change. */
#ifndef HELPER_TOP_VIEW_H
#define HELPER_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>

/**
 * enum section - what the lines are about, in the order in which they are shown
 * @SECTION_ALARMS: what is wrong
 * @SECTION_DEVICES: state, hits and bandwidth of each device
 * @SECTION_FLOWS: what else comes and goes in each device
 * @SECTION_LATENCIES: how long reads take
 * @SECTION_LABELS: labelled ranges
 * @SECTION_STREAMS: what processes read and write
 * @SECTION_JOBS: prefetch jobs
 */
enum section {
	SECTION_ALARMS,
	SECTION_DEVICES,
	SECTION_FLOWS,
	SECTION_LATENCIES,
	SECTION_LABELS,
	SECTION_STREAMS,
	SECTION_JOBS,
};

#define SECTIONS	(SECTION_JOBS + 1)

/**
 * enum sort - order of streams
 * @SORT_RATE: bytes per second, largest first
 * @SORT_BYTES: bytes in all, largest first
 * @SORT_ACCESSES: accesses in all, most first
 * @SORT_PROCESS: by process
 */
enum sort {
	SORT_RATE,
	SORT_BYTES,
	SORT_ACCESSES,
	SORT_PROCESS,
};

#define SORTS	(SORT_PROCESS + 1)

/**
 * struct view - what is shown
 * @columns: of the terminal; 0: lines are as long as they need to be
 * @rows: of the terminal; 0: all is shown
 * @interval: milliseconds from one look to the next
 * @sort: order of streams
 * @focus: section that gets the most room, and is scrolled
 * @first: row that it begins with
 * @live: keys are told
 */
struct view {
	size_t columns;
	size_t rows;
	unsigned int interval;
	enum sort sort;
	enum section focus;
	size_t first;
	bool live;
};

/**
 * enum view_key - a key
 * @VIEW_NONE: any other
 * @VIEW_QUIT: it is over
 * @VIEW_SORT: next order of streams
 * @VIEW_FOCUS: next section
 * @VIEW_UP: a row up
 * @VIEW_DOWN: a row down
 * @VIEW_PAGE_UP: some rows up
 * @VIEW_PAGE_DOWN: some rows down
 * @VIEW_HOME: first row
 * @VIEW_END: last row
 */
enum view_key {
	VIEW_NONE,
	VIEW_QUIT,
	VIEW_SORT,
	VIEW_FOCUS,
	VIEW_UP,
	VIEW_DOWN,
	VIEW_PAGE_UP,
	VIEW_PAGE_DOWN,
	VIEW_HOME,
	VIEW_END,
};

const char *view_sort_word(enum sort sort);
const char *view_section_word(enum section section);
void view_take(struct view *view, enum view_key key, size_t last,
	       unsigned int shown);

#endif /* HELPER_TOP_VIEW_H */
