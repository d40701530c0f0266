// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the events of the helper's classifier: one line for each stream whose class changes.
 *
 *	changes PINNED_RING_BUFFER
 *
 * Runs until SIGTERM.  A line is "TIME PID WRITES FROM TO ACCESSES RUNS SET_RUNS LOOPS SHUFFLES
 * UNITS SINGLES DRAWS SAMPLE": nanoseconds of the monotonic clock, process, 1 if the stream writes,
 * enum nearcache_class before and after, then the counts on which the classifier decided.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "classify.h"

static volatile sig_atomic_t over;

static void end(int signal)
{
	over = 1;
}

static int print(void *arg, void *data, size_t size)
{
	const struct change *c = data;

	if (size < sizeof(*c))
		return -EINVAL;
	printf("%llu %u %u %u %u %llu %llu %llu %d %d %u %u %u %u\n", c->time, c->key.pid,
	       c->key.writes, c->from, c->to, c->stream.accesses, c->stream.runs, c->set.runs,
	       c->set.loops, c->set.shuffles, c->set.units, c->set.singles, c->set.draws,
	       c->set.sample);
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = end };
	struct ring_buffer *ring = NULL;
	int map = argc == 2 ? bpf_obj_get(argv[1]) : -1, rc = 0;

	if (map >= 0)
		ring = ring_buffer__new(map, print, NULL, NULL);
	if (!ring) {
		fprintf(stderr, "changes: no ring buffer\n");
		return 1;
	}
	sigaction(SIGTERM, &action, NULL);
	while (!over && (rc >= 0 || rc == -EINTR))
		rc = ring_buffer__poll(ring, 100);
	rc = ring_buffer__consume(ring);
	ring_buffer__free(ring);
	return rc < 0;
}
