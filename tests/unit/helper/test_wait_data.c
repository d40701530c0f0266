// SPDX-License-Identifier: GPL-2.0-only
/* lib/wait_data.c: a signal neither ends the wait for data nor the read. */
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/periodic_wait.h"
#include "lib/wait_data.h"
#include "unit.h"

#define MS	1000000ULL

static int pipes[2];
static volatile sig_atomic_t signals, write_at;

static void on_alarm(int number)
{
	(void)number;
	if (++signals == write_at && write(pipes[1], "x", 1) != 1)
		_exit(1);
}

/* Send SIGALRM every 2 ms; the handler of signal @at writes a byte. */
static void alarms(int at)
{
	struct itimerval each = { { 0, at ? 2000 : 0 }, { 0, at ? 2000 : 0 } };

	signals = 0;
	write_at = at;
	assert_int_equal(setitimer(ITIMER_REAL, &each, NULL), 0);
}

static void nothing_comes(void **state)
{
	uint64_t begin = watch_now();

	(void)state;
	alarms(1000000);
	assert_false(wait_data(pipes[0], 50));
	assert_true(watch_now() - begin >= 50 * MS);
	assert_true(signals > 0);
	alarms(0);
	assert_false(wait_data(pipes[0], 0));
}

static void data_comes(void **state)
{
	char byte = 0;

	(void)state;
	alarms(3);
	assert_true(wait_data(pipes[0], 60000));
	assert_int_equal(read_again(pipes[0], &byte, 1), 1);
	assert_int_equal(byte, 'x');
	alarms(3);
	assert_int_equal(read_again(pipes[0], &byte, 1), 1);
	assert_true(signals >= 3);
	alarms(0);
}

/* The last test: it closes the pipe. */
static void writer_ends(void **state)
{
	char byte;

	(void)state;
	close(pipes[1]);
	assert_true(wait_data(pipes[0], 60000));
	assert_int_equal(read_again(pipes[0], &byte, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_comes),
		cmocka_unit_test(data_comes),
		cmocka_unit_test(writer_ends),
	};
	/* Without SA_RESTART: a signal interrupts read(). */
	struct sigaction action = { .sa_handler = on_alarm };

	if (pipe(pipes) || sigaction(SIGALRM, &action, NULL))
		return 1;
	return RUN(tests);
}
