// SPDX-License-Identifier: GPL-2.0-only
/* nearcache prefetch: bring files into the cache before they are read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/job_parts.h"
#include "files/node_share.h"
#include "cluster/homes.h"
#include "cluster/read_peers.h"
#include "cluster/warm.h"
#include "cmd/commands.h"
#include "cmd/shared_help.h"
#include "cmd/node_part.h"
#include "lib/error.h"
#include "files/job_wait.h"
#include "lib/print.h"
#include "lib/size.h"
#include "block/signals.h"
#include "ondisk/print_superblock.h"
#include "files/operand.h"

/*
 * @homes: nodes of the cluster device that the user named
 * @peers: the parts of the peers, with --cluster
 * @warming: the parts of this node by peer, with --from-peers
 * @shards: the TARGETs, mapped to the device; of a cluster device, the part of this node
 * @part: their bytes
 * @order: indices of the @chosen shards of this node, in the order of the job
 * @checksum: checksum of the list of shards, the same on all nodes
 * @piece: the @pieces ranges of the device to load, @bytes in total
 * @job: the last prefetch job, with the sums of all @parts jobs; its id is 0 if none was started
 */
struct prefetching {
	const struct arguments *args;
	struct dm_device dev;
	struct homes homes;
	struct peer_reading peers;
	struct warming warming;
	struct shards shards;
	struct homes_part part;
	size_t *order;
	size_t chosen;
	uint32_t checksum;
	struct range *piece;
	size_t pieces;
	uint64_t bytes;
	struct nl_job job;
	size_t parts;
};

static int check_words(const struct arguments *args)
{
	if (option_given(args, OPTION_FROM_PEERS) && option_given(args, OPTION_PEERS))
		return fail(CODE_USAGE,
			    "--from-peers and --cluster exclude each other: the first brings the part of this node, from the others; the second brings all parts, from the origin");
	return node_share_check_words(args) ?:
	       target_check_words(args, !option_given(args, OPTION_FROM_PEERS));
}

static int check_homes(const struct prefetching *p)
{
	const struct arguments *args = p->args;

	if (homes_divide(&p->homes) && option_given(args, OPTION_RANK))
		return fail(CODE_USAGE,
			    "--rank is not for the cluster device '%s': each node prefetches its own part; leave --rank and --world-size out",
			    p->homes.name);
	if (!homes_divide(&p->homes) && option_given(args, OPTION_PEERS | OPTION_FROM_PEERS))
		return fail(CODE_USAGE,
			    "--cluster and --from-peers are for a cluster device: '%s' is the cache of one node",
			    p->dev.name);
	return 0;
}

/* List the parts of the peers, in the order of the TARGETs. */
static int choose_peers(struct prefetching *p)
{
	struct peer_reading *peers = &p->peers;
	size_t i, r, ranges = 0;
	struct range *all;

	if (p->homes.down)
		warn("%zu of %zu peers take no reads now: data that has its home there goes to the cache of its next home, maybe this node; see 'nearcache cluster status %s'",
		     p->homes.down, p->homes.table.nodes - 1, p->homes.name);
	peers->bandwidth = p->args->bandwidth;
	peers->quiet = option_given(p->args, OPTION_JSON);
	for (i = 0; i < p->shards.count; i++)
		ranges += p->shards.shard[i].ranges;
	all = calloc(ranges + 1, sizeof(*all));
	if (!all)
		return fail_memory();
	for (ranges = 0, i = 0; i < p->shards.count; i++)
		for (r = 0; r < p->shards.shard[i].ranges; r++)
			all[ranges++] = p->shards.shard[i].range[r];
	homes_select(&p->homes, false, all, ranges, &peers->piece, &peers->pieces);
	for (r = 0; r < peers->pieces; r++)
		peers->bytes += peers->piece[r].length;
	free(all);
	return fail_code();
}

/* Small files often follow each other on the device: together they are one piece. */
static void add_piece(struct prefetching *p, const struct range *range)
{
	struct range *last = p->pieces ? &p->piece[p->pieces - 1] : NULL;

	if (last && last->start + last->length == range->start)
		last->length += range->length;
	else
		p->piece[p->pieces++] = *range;
}

static int choose_files(struct prefetching *p)
{
	size_t i, r, most = 1;

	p->order = calloc(p->shards.count + 1, sizeof(*p->order));
	if (!p->order)
		return fail_memory();
	p->chosen = node_share_select(p->args, p->args->epoch, &p->shards, p->order, &p->checksum);
	for (i = 0; i < p->chosen; i++)
		most += p->shards.shard[p->order[i]].ranges;
	p->piece = calloc(most, sizeof(*p->piece));
	if (!p->piece)
		return fail_memory();
	for (i = 0; i < p->chosen; i++) {
		const struct shard *shard = &p->shards.shard[p->order[i]];

		p->bytes += shard->bytes;
		for (r = 0; r < shard->ranges; r++)
			add_piece(p, &shard->range[r]);
	}
	return 0;
}

/* Choose the whole volume if the user names no TARGET; only --from-peers allows that. */
static int resolve_files(struct prefetching *p)
{
	struct shard *shard;

	if (target_given(p->args))
		return homes_resolve(TARGET_BRING, p->args, &p->dev, &p->homes, &p->shards);
	shard = shards_add(&p->shards, p->homes.name);
	return shard ? shard_add_range(shard, 0, p->homes.size) : (int)fail_code();
}

/* Choose the peers. The jobs for a whole part evict no data, and do not wait for readers. */
static int choose_sources(struct prefetching *p)
{
	if (!option_given(p->args, OPTION_FROM_PEERS))
		return 0;
	return target_given(p->args) ?
	       warm_divide(&p->homes, p->piece, p->pieces, &p->warming) :
	       warm_divide_part(&p->homes, &p->dev, p->piece, p->pieces, &p->warming);
}

/* Starts the jobs of the local node. */
static int start_jobs(struct prefetching *p, struct nl_job *wishes)
{
	bool wait = option_given(p->args, OPTION_WAIT), quiet = option_given(p->args, OPTION_JSON);

	if (option_given(p->args, OPTION_FROM_PEERS))
		return warm_run(&p->homes, &p->dev, &p->warming, wishes, wait, quiet, &p->job,
				&p->parts);
	return p->pieces ? job_parts_run(&p->dev, wishes, p->piece, p->pieces, wait, quiet, &p->job,
					 &p->parts) : 0;
}

/* Starts no job if this node's share is empty, because there are fewer shards than nodes. */
static int execute_prefetch(struct prefetching *p)
{
	const struct arguments *args = p->args;
	struct nl_job wishes = {
		.priority = args->priority,
		.deadline = args->deadline,
		.bandwidth = args->bandwidth,
	};
	sigset_t before;

	if (!wishes.deadline && !target_given(args))
		wishes.deadline = WARM_DEADLINE;
	if (args->label)
		strcpy(wishes.label, args->label);
	else if (p->pieces && !option_given(args, OPTION_FROM_PEERS) &&
		 !shards_label(&p->shards, wishes.label))
		return fail_code();
	/* At ^C job_wait() cancels the job: until then ^C must not end the program. */
	signals_hold(&before);
	if (!start_jobs(p, &wishes) && p->job.state != NEARCACHE_JOB_CANCELLED)
		read_peers(&p->homes, &p->peers);
	signals_release(&before);
	return fail_code();
}

/* JSON always lists the shards, text only with --dry-run. */
static void print_shards(const struct prefetching *p, bool dry_run)
{
	size_t i;

	print_table("shards");
	for (i = 0; i < p->chosen; i++) {
		const struct shard *shard = &p->shards.shard[p->order[i]];

		print_record(NULL, NULL);
		print_bytes("bytes", dry_run ? "bytes" : NULL, shard->bytes);
		print_string("name", dry_run ? "shard" : NULL, shard->name);
		print_end();
	}
	print_end();
}

/* Prints a string with leading zeroes, because other programs compare it as text. */
static void print_checksum(uint32_t checksum)
{
	char text[sizeof("00000000")];

	snprintf(text, sizeof(text), "%08x", checksum);
	print_string("list_checksum", "list checksum", text);
}

/* Print the bytes to read at each peer, and the bytes left out. */
static void print_sources(const struct prefetching *p)
{
	const struct warming *warming = &p->warming;
	size_t i;

	if (!option_given(p->args, OPTION_FROM_PEERS))
		return;
	warm_print(warming, true);
	print_table("sources");
	for (i = 0; i < warming->sources; i++) {
		const struct warm_source *source = &warming->source[i];

		if (!source->pieces)
			continue;
		print_record(NULL, NULL);
		print_string("node", "node", p->homes.table.node[source->node].name);
		print_bytes("bytes", "bytes", source->bytes);
		print_number("job", source->job ? "job" : NULL, source->job);
		print_end();
	}
	print_end();
}

static void report_prefetch(const struct prefetching *p)
{
	bool dry_run = option_given(p->args, OPTION_DRY_RUN);

	print_record(NULL, p->dev.name);
	print_string("name", NULL, p->dev.name);
	print_number("shard_count", "shards", p->chosen);
	print_number("listed", option_given(p->args, OPTION_RANK) ? "of" : NULL,
		     p->shards.count);
	if (option_given(p->args, OPTION_RANK))
		print_checksum(p->checksum);
	print_bytes("bytes", "bytes", p->bytes);
	node_part_print(&p->homes, &p->part);
	if (option_given(p->args, OPTION_PEERS)) {
		print_bytes("peer_bytes", "parts of peers", p->peers.bytes);
		print_bytes("peer_read_bytes", dry_run ? NULL : "read at peers", p->peers.done);
	}
	print_sources(p);
	omitted_print(&p->shards.omitted);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	if (p->job.bytes) {
		print_record("load", NULL);
		job_print(&p->job);
		print_end();
	} else if (p->job.id) {
		print_number("job", "prefetch job", p->job.id);
	}
	print_number("jobs", p->parts > 1 ? "one of" : NULL, p->parts);
	print_shards(p, dry_run);
	node_part_print_commands(p->args, &p->homes);
	print_end();
}

static int judge_prefetch(const struct prefetching *p)
{
	char done[SIZE_TEXT], all[SIZE_TEXT];

	if (p->job.bytes && job_judge(&p->dev, &p->job))
		return describe_bypass(p->dev.name);
	if (p->peers.stopped)
		return fail(CODE_DEVICE, "the reads at peers were cancelled: %s of %s were read",
			    size_print(p->peers.done, done), size_print(p->peers.bytes, all));
	return 0;
}

static int prefetch_files(struct prefetching *p)
{
	if (dm_need_table(&p->dev))
		return fail_code();
	if (resolve_files(p) ||
	    (option_given(p->args, OPTION_PEERS) && choose_peers(p)) ||
	    homes_keep(&p->homes, &p->shards, &p->part) || choose_files(p) ||
	    choose_sources(p))
		return fail_code();
	if (!option_given(p->args, OPTION_DRY_RUN) &&
	    (describe_need_cache(&p->dev) || execute_prefetch(p)))
		return fail_code();
	report_prefetch(p);
	return judge_prefetch(p);
}

static int cmd_prefetch(const struct arguments *args)
{
	struct prefetching p = { .args = args };
	int error = check_words(args);

	if (!error)
		error = node_part_find(args, &p.dev, &p.homes);
	if (error)
		return error;
	if (!check_homes(&p))
		prefetch_files(&p);
	free(p.order);
	free(p.piece);
	free(p.peers.piece);
	warm_free(&p.warming);
	homes_free(&p.homes);
	shards_free(&p.shards);
	dm_device_free(&p.dev);
	return fail_code();
}

const struct verb prefetch_verb = {
	.name = "prefetch",
	.group = VERBS_DATA,
	.operands = "NAME [TARGET...]",
	.operands_min = 1,
	.operands_max = -1,
	.optional = OPTION_LABEL | OPTION_PRIORITY | OPTION_DEADLINE |
		    OPTION_BANDWIDTH | NODE_SHARE_OPTIONS | OPTION_WAIT | OPTION_PEERS |
		    OPTION_FROM_PEERS | OPTION_EVERYWHERE | TARGET_OPTIONS,
	.summary = "bring files into the cache before they are read",
	.details =
"The job loads TARGETs in the order given, in the background, while no reader needs the\n"
"origin. Jobs of higher priority run first; of one priority, the job with the earliest\n"
"deadline. --wait shows progress. ^C cancels the job; a second ^C does not wait for\n"
"requests in flight. The exit code is 4 if some of the data could not be loaded. If the\n"
"TARGETs have more than 1,048,576 ranges, prefetch makes several jobs, one after another,\n"
"and returns when the last one waits for its turn. Without --wait it ends with exit code 5\n"
"if a job waits for readers before that.\n"
"\n"
"A full cache has room for more data when readers have used some of it. Until then the job\n"
"waits: until its deadline, or else until it is cancelled or the device is closed.\n"
"\n"
"--bandwidth takes bits (40Gb/s, 400Mbit/s; powers of 1000) and bytes (5GB/s, 64M).\n"
"\n"
"--rank R and --world-size N select the share of this node. All nodes name the same\n"
"TARGETs; the shares are disjoint and cover all TARGETs. The list is sorted by name, and\n"
"shuffled if --seed is given. With --split strided, rank R has the shards R, R + N, R + 2\n"
"N ... of the list; with blocked, those from R M / N to (R + 1) M / N of M.\n"
"\n"
"Other programs can compute the same shuffle: Fisher-Yates from the end, for i from M - 1\n"
"down to 1 swap i and (next() * (i + 1)) >> 64, where next() is SplitMix64, whose state\n"
"starts as the first number of SplitMix64 with state SEED, plus EPOCH. Names are compared\n"
"byte by byte, as given and found: use the same names on all nodes. A file with several\n"
"names (hard links) counts under the first of them in this order.\n"
"\n"
"Nodes with the same list checksum share the same list. It is the CRC-32 (of zlib) of the\n"
"name, a NUL, the size in bytes in decimal digits, and a newline, for each shard of the\n"
"sorted list.\n"
"\n" CLUSTER_HELP
"--cluster also reads the other parts once, at the other nodes, whose caches keep them: 8\n"
"reads of 1 MiB at a time, in the foreground. --bandwidth limits the job and these reads,\n"
"each on its own. So one node makes the whole cluster warm, and if all nodes do it, the\n"
"origin is still read once. With replicas above 1, one of the copies becomes warm. ^C ends\n"
"the reads.\n"
"\n"
"--from-peers warms a node that joined or was replaced: a job for each peer brings data\n"
"that has its home here from the node that was its home before. With TARGETs, that node\n"
"asks the origin for data that it does not have. Without TARGETs, the jobs bring the part\n"
"of this node that the maps of the peers show as cached, most recently read first, as far\n"
"as there is room; a peer asks the origin only for the rest of a unit of its map that it\n"
"has in part, and, if it has no map because its version is older, for all data that it\n"
"lacks. A job ends when its peer fails. Data for which no peer is up is left out.\n"
"--bandwidth limits each job.\n"
"\n" LABEL_HELP
"\n" TARGET_HELP,
	.run = cmd_prefetch,
};
