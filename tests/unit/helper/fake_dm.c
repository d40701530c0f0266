// SPDX-License-Identifier: GPL-2.0-only
/* Fake of block/dm.c with one device; see fake_dm.h. */
#include "fake_dm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "lib/error.h"
#include "block/dm.h"
#include "cluster/home.h"
#include "cluster/homes.h"
#include "nearcache_counters.h"

struct fake fake;

/* Begin a test: the fake device runs with table parameters @params. */
void fake_reset(const char *params)
{
	memset(&fake, 0, sizeof(fake));
	snprintf(fake.live.params, FAKE_TEXT, "%s", params);
	fake.live.bytes = FAKE_BYTES;
	fake.cache = makedev(8, 16);
	fake.uuid = DM_UUID_PREFIX "1";
	fail_reset();
}

/* Return a status line: all numbers are 0 except for the version and the state. */
static char *status_line(void)
{
	char *line = calloc(NEARCACHE_STATUS_FIELD_COUNT + NEARCACHE_COUNTER_COUNT, 8);
	unsigned int i;

	for (i = 0; i < NEARCACHE_STATUS_FIELD_COUNT + NEARCACHE_COUNTER_COUNT; i++)
		sprintf(line + strlen(line), "%d ",
			i == NEARCACHE_FIELD_STATUS_VERSION ? NEARCACHE_STATUS_VERSION_NOW :
			i == NEARCACHE_FIELD_STATE ? (int)fake.state : 0);
	return line;
}

int dm_find(const char *name, struct dm_device *dev, bool *found)
{
	memset(dev, 0, sizeof(*dev));
	*found = !fake.gone && !strcmp(name, FAKE_NAME);
	snprintf(dev->name, sizeof(dev->name), "%s", name);
	if (!*found)
		return 0;
	snprintf(dev->uuid, sizeof(dev->uuid), "%s", fake.uuid);
	dev->ours = true;
	dev->live = true;
	dev->suspended = fake.suspended;
	dev->open_count = fake.opens;
	dev->size = fake.live.bytes;
	dev->cache = fake.cache;
	dev->origin = fake.origin;
	dev->table = strdup(fake.live.params);
	dev->status = status_line();
	return 0;
}

int dm_need_ours(const char *name, struct dm_device *dev)
{
	bool found;

	return dm_find(name, dev, &found) || found ?
	       0 : fail(CODE_DEVICE, "there is no device '%s'", name);
}

void dm_device_free(struct dm_device *dev)
{
	free(dev->table);
	dev->table = NULL;
	free(dev->status);
	dev->status = NULL;
}

int dm_load(const char *name, const struct dm_line *line)
{
	(void)name;
	if (fake.gone || (fake.no_writing && !line->read_only))
		return fail(CODE_DEVICE, "cannot load the table");
	fake.loads++;
	snprintf(fake.loaded.params, FAKE_TEXT, "%s", line->params);
	fake.loaded.bytes = line->bytes;
	if (fake.on_load)
		fake.on_load();
	return 0;
}

static void swap_tables(void)
{
	if (!fake.loaded.params[0])
		return;
	fake.live = fake.loaded;
	fake.loaded.params[0] = '\0';
}

int dm_resume(const char *name, uint32_t read_ahead, enum dm_suspend suspend)
{
	enum fake_start how = fake.start[0];

	(void)name;
	(void)read_ahead;
	fake.suspend = suspend;
	memmove(fake.start, fake.start + 1, sizeof(fake.start) - sizeof(how));
	if (how != FAKE_INTERRUPTED)
		fake.suspended = how != FAKE_STARTS;
	if (how == FAKE_STARTS || how == FAKE_REFUSES)
		swap_tables();
	if (fake.on_start)
		fake.on_start();
	return how == FAKE_STARTS ? 0 : fail(CODE_DEVICE, "cannot start");
}

int dm_clear(const char *name)
{
	(void)name;
	if (fake.cannot_clear)
		return fail(CODE_DEVICE, "cannot clear");
	fake.loaded.params[0] = '\0';
	return 0;
}

int dm_remove(const char *name)
{
	(void)name;
	fake.gone = true;
	return 0;
}

void suspend_progress_prepare(dev_t number)
{
	(void)number;
}

void suspend_progress_end(void)
{
}

/* No cluster: each name is that of a cache. */
int homes_find(const char *operand, struct dm_device *dev, struct homes *homes)
{
	memset(homes, 0, sizeof(*homes));
	return dm_need_ours(operand, dev);
}

void homes_free(struct homes *homes)
{
	(void)homes;
}

int home_check_free(const struct dm_device *dev)
{
	return fake.joined ? fail(CODE_BUSY, "'%s' is below a cluster device", dev->name) : 0;
}
