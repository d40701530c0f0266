// SPDX-License-Identifier: GPL-2.0-only
#include "fake_remembered.h"

#include <stdio.h>
#include <string.h>

#include "block/dm.h"
#include "cli/setting.h"
#include "open/remembered.h"

char fake_remembered[512];

static void add_call(const char *uuid, const char *what, const char *more)
{
	size_t used = strlen(fake_remembered);

	snprintf(fake_remembered + used, sizeof(fake_remembered) - used, "%s %s%s;", uuid, what, more);
}

const char *remembered_uuid(const char *dm_uuid)
{
	return dm_uuid + strlen(DM_UUID_PREFIX);
}

void remembered_words(const char *uuid, const char *name, char **words, int count, bool ahead)
{
	int i;

	(void)name;
	for (i = 0; i < count; i++)
		if (setting_is("read_ahead", words[i], strcspn(words[i], "=")) == ahead)
			add_call(uuid, words[i], "");
}

void remembered_witness(const char *uuid, const char *name, const char *witness, const char *recorded)
{
	char more[256];

	(void)name;
	snprintf(more, sizeof(more), "%s after %s", witness, *recorded ? recorded : "none");
	add_call(uuid, "witness ", more);
}

void remembered_attached(const char *uuid, const char *name, const char *now)
{
	(void)name;
	add_call(uuid, "attached ", now);
}
