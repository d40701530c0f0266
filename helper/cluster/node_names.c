// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/node_names.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <uuid/uuid.h>

/* Longest text that is hashed to a UUID. */
#define TEXT_MAX	1024
#define DIGEST_SIZE	32

/* The project's namespace of UUIDs, a random UUID: changing it separates all nodes. */
static const char project[] = "1c8e03d7-e9d9-4784-8ec8-271621bbd0ca";

static void uuid_of_text(const char *namespace, const char *text, char *uuid)
{
	uuid_t in, out;

	uuid_parse(namespace, in);
	uuid_generate_sha1(out, in, text, strlen(text));
	uuid_unparse_lower(out, uuid);
}

static void uuid_of_node(const char *namespace, const char *kind, const char *cluster,
			 const char *node, char *uuid)
{
	char text[TEXT_MAX];

	snprintf(text, sizeof(text), "nearcache/1 %s\n%s\n%s", kind, cluster, node);
	uuid_of_text(namespace, text, uuid);
}

static void print_nqn(const char *uuid, char *nqn)
{
	snprintf(nqn, CLUSTER_NQN_SIZE, "nqn.2014-08.org.nvmexpress:uuid:%s", uuid);
}

/* The NVMe subsystem in which a node exports its cache. @nqn: CLUSTER_NQN_SIZE bytes. */
void cluster_subsystem_nqn(const char *cluster, const char *node, char *nqn)
{
	char uuid[CLUSTER_UUID_TEXT];

	uuid_of_node(project, "subsystem", cluster, node, uuid);
	print_nqn(uuid, nqn);
}

/*
 * The names that a node has when it connects: host NQN, and host id (CLUSTER_UUID_TEXT bytes). They
 * depend on the UUID of its volume: a kernel connects a lost peer again by itself, and reads there
 * before it compares the UUID of the namespace. A peer that serves another volume meanwhile does not
 * allow this host.
 */
void cluster_host_names(const char *cluster, const char *node, const char *volume, char *nqn,
			char *id)
{
	uuid_of_node(volume, "host", cluster, node, id);
	print_nqn(id, nqn);
}

static size_t put_digest(char *text, size_t room, const char *name, __le32 type,
			 const __u8 *digest)
{
	size_t used = (size_t)snprintf(text, room, "%s %u ", name, le32toh(type));
	unsigned int i;

	for (i = 0; i < DIGEST_SIZE; i++)
		used += (size_t)snprintf(text + used, room - used, "%02x", digest[i]);
	return used + (size_t)snprintf(text + used, room - used, "\n");
}

/* Different volumes have different EUI-64 and NAA numbers; other ids may repeat, or change. */
static int proves_volume(const char *id)
{
	return !strncmp(id, "wwid:eui.", 9) || !strncmp(id, "wwid:naa.", 9);
}

/*
 * The UUID of the volume that a cache serves: equal on all nodes if size, fingerprints, dataset
 * version and, where it proves the volume, the id of the origin are equal.
 */
void cluster_volume_uuid(const struct nearcache_super *sb, char *uuid)
{
	char text[TEXT_MAX];
	size_t used;

	used = (size_t)snprintf(text, sizeof(text), "nearcache/1 volume\n%llu\n",
				(unsigned long long)le64toh(sb->origin_size));
	used += put_digest(text + used, sizeof(text) - used, "ends", sb->origin_fingerprint_type,
			   sb->origin_fingerprint);
	used += put_digest(text + used, sizeof(text) - used, "file systems", sb->file_system_type,
			   sb->file_system_fingerprint);
	used += (size_t)snprintf(text + used, sizeof(text) - used, "%.*s\n",
				 (int)sizeof(sb->dataset_version),
				 (const char *)sb->dataset_version);
	if (proves_volume((const char *)sb->origin_id))
		snprintf(text + used, sizeof(text) - used, "%.*s\n", (int)sizeof(sb->origin_id),
			 (const char *)sb->origin_id);
	uuid_of_text(project, text, uuid);
}

/*
 * The UUID of the NVMe namespace in which a node exports the volume @volume. Each node has another
 * one, because a kernel ignores a second namespace with a UUID that it knows from another subsystem.
 */
void cluster_namespace_uuid(const char *volume, const char *node, char *uuid)
{
	char text[TEXT_MAX];

	snprintf(text, sizeof(text), "nearcache/1 namespace\n%s", node);
	uuid_of_text(volume, text, uuid);
}

/* The UUID of the NVMe namespace in which a node exports its map: made from that of its volume. */
void cluster_map_uuid(const char *namespace, char *uuid)
{
	uuid_of_text(namespace, "nearcache/1 map", uuid);
}
