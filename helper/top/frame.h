/* SPDX-License-Identifier: GPL-2.0-only */
/* A look as lines of text that fit a terminal, or of any length. */
#ifndef HELPER_TOP_FRAME_H
#define HELPER_TOP_FRAME_H

#include "top/model.h"
#include "top/view.h"

/**
 * enum line_style - what kind of line it is
 * @LINE_PLAIN: usual
 * @LINE_TITLE: first line of all
 * @LINE_HEADING: of a section
 * @LINE_FOCUS: heading of the section that is in focus
 * @LINE_ALARM: it is to stand out
 * @LINE_HINT: about the lines, or what is not there
 */
enum line_style {
	LINE_PLAIN,
	LINE_TITLE,
	LINE_HEADING,
	LINE_FOCUS,
	LINE_ALARM,
	LINE_HINT,
};

/**
 * struct line - a line
 * @text: in the locale's encoding, without a newline
 * @style: how it is shown
 */
struct line {
	char *text;
	enum line_style style;
};

/**
 * struct frame - lines
 * @line: lines, @lines of them
 * @lines: how many
 * @room: that fit
 * @last: row with which the section in focus begins at most
 * @shown: a bit for each section that has rows
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

#endif /* HELPER_TOP_FRAME_H */
