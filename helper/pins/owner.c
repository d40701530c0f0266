// SPDX-License-Identifier: GPL-2.0-only
#include "pins/owner.h"

#include <stdio.h>
#include <string.h>

#include "block/device_id.h"
#include "block/volume.h"

/**
 * owner_of() - who a device is
 * @dev: the device
 * @owner: filled in
 */
void owner_of(const struct dm_device *dev, struct owner *owner)
{
	size_t prefix = strlen(DM_UUID_PREFIX);

	memset(owner, 0, sizeof(*owner));
	if (!strncmp(dev->uuid, DM_UUID_PREFIX, prefix))
		snprintf(owner->uuid, sizeof(owner->uuid), "%s",
			 dev->uuid + prefix);
	if (dev->origin)
		identity_read(dev->origin, owner->origin_id);
}

/* Whether anything is known of it. */
bool owner_known(const struct owner *owner)
{
	return *owner->uuid || *owner->origin_id;
}

/**
 * owner_same() - whether two are one device, or have one origin
 * @before: whose something was
 * @now: who has the name now
 *
 * What is pinned are parts of an origin, whichever cache it has.  But a volume may have
 * another identity by each way that leads to it, and some have none: then the cache tells.
 *
 * Return: whether what was pinned on one is what is meant on the other.
 */
bool owner_same(const struct owner *before, const struct owner *now)
{
	if (!volume_may_be_same(before->origin_id, now->origin_id))
		return false;
	if (*now->uuid && (!strcmp(before->uuid, now->uuid) ||
			   !strcmp(before->attached, now->uuid)))
		return true;
	return *now->origin_id && !strcmp(before->origin_id, now->origin_id);
}
