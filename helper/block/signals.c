// SPDX-License-Identifier: GPL-2.0-only
#include "block/signals.h"

#include <stddef.h>
#include <sys/signalfd.h>
#include <time.h>

static const int held[] = { SIGINT, SIGTERM, SIGHUP };

#define HELD	(sizeof(held) / sizeof(held[0]))

static void stop_signals(sigset_t *stop)
{
	size_t i;

	sigemptyset(stop);
	for (i = 0; i < HELD; i++)
		sigaddset(stop, held[i]);
}

/*
 * Block SIGINT, SIGTERM and SIGHUP. Also block SIGPIPE: a warning whose reader is gone does not end
 * the work in the middle; signals_release() then ends the program. SIGPIPE is no wish of a user, so
 * the functions below ignore it. @before receives the previous mask.
 */
void signals_hold(sigset_t *before)
{
	sigset_t stop;

	stop_signals(&stop);
	sigaddset(&stop, SIGPIPE);
	sigprocmask(SIG_BLOCK, &stop, before);
}

/*
 * True if a user wants the program to end: a signal is pending that was not blocked before
 * signals_hold(), and will end the program at signals_release(). The kernel never makes ignored
 * signals pending.
 */
bool signals_waiting(const sigset_t *before)
{
	sigset_t pending;
	size_t i;

	sigemptyset(&pending);
	sigpending(&pending);
	for (i = 0; i < HELD; i++)
		if (sigismember(&pending, held[i]) > 0 &&
		    !sigismember(before, held[i]))
			return true;
	return false;
}

void signals_release(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}

/*
 * Return a descriptor that is readable while a signal of signals_hold() is pending, for callers
 * that poll other descriptors as well. The caller closes it. Returns -1 with errno after an error.
 */
int signals_descriptor(void)
{
	sigset_t stop;

	stop_signals(&stop);
	return signalfd(-1, &stop, SFD_CLOEXEC | SFD_NONBLOCK);
}

/*
 * Wait at most @milliseconds for a signal of signals_hold(). Returns true if one arrived: it is
 * consumed and will not end the program.
 */
bool signals_wait(unsigned int milliseconds)
{
	const struct timespec time = {
		.tv_sec = milliseconds / 1000,
		.tv_nsec = milliseconds % 1000 * 1000000L,
	};
	sigset_t stop;

	stop_signals(&stop);
	return sigtimedwait(&stop, NULL, &time) > 0;
}
