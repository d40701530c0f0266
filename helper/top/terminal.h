/* SPDX-License-Identifier: GPL-2.0-only */
/* Draws lines on the terminal, and reads keys. terminal.c is the only user of ncurses. */
#ifndef HELPER_TOP_TERMINAL_H
#define HELPER_TOP_TERMINAL_H

#include <signal.h>

#include "top/compose_frame.h"

/**
 * struct screen - a terminal
 * @before: signal mask before screen_open()
 * @waiting: signal mask while waiting for a key
 * @stop: signalfd of the signals that end the program
 * @terminal: SCREEN of ncurses
 */
struct screen {
	sigset_t before;
	sigset_t waiting;
	int stop;
	void *terminal;
};

int screen_open(struct screen *screen);
void screen_size(const struct screen *screen, struct view *view);
void screen_draw(const struct screen *screen, const struct frame *frame);
bool screen_wait(const struct screen *screen, uint64_t until, enum view_key *key);
void screen_close(struct screen *screen);

#endif /* HELPER_TOP_TERMINAL_H */
