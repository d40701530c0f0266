// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/keep_clusters.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "block/dm.h"
#include "cluster/join.h"
#include "cluster/joined.h"
#include "lib/error.h"
#include "lib/periodic_wait.h"
#include "lib/sanitize.h"

/*
 * Time from the end of a round to the begin of the next one, ns; if a node is refused, which is
 * known only after a connection to it, and changes only if somebody acts there.
 */
#define PAUSE		(5 * 1000000000ULL)
#define PAUSE_REFUSED	(60 * 1000000000ULL)
/* In the warning of 'cluster join' about a node of another volume. */
#define REFUSED		" is refused: "
#define PROGRAM		"nearcache"

/* Find 'nearcache' in the folder of this program, as program_exec() does. */
static bool find_program(char *path)
{
	char *slash;

	if (!realpath("/proc/self/exe", path))
		return false;
	slash = strrchr(path, '/');
	if ((size_t)(slash - path) + sizeof(PROGRAM) + 1 > PATH_MAX)
		return false;
	strcpy(slash + 1, PROGRAM);
	return true;
}

/* Start the process with its stderr in @pipe[1], no other output, and no blocked signals. */
static int spawn_join(const char *path, const char *name, const int *pipes, pid_t *pid)
{
	char *words[] = { (char *)PROGRAM, (char *)"cluster", (char *)"join", (char *)name, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none;
	int error;

	setenv(CLUSTER_AGAIN, "1", true);
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&files, pipes[1], 2);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	error = posix_spawn(pid, path, &files, &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return error;
}

static void start_run(struct keeper *keeper, const char *name)
{
	char path[PATH_MAX];
	int pipes[2];

	if (!find_program(path) || pipe2(pipes, O_CLOEXEC | O_NONBLOCK))
		return;
	if (spawn_join(path, name, pipes, &keeper->pid)) {
		keeper->pid = 0;
		close(pipes[0]);
	} else {
		keeper->pipe = pipes[0];
		keeper->used = 0;
		snprintf(keeper->name, sizeof(keeper->name), "%s", name);
	}
	close(pipes[1]);
}

/* True if there is a cluster device of this name: a record alone may be of an interrupted run. */
static bool has_device(const char *name)
{
	struct dm_device dev;
	bool found;

	if (dm_find(name, &dev, &found)) {
		fail_reset();
		return false;
	}
	found = found && dev.cluster;
	dm_device_free(&dev);
	return found;
}

/* Start a run for the first device behind @keeper->after, by name. Returns false if there is none. */
static bool start_next(struct keeper *keeper)
{
	const char *first = NULL;
	struct joined *list;
	size_t i, count;

	if (!joined_all(&list, &count))
		for (i = 0; i < count; i++)
			if (strcmp(list[i].name, keeper->after) > 0 &&
			    (!first || strcmp(list[i].name, first) < 0) &&
			    has_device(list[i].name))
				first = list[i].name;
	fail_reset();
	if (first) {
		snprintf(keeper->after, sizeof(keeper->after), "%s", first);
		start_run(keeper, first);
	}
	joined_free_all(list, count);
	return first;
}

/* Returns the last report about a device, at first an empty one; NULL: out of memory. */
static struct keep_report *report_of(struct keeper *keeper, const char *name)
{
	struct keep_report *longer;
	size_t i;

	for (i = 0; i < keeper->reports; i++)
		if (!strcmp(keeper->report[i].name, name))
			return &keeper->report[i];
	longer = reallocarray(keeper->report, keeper->reports + 1, sizeof(*longer));
	if (!longer)
		return NULL;
	keeper->report = longer;
	longer += keeper->reports++;
	memset(longer, 0, sizeof(*longer));
	snprintf(longer->name, sizeof(longer->name), "%s", name);
	return longer;
}

/* Say what a run printed, line by line, unless the last run for this device printed the same. */
static void say_report(struct keeper *keeper, void (*say)(const char *text, void *arg), void *arg)
{
	struct keep_report *report = report_of(keeper, keeper->name);
	char *rest = keeper->text, *line, text[KEEP_TEXT + 128];

	if (!report || !strcmp(report->text, keeper->text))
		return;
	strcpy(report->text, keeper->text);
	if (!*rest) {
		snprintf(text, sizeof(text), "cluster device '%s': all nodes are connected",
			 keeper->name);
		say(text, arg);
	}
	while ((line = strsep(&rest, "\n"))) {
		if (!*line)
			continue;
		snprintf(text, sizeof(text), "cluster device '%s': %s", keeper->name, line);
		say(text_clean(text), arg);
	}
}

/* Read what the run has printed; drop what does not fit, so that it never waits for this process. */
static void read_output(struct keeper *keeper)
{
	char dropped[512];
	ssize_t n;

	do {
		size_t room = sizeof(keeper->text) - 1 - keeper->used;

		n = room ? read(keeper->pipe, keeper->text + keeper->used, room) :
			   read(keeper->pipe, dropped, sizeof(dropped));
		if (n > 0 && room)
			keeper->used += (size_t)n;
	} while (n > 0);
}

/*
 * Call this about once a second. Never waits. @say gets each line that differs from the report of
 * the last run.
 */
void keep_clusters(struct keeper *keeper, void (*say)(const char *text, void *arg), void *arg)
{
	if (keeper->pid) {
		pid_t ended = waitpid(keeper->pid, NULL, WNOHANG);

		read_output(keeper);
		if (!ended)
			return;
		keeper->pid = 0;
		close(keeper->pipe);
		keeper->text[keeper->used] = '\0';
		keeper->refused |= !!strstr(keeper->text, REFUSED);
		say_report(keeper, say, arg);
	}
	if (watch_now() < keeper->next || start_next(keeper))
		return;
	keeper->next = watch_now() + (keeper->refused ? PAUSE_REFUSED : PAUSE);
	*keeper->after = '\0';
	keeper->refused = false;
}

/* Forget everything. A run that is not over ends by itself. */
void keep_stop(struct keeper *keeper)
{
	if (keeper->pid)
		close(keeper->pipe);
	free(keeper->report);
	memset(keeper, 0, sizeof(*keeper));
}
