// SPDX-License-Identifier: GPL-2.0-only
#include "block/signals.h"

#include <stddef.h>
#include <sys/signalfd.h>
#include <time.h>

static const int held[] = { SIGINT, SIGTERM, SIGHUP };

#define HELD	(sizeof(held) / sizeof(held[0]))

/* Those that ask to stop. */
static void stop_signals(sigset_t *stop)
{
	size_t i;

	sigemptyset(stop);
	for (i = 0; i < HELD; i++)
		sigaddset(stop, held[i]);
}

/**
 * signals_hold() - hold back the signals that ask to stop
 * @before: filled in, for the other functions here
 */
void signals_hold(sigset_t *before)
{
	sigset_t stop;

	stop_signals(&stop);
	sigprocmask(SIG_BLOCK, &stop, before);
}

/**
 * signals_waiting() - whether signals_release() will end the run
 * @before: from signals_hold()
 *
 * Return: whether a signal came that was not held back before; an ignored one
 * does not count, the kernel drops it.
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

/**
 * signals_release() - let the signals through again
 * @before: from signals_hold()
 */
void signals_release(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}

/**
 * signals_descriptor() - wait for signals that are held back, and for something else
 *
 * Return: descriptor, for close(), that can be read when one waits; -1 with errno.
 */
int signals_descriptor(void)
{
	sigset_t stop;

	stop_signals(&stop);
	return signalfd(-1, &stop, SFD_CLOEXEC | SFD_NONBLOCK);
}

/**
 * signals_wait() - wait for a signal that is held back
 * @milliseconds: so long, at most
 *
 * Return: whether one came; it is taken, and will not end the run.
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
