// SPDX-License-Identifier: GPL-2.0-only
/*
 * cluster/node_names.c: names of nodes and volumes never change. The values were computed with
 * uuid.uuid5() of Python.
 */
#include <endian.h>
#include <stdbool.h>
#include <string.h>

#include "cluster/node_names.h"
#include "unit.h"

#define NQN	"nqn.2014-08.org.nvmexpress:uuid:"

static void node_fixed(void **state)
{
	char nqn[CLUSTER_NQN_SIZE], id[CLUSTER_UUID_TEXT];

	(void)state;
	cluster_subsystem_nqn("imagenet", "n1", nqn);
	assert_string_equal(nqn, NQN "4d4abb48-bd5e-5e18-8911-8faece40b87d");
	cluster_host_names("imagenet", "n1", "1c8e03d7-e9d9-4784-8ec8-271621bbd0cb", nqn, id);
	assert_string_equal(id, "814c6acf-7656-54fd-a18b-421896c8def0");
	assert_string_equal(nqn, NQN "814c6acf-7656-54fd-a18b-421896c8def0");
}

static struct nearcache_super sb;

static void assert_volume(const char *expected)
{
	char uuid[CLUSTER_UUID_TEXT];

	cluster_volume_uuid(&sb, uuid);
	assert_string_equal(uuid, expected);
}

/* Whether the volume of @sb has another UUID than @volume. */
static bool volume_differs(const char *volume)
{
	char uuid[CLUSTER_UUID_TEXT];

	cluster_volume_uuid(&sb, uuid);
	return strcmp(uuid, volume);
}

static void volume_fixed(void **state)
{
	static const char volume[] = "2b8fac4d-ce33-5f23-b59a-ad5fcb870bcf";
	char uuid[CLUSTER_UUID_TEXT], map[CLUSTER_UUID_TEXT];

	(void)state;
	memset(&sb, 0, sizeof(sb));
	sb.origin_size = htole64(1ULL << 40);
	sb.origin_fingerprint_type = htole32(NEARCACHE_FP_ENDS);
	memset(sb.origin_fingerprint, 0xab, sizeof(sb.origin_fingerprint));
	sb.file_system_type = htole32(NEARCACHE_FP_EXT4 + NEARCACHE_FP_MORE);
	memset(sb.file_system_fingerprint, 0x01, sizeof(sb.file_system_fingerprint));
	strcpy((char *)sb.dataset_version, "v7");
	assert_volume(volume);
	/* The id of the cache, and ids of the origin that prove nothing, do not matter. */
	sb.uuid[0] = 9;
	strcpy((char *)sb.origin_id, "serial:1");
	assert_volume(volume);
	strcpy((char *)sb.origin_id, "wwid:uuid.1");
	assert_volume(volume);
	strcpy((char *)sb.origin_id, "wwid:eui.0025");
	assert_volume("b27c177b-11e9-50dc-b968-899187d0ca00");
	sb.origin_id[0] = 0;
	cluster_namespace_uuid(volume, "n1", uuid);
	assert_string_equal(uuid, "817c6205-06ab-5f6a-b787-be83d8c9180a");
	cluster_namespace_uuid(volume, "n2", uuid);
	assert_string_equal(uuid, "f2980504-8000-570d-95af-e6d4d5c36d9f");
	cluster_map_uuid(uuid, map);
	assert_string_equal(map, "96e5983a-61e7-59fa-bbed-0dafc5713e08");
	sb.dataset_version[1] = '8';
	assert_true(volume_differs(volume));
	sb.dataset_version[1] = '7';
	sb.file_system_fingerprint[31] = 0;
	assert_true(volume_differs(volume));
	sb.file_system_fingerprint[31] = 1;
	sb.origin_fingerprint[0] = 0;
	assert_true(volume_differs(volume));
	sb.origin_fingerprint[0] = 0xab;
	sb.origin_size = htole64((1ULL << 40) + 512);
	assert_true(volume_differs(volume));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(node_fixed),
		cmocka_unit_test(volume_fixed),
	};

	return RUN(tests);
}
