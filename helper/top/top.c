// SPDX-License-Identifier: GPL-2.0-only
#include "top/top.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cluster/homes.h"
#include "block/dm_unprivileged.h"
#include "lib/error.h"
#include "netlink/device_state.h"
#include "lib/print.h"
#include "top/json_document.h"
#include "top/compose_frame.h"
#include "top/take_samples.h"
#include "top/live_loop.h"
#include "lib/periodic_wait.h"

#define MILLISECOND	1000000ULL
/* Default interval between samples, ms. */
#define INTERVAL	1000U

/* Prints a sample as lines, and cuts none. */
static void print_frame(const struct top_model *model, const struct arguments *args,
			unsigned int interval)
{
	const struct view view = {
		.interval = interval, .focus = SECTION_STREAMS,
		.ended = option_given(args, OPTION_ENDED),
	};
	struct frame frame;
	size_t i;

	if (!frame_make(model, &view, &frame)) {
		for (i = 0; i < frame.lines; i++)
			puts(frame.line[i].text);
		putchar('\n');
	}
	frame_free(&frame);
}

/* Takes one sample before the first frame, so that each frame covers an interval. */
static int print_frames(const struct arguments *args, unsigned int interval)
{
	struct top_model before = { 0 }, now;
	struct watch pace;
	unsigned int i;

	print_lines();
	memset(&now, 0, sizeof(now));
	gather(args, &before, &now);
	watch_start(&pace, interval * MILLISECOND);
	for (i = 0; !fail_code() && (!args->count || i < args->count); i++) {
		model_free(&before);
		before = now;
		memset(&now, 0, sizeof(now));
		watch_wait(&pace);
		if (gather(args, &before, &now))
			break;
		if (option_given(args, OPTION_JSON))
			document_print(&now, option_given(args, OPTION_ENDED));
		else
			print_frame(&now, args, interval);
		if (!fail_code())
			print_next();
	}
	model_free(&before);
	model_free(&now);
	return fail_code();
}

int top_run(const struct arguments *args)
{
	unsigned int interval = args->interval ? args->interval : INTERVAL;

	dm_read_unprivileged(nl_device_state);
	/* text_width.c asks the locale which characters the terminal can show. */
	setlocale(LC_CTYPE, "");
	if (!option_given(args, OPTION_BATCH) && option_given(args, OPTION_JSON))
		return fail(CODE_USAGE, "'top --json' needs -b (--batch)");
	if (!option_given(args, OPTION_BATCH) &&
	    (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
		return fail(CODE_USAGE,
			    "'top' needs a terminal for its live view: -b (--batch) prints lines");
	/* Fails if a device does not exist. Later gather() skips such devices. */
	if (homes_rename_operands(args->operand, args->operands))
		return fail_code();
	return option_given(args, OPTION_BATCH) ? print_frames(args, interval) :
					   live_run(args, interval);
}
