// SPDX-License-Identifier: GPL-2.0-only
/* Module init and exit: registers the dm targets and the netlink family. */
#include <linux/module.h>
#include <linux/stringify.h>
#include <net/genetlink.h>

#include "nearcache_format.h"
#include "nearcache_stage.h"
#include "cluster/map.h"
#include "cluster/target.h"
#include "netlink/family.h"
#include "dm/system_sleep.h"
#include "dm/target.h"
#include "stage/target.h"

static int __init nearcache_init(void)
{
	int r = nc_netlink_register();

	if (r)
		return r;
	r = nc_system_sleep_register();
	if (r)
		goto netlink;
	r = nc_target_register();
	if (r)
		goto sleep;
	r = nc_cluster_register();
	if (r)
		goto target;
	r = nc_map_register();
	if (r)
		goto cluster;
	r = nc_stage_register();
	if (r)
		goto map;
	return 0;
map:
	nc_map_unregister();
cluster:
	nc_cluster_unregister();
target:
	nc_target_unregister();
sleep:
	nc_system_sleep_unregister();
netlink:
	nc_netlink_unregister();
	return r;
}

static void __exit nearcache_exit(void)
{
	/* The module is unloaded only without a dm table, so no event needs the netlink family. */
	nc_stage_unregister();
	nc_map_unregister();
	nc_cluster_unregister();
	nc_target_unregister();
	nc_system_sleep_unregister();
	nc_netlink_unregister();
}

module_init(nearcache_init);
module_exit(nearcache_exit);

MODULE_DESCRIPTION("device-mapper near cache: a remote volume on local NVMe");
MODULE_AUTHOR("The nearcache authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(NEARCACHE_MODULE_VERSION);
MODULE_SOFTDEP("pre: crc32c");
/* What the module reads, for 'nearcache upgrade': each change of a format changes one of these. */
#define CACHE_FEATURES	0x3
static_assert(CACHE_FEATURES == NEARCACHE_INCOMPAT_KNOWN);
MODULE_INFO(cache_format, __stringify(NEARCACHE_VERSION));
MODULE_INFO(cache_features, __stringify(CACHE_FEATURES));
MODULE_INFO(stage_format, __stringify(NEARCACHE_STAGE_VERSION));
MODULE_ALIAS("dm-nearcache-peers");
MODULE_ALIAS("dm-nearcache-map");
MODULE_ALIAS("dm-nearcache-stage");
MODULE_ALIAS_GENL_FAMILY(NEARCACHE_FAMILY_NAME);
