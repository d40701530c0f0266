// SPDX-License-Identifier: GPL-2.0-only
#include "top/view.h"

/* Rows by which the page keys scroll. */
#define PAGE	10

const char *view_sort_word(enum sort sort)
{
	static const char *const words[] = {
		[SORT_RATE] = "rate",
		[SORT_BYTES] = "bytes",
		[SORT_ACCESSES] = "accesses",
		[SORT_PROCESS] = "process",
	};

	return words[sort];
}

/* Returns the name of a section, in the plural. */
const char *view_section_word(enum section section)
{
	static const char *const words[] = {
		[SECTION_ALARMS] = "alarms",
		[SECTION_DEVICES] = "devices",
		[SECTION_CLUSTERS] = "clusters",
		[SECTION_STAGES] = "stages",
		[SECTION_FLOWS] = "fills",
		[SECTION_LATENCIES] = "latencies",
		[SECTION_LABELS] = "labels",
		[SECTION_STREAMS] = "streams",
		[SECTION_JOBS] = "jobs",
	};

	return words[section];
}

static size_t rows_back(size_t first, size_t rows)
{
	return first > rows ? first - rows : 0;
}

/* Moves the focus to the next section with rows. */
static void next_section(struct view *view, unsigned int shown)
{
	unsigned int i;

	for (i = 0; i < SECTIONS; i++) {
		view->focus = (view->focus + 1) % SECTIONS;
		if (shown & 1U << view->focus)
			break;
	}
	view->first = 0;
}

/* Changes @view by a key. @last, @shown: members of the last struct frame. */
void view_take(struct view *view, enum view_key key, size_t last,
	       unsigned int shown)
{
	/* The key that ends the help does nothing else. */
	if (view->help && key != VIEW_NONE) {
		view->help = false;
		return;
	}
	switch (key) {
	case VIEW_HELP:
		view->help = true;
		return;
	case VIEW_ENDED:
		view->ended = !view->ended;
		break;
	case VIEW_PROCESSES:
		view->processes = !view->processes;
		break;
	case VIEW_SORT:
		view->sort = (view->sort + 1) % SORTS;
		view->first = 0;
		return;
	case VIEW_FOCUS:
		next_section(view, shown);
		return;
	case VIEW_UP:
		view->first = rows_back(view->first, 1);
		break;
	case VIEW_DOWN:
		view->first++;
		break;
	case VIEW_PAGE_UP:
		view->first = rows_back(view->first, PAGE);
		break;
	case VIEW_PAGE_DOWN:
		view->first += PAGE;
		break;
	case VIEW_HOME:
		view->first = 0;
		break;
	case VIEW_END:
		view->first = last;
		break;
	case VIEW_NONE:
	case VIEW_QUIT:
		break;
	}
	if (view->first > last)
		view->first = last;
}
