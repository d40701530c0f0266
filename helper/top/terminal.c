// SPDX-License-Identifier: GPL-2.0-only
#include "top/terminal.h"

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/error.h"
#include "block/signals.h"
#include "lib/periodic_wait.h"

#define SECOND	1000000000ULL

/* Colour pair of highlighted lines. */
#define RED	1
/* ^L: redraw all, because other programs may have written to the terminal. */
#define REDRAW	('L' & 0x1f)
/* If no byte follows an escape for this many ms, the escape does not start an arrow key. */
#define ESCAPE	25

/* Blocks SIGWINCH except while ppoll() waits for a key, so that no change of size is missed. */
static int hold_signals(struct screen *screen)
{
	sigset_t resize;

	signals_hold(&screen->before);
	sigemptyset(&resize);
	sigaddset(&resize, SIGWINCH);
	sigprocmask(SIG_BLOCK, &resize, &screen->waiting);
	screen->stop = signals_descriptor();
	return screen->stop < 0 ? fail_errno(errno, "cannot wait for signals") : 0;
}

static void let_go(struct screen *screen)
{
	if (screen->stop >= 0)
		close(screen->stop);
	signals_release(&screen->before);
}

static void prepare_screen(void)
{
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE);
	curs_set(0);
	if (!has_colors())
		return;
	start_color();
	use_default_colors();
	init_pair(RED, COLOR_RED, -1);
}

/*
 * Takes over the terminal until screen_close(). Blocks signals such as ^C, which screen_wait()
 * then reports. Returns 0, or an exit code after recording an error with fail().
 */
int screen_open(struct screen *screen)
{
	const char *type = getenv("TERM");

	if (hold_signals(screen)) {
		let_go(screen);
		return fail_code();
	}
	screen->terminal = newterm(NULL, stdout, stdin);
	if (!screen->terminal) {
		let_go(screen);
		return fail(CODE_USAGE,
			    "TERM '%s': unknown terminal: set TERM, or print lines with -b (--batch)",
			    type ? type : "");
	}
	prepare_screen();
	return 0;
}

void screen_size(const struct screen *screen, struct view *view)
{
	(void)screen;
	view->columns = (size_t)(COLS > 0 ? COLS : 1);
	view->rows = (size_t)(LINES > 0 ? LINES : 1);
}

static attr_t style_attributes(enum line_style style)
{
	switch (style) {
	case LINE_TITLE:
		return A_BOLD;
	case LINE_HEADING:
		return A_REVERSE;
	case LINE_FOCUS:
		return A_REVERSE | A_BOLD;
	case LINE_ALARM:
		return A_BOLD | (has_colors() ? COLOR_PAIR(RED) : A_STANDOUT);
	case LINE_HINT:
		return A_DIM;
	case LINE_PLAIN:
		break;
	}
	return A_NORMAL;
}

static void draw_line(int row, const struct line *line)
{
	bool bar = line->style == LINE_HEADING || line->style == LINE_FOCUS;

	attrset((int)style_attributes(line->style));
	if (bar)
		mvhline(row, 0, ' ' | style_attributes(line->style), COLS);
	mvaddstr(row, 0, line->text);
}

void screen_draw(const struct screen *screen, const struct frame *frame)
{
	size_t i;

	(void)screen;
	erase();
	for (i = 0; i < frame->lines && i < (size_t)LINES; i++)
		draw_line((int)i, &frame->line[i]);
	attrset(A_NORMAL);
	refresh();
}

static enum view_key key_meaning(int key)
{
	static const struct {
		int key;
		enum view_key means;
	} row[] = {
		{ 'q', VIEW_QUIT }, { 'Q', VIEW_QUIT }, { 's', VIEW_SORT },
		{ 'e', VIEW_ENDED }, { 'p', VIEW_PROCESSES }, { 'h', VIEW_HELP }, { '?', VIEW_HELP },
		{ '\t', VIEW_FOCUS }, { KEY_UP, VIEW_UP }, { 'k', VIEW_UP },
		{ KEY_DOWN, VIEW_DOWN }, { 'j', VIEW_DOWN },
		{ KEY_PPAGE, VIEW_PAGE_UP }, { KEY_NPAGE, VIEW_PAGE_DOWN },
		{ KEY_HOME, VIEW_HOME }, { KEY_END, VIEW_END },
	};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (row[i].key == key)
			return row[i].means;
	return VIEW_NONE;
}

static void wait_until(const struct screen *screen, struct pollfd *events, uint64_t until)
{
	uint64_t now = watch_now(), left = until > now ? until - now : 0;
	const struct timespec time = {
		.tv_sec = (time_t)(left / SECOND),
		.tv_nsec = (long)(left % SECOND),
	};

	events[0].revents = 0;
	events[1].revents = 0;
	ppoll(events, 2, &time, &screen->waiting);
}

/*
 * Waits for a key, a signal, a new size of the terminal, or @until (monotonic clock, ns). Returns
 * false at @until. Otherwise sets @key and returns true. VIEW_NONE lets the caller redraw the
 * screen. A signal that ends the program sets VIEW_QUIT.
 */
bool screen_wait(const struct screen *screen, uint64_t until, enum view_key *key)
{
	struct pollfd events[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = screen->stop, .events = POLLIN },
	};
	int typed = getch();

	*key = VIEW_QUIT;
	if (typed == ERR) {
		wait_until(screen, events, until);
		if (events[1].revents & POLLIN) {
			signals_wait(0);
			return true;
		}
		typed = getch();
		/* Input is ready but getch() reads none: the terminal was closed, so quit. */
		if (typed == ERR && events[0].revents)
			return true;
	}
	if (typed == REDRAW)
		clearok(curscr, TRUE);
	*key = key_meaning(typed);
	return typed != ERR;
}

void screen_close(struct screen *screen)
{
	endwin();
	delscreen(screen->terminal);
	let_go(screen);
}
