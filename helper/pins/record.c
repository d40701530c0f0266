// SPDX-License-Identifier: GPL-2.0-only
#include "pins/record.h"

#include <string.h>

#include "lib/error.h"

/* An origin that shrank, or took the place of a larger one. */
static void warn_of_end(const struct pins *pins, const char *name)
{
	const char *label = NULL;
	struct range part;
	size_t i, r, count = 0;

	for (i = 0; i < pins->count; i++) {
		const struct pin *pin = &pins->pin[i];

		for (r = 0; r < pin->ranges; r++) {
			if (pins_inside(pins, &pin->range[r], &part) &&
			    part.length == pin->range[r].length)
				continue;
			label = label ? label : pin->label;
			count++;
		}
	}
	if (count)
		warn("%zu ranges that are pinned on '%s' lie beyond its end at %llu, or reach beyond it, and do not count there: 'nearcache pin %s --refresh' follows files that moved, 'nearcache unpin %s --label' forgets a label, like '%s'",
		     count, name, (unsigned long long)pins->size, name, name,
		     label);
}

/**
 * record_open() - read what is wanted of a device
 * @pins: the result; none if nothing is on record; pins_free() is due also after a
 *	failure
 * @dev: the device
 *
 * What is written next says whose it is, unless it is another's.
 *
 * Return: 0 or the exit code; the error names the file and what is wrong with it.
 */
int record_open(struct pins *pins, const struct dm_device *dev)
{
	struct owner owner;

	if (pins_load(pins, dev->name))
		return fail_code();
	pins->size = dev->size;
	owner_of(dev, &owner);
	pins->foreign = owner_known(&pins->owner) &&
			!owner_same(&pins->owner, &owner);
	if (pins->foreign)
		return 0;
	if (!strcmp(pins->owner.uuid, owner.uuid))
		strcpy(owner.attached, pins->owner.attached);
	pins->owner = owner;
	warn_of_end(pins, dev->name);
	return 0;
}

/**
 * record_require() - whether what is on record is of the device that has the name now
 * @pins: from record_open()
 * @dev: the device
 *
 * Return: 0, or the exit code if it is another's.
 */
int record_require(const struct pins *pins, const struct dm_device *dev)
{
	char path[PINS_PATH];

	if (!pins->foreign)
		return 0;
	return fail(CODE_DEVICE,
		    "the record of pins '%s' is of another '%s', with cache '%s' and origin '%s': 'nearcache pin %s --refresh' takes it over, 'nearcache unpin %s --all' forgets it",
		    pins_path(dev->name, path), dev->name, pins->owner.uuid,
		    pins->owner.origin_id, dev->name, dev->name);
}

/* What was another's is this device's from now on. */
void record_adopt(struct pins *pins, const struct dm_device *dev)
{
	owner_of(dev, &pins->owner);
	pins->foreign = false;
}

/**
 * record_forget() - nothing is wanted any more on a cache that is no more
 * @name: that it had
 * @uuid: its own, or of that with which its device was opened
 *
 * What another cache of that name has on record stays.
 *
 * Return: 0 or the exit code.
 */
int record_forget(const char *name, const char *uuid)
{
	const struct owner *owner;
	struct pins pins;
	bool other, found;

	/* One that is damaged is of no use to anybody. */
	if (pins_load(&pins, name))
		fail_reset();
	owner = &pins.owner;
	other = *owner->uuid && strcmp(owner->uuid, uuid) &&
		strcmp(owner->attached, uuid);
	pins_free(&pins);
	return other ? 0 : pins_forget(name, &found);
}
