// SPDX-License-Identifier: GPL-2.0-only
#include "lib/name.h"

#include <string.h>

#include "lib/sanitize.h"

/* The characters that libdevmapper does not encode in names of /dev/mapper. */
static const char allowed[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	"0123456789#+-.:=@_";

/* Returns whether device-mapper and a superblock can hold @name. @why: the reason if not. */
bool name_check(const char *name, const char **why)
{
	size_t length = strlen(name);

	*why = NULL;
	if (!length)
		*why = "it is empty";
	else if (length >= NAME_SIZE)
		*why = "it is longer than 63 bytes";
	else if (name[strspn(name, allowed)])
		*why = "use only letters, digits and #+-.:=@_";
	else if (name[0] == '-')
		*why = "it starts with '-'";
	else if (!strcmp(name, ".") || !strcmp(name, ".."))
		*why = "it names a directory";
	else if (!strcmp(name, "control"))
		*why = "/dev/mapper/control belongs to device-mapper";
	return !*why;
}

/* Returns NAME in "NAME" or "/dev/mapper/NAME": a pointer into @operand. */
const char *name_of_operand(const char *operand)
{
	static const char dir[] = "/dev/mapper/";

	if (!strncmp(operand, dir, sizeof(dir) - 1))
		return operand + sizeof(dir) - 1;
	return operand;
}

/* Returns NULL, or the reason why @label is invalid. */
const char *label_check(const char *label)
{
	if (!*label)
		return "it is empty";
	if (strlen(label) > NEARCACHE_LABEL_MAX)
		return "it is longer than 127 bytes";
	if (text_check(label) != strlen(label))
		return "it contains control characters or is not UTF-8";
	return NULL;
}
