// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/warm.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "block/device.h"
#include "block/lock.h"
#include "files/job_parts.h"
#include "files/job_wait.h"
#include "lib/error.h"
#include "lib/name.h"
#include "lib/print.h"
#include "ondisk/print_superblock.h"

/* Time that a new peer has to answer the probes of the kernel, and pause between two looks, ms. */
#define ANSWER_MS	5000
#define LOOK_MS		50

/* Ranges that the cache lacks. */
struct missing {
	struct range *piece;
	size_t pieces;
	size_t room;
};

static void add_missing(const struct nl_run *run, void *arg)
{
	struct missing *missing = arg;
	struct range *longer;

	if (run->cached || fail_code())
		return;
	if (missing->pieces == missing->room) {
		missing->room = missing->room ? 2 * missing->room : 64;
		longer = reallocarray(missing->piece, missing->room, sizeof(*longer));
		if (!longer) {
			fail_memory();
			return;
		}
		missing->piece = longer;
	}
	missing->piece[missing->pieces++] = (struct range){ run->start, run->length };
}

/* Find what the cache lacks of the ranges. @missing: for free() of its pieces, also after a failure. */
static int find_missing(const struct dm_device *dev, const struct range *range, size_t count,
			struct missing *missing)
{
	size_t i;

	for (i = 0; i < count && !fail_code(); i++)
		nl_residency(dev->number, &range[i], add_missing, missing);
	return fail_code();
}

/*
 * Find the bytes of free blocks. Beyond them, a job would evict other data, and wait for readers.
 */
static int find_room(const struct dm_device *dev, struct warming *warming)
{
	struct status status;
	uint64_t *field = status.field;

	if (describe_status(dev, &status))
		return fail_code();
	warming->block = field[NEARCACHE_FIELD_BLOCK_SIZE];
	/* Blocks that were emptied count as used until their slots are needed. */
	warming->room = (field[NEARCACHE_FIELD_BLOCKS] -
			 (field[NEARCACHE_FIELD_BYTES_VALID] ?
			  field[NEARCACHE_FIELD_BLOCKS_USED] : 0)) * warming->block;
	return 0;
}

/*
 * As warm_divide() for the whole part of this node: only data that the cache lacks and has room
 * for, at the peers that have it by their maps, hottest first. A peer without a map may have all
 * data.
 */
int warm_divide_part(const struct homes *homes, const struct dm_device *dev,
		     const struct range *range, size_t count, struct warming *warming)
{
	struct missing missing = { 0 };
	struct peer_map *map = NULL;

	warming->ask = true;
	if (!find_room(dev, warming) && !find_missing(dev, range, count, &missing))
		map = peer_maps_read(homes, false);
	if (map)
		warm_choose(homes, map, missing.piece, missing.pieces, warming);
	peer_maps_free(map, homes->table.nodes);
	free(missing.piece);
	return fail_code();
}

/* Label the job of a source: the wish of the user, otherwise the name of the node. */
static void label_source(const struct homes *homes, const struct warm_source *source,
			 const struct nl_job *wishes, struct nl_job *job)
{
	const char *name = homes->table.node[source->node].name;

	strcpy(job->label, *wishes->label || label_check(name) ? wishes->label : name);
}

/* Start the job that reads at one peer. The kernel keeps the peer's device open for it. */
static int start_source(const struct homes *homes, const struct dm_device *dev,
			struct warm_source *source, const struct nl_job *wishes)
{
	const struct peers_node *node = &homes->table.node[source->node];
	struct nl_job with_peer = *wishes;
	struct device peer;

	if (device_open_number(&peer, peers_number(node->device), "peer"))
		return fail_add("it is node '%s'", node->name);
	label_source(homes, source, wishes, &with_peer);
	with_peer.peer_fd = peer.fd;
	if (nl_job_submit(dev->number, &with_peer, source->piece, source->pieces, &source->job))
		fail_add("the job would have read at node '%s'", node->name);
	device_close(&peer);
	return fail_code();
}

/* Cancel the jobs from @from on that were started. */
static void end_sources(const struct dm_device *dev, struct warming *warming, size_t from)
{
	size_t i;

	for (i = from; i < warming->sources; i++)
		if (warming->source[i].job)
			nl_job_end(dev->number, warming->source[i].job);
}

/* Wait for all jobs, one after the other. The first ^C cancels all of them. */
static int wait_sources(const struct homes *homes, const struct dm_device *dev,
			struct warming *warming, const struct nl_job *wishes, bool quiet,
			struct nl_job *sum)
{
	size_t i;

	for (i = 0; i < warming->sources && !fail_code(); i++) {
		struct nl_job job = { 0 };

		if (!warming->source[i].job)
			continue;
		label_source(homes, &warming->source[i], wishes, &job);
		if (job_wait(dev, warming->source[i].job, quiet, &job))
			break;
		if (job.state == NEARCACHE_JOB_CANCELLED)
			end_sources(dev, warming, i + 1);
		job_add_outcome(sum, &job);
	}
	return fail_code();
}

/* Start the jobs. If a job cannot start, warn, and leave out its data. */
static void start_sources(const struct homes *homes, const struct dm_device *dev,
			  struct warming *warming, const struct nl_job *wishes)
{
	size_t i;

	for (i = 0; i < warming->sources; i++) {
		struct warm_source *source = &warming->source[i];

		if (!source->pieces || !start_source(homes, dev, source, wishes))
			continue;
		warn("%s", fail_message());
		fail_reset();
		warming->bytes -= source->bytes;
		warming->alone += source->bytes;
		source->bytes = 0;
		source->pieces = 0;
	}
}

/*
 * Start a job for each peer, and with @wait wait for all of them. The caller has called
 * signals_hold(). Another command may not invalidate the cache between two jobs: that would cancel
 * only those that exist.
 * @sum: receives the number of the last job, and with @wait the outcome of all jobs. @jobs: receives
 * their number.
 */
int warm_run(const struct homes *homes, const struct dm_device *dev, struct warming *warming,
	     const struct nl_job *wishes, bool wait, bool quiet, struct nl_job *sum, size_t *jobs)
{
	bool locked = lock_held();
	size_t i;

	memset(sum, 0, sizeof(*sum));
	strcpy(sum->label, wishes->label);
	*jobs = 0;
	if (!locked)
		lock_name(dev->name);
	start_sources(homes, dev, warming, wishes);
	if (!locked)
		lock_release();
	for (i = 0; i < warming->sources; i++)
		if (warming->source[i].job) {
			sum->id = warming->source[i].job;
			(*jobs)++;
		}
	return wait ? wait_sources(homes, dev, warming, wishes, quiet, sum) : 0;
}

/* Is a node a peer that is connected, and has not answered the first probes yet? */
static bool is_new(const struct homes *homes, size_t node)
{
	const struct peers_load *load = homes->status.load;

	return node != homes->self && load && load[node].state == NEARCACHE_PEER_PROBING;
}

static int take_nodes(const char *name, struct homes *homes)
{
	struct dm_device cluster;
	bool found;

	if (dm_find(name, &cluster, &found))
		return fail_code();
	if (found)
		homes_take(homes, &cluster);
	else
		fail(CODE_DEVICE, "the cluster device '%s' was removed", name);
	dm_device_free(&cluster);
	return fail_code();
}

/* Wait until each connected peer has answered or failed, or for ANSWER_MS, and take the nodes. */
static int await_peers(const char *name, struct homes *homes)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };
	unsigned int looks;
	bool wait = true;
	size_t i;

	for (looks = 0; wait && looks < ANSWER_MS / LOOK_MS; looks++) {
		if (looks)
			nanosleep(&pause, NULL);
		homes_free(homes);
		if (take_nodes(name, homes))
			return fail_code();
		for (wait = false, i = 0; i < homes->table.nodes; i++)
			wait |= is_new(homes, i);
	}
	return 0;
}

/*
 * Choose the data to bring of the ranges @missing, after peers that were just connected have
 * answered. If no map shows any of these ranges, do not wait for the peers.
 */
static int choose_part(const char *name, struct homes *homes, const struct missing *missing,
		       struct warming *warming)
{
	size_t nodes = homes->table.nodes;
	struct peer_map *map = peer_maps_read(homes, true);

	if (map && (warming->ask ||
		    warm_is_offered(homes, map, missing->piece, missing->pieces)) &&
	    !await_peers(name, homes)) {
		if (homes->table.nodes == nodes)
			warm_choose(homes, map, missing->piece, missing->pieces, warming);
		else
			fail(CODE_BUSY, "another command changed the nodes of '%s' meanwhile", name);
	}
	peer_maps_free(map, nodes);
	return fail_code();
}

/* The share of each job that reads at a peer, so that all together keep to @bandwidth; 0: no limit. */
static uint64_t share_bandwidth(const struct warming *warming, uint64_t bandwidth)
{
	size_t i, jobs = 0;

	for (i = 0; i < warming->sources; i++)
		jobs += warming->source[i].pieces != 0;
	return jobs ? bandwidth / jobs : bandwidth;
}

/* Start the jobs that bring the part of this node; see warm_run(). */
static int start_part(const char *name, struct homes *homes, const struct dm_device *dev,
		      struct warming *warming)
{
	const struct range whole = { 0, homes->size };
	struct nl_job wishes = { .deadline = WARM_DEADLINE };
	struct missing missing = { 0 };
	struct range *piece;
	struct nl_job sum;
	size_t pieces, jobs;

	if (!homes_select(homes, true, &whole, 1, &piece, &pieces) &&
	    !find_missing(dev, piece, pieces, &missing) && !find_room(dev, warming) &&
	    !choose_part(name, homes, &missing, warming) && warming->bytes) {
		wishes.bandwidth = share_bandwidth(warming, homes->table.bandwidth);
		warm_run(homes, dev, warming, &wishes, false, true, &sum, &jobs);
	}
	free(missing.piece);
	free(piece);
	return fail_code();
}

/*
 * Start to bring the part of this node of the cluster device @name into its cache @dev from its
 * peers, in the background, as far as there is room. @ask: also data that a peer may lack, for which
 * it asks the origin. Waits up to ANSWER_MS for peers that were just connected, if they have
 * something. The jobs read past the cluster device, so they get its bandwidth as their own limit.
 * warm_free() is needed, even after a failure.
 */
int warm_start(const char *name, const struct dm_device *dev, bool ask, struct warming *warming)
{
	struct homes homes = { 0 };

	memset(warming, 0, sizeof(*warming));
	warming->ask = ask;
	if (!take_nodes(name, &homes))
		start_part(name, &homes, dev, warming);
	homes_free(&homes);
	return fail_code();
}

/* Print the bytes to bring, and those left out. Without @always, no text if nothing is brought. */
void warm_print(const struct warming *warming, bool always)
{
	bool any = always || warming->bytes;

	print_bytes("from_peers_bytes", any ? "from peers" : NULL, warming->bytes);
	print_bytes("no_peer_bytes", any && warming->alone ? "no peer is up for" : NULL,
		    warming->alone);
	print_bytes("not_at_peers_bytes", any && warming->absent ? "at no peer" : NULL,
		    warming->absent);
	print_bytes("no_room_bytes", any && warming->beyond ? "no room for" : NULL,
		    warming->beyond);
}
