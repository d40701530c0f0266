// SPDX-License-Identifier: GPL-2.0-only
#include "members.h"

#include <stdio.h>
#include <uuid/uuid.h>

#include "fail.h"
#include "identity.h"
#include "print.h"
#include "resolve.h"

#define ROLE	"cache device"

/* Before the first is opened: what members_close() may close. */
static void reset(struct members *members)
{
	unsigned int i;

	members->count = 0;
	for (i = 0; i < ARRAY_SIZE(members->dev); i++)
		members->dev[i].fd = -1;
}

/**
 * members_open() - open the devices of every --cache but the first
 * @members: the result; members_close() is due in any case
 * @args: the command line
 *
 * Return: 0 or the exit code.
 */
int members_open(struct members *members, const struct arguments *args)
{
	reset(members);
	while (members->count < args->members &&
	       !device_open(&members->dev[members->count],
			    args->member[members->count], ROLE))
		members->count++;
	return fail_code();
}

/* All of them are here, and carry what the superblock of the first one speaks of. */
static int find_rest(struct members *members, unsigned int count,
		     const struct super *super, const struct device *origin)
{
	char uuid[SUPER_UUID_TEXT];
	struct resolved found;

	uuid_unparse_lower(super->best->uuid, uuid);
	while (members->count < count - 1) {
		if (resolve_uuid(&found, uuid, members->count + 1, origin))
			return fail_add("it is number %u of its %u devices; name them all, in their order, with --cache",
					members->count + 2, count);
		if (device_open(&members->dev[members->count], found.path, ROLE))
			return fail_code();
		members->count++;
	}
	return 0;
}

/**
 * members_find() - the devices that belong to the first one
 * @members: the result; members_close() is due in any case
 * @args: the command line: names all of them, or the first one alone
 * @first: the first one
 * @super: of it, sound
 * @origin: open origin
 *
 * Return: 0 or the exit code.
 */
int members_find(struct members *members, const struct arguments *args,
		 const struct device *first, const struct super *super,
		 const struct device *origin)
{
	unsigned int count = super->geo.stripe_count;

	if (members_open(members, args))
		return fail_code();
	if (members->count && members->count + 1 != count)
		return fail(CODE_DEVICE,
			    "the cache of '%s' has %u device%s, --cache names %u",
			    first->path, count, count == 1 ? "" : "s",
			    members->count + 1);
	if (find_rest(members, count, super, origin))
		return fail_code();
	return members_judge(members, super) ||
	       members_check_places(members, first, origin) ? fail_code() : 0;
}

/**
 * members_open_numbers() - open the devices that a table names
 * @members: the result; members_close() is due in any case
 * @params: of the table
 *
 * Return: 0 or the exit code.
 */
int members_open_numbers(struct members *members, const struct params *params)
{
	reset(members);
	while (members->count < params->members &&
	       !device_open_number(&members->dev[members->count],
				   params->member[members->count], ROLE))
		members->count++;
	return fail_code();
}

/* One of them, against the superblock of the first. */
static int judge(const struct device *dev, const struct super *first,
		 unsigned int index)
{
	char why[NC_WHY_SIZE];
	struct super super;

	if (!super_read(&super, dev) && !super_require(&super, dev) &&
	    !nc_member_check(first->best, super.best, index, why))
		fail(CODE_DEVICE, "%s '%s', number %u of %u: %s", dev->role,
		     dev->path, index + 1, first->geo.stripe_count, why);
	super_free(&super);
	return fail_code();
}

/**
 * members_judge() - demand that each is what belongs in its place
 * @members: open
 * @super: of the first one, sound
 *
 * Return: 0 or the exit code.
 */
int members_judge(const struct members *members, const struct super *super)
{
	unsigned int i;

	for (i = 0; i < members->count; i++)
		if (judge(&members->dev[i], super, i + 1))
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
		warn("cache devices '%s' and '%s' are on one drive, which makes two of it neither faster nor larger",
		     a->path, b->path);
	return 0;
}

/**
 * members_check_places() - demand devices that can work together
 * @members: open
 * @first: the first one
 * @origin: open origin
 *
 * Return: 0 or the exit code.
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

/**
 * members_check_first() - demand the device that has the metadata
 * @first: the device that is named first
 * @super: of it, sound
 *
 * Return: 0 or the exit code.
 */
int members_check_first(const struct device *first, const struct super *super)
{
	if (!super->geo.stripe_index)
		return 0;
	return fail(CODE_DEVICE,
		    "cache device '%s' is number %u of the %u of its cache: name the first one first",
		    first->path, super->geo.stripe_index + 1,
		    super->geo.stripe_count);
}

/**
 * members_check_witness() - demand a witness that stays when any of them leaves
 * @members: open
 * @witness: open
 * @first: open cache device, the first one
 * @origin: open origin
 *
 * Return: 0 or the exit code.
 */
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

/* Those of a table to come. */
void members_to_params(const struct members *members, struct params *params)
{
	params->members = 0;
	while (params->members < members->count) {
		params->member[params->members] =
			members->dev[params->members].number;
		params->members++;
	}
}

/**
 * members_find_rest() - open those devices of a cache that are here
 * @members: the result; members_close() is due
 * @super: of one of them, whichever that is
 */
void members_find_rest(struct members *members, const struct super *super)
{
	unsigned int i, count = super->geo.stripe_count;
	char uuid[SUPER_UUID_TEXT];
	struct resolved found;

	reset(members);
	uuid_unparse_lower(super->best->uuid, uuid);
	for (i = 0; i < count; i++) {
		if (i == super->geo.stripe_index)
			continue;
		if (!resolve_uuid(&found, uuid, i, NULL) &&
		    !device_open(&members->dev[members->count], found.path, ROLE)) {
			members->count++;
			continue;
		}
		warn("%s; it is number %u of the %u devices of the cache, and keeps what it has",
		     fail_message(), i + 1, count);
		fail_reset();
	}
}

/* All in the words that one of them has. */
void members_print_as(const struct members *members, const char *label)
{
	char key[24];
	unsigned int i;

	for (i = 0; i < members->count; i++) {
		snprintf(key, sizeof(key), "cache_%u", i + 2);
		print_string(key, label, members->dev[i].path);
	}
}

static void print_one(unsigned int index, const char *path)
{
	char key[24], text[24];

	snprintf(key, sizeof(key), "cache_%u", index + 1);
	snprintf(text, sizeof(text), "cache device %u", index + 1);
	print_string(key, text, path);
}

/* Behind the first one. */
void members_print(const struct members *members)
{
	unsigned int i;

	for (i = 0; i < members->count; i++)
		print_one(i + 1, members->dev[i].path);
}

/* The same, of a table. */
void members_print_numbers(const struct params *params)
{
	char path[PATH_MAX];
	unsigned int i;

	for (i = 0; i < params->members; i++)
		print_one(i + 1, device_path_of(params->member[i], path));
}

void members_close(struct members *members)
{
	unsigned int i;

	for (i = 0; i < members->count; i++)
		device_close(&members->dev[i]);
}
