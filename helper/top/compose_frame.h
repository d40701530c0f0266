/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Formats a sample of all devices as lines of text. frame_make() returns 0, or an exit code
 * after recording an error with fail().
 */
#ifndef HELPER_TOP_COMPOSE_FRAME_H
#define HELPER_TOP_COMPOSE_FRAME_H

#include "top/model.h"
#include "top/view.h"

/* LINE_HINT: names hidden rows or sections, or a command that lets 'top' show more. */
enum line_style {
	LINE_PLAIN,
	LINE_TITLE,
	LINE_HEADING,
	LINE_FOCUS,
	LINE_ALARM,
	LINE_HINT,
};

/* @text is in the locale's encoding, without a newline. */
struct line {
	char *text;
	enum line_style style;
};

/*
 * A growing array of lines. view_take() needs two members: @last is the limit of @first of struct
 * view; @shown has a bit (1 << enum section) for each section with rows.
 */
struct frame {
	struct line *line;
	size_t lines;
	size_t room;
	size_t last;
	unsigned int shown;
};

int frame_make(const struct top_model *model, const struct view *view,
	       struct frame *frame);
void frame_free(struct frame *frame);

#endif /* HELPER_TOP_COMPOSE_FRAME_H */
