// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzes the parser of cluster.conf, and the choice of the local node.  A file must either be valid,
 * with usable values, or be refused with a message that names the file.  The same holds for the
 * table line and the status line of nearcache-peers.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/conf.h"
#include "cluster/conf_resolve.h"
#include "cluster/peers_table.h"
#include "count.h"
#include "lib/error.h"

#define HOLDS(what)	((what) ? (void)0 : bug(#what))

static void __attribute__((noreturn)) bug(const char *what)
{
	fprintf(stderr, "does not hold: %s; %s\n", what, fail_message());
	abort();
}

/* The resolver of this test: a host has as many addresses as the number of its first letter. */
size_t address_resolve(const char *host, char (*address)[ADDRESS_TEXT], size_t room,
		       const char **why)
{
	size_t i, count = (unsigned char)*host % 4;

	*why = "none";
	for (i = 0; i < count && i < room; i++)
		snprintf(address[i], ADDRESS_TEXT, "%.40s.%zu", host, i);
	return count;
}

bool address_is_local(const char *address)
{
	return *address == '1';
}

bool address_is_loopback(const char *address)
{
	return !strncmp(address, "127.", 4);
}

static void check_nodes(const struct cluster_conf *conf)
{
	size_t i, j;

	HOLDS(conf->nodes && conf->nodes <= NEARCACHE_CLUSTER_NODES_MAX);
	for (i = 0; i < conf->nodes; i++) {
		const struct cluster_node *node = &conf->node[i];

		HOLDS(node->weight && node->port && node->port <= 65535);
		HOLDS(*node->host && node->unit == conf->node[0].unit);
		HOLDS(conf->dns || *node->name);
		for (j = 0; j < i; j++)
			HOLDS(strcmp(node->name, conf->node[j].name));
	}
}

static void check_conf(struct cluster_conf *conf)
{
	size_t i;

	HOLDS(*conf->name && conf->replicas && conf->replicas <= 8);
	HOLDS(conf->extent >= 4096 && !(conf->extent & (conf->extent - 1)));
	HOLDS(conf->stall_timeout >= 100 && conf->stall_timeout <= 600000);
	HOLDS(conf->keep_alive && conf->fast_io_fail);
	HOLDS(conf->transport == CLUSTER_TCP || !(conf->tls || conf->data_digest));
	check_nodes(conf);
	if (cluster_conf_resolve(conf, NULL, NULL)) {
		HOLDS(strstr(fail_message(), "'CONF'"));
		fuzz_count("confs_unresolved", 1);
		return;
	}
	check_nodes(conf);
	HOLDS(conf->self < conf->nodes && *cluster_conf_self(conf)->name);
	HOLDS(*cluster_conf_self(conf)->address);
	for (i = 0; i < conf->nodes; i++)
		HOLDS(!*conf->node[i].address == !!*conf->node[i].why);
	fuzz_count("confs_right", 1);
}

/* A table that is accepted prints to itself. */
static void check_table(const char *text)
{
	struct peers_table table, again;
	struct peers_status status;
	char *line;

	if (peers_table_parse(text, &table)) {
		line = peers_table_print(&table);
		HOLDS(line && peers_table_parse(line, &again));
		HOLDS(again.nodes == table.nodes && again.extent == table.extent);
		peers_table_free(&again);
		free(line);
		fuzz_count("tables_right", 1);
	}
	peers_table_free(&table);
	HOLDS(peers_status_parse(text, 2, &status) == !!status.load);
	peers_status_free(&status);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cluster_conf conf;
	char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	check_table(text);
	fail_reset();
	fuzz_count("fuzz_inputs", 1);
	if (cluster_conf_parse(&conf, "CONF", text))
		HOLDS(fail_code() == CODE_USAGE && strstr(fail_message(), "'CONF'"));
	else
		check_conf(&conf);
	cluster_conf_free(&conf);
	free(text);
	return 0;
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned int seed);

/* Insert a word of the syntax at a random position or at the end. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned int seed)
{
	static const char *const words[] = {
		"\ncluster = c\n", "\nnode = a 10.0.0.1\n", "\nnode = b 10.0.0.2:7 1T\n",
		"\nnode = dns:host\n", "\nnode = c [fd00::1]:9 3.5T\n", "node = ", " 10.0.0.1 ",
		"extent = 4K\n", "replicas = 2\n", "transport = rdma\n", "tls = yes\n",
		"data-digest = yes\n", "port = 1\n", "secret-file = /s\n", "bandwidth = 1Gb/s\n",
		"stall-timeout = 300ms\n", "keep-alive = 1\n", "fast-io-fail = 1m\n", "#", "=", "\n",
		" ", ":", "[", "]", "4294967295", "0", ".5G", "P", "iB",
		"253:1 253:2 32768 1 a 2 a 1 - b 2 259:3", " 2 stall_timeout 1",
		"1 2 6 4 0 0 1 0 0 0 1 1 1 0 5",
	};
	const char *word = words[(seed >> 8) % (sizeof(words) / sizeof(words[0]))];
	size_t length = strlen(word), at;

	if (seed % 4 == 0 || size + length > room)
		return LLVMFuzzerMutate(data, size, room);
	at = (seed >> 16) % 3 && size ? (seed >> 18) % (size + 1) : size;
	memmove(data + at + length, data + at, size - at);
	memcpy(data + at, word, length);
	return size + length;
}
