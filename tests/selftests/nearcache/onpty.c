// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a command on a terminal of its own and control it by a script on stdin:
 *
 *	onpty COLUMNS ROWS LOG COMMAND... <SCRIPT
 *
 * Lines of the script:
 *	see TEXT	wait until the command has written TEXT since the last "see"
 *	show TEXT	as see, but type ^L each second, so that the command redraws unchanged text
 *	type TEXT	type TEXT; \t, \e and \xHH mean the same as in C
 *	size COLUMNS ROWS	resize the terminal
 *	signal NUMBER	send the command a signal
 *	end CODE	the command must exit with CODE and have restored the terminal's settings
 * LOG receives all output.  The exit code is 0 if each step succeeds within 60 s.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

#define SECONDS	60
#define OUTPUT	(1U << 20)

static struct {
	int terminal;
	pid_t pid;
	FILE *log;
	struct termios before;
	char output[OUTPUT + 1];
	size_t used, seen;
} run;

static void die(const char *what, const char *detail)
{
	fprintf(stderr, "onpty: %s '%s'\n", what, detail);
	kill(run.pid, SIGKILL);
	exit(1);
}

static time_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

/* Wait up to @milliseconds and collect output.  Returns false if the terminal was closed. */
static bool take(int milliseconds)
{
	struct pollfd event = { .fd = run.terminal, .events = POLLIN };
	ssize_t got;

	if (poll(&event, 1, milliseconds) <= 0)
		return true;
	if (run.used == OUTPUT)
		die("more output than", "1 MiB");
	got = read(run.terminal, run.output + run.used, OUTPUT - run.used);
	if (got <= 0)
		return false;
	fwrite(run.output + run.used, 1, (size_t)got, run.log);
	run.used += (size_t)got;
	return true;
}

static void see(const char *text, bool asked)
{
	time_t until = now() + SECONDS, next = now() + 1;

	for (;;) {
		const char *found = memmem(run.output + run.seen, run.used - run.seen,
					   text, strlen(text));

		if (found) {
			run.seen = (size_t)(found - run.output) + strlen(text);
			return;
		}
		if (now() > until || !take(1000))
			die("the output lacks", text);
		if (asked && now() > next) {
			next = now() + 1;
			if (write(run.terminal, "\f", 1) != 1)
				die("cannot ask for", text);
		}
	}
}

static void type(const char *text)
{
	char key;

	for (; *text; text++) {
		key = *text;
		if (key == '\\' && text[1] == 'x') {
			key = (char)strtoul((char[]){ text[2], text[3], '\0' }, NULL, 16);
			text += 3;
		} else if (key == '\\') {
			key = *++text == 't' ? '\t' : '\033';
		}
		if (write(run.terminal, &key, 1) != 1)
			die("cannot type", text);
	}
}

static void size(const char *words)
{
	struct winsize size = { 0 };

	if (sscanf(words, "%hu %hu", &size.ws_col, &size.ws_row) != 2 ||
	    ioctl(run.terminal, TIOCSWINSZ, &size))
		die("cannot resize to", words);
}

static void end(const char *code)
{
	time_t until = now() + SECONDS;
	struct termios after;
	int status;

	while (!waitpid(run.pid, &status, WNOHANG)) {
		if (now() > until)
			die("it did not exit with code", code);
		take(100);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) != atoi(code)) {
		fprintf(stderr, "onpty: status %#x instead of exit code %s\n",
			(unsigned int)status, code);
		exit(1);
	}
	while (poll(&(struct pollfd){ .fd = run.terminal, .events = POLLIN }, 1, 0) > 0 &&
	       take(0))
		;
	/* This process has the terminal's slave side open, so the settings outlive the command. */
	if (tcgetattr(run.terminal, &after) ||
	    after.c_lflag != run.before.c_lflag || after.c_iflag != run.before.c_iflag ||
	    after.c_oflag != run.before.c_oflag)
		die("the terminal is not as it was", code);
}

static void begin(char **argv)
{
	struct winsize size = {
		.ws_col = (unsigned short)atoi(argv[1]), .ws_row = (unsigned short)atoi(argv[2]),
	};
	int side;

	run.log = fopen(argv[3], "w");
	/* Tests poll LOG, so each output goes there at once. */
	if (!run.log || setvbuf(run.log, NULL, _IONBF, 0) ||
	    openpty(&run.terminal, &side, NULL, NULL, &size) || tcgetattr(side, &run.before))
		die("no terminal", strerror(errno));
	run.pid = fork();
	if (run.pid)
		return;
	close(run.terminal);
	login_tty(side);
	execvp(argv[4], argv + 4);
	_exit(127);
}

int main(int argc, char **argv)
{
	char line[256];

	if (argc < 5) {
		fprintf(stderr, "usage: onpty COLUMNS ROWS LOG COMMAND... <SCRIPT\n");
		return 1;
	}
	begin(argv);
	while (fgets(line, sizeof(line), stdin)) {
		char *words = line + strcspn(line, " \n");

		line[strcspn(line, "\n")] = '\0';
		words += *words == ' ';
		if (!strncmp(line, "see ", 4))
			see(words, false);
		else if (!strncmp(line, "show ", 5))
			see(words, true);
		else if (!strncmp(line, "type ", 5))
			type(words);
		else if (!strncmp(line, "size ", 5))
			size(words);
		else if (!strncmp(line, "signal ", 7))
			kill(run.pid, atoi(words));
		else if (!strncmp(line, "end ", 4))
			end(words);
		else
			die("unknown line", line);
	}
	fclose(run.log);
	return 0;
}
