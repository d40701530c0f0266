// SPDX-License-Identifier: GPL-2.0-only
/* nearcache get: the settings of a device in use. */
#include <string.h>

#include "cluster/homes.h"
#include "cmd/commands.h"
#include "ondisk/print_superblock.h"
#include "block/device.h"
#include "lib/error.h"
#include "lib/print.h"
#include "block/readahead.h"
#include "block/dm_reload.h"
#include "cli/setting.h"

/*
 * Sources of a device's settings: the dm table, the status line and, by @number, sysfs. @number is
 * that of the cluster device if the user named one: readers read there.
 */
struct settings {
	struct params params;
	struct status status;
	dev_t number;
};

static void show_mode(const struct settings *s)
{
	print_string("mode", "mode", mode_word(s->params.mode));
}

static void show_fill_memory(const struct settings *s)
{
	print_bytes("fill_memory", "fill_memory",
		    s->status.field[NEARCACHE_FIELD_FILL_MEMORY_MAX]);
	print_flag("fill_memory_auto", NULL, !s->params.fill_memory);
}

static void show_cache_timeout(const struct settings *s)
{
	print_milliseconds("cache_timeout_ms", "cache_timeout",
			   params_cache_timeout(&s->params));
}

static void show_origin_timeout(const struct settings *s)
{
	print_seconds("origin_timeout_s", "origin_timeout",
		      s->params.origin_timeout);
}

static void show_verify(const struct settings *s)
{
	print_number("verify", "verify", s->params.verify);
}

static void show_witness(const struct settings *s)
{
	char path[PATH_MAX];

	print_string("witness", "witness",
		     s->params.witness ?
		     device_path_of(s->params.witness, path) : NULL);
}

static void show_read_ahead(const struct settings *s)
{
	uint64_t bytes;

	if (readahead_get(s->number, &bytes))
		print_bytes("read_ahead", "read_ahead", bytes);
	else
		print_string("read_ahead", "read_ahead", NULL);
}

static const struct row {
	const char *name;
	void (*show)(const struct settings *s);
} rows[] = {
	{ "mode", show_mode },
	{ "fill_memory", show_fill_memory },
	{ "cache_timeout", show_cache_timeout },
	{ "origin_timeout", show_origin_timeout },
	{ "verify", show_verify },
	{ "witness", show_witness },
	{ "read_ahead", show_read_ahead },
};

#define ROWS	(sizeof(rows) / sizeof(rows[0]))

static const struct row *find_setting(const char *word)
{
	size_t i;

	for (i = 0; i < ROWS; i++)
		if (setting_is(rows[i].name, word, strlen(word)))
			return &rows[i];
	fail(CODE_USAGE, "'%s' is not a setting: it can be " SETTING_NAMES, word);
	return NULL;
}

static int get_setting(const struct dm_device *dev, const struct homes *homes,
		       const struct arguments *args)
{
	struct settings settings = {
		.number = homes_divide(homes) ? homes->number : dev->number,
	};
	size_t i;
	int o;

	if (reload_prepare(dev, true, &settings.params) ||
	    describe_status(dev, &settings.status))
		return fail_code();
	print_record(NULL, dev->name);
	print_string("name", NULL, dev->name);
	for (o = 1; o < args->operands; o++)
		find_setting(args->operand[o])->show(&settings);
	for (i = 0; i < ROWS && args->operands == 1; i++)
		rows[i].show(&settings);
	print_end();
	return 0;
}

static int cmd_get(const struct arguments *args)
{
	struct dm_device dev;
	struct homes homes;
	int i, error;

	for (i = 1; i < args->operands; i++)
		if (!find_setting(args->operand[i]))
			return fail_code();
	error = homes_find(args->operand[0], &dev, &homes);
	if (error)
		return error;
	error = get_setting(&dev, &homes, args);
	homes_free(&homes);
	dm_device_free(&dev);
	return error;
}

const struct verb get_verb = {
	.name = "get",
	.group = VERBS_DEVICES,
	.operands = "NAME [SETTING...]",
	.operands_min = 1,
	.operands_max = -1,
	.summary = "show settings of a device in use",
	.details =
"Without SETTING, get shows everything that 'nearcache set' can change.\n",
	.run = cmd_get,
};
