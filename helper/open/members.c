// SPDX-License-Identifier: GPL-2.0-only
/* Opens and checks the members of a cache after the first member. */
#include "open/members.h"

#include <stdio.h>
#include <string.h>
#include <uuid/uuid.h>

#include "lib/error.h"
#include "block/device_sysfs.h"
#include "lib/print.h"
#include "open/find_cache_devices.h"

#define ROLE	"cache device"

/* Mark all devices as closed, so that members_close() is valid after any failure. */
static void reset_member(struct members *members)
{
	unsigned int i;

	members->count = 0;
	for (i = 0; i < ARRAY_SIZE(members->dev); i++)
		members->dev[i].fd = -1;
}

static int add_member(struct members *members, unsigned int index, const char *path)
{
	struct device *dev = &members->dev[members->count];

	if (device_open(dev, path, ROLE)) {
		device_close(dev);
		return fail_code();
	}
	members->index[members->count++] = index;
	return 0;
}

static int add_number(struct members *members, unsigned int index, dev_t number)
{
	struct device *dev = &members->dev[members->count];

	if (device_open_number(dev, number, ROLE)) {
		device_close(dev);
		return fail_code();
	}
	members->index[members->count++] = index;
	return 0;
}

/* Open the device of each --cache option except the first. */
int members_open(struct members *members, const struct arguments *args)
{
	reset_member(members);
	while (members->count < args->members &&
	       !add_member(members, members->count + 1, args->member[members->count]))
		;
	return fail_code();
}

/* True if dm table @used names @count devices, the first of them @first, and all still exist. */
static bool are_used(const struct params *used, dev_t first, unsigned int count)
{
	char name[128];
	unsigned int i;

	if (!used || used->cache != first || used->members + 1 != count)
		return false;
	for (i = 0; i < used->members; i++)
		if (!identity_kernel_name(used->member[i], name, sizeof(name)))
			return false;
	return true;
}

/* Fail if member @one has a copy: the devices found for other members may belong to the copy. */
static int check_rival(const struct carriers *all, unsigned int index,
		       const struct device *one)
{
	const struct resolved *rival = resolve_rival(all, index, one->number);

	if (!rival)
		return 0;
	return fail(CODE_DEVICE,
		    "'%s' and '%s' both carry member %u of one cache: it is unknown to which of them the other members belong",
		    one->path, rival->path, index + 1);
}

/* Find and open the other members by uuid. Fails if a member, even the first, has a copy. */
static int find_rest(struct members *members, unsigned int count,
		     const struct super *super, const struct device *first,
		     const struct device *origin)
{
	const struct resolved *found;
	struct carriers all;

	if (resolve_carriers(&all, super->best->uuid, origin) ||
	    check_rival(&all, 0, first))
		goto out;
	while (members->count < count - 1) {
		unsigned int index = members->count + 1;

		if (resolve_part(&all, index, &found) ||
		    (!found && resolve_none(&all))) {
			fail_add("it is member %u of %u", index + 1,
				 count);
			break;
		}
		if (add_member(members, index, found->path))
			break;
	}
out:
	resolve_free(&all);
	if (fail_code())
		fail_add("name all cache devices with --cache, in their order");
	return fail_code();
}

/*
 * Open and check the members after @first.
 * @args: --cache names all members, or only the first one; then the others are searched by uuid.
 * @super: valid superblock of @first.
 * @used: dm table of a device that may use this cache; NULL: none. If the dm table names @first,
 * open the members that the table names, even if copies of these members exist.
 */
int members_find(struct members *members, const struct arguments *args,
		 const struct device *first, const struct super *super,
		 const struct device *origin, const struct params *used)
{
	unsigned int count = super->geo.stripe_count;

	if (members_open(members, args))
		return fail_code();
	if (members->count && members->count + 1 != count)
		return fail(CODE_DEVICE,
			    "the cache of '%s' has %u device%s, --cache names %u",
			    first->path, count, count == 1 ? "" : "s",
			    members->count + 1);
	if (!members->count && count > 1 &&
	    (are_used(used, first->number, count) ?
		     members_open_numbers(members, used) :
		     find_rest(members, count, super, first, origin)))
		return fail_code();
	return members_judge(members, super) ||
	       members_check_places(members, first, origin) ? fail_code() : 0;
}

/* Open the members that a dm table names, without the first member. */
int members_open_numbers(struct members *members, const struct params *params)
{
	reset_member(members);
	while (members->count < params->members &&
	       !add_number(members, members->count + 1,
			   params->member[members->count]))
		;
	return fail_code();
}

/* Check one member against the superblock of the first. */
static int judge_member(const struct device *dev, const struct super *first,
			unsigned int index)
{
	char why[NC_WHY_SIZE];
	struct super super;

	if (!super_read(&super, dev) && !super_require(&super, dev) &&
	    !nc_member_check(first->best, super.best, index, why))
		fail(CODE_DEVICE, "%s '%s', member %u of %u: %s", dev->role,
		     dev->path, index + 1, first->geo.stripe_count, why);
	super_free(&super);
	return fail_code();
}

/* Fail if a device is not the member for its position. @super: valid, of the first member. */
int members_judge(const struct members *members, const struct super *super)
{
	unsigned int i;

	for (i = 0; i < members->count; i++)
		if (judge_member(&members->dev[i], super, i + 1))
			return fail_code();
	return 0;
}

static int check_two(const struct device *a, const struct device *b)
{
	if (identity_overlap(a->number, b->number))
		return fail(CODE_DEVICE,
			    "cache devices '%s' and '%s' share storage: one is part of the other or they are one disk",
			    a->path, b->path);
	if (identity_same_drive(a->number, b->number))
		warn("cache devices '%s' and '%s' are on one drive: the cache becomes neither faster nor larger",
		     a->path, b->path);
	return 0;
}

/*
 * Fail if a member is read-only or has logical blocks above 4 KiB, or if it shares storage with the
 * origin or another cache device. Warn if it only shares a drive with another cache device.
 */
int members_check_places(const struct members *members,
			 const struct device *first, const struct device *origin)
{
	unsigned int i, j;

	for (i = 0; i < members->count; i++) {
		const struct device *dev = &members->dev[i];

		if (identity_overlap(dev->number, origin->number))
			return fail(CODE_DEVICE,
				    "origin '%s' and cache device '%s' share storage: one is part of the other or they are one disk",
				    origin->path, dev->path);
		if (dev->read_only)
			return fail(CODE_DEVICE, "cache device '%s' is read-only",
				    dev->path);
		if (device_check_zoned(dev))
			return fail_code();
		if (dev->lbs > NEARCACHE_PAGE_SIZE)
			return fail(CODE_DEVICE,
				    "cache device '%s' has logical blocks of %u bytes, at most %u work",
				    dev->path, dev->lbs, NEARCACHE_PAGE_SIZE);
		if (check_two(first, dev))
			return fail_code();
		for (j = 0; j < i; j++)
			if (check_two(&members->dev[j], dev))
				return fail_code();
	}
	return 0;
}

/* Fail if @first is not the first member of its cache: only the first member has the metadata. */
int members_check_first(const struct device *first, const struct super *super)
{
	if (!super->geo.stripe_index)
		return 0;
	return fail(CODE_DEVICE,
		    "cache device '%s' is member %u of %u: name member 1 first",
		    first->path, super->geo.stripe_index + 1,
		    super->geo.stripe_count);
}

/* Fail if the witness shares a drive with a cache device or the origin: both would fail at once. */
int members_check_witness(const struct members *members,
			  const struct witness *witness,
			  const struct device *first, const struct device *origin)
{
	unsigned int i;

	for (i = 0; i < members->count; i++)
		if (witness_check_place(witness, &members->dev[i], origin))
			return fail_code();
	return witness_check_place(witness, first, origin);
}

void members_to_params(const struct members *members, struct params *params)
{
	params->members = 0;
	while (params->members < members->count) {
		params->member[params->members] =
			members->dev[params->members].number;
		params->members++;
	}
}

/* Turn the recorded error into a warning: this member cannot be used and is left unchanged. */
static void leave_member(unsigned int index, unsigned int count)
{
	warn("%s; it is member %u of %u of the cache and stays unchanged",
	     fail_message(), index + 1, count);
	fail_reset();
}

/*
 * Open the other members of a cache that no device uses; @one is any of them. A missing member is
 * only a warning. Fails if a member has a copy: the right one is unknown.
 */
int members_find_rest(struct members *members, const struct super *super,
		      const struct device *one)
{
	unsigned int i, count = super->geo.stripe_count;
	const struct resolved *found;
	struct carriers all;

	reset_member(members);
	if (count < 2)
		return 0;
	if (resolve_carriers(&all, super->best->uuid, NULL) ||
	    check_rival(&all, super->geo.stripe_index, one))
		goto out;
	for (i = 0; i < count; i++) {
		if (i == super->geo.stripe_index)
			continue;
		if (resolve_part(&all, i, &found))
			break;
		if (found ? add_member(members, i, found->path) : resolve_none(&all))
			leave_member(i, count);
	}
out:
	resolve_free(&all);
	return fail_code();
}

/* Open the members that a dm table names, except @one. A missing member is only a warning. */
void members_find_used(struct members *members, const struct params *params,
		       dev_t one)
{
	unsigned int i, count = params->members + 1;

	reset_member(members);
	for (i = 0; i < count; i++) {
		dev_t number = i ? params->member[i - 1] : params->cache;

		if (number != one && add_number(members, i, number))
			leave_member(i, count);
	}
}

static void tell_left(const struct nearcache_super *sb, const struct device *one)
{
	struct carriers all;
	bool told = false;
	size_t i;

	resolve_carriers(&all, sb->uuid, NULL);
	for (i = 0; i < all.count; i++) {
		const struct resolved *found = &all.one[i];

		if (identity_overlap(found->number, one->number))
			continue;
		warn("'%s' carries member %u of %u, probably of the same cache, and stays unchanged: 'nearcache destroy --cache %s' wipes it",
		     found->path, le16_to_cpu(found->sb.stripe_index) + 1,
		     le16_to_cpu(found->sb.stripe_count), found->path);
		told = true;
	}
	if (!told && le32_to_cpu(sb->incompat) & NEARCACHE_INCOMPAT_STRIPES)
		warn("'%s' is probably one of several members of a cache: the other members are unknown and stay unchanged",
		     one->path);
	resolve_free(&all);
	fail_reset();
}

/*
 * The superblock of @one has no valid copy. Warn about each other device with the uuid that a
 * damaged copy contains: the device is probably of the same cache and stays unchanged.
 */
void members_tell_left(const struct super *super, const struct device *one)
{
	unsigned int i;

	for (i = 0; i < NEARCACHE_SUPER_COPIES; i++)
		if (super->magic[i] &&
		    (!i || !super->magic[0] ||
		     memcmp(super->copy[0]->uuid, super->copy[i]->uuid,
			    sizeof(super->copy[i]->uuid))))
			tell_left(super->copy[i], one);
}

/* Close the member at position @at of the arrays and remove it from them. */
void members_forget(struct members *members, unsigned int at)
{
	device_close(&members->dev[at]);
	members->count--;
	for (; at < members->count; at++) {
		members->dev[at] = members->dev[at + 1];
		members->index[at] = members->index[at + 1];
	}
	members->dev[at].fd = -1;
}

void members_print_as(const struct members *members, const char *label)
{
	char key[24];
	unsigned int i;

	for (i = 0; i < members->count; i++) {
		snprintf(key, sizeof(key), "cache_%u", i + 2);
		print_string(key, label, members->dev[i].path);
	}
}

static void print_one(unsigned int index, const char *path, bool listed)
{
	char key[24], text[24];

	snprintf(key, sizeof(key), "cache_%u", index + 1);
	snprintf(text, sizeof(text), "cache device %u", index + 1);
	print_string(key, listed ? NULL : text, path);
}

void members_print(const struct members *members)
{
	unsigned int i;

	for (i = 0; i < members->count; i++)
		print_one(i + 1, members->dev[i].path, false);
}

static void print_numbers(const struct params *params, bool listed)
{
	char path[PATH_MAX];
	unsigned int i;

	for (i = 0; i < params->members; i++)
		print_one(i + 1, device_path_of(params->member[i], path),
			  listed);
}

void members_print_numbers(const struct params *params)
{
	print_numbers(params, false);
}

void members_list_numbers(const struct params *params)
{
	print_numbers(params, true);
}

void members_close(struct members *members)
{
	unsigned int i;

	for (i = 0; i < members->count; i++)
		device_close(&members->dev[i]);
}
