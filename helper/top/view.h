/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of a sample that is visible, and its order. Keys change both. */
#ifndef HELPER_TOP_VIEW_H
#define HELPER_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>

/**
 * enum section - sections in display order
 * @SECTION_ALARMS: problems
 * @SECTION_DEVICES: state, hits and bandwidth of each device
 * @SECTION_CLUSTERS: reads here, at peers and at the origin of each cluster device
 * @SECTION_STAGES: the drain of each stage, and how many bytes the origin lacks
 * @SECTION_FLOWS: fills, prefetches and writes of each device
 * @SECTION_LATENCIES: latencies of each device
 * @SECTION_LABELS: hits and bandwidth of each label
 * @SECTION_STREAMS: reads and writes of processes
 * @SECTION_JOBS: prefetch jobs
 */
enum section {
	SECTION_ALARMS,
	SECTION_DEVICES,
	SECTION_CLUSTERS,
	SECTION_STAGES,
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
 * @SORT_BYTES: total bytes, largest first
 * @SORT_ACCESSES: total accesses, largest first
 * @SORT_PROCESS: pid, smallest first
 */
enum sort {
	SORT_RATE,
	SORT_BYTES,
	SORT_ACCESSES,
	SORT_PROCESS,
};

#define SORTS	(SORT_PROCESS + 1)

/**
 * struct view - the visible part
 * @columns: width of the terminal; 0: do not cut lines
 * @rows: height of the terminal; 0: show all lines
 * @interval: time between samples, ms
 * @sort: order of streams
 * @focus: section that gets the most room and can be scrolled
 * @first: first visible row of @focus
 * @ended: show the streams of ended processes
 * @processes: a row for each process, also for those with the same parent
 * @help: show the keys instead of the sections
 * @live: the frame is drawn on a terminal and names the keys
 */
struct view {
	size_t columns;
	size_t rows;
	unsigned int interval;
	enum sort sort;
	enum section focus;
	size_t first;
	bool ended;
	bool processes;
	bool help;
	bool live;
};

/* What a key does. VIEW_NONE: nothing. */
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
	VIEW_ENDED,
	VIEW_PROCESSES,
	VIEW_HELP,
};

const char *view_sort_word(enum sort sort);
const char *view_section_word(enum section section);
void view_take(struct view *view, enum view_key key, size_t last,
	       unsigned int shown);

#endif /* HELPER_TOP_VIEW_H */
