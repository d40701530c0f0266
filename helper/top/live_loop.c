// SPDX-License-Identifier: GPL-2.0-only
#include "top/live_loop.h"

#include "lib/error.h"
#include "top/compose_frame.h"
#include "top/take_samples.h"
#include "top/terminal.h"
#include "lib/periodic_wait.h"

#define MILLISECOND	1000000ULL

/* State of the live view. @last and @shown: members of the frame that was drawn last. */
struct live {
	struct screen screen;
	struct view view;
	struct top_model model;
	size_t last;
	unsigned int shown;
};

static int draw_frame(struct live *live)
{
	struct frame frame;

	screen_size(&live->screen, &live->view);
	if (!frame_make(&live->model, &live->view, &frame)) {
		screen_draw(&live->screen, &frame);
		live->last = frame.last;
		live->shown = frame.shown;
	}
	frame_free(&frame);
	/* Scroll back if the section in focus has fewer rows than before. */
	view_take(&live->view, VIEW_NONE, live->last, live->shown);
	return fail_code();
}

static int look_again(struct live *live, const struct arguments *args)
{
	struct top_model now;

	if (gather(args, &live->model, &now))
		return fail_code();
	model_free(&live->model);
	live->model = now;
	return draw_frame(live);
}

/* Handles keys until the next sample is due. Returns false to quit. */
static bool use_keys(struct live *live, uint64_t until)
{
	enum view_key key;

	while (!fail_code() && screen_wait(&live->screen, until, &key)) {
		if (key == VIEW_QUIT)
			return false;
		view_take(&live->view, key, live->last, live->shown);
		draw_frame(live);
	}
	return !fail_code();
}

/*
 * Runs until a key or a signal ends it, or for args->count samples. @interval is in ms. Returns
 * 0, or an exit code after recording an error with fail().
 */
int live_run(const struct arguments *args, unsigned int interval)
{
	struct live live = {
		.view = { .interval = interval, .focus = SECTION_STREAMS, .live = true,
			  .ended = option_given(args, OPTION_ENDED) },
	};
	uint64_t next = watch_now();
	unsigned int i;

	if (screen_open(&live.screen))
		return fail_code();
	for (i = 0; !look_again(&live, args) && (!args->count || i + 1 < args->count); i++) {
		next = watch_after(next, watch_now(), interval * MILLISECOND);
		if (!use_keys(&live, next))
			break;
	}
	screen_close(&live.screen);
	model_free(&live.model);
	return fail_code();
}
