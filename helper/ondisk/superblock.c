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
	/* If the device is too short for copy @i, leave @sb zero, which is invalid. */
	if (dev->size >= super_offset(i) + NEARCACHE_SUPER_SIZE &&
	    device_read(dev, sb, NEARCACHE_SUPER_SIZE, super_offset(i)))
		return fail_code();
	super->magic[i] = !memcmp(sb->magic, NEARCACHE_MAGIC,
				  NEARCACHE_MAGIC_LEN);
	super->sound[i] = nc_super_check(sb, dev->size, &geo, super->why[i]);
	return 0;
}

/*
 * Read and check both copies. Call super_free() even after a failure. Returns 0 even if no copy is
 * valid: super->best is then NULL, and super_require() fails.
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
 * Return why @super->best is NULL: both copies are valid but of different caches, or a copy that
 * has the magic is invalid.
 */
const char *super_why(const struct super *super)
{
	if (super->sound[0] && super->sound[1])
		return super->refused;
	return super->why[super->magic[0] ? 0 : 1];
}

/* Fail if there is no valid copy; the message says why. */
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

/* Write a sealed superblock to both copies, copy 0 first, and flush the device. */
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
 * Replace both copies of a claimed device. @sb: sealed, from device_buffer(), with a higher
 * sequence. @super: has a valid copy.
 *
 * The copy @super->best is overwritten last: it counts if a crash tears the other copy. Once the
 * other copy is durable, its higher sequence makes it count; an error after that says so.
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

/* Overwrite both copies of a claimed device with zeros, and flush the device. */
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
