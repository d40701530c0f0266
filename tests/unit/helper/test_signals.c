// SPDX-License-Identifier: GPL-2.0-only
/* block/signals.c: work ends before a ^C, or a reader of the output that is gone, ends the program. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "block/signals.h"
#include "unit.h"

/*
 * Run work in a child process during which @number arrives. Returns the signal that ended the child;
 * @result: gets what the work wrote: 'w' if the user wants it to end, otherwise 'd'.
 */
static int signal_during_work(int number, char *result)
{
	int pipes[2], broken[2], status;
	sigset_t before;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(pipe(broken), 0);
	close(broken[0]);
	pid = fork();
	if (!pid) {
		signal(number, SIG_DFL);
		signals_hold(&before);
		if (number == SIGPIPE)
			dprintf(broken[1], "a warning\n");
		else
			raise(number);
		dprintf(pipes[1], signals_waiting(&before) ? "w" : "d");
		signals_release(&before);
		_exit(0);
	}
	close(pipes[1]);
	close(broken[1]);
	*result = '-';
	(void)!read(pipes[0], result, 1);
	close(pipes[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void work_ends_first(void **state)
{
	char result;

	(void)state;
	assert_int_equal(signal_during_work(SIGINT, &result), SIGINT);
	assert_int_equal(result, 'w');
	assert_int_equal(signal_during_work(SIGPIPE, &result), SIGPIPE);
	assert_int_equal(result, 'd');
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(work_ends_first) };

	return RUN(tests);
}
