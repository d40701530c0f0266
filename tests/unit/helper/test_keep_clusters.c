// SPDX-License-Identifier: GPL-2.0-only
/*
 * daemon/keep_clusters.c runs 'nearcache', here a script, for each device: one that hangs delays no
 * other one, and is reported; a node that is refused is tried once a minute. This also works while
 * the file of the daemon is gone.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "block/dm.h"
#include "cluster/joined.h"
#include "daemon/keep_clusters.h"
#include "lib/periodic_wait.h"
#include "said.h"

#define SECOND	1000000000ULL

static const char script[] =
	"#!/bin/sh\n"
	"echo \"$3 $NEARCACHE_CLUSTER_AGAIN\" >>\"$RUNS\"\n"
	"case $3 in\n"
	"hang) echo >\"$STARTED\"; exec sleep 1000 ;;\n"
	"shy) echo \"nearcache: warning: node 'fd00::1' at [fd00::1]:5 is refused: no\" >&2 ;;\n"
	"many) for i in $(seq 256); do\n"
	"printf \"nearcache: warning: node 'n$i' is refused: %400d\\n\" $i >&2; done ;;\n"
	"esac\n";

static char runs[] = "/tmp/nearcache-runs-XXXXXX", program[4096], away[4096];
/* A FIFO to which a run that hangs writes, behind its line in @runs. */
static char started[64];
/* Devices of the test, its time, and the lines that the keeper said. */
static const char *const *devices;
static size_t devices_count;
static uint64_t now;
static char lines[4096];
static struct keeper keeper;

uint64_t watch_now(void)
{
	return now;
}

int joined_all(struct joined **list, size_t *count)
{
	size_t i;

	*count = devices_count;
	*list = calloc(*count, sizeof(**list));
	for (i = 0; i < *count; i++) {
		strcpy((*list)[i].name, devices[i]);
		if (!strcmp(devices[i], "odd"))
			strcpy((*list)[i].why, "its record is odd");
	}
	return 0;
}

void joined_free_all(struct joined *list, size_t count)
{
	(void)count;
	free(list);
}

int dm_find(const char *name, struct dm_device *dev, bool *found)
{
	(void)name;
	memset(dev, 0, sizeof(*dev));
	dev->cluster = true;
	*found = true;
	return 0;
}

void dm_device_free(struct dm_device *dev)
{
	(void)dev;
}

static void say(const char *text, void *arg)
{
	(void)arg;
	snprintf(lines + strlen(lines), sizeof(lines) - strlen(lines), "%s\n", text);
}

/* Let @seconds pass and look; then wait for the end of a run, and look again. */
static void pass(unsigned int seconds)
{
	siginfo_t info;

	now += seconds * SECOND;
	keep_clusters(&keeper, say, NULL);
	assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
	keep_clusters(&keeper, say, NULL);
}

/* Wait until the run that hangs has added its line to @runs. */
static void await_start(void)
{
	int fd = open(started, O_RDONLY | O_CLOEXEC);
	char byte;

	assert_int_equal(read(fd, &byte, 1), 1);
	close(fd);
}

/* Kill a run, and look once after its end. */
static void kill_run(const struct keep_run *run)
{
	siginfo_t info;

	assert_int_equal(kill(run->pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)run->pid, &info, WEXITED | WNOWAIT), 0);
	keep_clusters(&keeper, say, NULL);
}

static const char *runs_so_far(void)
{
	static char text[8192];
	int fd = open(runs, O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	close(fd);
	return text;
}

static int start_over(void **state)
{
	(void)state;
	*lines = '\0';
	now = SECOND;
	return truncate(runs, 0);
}

static void hang_delays_nobody(void **state)
{
	static const char *const names[] = { "hang", "quick" };

	(void)state;
	devices = names;
	devices_count = 2;
	pass(0);
	await_start();
	assert_string_equal(lines, "cluster device 'quick': all nodes are connected\n");
	pass(5);
	pass(5);
	assert_non_null(strstr(runs_so_far(), "quick 1\nquick 1\n"));
	assert_null(strstr(strstr(runs_so_far(), "hang 1\n") + 1, "hang"));
	assert_null(strstr(lines, "has not ended"));
	pass(120);
	pass(120);
	assert_non_null(strstr(lines, "'hang': 'cluster join'"));
	assert_null(strstr(strstr(lines, "has not ended") + 1, "has not ended"));
	kill_run(&keeper.run[0]);
	assert_non_null(strstr(lines, "'hang': 'cluster join' was killed by signal 9"));
	keep_stop(&keeper);
}

static void refused_node_waits(void **state)
{
	static const char *const names[] = { "shy" };
	char once[sizeof(lines)];

	(void)state;
	devices = names;
	devices_count = 1;
	pass(0);
	assert_non_null(strstr(lines, "node 'fd00::1' at [fd00::1]:5 is refused: no"));
	strcpy(once, lines);
	pass(5);
	pass(5);
	assert_string_equal(runs_so_far(), "shy 1\nshy 1 fd00::1\nshy 1 fd00::1\n");
	pass(50);
	assert_string_equal(runs_so_far(), "shy 1\nshy 1 fd00::1\nshy 1 fd00::1\nshy 1\n");
	assert_string_equal(lines, once);
	keep_stop(&keeper);
}

/* All nodes of the largest cluster refuse this one: a brief run tries none of them. */
static void all_nodes_refuse(void **state)
{
	static const char *const names[] = { "many" };
	char want[4096] = "many 1\nmany 1";
	size_t i;

	(void)state;
	devices = names;
	devices_count = 1;
	pass(0);
	pass(5);
	for (i = 1; i <= 256; i++)
		snprintf(want + strlen(want), sizeof(want) - strlen(want), " n%zu", i);
	strcat(want, "\n");
	assert_string_equal(runs_so_far(), want);
	keep_stop(&keeper);
}

/* A record that cannot be read is reported once, and the other devices have their runs. */
static void odd_record_delays_nobody(void **state)
{
	static const char *const names[] = { "odd", "quick" };

	(void)state;
	devices = names;
	devices_count = 2;
	pass(0);
	pass(5);
	assert_string_equal(runs_so_far(), "quick 1\nquick 1\n");
	assert_string_equal(lines, "cluster device 'odd': its record is odd\n"
				   "cluster device 'quick': all nodes are connected\n");
	keep_stop(&keeper);
}

/* Says once that the program cannot run, and goes on when it is back. */
static void program_is_missing(void **state)
{
	static const char *const names[] = { "quick" };
	const char *said;

	(void)state;
	devices = names;
	devices_count = 1;
	assert_int_equal(rename(program, away), 0);
	keep_clusters(&keeper, say, NULL);
	now += 5 * SECOND;
	keep_clusters(&keeper, say, NULL);
	said = strstr(lines, "cluster device 'quick': cannot run '");
	assert_non_null(said);
	assert_null(strstr(said + 1, "cluster device"));
	assert_int_equal(rename(away, program), 0);
	pass(5);
	assert_string_equal(runs_so_far(), "quick 1\n");
	assert_non_null(strstr(lines, "all nodes are connected"));
	keep_stop(&keeper);
}

/* Run this test from a second link to its file, which is then removed, as by an upgrade. */
static int run_upgraded(void)
{
	if (!realpath("/proc/self/exe", program))
		return 1;
	snprintf(away, sizeof(away), "%.4000s.old", program);
	unlink(away);
	if (!link(program, away))
		execl(away, away, "upgraded", NULL);
	return 1;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(hang_delays_nobody, start_over),
		cmocka_unit_test_setup(refused_node_waits, start_over),
		cmocka_unit_test_setup(all_nodes_refuse, start_over),
		cmocka_unit_test_setup(odd_record_delays_nobody, start_over),
		cmocka_unit_test_setup(program_is_missing, start_over),
	};
	int fd, failed;

	if (argc == 1)
		return run_upgraded();
	snprintf(program, sizeof(program), "%s", argv[0]);
	fd = mkstemp(runs);
	if (fd < 0 || unlink(program))
		return 1;
	close(fd);
	snprintf(started, sizeof(started), "%s.started", runs);
	if (mkfifo(started, 0600))
		return 1;
	setenv("RUNS", runs, true);
	setenv("STARTED", started, true);
	strcpy(strrchr(program, '/'), "/nearcache");
	snprintf(away, sizeof(away), "%.4000s.away", program);
	fd = open(program, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0755);
	if (write(fd, script, strlen(script)) < 0 || close(fd))
		return 1;
	failed = RUN(tests);
	unlink(program);
	unlink(started);
	return unlink(runs) || failed;
}
