// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pass-through table in place of that of a cache, and back. Each change is one call of the
 * kernel, which suspends the device, replaces the table and resumes: a kill leaves the device suspended
 * only if the new table fails in this call, see upgrade_settle().
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "block/device.h"
#include "block/device_sysfs.h"
#include "block/kmsg.h"
#include "block/table_params.h"
#include "lib/error.h"
#include "upgrade/tables.h"
#include "upgrade/upgrade.h"

/*
 * Sectors written and discarded through a device since it was made. A flush without data does not
 * count. Returns false if the kernel does not tell, or does not count.
 */
bool upgrade_written(dev_t number, uint64_t *sectors)
{
	uint64_t written, discarded;
	char text[512];

	if (!identity_attribute(number, "queue/iostats", text, sizeof(text)) || strcmp(text, "1") ||
	    !identity_attribute(number, "stat", text, sizeof(text)) ||
	    sscanf(text, "%*s %*s %*s %*s %*s %*s %" SCNu64 " %*s %*s %*s %*s %*s %*s %" SCNu64,
		   &written, &discarded) != 2)
		return false;
	*sectors = written + discarded;
	return true;
}

static int claim_one(struct upgrade_device *dev, dev_t number)
{
	char path[PATH_MAX];
	int fd = open(device_path_of(number, path), O_RDONLY | O_EXCL | O_CLOEXEC);

	if (fd < 0)
		return fail_errno(errno, "cannot claim '%s', a cache device of '%s'", path,
				  dev->name);
	dev->claim[dev->claims++] = fd;
	return 0;
}

/* Claim the cache devices, which no table uses, so that no other command takes them. */
static int claim_caches(struct upgrade_device *dev, const struct params *params)
{
	unsigned int i;

	if (claim_one(dev, params->cache))
		return fail_code();
	for (i = 0; i < params->members; i++)
		if (claim_one(dev, params->member[i]))
			return fail_code();
	return params->witness ? claim_one(dev, params->witness) : 0;
}

static void release_caches(struct upgrade_device *dev)
{
	while (dev->claims)
		close(dev->claim[--dev->claims]);
}

/* Get the sequence number of a device, "" if the kernel does not tell. */
void upgrade_made(dev_t number, char *made, size_t size)
{
	if (!identity_attribute(number, "diskseq", made, size))
		*made = '\0';
}

/* Find out which table a device has, and whether it is still the same device. */
int upgrade_look(struct upgrade_device *dev, bool *suspended)
{
	struct dm_device now;
	char made[32];
	bool found;

	if (dm_find(dev->name, &now, &found))
		return fail_code();
	upgrade_made(now.number, made, sizeof(made));
	dev->gone = !found || strcmp(now.uuid, dev->uuid) || (*made && strcmp(made, dev->made));
	dev->number = now.number;
	dev->frozen &= !dev->gone;
	dev->passes = !dev->gone && !now.table;
	*suspended = !dev->gone && now.suspended;
	dm_device_free(&now);
	return 0;
}

/* After a failure: drop the table that was loaded, and let the device run with @line. */
static void settle_table(struct upgrade_device *dev, const struct dm_line *line)
{
	bool suspended;

	dm_clear(dev->name);
	if (!upgrade_look(dev, &suspended) && suspended) {
		dm_load(dev->name, line);
		dm_resume(dev->name, dev->ahead, DM_SUSPEND_NOT);
		upgrade_look(dev, &suspended);
	}
}

/* Make @line the table of the device; after a failure it runs with @before. */
static int change_table(struct upgrade_device *dev, const struct dm_line *line,
			const struct dm_line *before)
{
	struct kmsg log = kmsg_mark(dev->number);
	bool suspended;

	if (dm_load(dev->name, line) || dm_resume(dev->name, dev->ahead, DM_SUSPEND_DRAIN)) {
		kmsg_explain(&log, DM_TARGET);
		settle_table(dev, before);
	} else {
		dev->passes = line->target != NULL;
		upgrade_look(dev, &suspended);
	}
	kmsg_close(&log);
	return fail_code();
}

static struct dm_line line_of_cache(const struct upgrade_device *dev)
{
	return (struct dm_line){
		.bytes = dev->bytes,
		.params = dev->table,
		.read_only = !dev->writes,
	};
}

/* @text: room for the parameters. */
static struct dm_line line_of_origin(const struct upgrade_device *dev, const struct params *params,
				     char *text, size_t size)
{
	snprintf(text, size, "%u:%u 0", major(params->origin), minor(params->origin));
	return (struct dm_line){
		.target = DM_LINEAR,
		.bytes = dev->bytes,
		.params = text,
		.read_only = !dev->writes,
	};
}

static int parse_table(const struct upgrade_device *dev, struct params *params)
{
	return params_parse(dev->table, params) ? 0 :
	       fail(CODE_DEVICE, "the table of '%s' cannot be parsed ('%s')", dev->name, dev->table);
}

/*
 * After a run that was killed: drop a table that it loaded and did not start, because any resume
 * would start it. If the kill came into a change of the table that failed, the device is suspended:
 * give it the pass-through table.
 */
int upgrade_settle(struct upgrade_device *dev)
{
	struct dm_line line;
	struct params params;
	bool suspended;
	char text[48];

	if (dm_clear(dev->name) || upgrade_look(dev, &suspended) || !suspended || !dev->counted)
		return fail_code();
	if (parse_table(dev, &params))
		return fail_code();
	line = line_of_origin(dev, &params, text, sizeof(text));
	if (!dm_load(dev->name, &line) && !dm_resume(dev->name, dev->ahead, DM_SUSPEND_NOT))
		upgrade_look(dev, &suspended);
	return fail_code();
}

/* Close the cache of a device cleanly, and let its I/O go to the origin. */
int upgrade_pass(struct upgrade_device *dev)
{
	struct dm_line before = line_of_cache(dev), line;
	struct params params;
	char text[48];

	if (parse_table(dev, &params))
		return fail_code();
	line = line_of_origin(dev, &params, text, sizeof(text));
	if (change_table(dev, &line, &before))
		return fail_add("device '%s' could not be separated from its cache", dev->name);
	return claim_caches(dev, &params);
}

/* True if nothing was written through a device since upgrade_freeze(). */
static bool is_unwritten(const struct upgrade_device *dev)
{
	uint64_t written;

	return upgrade_written(dev->number, &written) && written == dev->written;
}

static int writes_passed(const struct upgrade_device *dev)
{
	return fail(CODE_DEVICE,
		    "device '%s' was written to while its cache was closed (its file system was thawed, a program opened the device for writing, or fstrim ran), so it passes through to its origin without a cache: unmount it, 'nearcache close %s', then open it again, and its cache starts empty",
		    dev->name, dev->name);
}

/* Open the cache of a device again, unless a write passed by. */
int upgrade_back(struct upgrade_device *dev)
{
	struct dm_line line = line_of_cache(dev), before;
	struct params params;
	char text[48];

	if (parse_table(dev, &params))
		return fail_code();
	if (!is_unwritten(dev)) {
		dev->lost = true;
		return writes_passed(dev);
	}
	before = line_of_origin(dev, &params, text, sizeof(text));
	release_caches(dev);
	if (change_table(dev, &line, &before)) {
		if (dev->passes)
			claim_caches(dev, &params);
		return fail_add("device '%s' passes through to its origin, without a cache",
				dev->name);
	}
	dev->fresh = true;
	return 0;
}

/*
 * A device has the table of its cache again, and its writers wait still: a write may have passed by
 * after the comparison of upgrade_back(). If so, drop all cached data, or else the cache.
 */
int upgrade_verify(struct upgrade_device *dev)
{
	struct dm_device now = { .number = dev->number };

	snprintf(now.name, sizeof(now.name), "%s", dev->name);
	if (is_unwritten(dev) || !dm_message(&now, "invalidate all")) {
		dev->verified = true;
		return 0;
	}
	/* The kernel dropped no data: go on without the cache. */
	fail_reset();
	dev->lost = true;
	if (!upgrade_pass(dev) || dev->passes)
		return writes_passed(dev);
	return fail_add("device '%s' was written to while its cache was closed, so its cache has old data: unmount it, and 'nearcache close %s' at once",
			dev->name, dev->name);
}
