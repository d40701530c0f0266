/* SPDX-License-Identifier: GPL-2.0-only */
/* Divides the lines of the terminal among the sections. */
#ifndef HELPER_TOP_SECTION_HEIGHTS_H
#define HELPER_TOP_SECTION_HEIGHTS_H

#include <stdbool.h>
#include <stddef.h>

#include "top/view.h"

bool room_share(const size_t need[SECTIONS], size_t lines, enum section focus,
		size_t give[SECTIONS]);

#endif /* HELPER_TOP_SECTION_HEIGHTS_H */
