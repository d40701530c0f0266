// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/conf.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/conf_resolve.h"
#include "cluster/conf_secret.h"
#include "lib/error.h"
#include "lib/settings_file.h"
#include "lib/size.h"

/* NC_REPLICAS_MAX of the module. */
#define REPLICAS_MAX		8U
/* Range of the extent in the module, bytes. */
#define EXTENT_MIN		4096ULL
#define EXTENT_MAX		(1ULL << 40)
/* Range of stall_timeout in the module, milliseconds. */
#define STALL_MIN		100U
#define STALL_MAX		600000U
/* Range of bandwidth in the module, bytes per second. */
#define BANDWIDTH_MIN		(1ULL << 20)
#define BANDWIDTH_MAX		(1ULL << 40)
/* Unit of a weight that is written as a size. */
#define WEIGHT_UNIT		(1ULL << 30)
#define DNS			"dns:"

#define LETTERS	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS	"0123456789"

static const char *take_name(char *place, const char *value)
{
	if (!*value || strlen(value) >= CLUSTER_NAME ||
	    value[strspn(value, LETTERS DIGITS "._-")])
		return "give 1 to 63 letters, digits, '.', '_' or '-'";
	strcpy(place, value);
	return NULL;
}

static const char *take_extent(uint64_t *bytes, const char *value)
{
	const char *why;

	if (!size_parse(value, bytes, &why))
		return why;
	return *bytes < EXTENT_MIN || *bytes > EXTENT_MAX || *bytes & (*bytes - 1) ?
	       "give a power of two of 4K to 1T" : NULL;
}

static const char *take_number(unsigned int *number, const char *value, unsigned int max,
			       const char *why)
{
	char end;

	if (!isdigit((unsigned char)*value) || sscanf(value, "%6u%c", number, &end) != 1 ||
	    !*number || *number > max)
		return why;
	return NULL;
}

static const char *take_transport(enum cluster_transport *transport, const char *value)
{
	*transport = strcmp(value, "rdma") ? CLUSTER_TCP : CLUSTER_RDMA;
	return *transport == CLUSTER_RDMA || !strcmp(value, "tcp") ? NULL : "give tcp or rdma";
}

static const char *take_flag(bool *flag, const char *value)
{
	*flag = !strcmp(value, "yes");
	return *flag || !strcmp(value, "no") ? NULL : "give yes or no";
}

static const char *take_path(char *place, const char *value)
{
	if (*value != '/' || strlen(value) >= PATH_MAX)
		return "give an absolute path";
	strcpy(place, value);
	return NULL;
}

static const char *take_bandwidth(uint64_t *bytes, const char *value)
{
	const char *why;

	*bytes = 0;
	if (!strcmp(value, "none"))
		return NULL;
	why = bandwidth_parse(value, bytes);
	return why || (*bytes >= BANDWIDTH_MIN && *bytes <= BANDWIDTH_MAX) ? why :
	       "give none, or 1 MiB to 1 TiB per second";
}

/* A time in milliseconds: 300ms, or as duration_parse() takes it. */
static const char *take_stall(unsigned int *ms, const char *value)
{
	const char *why = "give 100ms to 10m";
	size_t length = strlen(value);
	unsigned int seconds;
	char end;

	if (length > 2 && !strcmp(value + length - 2, "ms")) {
		if (!isdigit((unsigned char)*value) ||
		    sscanf(value, "%7u%c", ms, &end) != 2 || end != 'm' ||
		    strspn(value, DIGITS) != length - 2)
			return why;
	} else {
		if (duration_parse(value, &seconds) || seconds > STALL_MAX / 1000)
			return why;
		*ms = seconds * 1000;
	}
	return *ms < STALL_MIN || *ms > STALL_MAX ? why : NULL;
}

static const char *take_seconds(unsigned int *seconds, const char *value)
{
	const char *why = duration_parse(value, seconds);

	return why || *seconds <= 3600 ? why : "give at most 1h";
}

/*
 * Split "HOST", "HOST:PORT", "V6" or "[V6]:PORT" in place. Returns the host, or NULL with @why.
 * @port: 0 without one.
 */
static char *split_port(char *text, unsigned int *port, const char **why)
{
	char *host = text, *colon = strchr(text, ':');

	*port = 0;
	*why = "give an address, [IPv6] or a host name, and optionally :PORT";
	if (*text == '[') {
		char *end = strchr(text, ']');

		if (!end || (end[1] && end[1] != ':'))
			return NULL;
		*end = '\0';
		host = text + 1;
		colon = end[1] ? end + 1 : NULL;
	} else if (colon && strchr(colon + 1, ':')) {
		/* An IPv6 address without brackets has no port. */
		colon = NULL;
	}
	if (colon) {
		*why = take_number(port, colon + 1, 65535, "its port must be 1 to 65535");
		if (*why)
			return NULL;
		*colon = '\0';
	}
	*why = "give an address, [IPv6] or a host name, and optionally :PORT";
	if (strchr(host, '%')) {
		*why = "an address with a scope (%) is valid on one machine only: give one that all nodes reach";
		return NULL;
	}
	if (!*host || strlen(host) >= CLUSTER_HOST ||
	    host[strspn(host, LETTERS DIGITS ".:-_")])
		return NULL;
	return host;
}

/*
 * Parse a weight: a whole number, or a size like 3.5T, which is rounded down to whole WEIGHT_UNITs.
 * A weight must be the same number on all nodes, so this uses no floating point.
 */
static const char *take_weight(struct cluster_node *node, const char *value)
{
	static const char units[] = "GTP";
	const char *why = "its weight must be a whole number of 1 to 4294967295, or a size like 3.5T";
	uint64_t whole = 0, fraction = 0, scale = 1, factor;
	const char *unit;

	if (!isdigit((unsigned char)*value))
		return why;
	for (; isdigit((unsigned char)*value); value++) {
		whole = whole * 10 + (uint64_t)(*value - '0');
		if (whole > NEARCACHE_CLUSTER_WEIGHT_MAX)
			return why;
	}
	if (!*value) {
		node->weight = (uint32_t)whole;
		return whole ? NULL : why;
	}
	if (*value == '.') {
		for (value++; isdigit((unsigned char)*value) && scale < 1000; value++) {
			fraction = fraction * 10 + (uint64_t)(*value - '0');
			scale *= 10;
		}
		if (scale == 1)
			return why;
	}
	unit = *value ? strchr(units, toupper((unsigned char)*value)) : NULL;
	if (!unit || (value[1] && strcmp(value + 1, "iB")))
		return "its unit must be G, T or P, with up to three decimals";
	factor = 1ULL << (10 * (unit - units));
	whole = whole * factor + fraction * factor / scale;
	if (!whole || whole > NEARCACHE_CLUSTER_WEIGHT_MAX)
		return "a weight that is a size must be 1G to 4095P";
	node->weight = (uint32_t)whole;
	node->unit = true;
	return NULL;
}

/* Add a node of weight 1 without a name. @line: number of its line. Returns NULL after an error. */
struct cluster_node *cluster_conf_add_node(struct cluster_conf *conf, unsigned int line)
{
	struct cluster_node *longer = reallocarray(conf->node, conf->nodes + 1, sizeof(*longer));

	if (!longer) {
		fail_memory();
		return NULL;
	}
	conf->node = longer;
	longer += conf->nodes++;
	memset(longer, 0, sizeof(*longer));
	longer->weight = 1;
	longer->line = line;
	return longer;
}

static int refuse_node(const struct setting_line *line, const char *word, const char *why)
{
	return fail(CODE_USAGE, "'%s' line %u: node '%s': %s", line->path, line->number, word,
		    why);
}

/* node = dns:HOST[:PORT] */
static int take_dns(struct cluster_conf *conf, const struct setting_line *line, char *words)
{
	char *word = strsep(&words, " \t"), *host;
	struct cluster_node *node;
	unsigned int port;
	const char *why;

	if (words)
		return refuse_node(line, word,
				   "nothing may follow: all nodes of dns: have the same weight");
	if (conf->nodes)
		return refuse_node(line, word,
				   "dns: gives all nodes, so it must be the only node line: remove the others");
	host = split_port(word + strlen(DNS), &port, &why);
	if (!host)
		return refuse_node(line, word, "give dns:HOST or dns:HOST:PORT");
	node = cluster_conf_add_node(conf, line->number);
	if (!node)
		return fail_code();
	conf->dns = true;
	strcpy(node->host, host);
	node->port = port;
	return 0;
}

static const char *check_node_name(const char *name)
{
	if (strlen(name) >= CLUSTER_NAME || name[strspn(name, LETTERS DIGITS "._-:")] ||
	    !strspn(name, LETTERS DIGITS))
		return "its name must be a letter or digit, then up to 62 of them or of '.', '_', '-', ':'";
	return NULL;
}

/* node = NAME ADDRESS [WEIGHT] */
static int take_node(struct cluster_conf *conf, const struct setting_line *line)
{
	char *words = line->value, *word[4] = { NULL }, *host;
	struct cluster_node *node;
	unsigned int port, count = 0;
	const char *why;
	size_t i;

	if (!strncmp(words, DNS, strlen(DNS)))
		return take_dns(conf, line, words);
	while (words && count < 4)
		if (*(word[count] = strsep(&words, " \t")))
			count++;
	if (count < 2 || count > 3)
		return refuse_node(line, line->value,
				   "give NAME ADDRESS, optionally WEIGHT, or dns:HOST");
	if (conf->dns)
		return refuse_node(line, word[0],
				   "dns: gives all nodes, so it must be the only node line: remove one of them");
	why = check_node_name(word[0]);
	if (why)
		return refuse_node(line, word[0], why);
	for (i = 0; i < conf->nodes; i++)
		if (!strcmp(conf->node[i].name, word[0]))
			return fail(CODE_USAGE,
				    "'%s' line %u: node '%s' is on line %u already: give each node another name",
				    line->path, line->number, word[0], conf->node[i].line);
	if (conf->nodes == NEARCACHE_CLUSTER_NODES_MAX)
		return refuse_node(line, word[0], "a cluster has at most 256 nodes");
	node = cluster_conf_add_node(conf, line->number);
	if (!node)
		return fail_code();
	strcpy(node->name, word[0]);
	if (count == 3) {
		why = take_weight(node, word[2]);
		if (why)
			return fail(CODE_USAGE, "'%s' line %u: node '%s', weight '%s': %s",
				    line->path, line->number, node->name, word[2], why);
	}
	host = split_port(word[1], &port, &why);
	if (!host)
		return fail(CODE_USAGE, "'%s' line %u: node '%s', address '%s': %s", line->path,
			    line->number, node->name, word[1], why);
	strcpy(node->host, host);
	node->port = port;
	return 0;
}

enum conf_kind {
	KIND_NAME, KIND_EXTENT, KIND_REPLICAS, KIND_TRANSPORT, KIND_PORT, KIND_PATH, KIND_FLAG,
	KIND_BANDWIDTH, KIND_STALL, KIND_SECONDS,
};

#define ROW(name, kind, member)	{ name, kind, offsetof(struct cluster_conf, member) }

/* Settings other than node. @offset: place of the value in struct cluster_conf. */
static const struct conf_row {
	const char *name;
	enum conf_kind kind;
	size_t offset;
} rows[] = {
	ROW("cluster", KIND_NAME, name),
	ROW("extent", KIND_EXTENT, extent),
	ROW("replicas", KIND_REPLICAS, replicas),
	ROW("transport", KIND_TRANSPORT, transport),
	ROW("port", KIND_PORT, port),
	ROW("secret-file", KIND_PATH, secret_file),
	ROW("tls", KIND_FLAG, tls),
	ROW("data-digest", KIND_FLAG, data_digest),
	ROW("bandwidth", KIND_BANDWIDTH, bandwidth),
	ROW("stall-timeout", KIND_STALL, stall_timeout),
	ROW("keep-alive", KIND_SECONDS, keep_alive),
	ROW("fast-io-fail", KIND_SECONDS, fast_io_fail),
	{ NULL, 0, 0 },
};

static const char *take_value(struct cluster_conf *conf, const struct conf_row *row,
			      const char *value)
{
	void *place = (char *)conf + row->offset;

	switch (row->kind) {
	case KIND_NAME:
		return take_name(place, value);
	case KIND_EXTENT:
		return take_extent(place, value);
	case KIND_REPLICAS:
		return take_number(place, value, REPLICAS_MAX, "give 1 to 8");
	case KIND_TRANSPORT:
		return take_transport(place, value);
	case KIND_PORT:
		return take_number(place, value, 65535, "give 1 to 65535");
	case KIND_PATH:
		return take_path(place, value);
	case KIND_FLAG:
		return take_flag(place, value);
	case KIND_BANDWIDTH:
		return take_bandwidth(place, value);
	case KIND_STALL:
		return take_stall(place, value);
	case KIND_SECONDS:
		return take_seconds(place, value);
	}
	return NULL;
}

static int take_setting(const struct setting_line *line, void *arg)
{
	struct cluster_conf *conf = arg;
	const struct conf_row *row = rows;
	uint32_t bit;
	const char *why;

	if (!strcmp(line->name, "node"))
		return take_node(conf, line);
	while (row->name && strcmp(row->name, line->name))
		row++;
	if (!row->name)
		return fail(CODE_USAGE, "'%s' line %u: '%s' is not a setting: see cluster.conf(5)",
			    line->path, line->number, line->name);
	bit = 1U << (row - rows);
	if (conf->given & bit)
		return fail(CODE_USAGE, "'%s' line %u: '%s' is given twice: remove one of the lines",
			    line->path, line->number, line->name);
	conf->given |= bit;
	why = take_value(conf, row, line->value);
	return why ? fail(CODE_USAGE, "'%s' line %u: %s '%s': %s", line->path, line->number,
			  line->name, line->value, why) : 0;
}

/* Fail unless all weights are sizes, or none: a node without a weight has the number 1. */
static int check_units(const struct cluster_conf *conf)
{
	const struct cluster_node *first = conf->node;
	size_t i;

	for (i = 1; i < conf->nodes; i++)
		if (conf->node[i].unit != first->unit)
			return fail(CODE_USAGE,
				    "'%s' lines %u and %u: the weight of node '%s' is a size, that of '%s' a number: give sizes for all nodes, or numbers for all",
				    conf->path, first->line, conf->node[i].line,
				    first->unit ? first->name : conf->node[i].name,
				    first->unit ? conf->node[i].name : first->name);
	return 0;
}

/* Fail if settings are missing or contradict each other, and give each node a port. */
static int finish_conf(struct cluster_conf *conf)
{
	size_t i;

	if (!*conf->name)
		return fail(CODE_USAGE, "'%s' has no line 'cluster = NAME': give the cluster a name, the same on all nodes",
			    conf->path);
	if (!conf->nodes)
		return fail(CODE_USAGE, "'%s' has no node: add a line 'node = NAME ADDRESS' for each, or 'node = dns:HOST'",
			    conf->path);
	if (conf->transport == CLUSTER_RDMA && conf->tls)
		return fail(CODE_USAGE, "'%s': tls needs transport = tcp: change one of them",
			    conf->path);
	if (conf->transport == CLUSTER_RDMA && conf->data_digest)
		return fail(CODE_USAGE, "'%s': data-digest needs transport = tcp, rdma has its own check: change one of them",
			    conf->path);
	for (i = 0; i < conf->nodes; i++)
		if (!conf->node[i].port)
			conf->node[i].port = conf->port;
	return check_units(conf);
}

/*
 * Set @conf to the defaults and the settings of @text, which is overwritten. Resolves no names. Call
 * cluster_conf_free() even after an error.
 */
int cluster_conf_parse(struct cluster_conf *conf, const char *path, char *text)
{
	*conf = (struct cluster_conf){
		.extent = 16U << 20,
		.replicas = 1,
		.port = 4420,
		.stall_timeout = 1000,
		.keep_alive = 6,
		.fast_io_fail = 2,
	};
	snprintf(conf->path, sizeof(conf->path), "%s", path);
	return settings_parse(path, text, take_setting, conf) ? fail_code() : finish_conf(conf);
}

/*
 * Print the settings on which all nodes have to agree to @text (CLUSTER_MODEL bytes), as the model
 * number that the export of a node shows to the other ones.
 */
const char *cluster_conf_model(const struct cluster_conf *conf, char *text)
{
	char long_text[80];

	snprintf(long_text, sizeof(long_text), "nearcache extent=%lluK replicas=%u",
		 (unsigned long long)conf->extent >> 10, conf->replicas);
	snprintf(text, CLUSTER_MODEL, "%.*s", CLUSTER_MODEL - 1, long_text);
	return text;
}

/* Print "10.0.0.1:4420", "[fd00::1]:4420" or "HOST:4420" to @text (CLUSTER_PLACE bytes). */
const char *cluster_node_place(const struct cluster_node *node, char *text)
{
	snprintf(text, CLUSTER_PLACE, strchr(node->address, ':') ? "[%s]:%u" : "%s:%u",
		 *node->address ? node->address : node->host, node->port);
	return text;
}

/* The record of a join has the path as the value of a setting. */
static int check_path(const char *path)
{
	size_t length = strlen(path);

	if (!strpbrk(path, "#\n") && length && !isspace((unsigned char)path[length - 1]))
		return 0;
	return fail(CODE_USAGE,
		    "'%s' cannot be the configuration of a cluster: its path has a '#', a line break, or a blank at the end; rename it",
		    path);
}

/*
 * Read the file and the secret, resolve the nodes, and find the local node. @self: its name; NULL:
 * that of the environment, otherwise by its address. @known: addresses of an earlier join; NULL: none.
 * Call cluster_conf_free() even after an error.
 */
int cluster_conf_read(struct cluster_conf *conf, const char *path, const char *self,
		      const struct known_addresses *known)
{
	static char text[SETTINGS_BYTES_MAX + 2];

	memset(conf, 0, sizeof(*conf));
	if (check_path(path))
		return fail_code();
	if (!self)
		self = getenv(CLUSTER_NODE_VARIABLE);
	if (settings_read(path, text) || cluster_conf_parse(conf, path, text) ||
	    cluster_conf_resolve(conf, self && *self ? self : NULL, known))
		return fail_code();
	return cluster_conf_secret(conf);
}

void cluster_conf_free(struct cluster_conf *conf)
{
	free(conf->node);
	conf->node = NULL;
	conf->nodes = 0;
	explicit_bzero(conf->secret, sizeof(conf->secret));
}
