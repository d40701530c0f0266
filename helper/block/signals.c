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

/* Block the signals that ask the program to stop. @before is for the functions below. */
void signals_hold(sigset_t *before)
{
	sigset_t stop;

	stop_signals(&stop);
	sigprocmask(SIG_BLOCK, &stop, before);
}

/*
 * True if signals_release() will end the program: a signal is pending that was not blocked before.
 * The kernel drops ignored signals, so these do not count.
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
 * A descriptor that becomes readable when a blocked signal is pending, for close(); -1 with errno.
 * For callers that also wait for something else.
 */
int signals_descriptor(void)
{
	sigset_t stop;

	stop_signals(&stop);
	return signalfd(-1, &stop, SFD_CLOEXEC | SFD_NONBLOCK);
}

/*
 * Wait for a blocked signal. Returns true if one arrived; it is consumed and will not end the
 * program.
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
