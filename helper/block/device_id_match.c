// SPDX-License-Identifier: GPL-2.0-only
#include "block/device_id.h"

#include <string.h>

/* Bytes of a device id without the partition suffix. */
static size_t whole_length(const char *id)
{
	const char *part = strrchr(id, '-');

	if (part && !strncmp(part, "-part", 5) && part[5] &&
	    !part[5 + strspn(part + 5, "0123456789")])
		return (size_t)(part - id);
	return strlen(id);
}

/*
 * Length of the prefix that gives the kind of a device id; 0 if ids of this kind cannot prove that
 * two volumes differ. One volume can have several wwids of different schemes (eui., naa., ...), a
 * hash hides the scheme, dm uuid and serial are chosen by whoever maps the volume, and a target may
 * create a new uuid at each start (nvmet).
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
 * False only if the ids prove that the two volumes differ. The ids may be of partitions; "":
 * unknown.
 */
bool identity_may_be_same(const char *a, const char *b)
{
	size_t kind = kind_length(a), length = whole_length(a);

	if (!kind || kind != kind_length(b) || strncmp(a, b, kind))
		return true;
	return length == whole_length(b) && !strncmp(a, b, length);
}
