/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Formats a sample of all devices as lines of text. frame_make() returns 0, or an exit code
 * after recording an error with fail().
 */
#ifndef HELPER_TOP_FRAME_H
#define HELPER_TOP_FRAME_H

#include "top/model.h"
#include "top/view.h"

/**
 * enum line_style - how a line is shown
 * @LINE_PLAIN: normal
 * @LINE_TITLE: first line
 * @LINE_HEADING: heading of a section
 * @LINE_FOCUS: heading of the section in focus
 * @LINE_ALARM: highlighted
 * @LINE_HINT: names rows or sections that are missing, or the next step
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
 * struct frame - lines for the terminal
 * @line: the lines
 * @lines: entries in @line
 * @room: allocated entries
 * @last: largest first row of the section in focus
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
