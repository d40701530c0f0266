// SPDX-License-Identifier: GPL-2.0-only
#include "ondisk/superblock.h"

#include <stdlib.h>

#include "lib/error.h"

/* Where a copy lies, bytes. */
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
	/* Too short for this copy: it stays zero and is judged so. */
	if (dev->size >= super_offset(i) + NEARCACHE_SUPER_SIZE &&
	    device_read(dev, sb, NEARCACHE_SUPER_SIZE, super_offset(i)))
		return fail_code();
	super->magic[i] = !memcmp(sb->magic, NEARCACHE_MAGIC,
				  NEARCACHE_MAGIC_LEN);
	super->sound[i] = nc_super_check(sb, dev->size, &geo, super->why[i]);
	return 0;
}

/**
 * super_read() - read and judge both copies
 * @super: filled in; super_free() is due also after a failure
 * @dev: open device
 *
 * Unsound copies are no failure, see super_require().
 *
 * Return: 0 or the exit code.
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

/**
 * super_why() - why no copy counts
 * @super: as read, without a copy that counts
 *
 * Return: the reason against both, or against the copy that carries the magic.
 */
const char *super_why(const struct super *super)
{
	if (super->sound[0] && super->sound[1])
		return super->refused;
	return super->why[super->magic[0] ? 0 : 1];
}

/**
 * super_require() - demand a sound copy
 * @super: as read
 * @dev: where it was read from
 *
 * Return: 0, or the exit code with the reason of super_why().
 */
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

/* Free what super_read() allocated. */
void super_free(struct super *super)
{
	unsigned int i;

	for (i = 0; i < NEARCACHE_SUPER_COPIES; i++)
		free(super->copy[i]);
	memset(super, 0, sizeof(*super));
}

/**
 * super_write() - write both copies, copy 0 first, and flush
 * @dev: claimed device
 * @sb: sealed superblock from device_buffer()
 *
 * Return: 0 or the exit code.
 */
int super_write(const struct device *dev, const struct nearcache_super *sb)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < NEARCACHE_SUPER_COPIES && !error; i++)
		error = device_write(dev, sb, NEARCACHE_SUPER_SIZE,
				     super_offset(i));
	return error ? error : device_sync(dev);
}

/**
 * super_rewrite() - replace both copies, one durably before the other
 * @dev: claimed device
 * @super: as read from it, with a sound copy
 * @sb: sealed superblock from device_buffer(), with a higher sequence
 *
 * The copy that counts goes last: a crash while the other one is written leaves
 * it counting, and once that is durable, its higher sequence counts; an error
 * after that says so.
 *
 * Return: 0 or the exit code.
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
		return fail_add("the other copy is written and counts already: try again");
	return 0;
}

/**
 * super_wipe() - overwrite both copies with zeroes and flush
 * @dev: claimed device
 *
 * Return: 0 or the exit code.
 */
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

/* The word for a superblock's state. */
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
