// SPDX-License-Identifier: GPL-2.0-only
/* Module init and exit. */
#include <linux/module.h>

#include "target.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

static int __init nearcache_init(void)
{
	return nc_target_register();
}

static void __exit nearcache_exit(void)
{
	nc_target_unregister();
}

module_init(nearcache_init);
module_exit(nearcache_exit);

MODULE_DESCRIPTION("device-mapper near cache: a remote volume on local NVMe");
MODULE_AUTHOR("The nearcache authors");
MODULE_LICENSE("GPL");
MODULE_SOFTDEP("pre: crc32c");
