// SPDX-License-Identifier: GPL-2.0-only
/* The state of caches and stages, which any user may ask for. */
#include "netlink/device_state.h"

#include <dirent.h>
#include <limits.h>
#include <netlink/genl/genl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "block/device_sysfs.h"
#include "block/status_line.h"
#include "lib/error.h"
#include "nearcache.h"
#include "nearcache_format.h"
#include "netlink/request.h"

/* Attribute of the first value: attributes begin with "unused" and the pad. */
#define FIRST_VALUE	2

/* The device that is asked for, and its cache devices. */
struct taking {
	struct dm_device *dev;
	dev_t cache[NEARCACHE_MEMBERS_MAX];
	unsigned int caches;
};

static dev_t device_number(const struct nlattr *attr)
{
	uint32_t number = nla_get_u32(attr);

	return makedev(number >> 20, number & 0xfffff);
}

/* Appends @count values of a nest to a status line of dm. */
static void append_values(FILE *line, struct nlattr *nest, unsigned int count)
{
	struct nlattr *attr;
	uint64_t *value = calloc(count, sizeof(*value));
	unsigned int i;
	int left;

	if (!value) {
		fail_memory();
		return;
	}
	nla_for_each_nested(attr, nest, left)
		if (nla_type(attr) >= FIRST_VALUE && nla_type(attr) < count + FIRST_VALUE)
			value[nla_type(attr) - FIRST_VALUE] = nla_get_u64(attr);
	for (i = 0; i < count; i++)
		fprintf(line, "%llu ", (unsigned long long)value[i]);
	free(value);
}

/* The cache devices are attributes of one type, of which nla_parse() keeps the last one. */
static void take_caches(struct taking *taking, struct nl_msg *msg)
{
	struct genlmsghdr *h = genlmsg_hdr(nlmsg_hdr(msg));
	struct nlattr *attr;
	int left;

	nla_for_each_attr(attr, genlmsg_attrdata(h, 0), genlmsg_attrlen(h, 0), left)
		if (nla_type(attr) == NEARCACHE_A_DEVICE_CACHE &&
		    taking->caches < NEARCACHE_MEMBERS_MAX)
			taking->cache[taking->caches++] = device_number(attr);
	if (taking->caches)
		taking->dev->cache = taking->cache[0];
}

static int on_cache(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[NEARCACHE_A_DEVICE_MAX + 1];
	struct taking *taking = arg;
	size_t bytes;
	FILE *line;

	if (genlmsg_parse(nlmsg_hdr(msg), 0, tb, NEARCACHE_A_DEVICE_MAX, NULL) ||
	    !tb[NEARCACHE_A_DEVICE_STATUS] || !tb[NEARCACHE_A_DEVICE_COUNTERS])
		return NL_OK;
	free(taking->dev->status);
	line = open_memstream(&taking->dev->status, &bytes);
	if (!line)
		return NL_OK;
	append_values(line, tb[NEARCACHE_A_DEVICE_STATUS], NEARCACHE_STATUS_FIELD_COUNT);
	append_values(line, tb[NEARCACHE_A_DEVICE_COUNTERS], NEARCACHE_COUNTER_COUNT);
	fclose(line);
	take_caches(taking, msg);
	return NL_OK;
}

static int on_stage(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[NEARCACHE_A_DEVICE_MAX + 1];
	struct taking *taking = arg;
	size_t bytes;
	FILE *line;

	if (genlmsg_parse(nlmsg_hdr(msg), 0, tb, NEARCACHE_A_DEVICE_MAX, NULL) ||
	    !tb[NEARCACHE_A_DEVICE_STAGE_STATUS])
		return NL_OK;
	free(taking->dev->status);
	line = open_memstream(&taking->dev->status, &bytes);
	if (!line)
		return NL_OK;
	append_values(line, tb[NEARCACHE_A_DEVICE_STAGE_STATUS], NEARCACHE_A_STAGE_STATUS_MAX - 1);
	fclose(line);
	return NL_OK;
}

/* Asks for the device; no answer means that the module has no such device, or is not loaded. */
static int ask_state(int command, nl_recvmsg_msg_cb_t take, struct taking *taking)
{
	struct nl_msg *msg = nl_request(command, 0, taking->dev->number, 0);

	if ((!msg || nl_ask(msg, "cannot ask for the device", take, taking)) &&
	    fail_code() == CODE_DEVICE)
		fail_reset();
	return fail_code();
}

static bool is_cache(const struct taking *taking, dev_t number)
{
	unsigned int i;

	for (i = 0; i < taking->caches; i++)
		if (taking->cache[i] == number)
			return true;
	return false;
}

/*
 * The origin is the device below the cache that is no cache device. With a witness there are two: then
 * the origin is unknown.
 */
static void find_origin(struct taking *taking)
{
	char path[64], attribute[320], text[32];
	unsigned int others = 0;
	struct dirent *entry;
	dev_t origin = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/slaves", major(taking->dev->number),
		 minor(taking->dev->number));
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		unsigned int major_number, minor_number;

		snprintf(attribute, sizeof(attribute), "slaves/%s/dev", entry->d_name);
		if (entry->d_name[0] == '.' ||
		    !identity_attribute(taking->dev->number, attribute, text, sizeof(text)) ||
		    sscanf(text, "%u:%u", &major_number, &minor_number) != 2 ||
		    is_cache(taking, makedev(major_number, minor_number)))
			continue;
		origin = makedev(major_number, minor_number);
		others++;
	}
	if (dir)
		closedir(dir);
	taking->dev->origin = others == 1 ? origin : 0;
}

/* For dm_read_unprivileged(). */
int nl_device_state(struct dm_device *dev)
{
	struct taking taking = { .dev = dev };
	struct status status;
	char why[STATUS_WHY];

	dev->stage = dm_uuid_is_stage(dev->uuid);
	if (dev->stage)
		return ask_state(NEARCACHE_CMD_STAGE_GET, on_stage, &taking);
	if (ask_state(NEARCACHE_CMD_DEVICE_GET, on_cache, &taking))
		return fail_code();
	dev->live = dev->status;
	dev->ours = dev->live || dm_cache_uuid(dev) != dev->uuid;
	if (!dev->live || !status_parse(dev->status, &status, why))
		return 0;
	snprintf(dev->mode, sizeof(dev->mode), "%s",
		 status_word(NEARCACHE_FIELD_MODE, status.field[NEARCACHE_FIELD_MODE]));
	find_origin(&taking);
	return 0;
}
