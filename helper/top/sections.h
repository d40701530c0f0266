/* SPDX-License-Identifier: GPL-2.0-only */
/* Fills the table of each section with its rows. */
#ifndef HELPER_TOP_SECTIONS_H
#define HELPER_TOP_SECTIONS_H

#include "top/grid.h"
#include "top/model.h"
#include "top/view.h"

void sections_fill(const struct top_model *model, const struct view *view,
		   enum section section, struct grid *grid);

#endif /* HELPER_TOP_SECTIONS_H */
