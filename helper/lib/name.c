// SPDX-License-Identifier: GPL-2.0-only
#include "lib/name.h"

#include <string.h>

/* What libdevmapper leaves as it is; other bytes get mangled in /dev. */
static const char allowed[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	"0123456789#+-.:=@_";

/**
 * name_check() - judge the name of a device
 * @name: the name
 * @why: on failure: what is wrong with it
 *
 * Return: whether device-mapper and the superblock's label can hold it.
 */
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
		*why = "it is a directory";
	else if (!strcmp(name, "control"))
		*why = "/dev/mapper/control belongs to device-mapper";
	return !*why;
}

/**
 * name_of_operand() - the name in what the user typed
 * @operand: NAME or /dev/mapper/NAME
 *
 * Return: a place inside @operand.
 */
const char *name_of_operand(const char *operand)
{
	static const char dir[] = "/dev/mapper/";

	if (!strncmp(operand, dir, sizeof(dir) - 1))
		return operand + sizeof(dir) - 1;
	return operand;
}
