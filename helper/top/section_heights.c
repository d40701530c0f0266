// SPDX-License-Identifier: GPL-2.0-only
#include "top/section_heights.h"

/* Minimum lines of a section: the heading, one row and the number of hidden rows. */
#define LEAST	3U
/* The section in focus gets this number of extra lines for each extra line of another section. */
#define FOCUS	3U

/* Order in which the sections get lines: the most important one first. */
static const enum section order[] = {
	SECTION_ALARMS, SECTION_DEVICES, SECTION_CLUSTERS, SECTION_STAGES, SECTION_STREAMS,
	SECTION_LATENCIES, SECTION_FLOWS, SECTION_JOBS, SECTION_LABELS,
};

static size_t least_of(size_t need)
{
	return need < LEAST ? need : LEAST;
}

/* Gives @section its minimum if @lines suffices. Returns @lines minus the lines given. */
static size_t give_least(const size_t need[SECTIONS], size_t lines, enum section section,
			 size_t give[SECTIONS])
{
	size_t least = least_of(need[section]);

	if (give[section] || least > lines)
		return lines;
	give[section] = least;
	return lines - least;
}

/*
 * Gives 1 more line to each section that has its minimum, but FOCUS lines to @focus. Returns @lines
 * minus the lines given.
 */
static size_t give_more(const size_t need[SECTIONS], size_t lines, enum section focus,
			size_t give[SECTIONS])
{
	size_t i, s, more;

	for (i = 0; i < SECTIONS; i++) {
		s = order[i];
		if (!give[s])
			continue;
		more = s == focus ? FOCUS : 1;
		if (more > need[s] - give[s])
			more = need[s] - give[s];
		if (more > lines)
			more = lines;
		give[s] += more;
		lines -= more;
	}
	return lines;
}

/*
 * Divides @lines. @need: lines that show a section completely; @give: result, 0 if there is no
 * room for the section. Alarms, devices and @focus get their minimum before the other sections.
 * @focus gets the most extra lines. Returns whether each section that needs lines gets some.
 */
bool room_share(const size_t need[SECTIONS], size_t lines, enum section focus,
		size_t give[SECTIONS])
{
	bool all = true;
	size_t i, left;

	for (i = 0; i < SECTIONS; i++)
		give[i] = 0;
	lines = give_least(need, lines, SECTION_ALARMS, give);
	lines = give_least(need, lines, SECTION_DEVICES, give);
	lines = give_least(need, lines, focus, give);
	for (i = 0; i < SECTIONS; i++)
		lines = give_least(need, lines, order[i], give);
	do {
		left = lines;
		lines = give_more(need, lines, focus, give);
	} while (lines && lines < left);
	for (i = 0; i < SECTIONS; i++)
		all &= !need[i] || give[i];
	return all;
}
