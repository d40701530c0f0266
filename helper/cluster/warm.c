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
#include "ondisk/print_superblock.h"

/* Time that a new peer has to answer the probes of the kernel, and pause between two looks, ms. */
#define ANSWER_MS	5000
#define LOOK_MS		50

/*
 * Find the peer that has the data of an extent, if any peer has it: the first home among the peers
 * that are up. Before this node joined, that peer was a home. Returns the number of nodes if no
 * peer is up.
 */
static size_t find_source(const struct homes *homes, uint64_t extent)
{
	const struct peers_node *node = homes->table.node;
	const uint64_t *key = homes->key;
	size_t i, best = homes->table.nodes;
	uint64_t hash, best_hash = 0;

	for (i = 0; i < homes->table.nodes; i++) {
		if (!homes_peer_is_up(homes, i))
			continue;
		hash = nearcache_cluster_hash(key[i], extent);
		if (best == homes->table.nodes ||
		    nearcache_cluster_before(hash, node[i].weight, key[i], best_hash,
					     node[best].weight, key[best])) {
			best = i;
			best_hash = hash;
		}
	}
	return best;
}

/* Add a range to a source; it may extend the last one. */
static int add_to_source(struct warm_source *source, const struct range *add)
{
	struct range *last = source->pieces ? &source->piece[source->pieces - 1] : NULL;

	source->bytes += add->length;
	if (last && last->start + last->length == add->start) {
		last->length += add->length;
		return 0;
	}
	if (source->pieces == source->room) {
		struct range *longer;

		source->room = source->room ? 2 * source->room : 16;
		longer = reallocarray(source->piece, source->room, sizeof(*longer));
		if (!longer)
			return fail_memory();
		source->piece = longer;
	}
	source->piece[source->pieces++] = *add;
	return 0;
}

/* Bytes of all blocks that overlap a range. To cache the range takes at most these free blocks. */
static uint64_t blocks_of(const struct range *range, uint64_t block)
{
	return ((range->start + range->length - 1) / block - range->start / block + 1) * block;
}

static int divide_range(const struct homes *homes, const struct range *range,
			struct warming *warming)
{
	uint64_t extent = homes->table.extent, at = range->start, end = at + range->length;

	while (at < end && !fail_code()) {
		uint64_t next = (at / extent + 1) * extent;
		struct range piece = { at, (next < end ? next : end) - at };
		size_t node = find_source(homes, at / extent);
		uint64_t need = warming->block ? blocks_of(&piece, warming->block) : 0;

		at += piece.length;
		if (node == homes->table.nodes) {
			warming->alone += piece.length;
		} else if (need > warming->room) {
			warming->beyond += piece.length;
		} else {
			warming->room -= need;
			warming->bytes += piece.length;
			add_to_source(&warming->source[node], &piece);
		}
	}
	return fail_code();
}

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

/*
 * As warm_divide() for the whole part of this node: only what the cache lacks, and only into free
 * blocks, because beyond that data is evicted, and jobs wait for readers.
 */
int warm_divide_part(const struct homes *homes, const struct dm_device *dev,
		     const struct range *range, size_t count, struct warming *warming)
{
	struct missing missing = { 0 };
	struct status status;
	uint64_t *field = status.field;
	size_t i;

	if (describe_status(dev, &status))
		return fail_code();
	warming->block = field[NEARCACHE_FIELD_BLOCK_SIZE];
	/* Blocks that were emptied count as used until their slots are needed. */
	warming->room = (field[NEARCACHE_FIELD_BLOCKS] -
			 (field[NEARCACHE_FIELD_BYTES_VALID] ?
			  field[NEARCACHE_FIELD_BLOCKS_USED] : 0)) * warming->block;
	for (i = 0; i < count && !fail_code(); i++)
		nl_residency(dev->number, &range[i], add_missing, &missing);
	if (!fail_code())
		warm_divide(homes, missing.piece, missing.pieces, warming);
	free(missing.piece);
	return fail_code();
}

/*
 * Choose the peer for each extent of the ranges, which are inside the volume and have their home
 * here. warm_free() is needed, even after a failure.
 */
int warm_divide(const struct homes *homes, const struct range *range, size_t count,
		struct warming *warming)
{
	size_t i;

	warming->sources = homes->table.nodes;
	warming->source = calloc(warming->sources, sizeof(*warming->source));
	if (!warming->source) {
		warming->sources = 0;
		return fail_memory();
	}
	for (i = 0; i < warming->sources; i++)
		warming->source[i].node = i;
	for (i = 0; i < count && !fail_code(); i++)
		divide_range(homes, &range[i], warming);
	return fail_code();
}

void warm_free(struct warming *warming)
{
	size_t i;

	for (i = 0; i < warming->sources; i++)
		free(warming->source[i].piece);
	free(warming->source);
	memset(warming, 0, sizeof(*warming));
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

/* Start the jobs. The peer of a job that cannot start gives nothing, with a warning. */
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

/* Start the jobs that bring the part of this node; see warm_run(). */
static int start_part(const struct homes *homes, const struct dm_device *dev,
		      struct warming *warming)
{
	const struct range whole = { 0, homes->size };
	const struct nl_job wishes = { .deadline = WARM_DEADLINE };
	struct nl_job sum;
	struct range *piece;
	size_t pieces, jobs;

	if (!homes_select(homes, true, &whole, 1, &piece, &pieces) &&
	    !warm_divide_part(homes, dev, piece, pieces, warming))
		warm_run(homes, dev, warming, &wishes, false, true, &sum, &jobs);
	free(piece);
	return fail_code();
}

/*
 * Start to bring the part of this node of the cluster device @name into its cache @dev from its
 * peers, in the background, as far as there is room. Waits up to ANSWER_MS for peers that were just
 * connected. warm_free() is needed, even after a failure.
 */
int warm_start(const char *name, const struct dm_device *dev, struct warming *warming)
{
	struct homes homes = { 0 };

	memset(warming, 0, sizeof(*warming));
	if (!await_peers(name, &homes))
		start_part(&homes, dev, warming);
	homes_free(&homes);
	return fail_code();
}
