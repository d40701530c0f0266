// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the properties that udev's builtin blkid prints if libblkid has
 * helper/packaging/blkid/nearcache.patch: change both together. The usage is "raid", as for all
 * devices that are a part of something and are not mounted. So udev makes no links by uuid and
 * label: all members of a cache have the same uuid, and a file system on the origin may have the
 * name of the cache as its label. The usage of a witness is "other": a witness may be smaller than
 * 1.44 MB, and libblkid looks for no RAID on such devices.
 */
#include "open/udev_properties.h"

#include <blkid/blkid.h>
#include <stdio.h>
#include <uuid/uuid.h>

#include "lib/error.h"
#include "ondisk/stage_log.h"
#include "ondisk/superblock.h"
#include "open/witness.h"

/* Bytes of a label with NUL, the same in all formats. */
#define LABEL_TEXT	sizeof(((struct nearcache_super *)0)->label)

_Static_assert(LABEL_TEXT == sizeof(((struct nearcache_stage_super *)0)->label), "size of a label");

/* @label: ends with NUL; NULL: this format has none. */
static void print_properties(const char *type, const char *usage, unsigned int version,
			     const unsigned char *uuid, const char *label)
{
	char text[SUPER_UUID_TEXT], safe[LABEL_TEXT], encoded[4 * LABEL_TEXT];

	uuid_unparse_lower(uuid, text);
	printf("ID_FS_TYPE=%s\nID_FS_USAGE=%s\nID_FS_VERSION=%u\n", type, usage, version);
	printf("ID_FS_UUID=%s\nID_FS_UUID_ENC=%s\n", text, text);
	/* The same functions as in udev: a line feed in a label must not add a property. */
	if (label && *label && !blkid_safe_string(label, safe, sizeof(safe)) &&
	    !blkid_encode_string(label, encoded, sizeof(encoded)))
		printf("ID_FS_LABEL=%s\nID_FS_LABEL_ENC=%s\n", safe, encoded);
}

static int print_log(const struct device *dev, bool *found)
{
	struct stage_log log;
	int error = stage_log_read(&log, dev);

	*found = !error && log.best;
	if (*found)
		print_properties("nearcache_stage", "raid", NEARCACHE_STAGE_VERSION,
				 log.best->uuid, (const char *)log.best->label);
	stage_log_free(&log);
	return error;
}

static int print_cache(const struct device *dev, bool *found)
{
	struct super super;
	int error = super_read(&super, dev);

	*found = !error && super.best;
	if (*found)
		print_properties("nearcache_cache", "raid", NEARCACHE_VERSION,
				 super.best->uuid, (const char *)super.best->label);
	super_free(&super);
	return error;
}

/* A witness has the uuid of the first cache that uses it. */
static int print_witness(const struct device *dev)
{
	uuid_t uuid;
	bool found;

	if (witness_first(dev, uuid, &found))
		return fail_code();
	if (found)
		print_properties("nearcache_witness", "other", NEARCACHE_VERSION, uuid, NULL);
	return 0;
}

/* Print the properties of a device, or nothing if it carries nothing of nearcache. */
int udev_properties_print(const struct device *dev)
{
	bool found;

	if (print_log(dev, &found) || found || print_cache(dev, &found) || found)
		return fail_code();
	return print_witness(dev);
}
