// SPDX-License-Identifier: GPL-2.0-only
/* nearcache prefetch: bring files into the cache before they are read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/job_parts.h"
#include "files/node_share.h"
#include "cmd/commands.h"
#include "lib/error.h"
#include "files/job_wait.h"
#include "lib/name.h"
#include "lib/print.h"
#include "block/signals.h"
#include "ondisk/print_superblock.h"
#include "files/operand.h"

/*
 * @shards: the TARGETs, mapped to the device
 * @order: indices of the @chosen shards of this node, in the order of the job
 * @checksum: checksum of the list of shards, the same on all nodes
 * @piece: the @pieces ranges of the device to load, @bytes in total
 * @job: the last prefetch job, with the sums of all @parts jobs; its id is 0 if none was started
 */
struct prefetching {
	const struct arguments *args;
	struct dm_device dev;
	struct shards shards;
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
	return node_share_check_words(args) ?: target_check_words(args, true);
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

	if (!p->pieces)
		return 0;
	if (args->label)
		strcpy(wishes.label, args->label);
	else if (!shards_label(&p->shards, wishes.label))
		return fail_code();
	/* At ^C job_wait() cancels the job: until then ^C must not end the program. */
	signals_hold(&before);
	job_parts_run(&p->dev, &wishes, p->piece, p->pieces, option_given(args, OPTION_WAIT),
		      option_given(args, OPTION_JSON), &p->job, &p->parts);
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
	print_end();
}

static int prefetch_files(struct prefetching *p)
{
	if (dm_need_table(&p->dev))
		return fail_code();
	if (target_resolve(p->args, &p->dev, &p->shards) || choose_files(p))
		return fail_code();
	if (!option_given(p->args, OPTION_DRY_RUN) &&
	    (describe_need_cache(&p->dev) || execute_prefetch(p)))
		return fail_code();
	report_prefetch(p);
	return p->job.bytes && job_judge(&p->dev, &p->job) ? describe_bypass(p->dev.name) : 0;
}

int cmd_prefetch(const struct arguments *args)
{
	struct prefetching p = { .args = args };
	int error = check_words(args);

	if (!error)
		error = dm_need_ours(name_of_operand(args->operand[0]), &p.dev);
	if (error)
		return error;
	prefetch_files(&p);
	free(p.order);
	free(p.piece);
	shards_free(&p.shards);
	dm_device_free(&p.dev);
	return fail_code();
}
