// SPDX-License-Identifier: GPL-2.0-only
/* lib/progress.c: progress as lines, as a bar on a terminal, or not at all. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "lib/progress.h"
#include "unit.h"

#define SECOND	1000000000ULL
#define MIB	(1ULL << 20)

static uint64_t now;
static int terminal;
static int saved;
static FILE *file;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	(void)clock;
	time->tv_sec = (time_t)(now / SECOND);
	time->tv_nsec = (long)(now % SECOND);
	return 0;
}

int __wrap_isatty(int fd);
int __wrap_isatty(int fd)
{
	assert_int_equal(fd, STDERR_FILENO);
	return terminal;
}

static void capture(void)
{
	now = 100 * SECOND;
	saved = dup(STDERR_FILENO);
	file = tmpfile();
	dup2(fileno(file), STDERR_FILENO);
}

static const char *captured(void)
{
	static char text[4096];
	size_t n;

	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	return text;
}

static void lines(void **state)
{
	struct progress progress;

	(void)state;
	terminal = 0;
	capture();
	progress_start(&progress, "verify", 100 * MIB, false);
	/* Lines come at most every 5 s: the updates after 4 and 6 s are not shown. */
	now += 4 * SECOND;
	progress_update(&progress, 10 * MIB);
	now += SECOND;
	progress_update(&progress, 50 * MIB);
	now += SECOND;
	progress_update(&progress, 60 * MIB);
	progress_end(&progress);
	assert_string_equal(captured(),
			    "verify: 50 %, 50 MiB of 100 MiB, 10 MiB/s, 5 s left\n");
}

static void bar(void **state)
{
	struct progress progress;
	const char *text;

	(void)state;
	terminal = 1;
	capture();
	progress_start(&progress, "verify", 100 * MIB, false);
	now += SECOND / 10;
	progress_update(&progress, 50 * MIB);
	now += SECOND / 20;
	progress_update(&progress, 51 * MIB);
	now += SECOND;
	/* More bytes than announced are shown as 100 %. */
	progress_update(&progress, 200 * MIB);
	progress_end(&progress);
	text = captured();
	assert_non_null(strstr(text, "\rverify [###############...............] 50 %, 50 MiB of 100 MiB\033[K"));
	assert_null(strstr(text, "51 MiB"));
	assert_non_null(strstr(text, "[##############################] 100 %, 100 MiB of 100 MiB, "));
	assert_null(strstr(text, "left"));
	/* At the end the line is erased. */
	assert_string_equal(text + strlen(text) - 4, "\r\033[K");
}

/* A text in place of bytes: at most every 5 s as a line, every 0.1 s on a terminal. */
static void texts(void **state)
{
	struct progress progress;

	(void)state;
	for (terminal = 0; terminal < 2; terminal++) {
		capture();
		progress_start(&progress, "nc", 0, false);
		progress_say(&progress, "at once");
		now += 5 * SECOND;
		progress_say(&progress, "waits for 2 reads");
		now += SECOND / 20;
		progress_say(&progress, "waits for 1 read");
		progress_end(&progress);
		assert_string_equal(captured(), terminal ?
				    "\rnc: waits for 2 reads\033[K\r\033[K" :
				    "nc: waits for 2 reads\n");
	}
}

static void nothing(void **state)
{
	struct progress progress;

	(void)state;
	terminal = 1;
	capture();
	progress_start(&progress, "verify", 100, true);
	now += 60 * SECOND;
	progress_update(&progress, 50);
	progress_end(&progress);
	assert_string_equal(captured(), "");
	/* A total of 0 bytes is shown as 100 %. */
	capture();
	progress_start(&progress, "verify", 0, false);
	now += 60 * SECOND;
	progress_update(&progress, 0);
	assert_non_null(strstr(captured(), "100 %, 0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(bar),
		cmocka_unit_test(texts),
		cmocka_unit_test(nothing),
	};

	return RUN(tests);
}
