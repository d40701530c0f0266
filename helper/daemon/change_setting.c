// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/change_setting.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "daemon/bpf_observer.h"
#include "block/dm.h"
#include "lib/error.h"
#include "block/readahead.h"
#include "lib/size.h"

#define SECTOR	512U

static int unknown_setting(const char *setting)
{
	return fail(CODE_DEVICE, "'%s' is not a setting that this command knows",
		    setting);
}

/* Set the readahead to @value if @set; otherwise read it. */
static int read_ahead(const char *device, uint64_t *value, bool set)
{
	struct dm_device dev;

	if (dm_need_ours(device, &dev))
		return fail_code();
	if (set)
		readahead_set(dev.number, *value);
	else if (!readahead_get(dev.number, value))
		fail(CODE_DEVICE, "cannot read the readahead of '%s'", device);
	dm_device_free(&dev);
	return fail_code();
}

/* @device: dm name; only KNOB_READ_AHEAD uses it.  @value: see change_setting.h. */
int knob_get(const char *setting, const char *device, uint64_t *value)
{
	struct settings settings;

	*value = 0;
	if (!strcmp(setting, KNOB_READ_AHEAD))
		return read_ahead(device, value, false);
	if (observer_settings_get(&settings))
		return fail_code();
	if (!strcmp(setting, KNOB_WINDOW))
		*value = (uint64_t)settings.window * SECTOR;
	else if (!strcmp(setting, KNOB_CHECKPOINT))
		*value = settings.around;
	else
		return unknown_setting(setting);
	return 0;
}

/* Parameters as for knob_get(). */
int knob_set(const char *setting, const char *device, uint64_t value)
{
	struct settings settings;

	if (!strcmp(setting, KNOB_READ_AHEAD))
		return read_ahead(device, &value, true);
	if (observer_settings_get(&settings))
		return fail_code();
	if (!strcmp(setting, KNOB_WINDOW))
		settings.window = (uint32_t)(value / SECTOR);
	else if (!strcmp(setting, KNOB_CHECKPOINT))
		settings.around = value != 0;
	else
		return unknown_setting(setting);
	return observer_settings_set(&settings);
}

/* Write @value to @text, KNOB_TEXT bytes, as the log shows it to the user.  Returns @text. */
const char *knob_print(const char *setting, uint64_t value, char *text)
{
	char size[SIZE_TEXT];

	if (!strcmp(setting, KNOB_PREFETCH)) {
		snprintf(text, KNOB_TEXT, value ? "job %llu" : "none", (unsigned long long)value);
		return text;
	}
	if (!strcmp(setting, KNOB_PIN)) {
		snprintf(text, KNOB_TEXT, "%s%s", value ? "at " : "none",
			 value ? size_print(value - 1, size) : "");
		return text;
	}
	if (strcmp(setting, KNOB_CHECKPOINT))
		return size_print(value, text);
	snprintf(text, KNOB_TEXT, "%s", value ? "around" : "cache");
	return text;
}
