// SPDX-License-Identifier: GPL-2.0-only
/* Decide whether two device ids can be of the same volume. */
#include "block/device_sysfs.h"

#include <string.h>

/* Length of a device id without its suffix "-partN". */
static size_t whole_length(const char *id)
{
	const char *part = strrchr(id, '-');

	if (part && !strncmp(part, "-part", 5) && part[5] &&
	    !part[5 + strspn(part + 5, "0123456789")])
		return (size_t)(part - id);
	return strlen(id);
}

/*
 * Return the length of the prefix that names the kind of a device id. If two ids are of one kind
 * and differ, the volumes differ. Returns 0 for an id that proves nothing: a hash, which hides the
 * kind; a dm uuid or a serial, which the user can change; a wwid of type uuid, which nvmet may
 * replace at each start. "wwid:eui" and "wwid:naa" are two kinds: one volume can have both.
 */
static size_t kind_length(const char *id)
{
	if (!strncmp(id, "wwid:sha256.", 12) || !strncmp(id, "wwid:uuid.", 10))
		return 0;
	if (!strncmp(id, "wwid:", 5))
		return strcspn(id, ".");
	return !strncmp(id, "md-uuid:", 8) ? 8 : 0;
}

/*
 * Return false only if the ids prove that the volumes differ. Partition suffixes are ignored. "" is
 * an unknown id and proves nothing.
 */
bool identity_may_be_same(const char *a, const char *b)
{
	size_t kind = kind_length(a), length = whole_length(a);

	if (!kind || kind != kind_length(b) || strncmp(a, b, kind))
		return true;
	return length == whole_length(b) && !strncmp(a, b, length);
}
