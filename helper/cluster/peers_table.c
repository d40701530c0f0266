// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/peers_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "lib/table_words.h"

#define SECTOR		512
/* Default of the module, milliseconds. */
#define STALL_DEFAULT	1000U
/* Version of the status line: a module of the same version only appends fields. */
#define STATUS_VERSION	1
/* Fields of a node that this file knows. */
#define FIELDS		6U
/* Most extents that peers_shares() counts. */
#define EXTENTS_COUNTED	65536U

static void put_nodes(FILE *out, const struct peers_node *node, size_t nodes)
{
	size_t i;

	fprintf(out, "%zu", nodes);
	for (i = 0; i < nodes; i++)
		fprintf(out, " %s %u %s", node[i].name, node[i].weight, node[i].device);
}

/* Returns the words behind the name of the target, for free(); NULL: out of memory. */
char *peers_table_print(const struct peers_table *table)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "%s %s %" PRIu64 " %u %s ", table->home, table->origin,
		table->extent / SECTOR, table->replicas, table->self);
	put_nodes(out, table->node, table->nodes);
	fprintf(out, " %u stall_timeout %u", table->bandwidth ? 4 : 2, table->stall_timeout);
	if (table->bandwidth)
		fprintf(out, " bandwidth %" PRIu64, table->bandwidth);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* Returns the message that replaces the nodes, for free(); NULL: out of memory. */
char *peers_message_print(const struct peers_node *node, size_t nodes)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs("nodes ", out);
	put_nodes(out, node, nodes);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static bool parse_node(const char **text, struct peers_node *node)
{
	uint64_t weight;

	if (!table_word(text, node->name, sizeof(node->name)) || !table_number(text, &weight) ||
	    !weight || weight > NEARCACHE_CLUSTER_WEIGHT_MAX ||
	    !table_word(text, node->device, sizeof(node->device)))
		return false;
	node->weight = (uint32_t)weight;
	return true;
}

/* Options of a newer module are ignored. */
static void take_option(void *to, const char *name, const char *word, uint64_t value)
{
	struct peers_table *table = to;

	(void)word;
	if (!strcmp(name, "stall_timeout"))
		table->stall_timeout = (unsigned int)value;
	if (!strcmp(name, "bandwidth"))
		table->bandwidth = value;
}

/*
 * Parse the words behind the name of the target. Returns false if it is no table line of this
 * target. Call peers_table_free() even then.
 */
bool peers_table_parse(const char *text, struct peers_table *table)
{
	uint64_t sectors, replicas, count;
	size_t i;

	memset(table, 0, sizeof(*table));
	table->stall_timeout = STALL_DEFAULT;
	if (!table_word(&text, table->home, sizeof(table->home)) ||
	    !table_word(&text, table->origin, sizeof(table->origin)) ||
	    !table_number(&text, &sectors) || sectors > UINT64_MAX / SECTOR ||
	    !table_number(&text, &replicas) || replicas > UINT32_MAX ||
	    !table_word(&text, table->self, sizeof(table->self)) || !table_number(&text, &count) ||
	    !count || count > NEARCACHE_CLUSTER_NODES_MAX)
		return false;
	table->extent = sectors * SECTOR;
	table->replicas = (unsigned int)replicas;
	table->node = calloc(count, sizeof(*table->node));
	if (!table->node)
		return false;
	table->nodes = count;
	for (i = 0; i < count; i++)
		if (!parse_node(&text, &table->node[i]))
			return false;
	return table_options(text, take_option, table);
}

void peers_table_free(struct peers_table *table)
{
	free(table->node);
	table->node = NULL;
	table->nodes = 0;
}

/* Returns the number of a device in a table line, 0: it is not written as a number. */
dev_t peers_number(const char *device)
{
	unsigned int major_number, minor_number;
	char rest;

	if (sscanf(device, "%u:%u%c", &major_number, &minor_number, &rest) != 2)
		return 0;
	return makedev(major_number, minor_number);
}

/* Returns the node of this name, or NULL. */
struct peers_node *peers_table_node(const struct peers_table *table, const char *name)
{
	size_t i;

	for (i = 0; i < table->nodes; i++)
		if (!strcmp(table->node[i].name, name))
			return &table->node[i];
	return NULL;
}

static bool parse_load(const char **line, uint64_t fields, struct peers_load *load)
{
	uint64_t *known[FIELDS] = {
		&load->state, &load->begun, &load->ended, &load->bytes, &load->errors,
		&load->latency,
	};
	uint64_t i, ignored;

	for (i = 0; i < fields; i++)
		if (!table_number(line, i < FIELDS ? known[i] : &ignored))
			return false;
	return true;
}

/*
 * Parse the status line of a table with @nodes nodes. Returns false, with no @load, if the line has
 * another form or another number of nodes. peers_status_free() is needed after success.
 */
bool peers_status_parse(const char *line, size_t nodes, struct peers_status *status)
{
	uint64_t version, count, fields, i;

	memset(status, 0, sizeof(*status));
	if (!table_number(&line, &version) || version != STATUS_VERSION ||
	    !table_number(&line, &count) || count != nodes || !nodes ||
	    !table_number(&line, &fields) || fields < FIELDS)
		return false;
	status->load = calloc(count, sizeof(*status->load));
	for (i = 0; status->load && i < count; i++)
		if (!parse_load(&line, fields, &status->load[i]))
			peers_status_free(status);
	/* An older module has nothing behind the nodes. */
	if (status->load && table_number(&line, &status->origin_latency))
		table_number(&line, &status->waited);
	return status->load;
}

void peers_status_free(struct peers_status *status)
{
	free(status->load);
	status->load = NULL;
}

const char *peers_state_word(uint64_t state)
{
	static const char *const word[] = {
		[NEARCACHE_PEER_UP] = "up",
		[NEARCACHE_PEER_FAILED] = "failed",
		[NEARCACHE_PEER_PROBING] = "probing",
		[NEARCACHE_PEER_ABSENT] = "absent",
		[NEARCACHE_PEER_HERE] = "here",
		[NEARCACHE_PEER_SLOW] = "slow",
	};

	return state < sizeof(word) / sizeof(word[0]) ? word[state] : "unknown";
}

/* Index of the first home of an extent. @key: keys of the nodes. */
static size_t first_home(const struct peers_node *node, const uint64_t *key, size_t nodes,
			 uint64_t extent)
{
	uint64_t hash, best_hash = 0;
	size_t i, best = 0;

	for (i = 0; i < nodes; i++) {
		hash = nearcache_cluster_hash(key[i], extent);
		if (!i || nearcache_cluster_before(hash, node[i].weight, key[i], best_hash,
						   node[best].weight, key[best])) {
			best = i;
			best_hash = hash;
		}
	}
	return best;
}

/*
 * Count the extents of which each node is the first home in @share. Of more than EXTENTS_COUNTED
 * extents only the first ones count, which are as good as random ones. @counted: their number.
 */
void peers_shares(const struct peers_node *node, size_t nodes, uint64_t extents, uint64_t *share,
		  uint64_t *counted)
{
	uint64_t key[NEARCACHE_CLUSTER_NODES_MAX], extent;
	size_t i;

	memset(share, 0, nodes * sizeof(*share));
	*counted = extents < EXTENTS_COUNTED ? extents : EXTENTS_COUNTED;
	for (i = 0; i < nodes; i++)
		key[i] = nearcache_cluster_key(node[i].name, (unsigned int)strlen(node[i].name));
	for (extent = 0; extent < *counted; extent++)
		share[first_home(node, key, nodes, extent)]++;
}
