// SPDX-License-Identifier: GPL-2.0-only
/* Prints superblocks, and the parsed status line of a device. */
#include "ondisk/print_superblock.h"

#include <stdio.h>
#include <stdlib.h>
#include <uuid/uuid.h>

#include "lib/error.h"
#include "ondisk/fingerprint_ends.h"
#include "block/device.h"
#include "lib/name.h"
#include "block/table_params.h"
#include "lib/print.h"
#include "ondisk/superblock.h"

static const char *fingerprint_word(u32 recorded)
{
	u32 type = recorded >= NEARCACHE_FP_MORE ? recorded - NEARCACHE_FP_MORE : recorded;
	static const char *const word[] = {
		[NEARCACHE_FP_NONE] = "none",
		[NEARCACHE_FP_ENDS] = "ends",
		[NEARCACHE_FP_EXT4] = "ext4",
		[NEARCACHE_FP_XFS] = "xfs",
		[NEARCACHE_FP_EROFS] = "erofs",
		[NEARCACHE_FP_BTRFS] = "btrfs",
		[NEARCACHE_FP_VOLUMES] = "volumes",
	};

	if (recorded == NEARCACHE_FP_MORE)
		return "not recognised";
	return type < sizeof(word) / sizeof(word[0]) ? word[type] : "unknown";
}

static void describe_fingerprint(const char *type_key, u32 type,
				 const char *key, const __u8 *digest)
{
	char hex[2 * FINGERPRINT_SIZE + 1];
	unsigned int i;

	for (i = 0; i < FINGERPRINT_SIZE; i++)
		sprintf(hex + 2 * i, "%02x", digest[i]);
	print_string(type_key, NULL, fingerprint_word(type));
	print_string(key, NULL, hex);
}

static void describe_origin(const struct nearcache_super *sb)
{
	print_bytes("origin_size", NULL, le64_to_cpu(sb->origin_size));
	print_string("origin_id", "origin identity", (const char *)sb->origin_id);
	print_number("origin_logical_block_size", NULL,
		     le32_to_cpu(sb->origin_lbs));
	describe_fingerprint("origin_fingerprint_type",
			     le32_to_cpu(sb->origin_fingerprint_type),
			     "origin_fingerprint", sb->origin_fingerprint);
	describe_fingerprint("file_system_type",
			     le32_to_cpu(sb->file_system_type),
			     "file_system_fingerprint",
			     sb->file_system_fingerprint);
	print_string("dataset_version", "dataset version",
		     (const char *)sb->dataset_version);
	print_string("witness", *sb->witness ? "witness" : NULL,
		     (const char *)sb->witness);
	print_number("session", NULL, le64_to_cpu(sb->session));
}

/* Print a valid superblock. @all: print details as text as well, not only as JSON. */
void describe_super(const struct nearcache_super *sb, bool all)
{
	char uuid[SUPER_UUID_TEXT];

#define DETAIL(label) (all ? (label) : NULL)

	uuid_unparse_lower(sb->uuid, uuid);
	print_string("uuid", "uuid", uuid);
	print_string("label", DETAIL("label"), (const char *)sb->label);
	print_number("format_version", NULL, le32_to_cpu(sb->version));
	print_number("sequence", DETAIL("sequence"), le64_to_cpu(sb->sequence));
	print_number("created", NULL, le64_to_cpu(sb->created));
	print_string("super_state", DETAIL("superblock state"),
		     super_state_word(sb));
	print_number("compat", NULL, le64_to_cpu(sb->compat));
	print_number("incompat", NULL, le64_to_cpu(sb->incompat));
	print_bytes("block_size", "block size", le32_to_cpu(sb->block_size));
	print_bytes("subblock_size", "sub-block size",
		    le32_to_cpu(sb->subblock_size));
	print_string("integrity", "integrity",
		     status_word(NEARCACHE_FIELD_INTEGRITY,
				 le64_to_cpu(sb->incompat) &
						 NEARCACHE_INCOMPAT_CRC32C ?
					 NEARCACHE_INTEGRITY_CRC32C :
					 NEARCACHE_INTEGRITY_NONE));
	print_number("blocks", "blocks", le64_to_cpu(sb->slot_count));
	print_bytes("capacity", "capacity",
		    le64_to_cpu(sb->slot_count) * le32_to_cpu(sb->block_size));
	print_number("devices",
		     le16_to_cpu(sb->stripe_count) > 1 ? "cache devices" : NULL,
		     le16_to_cpu(sb->stripe_count));
	print_number("place", sb->stripe_index ? DETAIL("place among them, from 0") :
						 NULL,
		     le16_to_cpu(sb->stripe_index));
	print_bytes("device_size", DETAIL("used of the device"),
		    le64_to_cpu(sb->device_size));
	print_bytes("data_offset", DETAIL("data offset"),
		    le64_to_cpu(sb->data_offset));
	print_number("cache_logical_block_size", NULL,
		     le32_to_cpu(sb->cache_lbs));
	print_number("table_pages", DETAIL("table pages"),
		     le64_to_cpu(sb->table_pages));
	print_number("table_epoch", NULL, le64_to_cpu(sb->table_epoch));
	print_bytes("intent_region", NULL, le64_to_cpu(sb->intent_region));
	print_number("commit_sequence", NULL, le64_to_cpu(sb->commit_sequence));
	describe_origin(sb);
#undef DETAIL
}

void describe_areas(const struct nearcache_super *sb)
{
	static const char *const name[NEARCACHE_AREA_COUNT] = {
		[NEARCACHE_AREA_TABLE] = "table",
		[NEARCACHE_AREA_COMMIT] = "commit",
		[NEARCACHE_AREA_INTENT] = "intent",
		[NEARCACHE_AREA_CHECKSUM] = "checksum",
		[NEARCACHE_AREA_RANGES] = "ranges",
		[NEARCACHE_AREA_STRIPES] = "stripes",
		[NEARCACHE_AREA_DIRTY] = "dirty",
	};
	unsigned int i;

	print_table("areas");
	for (i = 0; i < NEARCACHE_AREA_COUNT; i++) {
		print_record(NULL, NULL);
		print_string("name", "area", name[i]);
		print_number("offset", "offset",
			     le64_to_cpu(sb->area[i].offset));
		print_number("length", "length",
			     le64_to_cpu(sb->area[i].length));
		print_number("version", "version",
			     le32_to_cpu(sb->area[i].version));
		print_end();
	}
	print_end();
}

/* Parse the status line of a device. If the device has no dm table, @status is all zero. */
int describe_status(const struct dm_device *dev, struct status *status)
{
	char why[STATUS_WHY];

	memset(status, 0, sizeof(*status));
	if (!dev->status || status_parse(dev->status, status, why))
		return 0;
	return fail(CODE_DEVICE, "cannot read the status of '%s': %s",
		    dev->name, why);
}

/*
 * Print the witness that the dm table of a device names. Without a witness JSON has null, and text
 * has no line. @label: start of the line in text.
 */
void describe_witness(const struct dm_device *dev, const char *label)
{
	struct params params;
	char path[PATH_MAX];
	bool has = dev->table && params_parse(dev->table, &params) &&
		   params.witness;

	print_string("witness", has ? label : NULL,
		     has ? device_path_of(params.witness, path) : NULL);
}

/* Return the state of a device as a word: "no-table" if it has no dm table. */
const char *describe_state(const struct dm_device *dev,
			   const struct status *status)
{
	if (!dev->status)
		return "no-table";
	return status_word(NEARCACHE_FIELD_STATE,
			   status->field[NEARCACHE_FIELD_STATE]);
}

/* Print why a device runs without its cache, and the next step for the user. */
void describe_reason(const struct dm_device *dev, const struct status *status)
{
	const char *why = status_explain(status);
	char text[400];

	print_string("reason", NULL,
		     status_word(NEARCACHE_FIELD_REASON,
				 status->field[NEARCACHE_FIELD_REASON]));
	if (!why)
		return;
	if (status->field[NEARCACHE_FIELD_STATE] == NEARCACHE_BYPASS)
		snprintf(text, sizeof(text),
			 "%s; 'nearcache attach %s' takes it back when it works again",
			 why, dev->name);
	else
		snprintf(text, sizeof(text), "%s", why);
	print_string(NULL, "reason", text);
}

/* Returns why the cache device of a running device is bypassed, or NULL if it is not. */
const char *describe_bypass_reason(const struct dm_device *dev)
{
	struct status status;
	char why[STATUS_WHY];

	if (dev->suspended || !dev->status || !status_parse(dev->status, &status, why) ||
	    status.field[NEARCACHE_FIELD_STATE] != NEARCACHE_BYPASS)
		return NULL;
	return status_explain(&status);
}

#define BYPASSED \
	"the cache device of '%s' is bypassed: %s; run 'nearcache attach %s', with this cache device or another one, then repeat this command"

/*
 * Append to a recorded error of a device that the cache device is bypassed, and the next step, if
 * this is so: the kernel then refuses most changes. A suspended device needs another step, which
 * reload() has named. Returns the exit code of the run.
 */
int describe_bypass(const char *name)
{
	const char *reason;
	struct dm_device dev;
	bool found;

	if (fail_code() != CODE_DEVICE || dm_find(name, &dev, &found) || !found)
		return fail_code();
	reason = describe_bypass_reason(&dev);
	if (reason)
		fail_add(BYPASSED, name, reason, name);
	dm_device_free(&dev);
	return fail_code();
}

/* Fail if the cache device is bypassed: the kernel ends jobs, plans and scrubs then. */
int describe_need_cache(const struct dm_device *dev)
{
	const char *reason = describe_bypass_reason(dev);

	return reason ? fail(CODE_DEVICE, BYPASSED, dev->name, reason, dev->name) : 0;
}

static int describe_one(const struct dm_device *dev,
			int (*describe)(const struct dm_device *dev,
					const struct status *status))
{
	struct status status;
	int error = describe_status(dev, &status);

	if (error)
		return error;
	print_record(NULL, dev->name);
	error = describe(dev, &status);
	print_end();
	return error;
}

static int describe_named(const char *operand,
			  int (*describe)(const struct dm_device *dev,
					  const struct status *status))
{
	struct dm_device dev;
	int error = dm_need_ours(name_of_operand(operand), &dev);

	if (error)
		return error;
	error = describe_one(&dev, describe);
	dm_device_free(&dev);
	return error;
}

/*
 * Print each named device with @describe, or all devices if @count is 0. If one name is given, its
 * values are at the top level of the JSON, otherwise in a list.
 */
int describe_devices(char **names, int count,
		     int (*describe)(const struct dm_device *dev,
				     const struct status *status))
{
	struct dm_device *list;
	size_t i, all;
	int error = 0;

	if (count == 1)
		return describe_named(names[0], describe);
	print_list("devices");
	for (i = 0; i < (size_t)count && !error; i++)
		error = describe_named(names[i], describe);
	if (!count)
		error = dm_all(&list, &all);
	if (!count && !error) {
		for (i = 0; i < all && !error; i++)
			error = describe_one(&list[i], describe);
		dm_device_free_all(list, all);
	}
	print_end();
	return error;
}
