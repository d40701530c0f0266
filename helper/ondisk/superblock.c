// SPDX-License-Identifier: GPL-2.0-only
#include "ondisk/superblock.h"

#include <stdlib.h>

#include "lib/error.h"

u64 super_offset(unsigned int copy)
{
	return copy ? NEARCACHE_SUPER_OFFSET_1 : NEARCACHE_SUPER_OFFSET_0;
}

static int read_copy(struct super *super, const struct device *dev,
		     unsigned int i)
{
	struct nc_geometry geo;
	struct nearcache_super *sb;

	sb = device_buffer(NEARCACHE_SUPER_SIZE);
	super->copy[i] = sb;
	if (!sb)
		return fail_code();
	/* On a device that is too short for this copy, the copy stays zero and is not sound. */
	if (dev->size >= super_offset(i) + NEARCACHE_SUPER_SIZE &&
	    device_read(dev, sb, NEARCACHE_SUPER_SIZE, super_offset(i)))
		return fail_code();
	super->magic[i] = !memcmp(sb->magic, NEARCACHE_MAGIC,
				  NEARCACHE_MAGIC_LEN);
	super->sound[i] = nc_super_check(sb, dev->size, &geo, super->why[i]);
	return 0;
}

/*
 * Reads and verifies both copies. Call super_free() after success and failure. Unsound copies
 * are no failure, see super_require().
 */
int super_read(struct super *super, const struct device *dev)
{
	memset(super, 0, sizeof(*super));
	if (read_copy(super, dev, 0) || read_copy(super, dev, 1))
		return fail_code();
	super->best = nc_super_choose(super->copy[0], super->copy[1], dev->size,
				      &super->geo, super->refused);
	return 0;
}

/*
 * Call this only if @super->best is NULL. Returns the reason against both copies, or against
 * the copy with the magic.
 */
const char *super_why(const struct super *super)
{
	if (super->sound[0] && super->sound[1])
		return super->refused;
	return super->why[super->magic[0] ? 0 : 1];
}

/* Fails with super_why() if there is no valid copy. */
int super_require(const struct super *super, const struct device *dev)
{
	if (super->best)
		return 0;
	if (!super->magic[0] && !super->magic[1])
		return fail(CODE_DEVICE,
			    "%s '%s' carries no nearcache superblock: make one with 'nearcache create'",
			    dev->role, dev->path);
	return fail(CODE_DEVICE, "%s '%s' is not usable: %s", dev->role,
		    dev->path, super_why(super));
}

void super_free(struct super *super)
{
	unsigned int i;

	for (i = 0; i < NEARCACHE_SUPER_COPIES; i++)
		free(super->copy[i]);
	memset(super, 0, sizeof(*super));
}

/* Writes both copies, copy 0 first, and flushes the device. @sb is sealed. */
int super_write(const struct device *dev, const struct nearcache_super *sb)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < NEARCACHE_SUPER_COPIES && !error; i++)
		error = device_write(dev, sb, NEARCACHE_SUPER_SIZE,
				     super_offset(i));
	return error ? error : device_sync(dev);
}

/*
 * Replaces both copies of a claimed device in two steps. @sb is sealed, from device_buffer(),
 * with a higher sequence; @super has a sound copy.
 *
 * The valid copy is written last: a crash while the other copy is written leaves it valid.
 * Once the other copy is durable, its higher sequence makes it the valid one; an error after
 * that says so.
 */
int super_rewrite(const struct device *dev, const struct super *super,
		  const struct nearcache_super *sb)
{
	unsigned int last = super->best == super->copy[1] ? 1 : 0;

	if (device_write(dev, sb, NEARCACHE_SUPER_SIZE, super_offset(!last)) ||
	    device_sync(dev))
		return fail_code();
	if (device_write(dev, sb, NEARCACHE_SUPER_SIZE, super_offset(last)) ||
	    device_sync(dev))
		return fail_add("the other copy is written and is valid already: try again");
	return 0;
}

/* Overwrites both copies of a claimed device with zeroes, and flushes the device. */
int super_wipe(const struct device *dev)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < NEARCACHE_SUPER_COPIES && !error; i++)
		if (dev->size >= super_offset(i) + NEARCACHE_SUPER_SIZE)
			error = device_zero(dev, super_offset(i),
					    NEARCACHE_SUPER_SIZE);
	return error ? error : device_sync(dev);
}

const char *super_state_word(const struct nearcache_super *sb)
{
	switch (le32_to_cpu(sb->state)) {
	case NEARCACHE_STATE_CLEAN:
		return "clean";
	case NEARCACHE_STATE_ACTIVE:
		return "active";
	case NEARCACHE_STATE_LIVE:
		return "live";
	case NEARCACHE_STATE_WRITING:
		return "writing";
	default:
		return "unknown";
	}
}
