// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/keep_clusters.h"

#include <errno.h>
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

/* Time from the end of a run for a device to the begin of the next one, ns. */
#define PAUSE		(5 * 1000000000ULL)
/*
 * Time from one attempt to connect a node that refuses this one to the next, ns: only an operator
 * of that node can change this, and each attempt is in the kernel logs of both nodes.
 */
#define PAUSE_REFUSED	(60 * 1000000000ULL)
/* Time after which the log says that a run hangs, ns: join itself waits less for nodes. */
#define HANGS		(120 * 1000000000ULL)
/* In the warning of 'cluster join' about a node that is refused: "node 'NAME' at ... is refused: ". */
#define REFUSED		" is refused: "
#define NODE		"node '"
#define PROGRAM		"nearcache"

/*
 * Find 'nearcache' in the folder of this program, as program_exec() does. After an upgrade, the
 * link to this program ends in " (deleted)", and its folder has the new 'nearcache'. Returns 0 or an
 * errno.
 */
static int find_program(char *path)
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
	char *slash;

	if (length < 0)
		return errno;
	if ((size_t)length + sizeof(PROGRAM) > PATH_MAX)
		return ENAMETOOLONG;
	path[length] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return ENOENT;
	strcpy(slash + 1, PROGRAM);
	return 0;
}

/* Start the process with its stderr in @pipes[1], no other output, and no blocked signals. */
static int spawn_join(const char *path, const char *name, const int *pipes, pid_t *pid)
{
	char *words[] = { (char *)PROGRAM, (char *)"cluster", (char *)"join", (char *)name, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none;
	int error;

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

/* True if @text has the line at @line, which ends with a newline. */
static bool has_line(const char *text, const char *line, size_t length)
{
	while (*text) {
		if (!strncmp(text, line, length))
			return true;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return false;
}

/* Append @length bytes and a NUL to @text, an allocation. Without memory, drop them. */
static void append_bytes(char **text, size_t *used, const char *bytes, size_t length)
{
	char *longer = realloc(*text, *used + length + 1);

	if (!longer)
		return;
	*text = longer;
	memcpy(longer + *used, bytes, length);
	*used += length;
	longer[*used] = '\0';
}

/* Append the lines of @from about refused nodes if @refused, otherwise its other lines. */
static void append_lines(char **to, const char *from, bool refused)
{
	size_t used = *to ? strlen(*to) : 0;

	while (*from) {
		size_t length = strcspn(from, "\n");
		const char *word = strstr(from, REFUSED);
		bool is = word && word < from + length;

		if (is == refused && length) {
			append_bytes(to, &used, from, length);
			append_bytes(to, &used, "\n", 1);
		}
		from += length + (from[length] == '\n');
	}
}

/* Say each line of @now that the last report does not have, and make @now the last report. */
static void say_report(struct keep_run *run, const char *now,
		       void (*say)(const char *text, void *arg), void *arg)
{
	char text[4096];
	const char *line;

	if (!*now && (!run->report || *run->report)) {
		snprintf(text, sizeof(text), "cluster device '%s': all nodes are connected",
			 run->name);
		say(text, arg);
	}
	for (line = now; *line; line += strcspn(line, "\n") + 1) {
		size_t length = strcspn(line, "\n");

		if (run->report && has_line(run->report, line, length + 1))
			continue;
		snprintf(text, sizeof(text), "cluster device '%s': %.*s", run->name, (int)length,
			 line);
		say(text_clean(text), arg);
	}
	free(run->report);
	run->report = strdup(now);
}

/* Set CLUSTER_AGAIN: the nodes in @lines, which are refused, are not to be tried. */
static void set_again(const char *lines)
{
	/* Each name takes less room here than in its line. */
	char *nodes = malloc(strlen(lines) + 2);
	size_t used = 1;

	if (nodes)
		strcpy(nodes, "1");
	while (nodes && (lines = strstr(lines, NODE))) {
		size_t length = strcspn(lines += strlen(NODE), "'");

		used += (size_t)sprintf(nodes + used, " %.*s", (int)length, lines);
		lines += strcspn(lines, "\n");
	}
	setenv(CLUSTER_AGAIN, nodes ? nodes : "1", true);
	free(nodes);
}

/* Start the program for a run. Returns 0 or an errno. @path: gets the program. */
static int start_program(struct keep_run *run, char *path)
{
	int pipes[2], error = find_program(path);

	if (error) {
		strcpy(path, PROGRAM);
		return error;
	}
	if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK))
		return errno;
	/*
	 * The run does not wait for this process: output that does not fit into the pipe is lost.
	 */
	fcntl(pipes[0], F_SETPIPE_SZ, (int)KEEP_OUTPUT);
	error = spawn_join(path, run->name, pipes, &run->pid);
	close(pipes[1]);
	run->pipe = pipes[0];
	if (!error)
		return 0;
	close(pipes[0]);
	run->pid = 0;
	return error;
}

static void start_run(struct keep_run *run, void (*say)(const char *text, void *arg), void *arg)
{
	char path[PATH_MAX], text[PATH_MAX + 160];
	int error;

	run->next = watch_now() + PAUSE;
	run->brief = run->refused && *run->refused && watch_now() < run->full;
	set_again(run->brief ? run->refused : "");
	error = start_program(run, path);
	if (!error) {
		run->begun = watch_now();
		run->hangs = false;
		return;
	}
	snprintf(text, sizeof(text),
		 "cannot run '%s': %s; absent nodes are not connected, and changes of the file not applied\n",
		 path, strerror(error));
	say_report(run, text, say, arg);
}

/* True if there is a cluster device of this name: an interrupted join may leave only a record. */
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

/* Returns the runs for a device, which need not have begun; NULL: out of memory. */
static struct keep_run *run_of(struct keeper *keeper, const char *name)
{
	struct keep_run *longer;
	size_t i;

	for (i = 0; i < keeper->runs; i++)
		if (!strcmp(keeper->run[i].name, name))
			return &keeper->run[i];
	longer = reallocarray(keeper->run, keeper->runs + 1, sizeof(*longer));
	if (!longer)
		return NULL;
	keeper->run = longer;
	longer += keeper->runs++;
	memset(longer, 0, sizeof(*longer));
	snprintf(longer->name, sizeof(longer->name), "%s", name);
	return longer;
}

/* Say that the record of a device cannot be read: without its record, join is not run for it. */
static void say_record(struct keep_run *run, const char *why,
		       void (*say)(const char *text, void *arg), void *arg)
{
	char text[JOINED_WHY + 2];

	snprintf(text, sizeof(text), "%s\n", why);
	say_report(run, text, say, arg);
	run->next = watch_now() + PAUSE;
}

/* Start a run for each device for which it is time. */
static void start_runs(struct keeper *keeper, void (*say)(const char *text, void *arg), void *arg)
{
	struct joined *list;
	size_t i, count;

	if (!joined_all(&list, &count))
		for (i = 0; i < count; i++) {
			struct keep_run *run = run_of(keeper, list[i].name);

			if (!run || run->pid || watch_now() < run->next)
				continue;
			if (*list[i].why)
				say_record(run, list[i].why, say, arg);
			else if (has_device(run->name))
				start_run(run, say, arg);
			else
				run->next = watch_now() + PAUSE;
		}
	fail_reset();
	joined_free_all(list, count);
}

/* Take the output of a run that has ended. A brief run prints no lines about refused nodes. */
static void take_output(struct keep_run *run, void (*say)(const char *text, void *arg), void *arg)
{
	const char *text = run->text ? run->text : "";
	char *now = NULL;

	if (!run->brief) {
		free(run->refused);
		run->refused = NULL;
		append_lines(&run->refused, text, true);
		run->full = watch_now() + PAUSE_REFUSED;
	}
	append_lines(&now, text, false);
	if (run->refused)
		append_lines(&now, run->refused, true);
	say_report(run, now ? now : "", say, arg);
	free(now);
	free(run->text);
	run->text = NULL;
	run->used = 0;
}

/*
 * Read the output of the run, and drop its rest above KEEP_OUTPUT: it never waits for this process.
 */
static void read_output(struct keep_run *run)
{
	char some[4096];
	ssize_t n;

	while ((n = read(run->pipe, some, sizeof(some))) > 0)
		if (run->used + (size_t)n <= KEEP_OUTPUT)
			append_bytes(&run->text, &run->used, some, (size_t)n);
}

/* Say that a run takes too long, and in which function of the kernel it waits. */
static void say_hang(struct keep_run *run, void (*say)(const char *text, void *arg), void *arg)
{
	char text[512], path[64], where[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/wchan", (int)run->pid);
	file = fopen(path, "re");
	if (!file || !fgets(where, sizeof(where), file) || !strcmp(where, "0"))
		strcpy(where, "no function of the kernel, or an unknown one");
	if (file)
		fclose(file);
	snprintf(text, sizeof(text),
		 "cluster device '%s': 'cluster join' (process %d) has not ended for %llu seconds: it waits in %s (see /proc/%d/stack, and 'ps' for another 'nearcache' that it waits for); until it ends, absent nodes of this device are not connected, and changes of its file not applied",
		 run->name, (int)run->pid, HANGS / 1000000000ULL, where, (int)run->pid);
	say(text_clean(text), arg);
	run->hangs = true;
}

/* A run that was killed could not say anything: note that as a line of its own. */
static void note_kill(struct keep_run *run, int status)
{
	char text[64];

	if (!WIFSIGNALED(status))
		return;
	snprintf(text, sizeof(text), "'cluster join' was killed by signal %d\n", WTERMSIG(status));
	append_bytes(&run->text, &run->used, text, strlen(text));
}

static void check_run(struct keep_run *run, void (*say)(const char *text, void *arg), void *arg)
{
	int status = 0;
	pid_t ended;

	if (!run->pid)
		return;
	ended = waitpid(run->pid, &status, WNOHANG);
	read_output(run);
	if (!ended) {
		if (!run->hangs && watch_now() - run->begun >= HANGS)
			say_hang(run, say, arg);
		return;
	}
	run->pid = 0;
	close(run->pipe);
	run->next = watch_now() + PAUSE;
	note_kill(run, status);
	take_output(run, say, arg);
}

/*
 * Call this about once a second. Never waits. @say gets each line that differs from the report of
 * the last run.
 */
void keep_clusters(struct keeper *keeper, void (*say)(const char *text, void *arg), void *arg)
{
	size_t i;

	for (i = 0; i < keeper->runs; i++)
		check_run(&keeper->run[i], say, arg);
	start_runs(keeper, say, arg);
}

/* Forget everything. A run that is not over ends by itself. */
void keep_stop(struct keeper *keeper)
{
	size_t i;

	for (i = 0; i < keeper->runs; i++) {
		struct keep_run *run = &keeper->run[i];

		if (run->pid)
			close(run->pipe);
		free(run->text);
		free(run->refused);
		free(run->report);
	}
	free(keeper->run);
	memset(keeper, 0, sizeof(*keeper));
}
