// SPDX-License-Identifier: GPL-2.0-only
#include "top/room.h"

/* A heading, a row, and how many more there are. */
#define LEAST	3U
/* Of what is left the section in focus gets so many lines for each one of others. */
#define FOCUS	3U

/* The important things first. */
static const enum section order[] = {
	SECTION_ALARMS, SECTION_DEVICES, SECTION_STREAMS, SECTION_LATENCIES,
	SECTION_FLOWS, SECTION_JOBS, SECTION_LABELS,
};

static size_t least_of(size_t need)
{
	return need < LEAST ? need : LEAST;
}

/* Return: what is left. */
static size_t give_least(const size_t need[SECTIONS], size_t lines, enum section section,
			 size_t give[SECTIONS])
{
	size_t least = least_of(need[section]);

	if (give[section] || least > lines)
		return lines;
	give[section] = least;
	return lines - least;
}

/* Return: what is left. */
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

/**
 * room_share() - share out the lines that there are
 * @need: lines that each section needs to show all
 * @lines: that there are
 * @focus: section that gets the most, and comes first behind what is wrong and the devices
 * @give: the result; 0: there is no room for the section
 *
 * Return: whether each section gets something.
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
