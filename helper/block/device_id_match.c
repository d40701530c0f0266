// SPDX-License-Identifier: GPL-2.0-only
#include "block/device_id.h"

#include <string.h>

/* Bytes without the number of a partition. */
static size_t whole_length(const char *id)
{
	const char *part = strrchr(id, '-');

	if (part && !strncmp(part, "-part", 5) && part[5] &&
	    !part[5 + strspn(part + 5, "0123456789")])
		return (size_t)(part - id);
	return strlen(id);
}

/*
 * Bytes of what says of which kind an identity is, 0: of one that a volume has
 * only one of.  The same volume has another wwid where it is named by another scheme
 * (eui., naa., ...), a hash hides the scheme, whoever maps a volume gives a dm uuid and
 * a serial as he likes, and a target may make up a uuid each time it starts (nvmet).
 */
static size_t kind_length(const char *id)
{
	if (!strncmp(id, "wwid:sha256.", 12) || !strncmp(id, "wwid:uuid.", 10))
		return 0;
	if (!strncmp(id, "wwid:", 5))
		return strcspn(id, ".");
	return !strncmp(id, "md-uuid:", 8) ? 8 : 0;
}

/**
 * identity_may_be_same() - whether two identities may be of one volume
 * @a: an identity, of a partition too; "": unknown
 * @b: another one
 *
 * Return: false only where they prove that they are not.
 */
bool identity_may_be_same(const char *a, const char *b)
{
	size_t kind = kind_length(a), length = whole_length(a);

	if (!kind || kind != kind_length(b) || strncmp(a, b, kind))
		return true;
	return length == whole_length(b) && !strncmp(a, b, length);
}
