// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/conf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/listen_address.h"
#include "lib/size.h"
#include "lib/error.h"
#include "lib/settings_file.h"
#include "block/readahead.h"

#define SECTOR	512U
/* NEARCACHE_WINDOW_MAX (sectors), in bytes. */
#define WINDOW_MOST	(64ULL << 20)

enum kind {
	CONF_FLAG,		/* yes or no */
	CONF_READ_AHEAD,	/* size in READAHEAD_RANGE */
	CONF_WINDOW,		/* size, a multiple of SECTOR */
	CONF_COUNT,		/* 1 to 1000 */
	CONF_PERCENT,		/* 0% to 100% */
	CONF_TIME,		/* duration */
	CONF_CHECKPOINT,	/* around or cache */
	CONF_ADDRESS,		/* loopback address and port */
	CONF_PATH,		/* absolute */
};

/* A setting in the file.  @offset: place of its value in struct conf. */
struct conf_row {
	const char *name;
	enum kind kind;
	size_t offset;
};

#define ROW(name, kind, member)	{ name, kind, offsetof(struct conf, member) }

static const struct conf_row rows[] = {
	ROW("interval", CONF_TIME, interval),
	ROW("read-ahead", CONF_FLAG, read_ahead),
	ROW("read-ahead-sequential", CONF_READ_AHEAD, read_ahead_sequential),
	ROW("read-ahead-scattered", CONF_READ_AHEAD, read_ahead_scattered),
	ROW("window", CONF_WINDOW, window),
	ROW("first-touch", CONF_PERCENT, first_touch),
	ROW("pin-hot", CONF_PERCENT, pin_hot),
	ROW("replay-loops", CONF_FLAG, replay_loops),
	ROW("checkpoint", CONF_CHECKPOINT, around),
	ROW("settle", CONF_COUNT, settle),
	ROW("calm", CONF_TIME, calm),
	ROW("trial", CONF_TIME, trial),
	ROW("hold", CONF_TIME, hold),
	ROW("metrics-listen", CONF_ADDRESS, listen),
	ROW("metrics-textfile", CONF_PATH, textfile),
	{ NULL, 0, 0 },
};

void conf_default(struct conf *conf)
{
	*conf = (struct conf){
		.interval = 1,
		.read_ahead = true,
		.read_ahead_sequential = 4U << 20,
		.read_ahead_scattered = 16U << 10,
		.window = 16U << 20,
		.first_touch = 2,
		.replay_loops = true,
		.around = true,
		.settle = 3,
		.calm = 10,
		.trial = 10,
		.hold = 600,
	};
}

static const char *take_flag(bool *flag, const char *value, const char *yes,
			     const char *no, const char *why)
{
	*flag = !strcmp(value, yes);
	return *flag || !strcmp(value, no) ? NULL : why;
}

static const char *take_window(uint64_t *bytes, const char *value)
{
	const char *why;

	if (!size_parse(value, bytes, &why))
		return why;
	return *bytes > WINDOW_MOST || *bytes % SECTOR ?
	       "give 0 (none) to 64M, a multiple of 512" : NULL;
}

static const char *take_count(unsigned int *count, const char *value)
{
	char end;

	if (sscanf(value, "%4u%c", count, &end) != 1 || !*count || *count > 1000)
		return "give 1 to 1000";
	return NULL;
}

static const char *take_percent(unsigned int *percent, const char *value)
{
	char sign, end;

	if (sscanf(value, "%3u%c%c", percent, &sign, &end) != 2 || sign != '%' ||
	    *percent > 100)
		return "give 0% (none) to 100%";
	return NULL;
}

static const char *take_path(char *path, const char *value)
{
	if (*value != '/' || strlen(value) >= sizeof(((struct conf *)NULL)->textfile))
		return "give an absolute path";
	strcpy(path, value);
	return NULL;
}

/* Store @value in the member of @conf that @row names.  Returns NULL, or an error message. */
static const char *take_value(struct conf *conf, const struct conf_row *row,
			      const char *value)
{
	void *place = (char *)conf + row->offset;

	switch (row->kind) {
	case CONF_FLAG:
		return take_flag(place, value, "yes", "no", "give yes or no");
	case CONF_CHECKPOINT:
		return take_flag(place, value, "around", "cache",
				 "give around or cache");
	case CONF_READ_AHEAD:
		return readahead_parse(value, place) ? NULL :
						       "give " READAHEAD_RANGE;
	case CONF_WINDOW:
		return take_window(place, value);
	case CONF_COUNT:
		return take_count(place, value);
	case CONF_PERCENT:
		return take_percent(place, value);
	case CONF_TIME:
		return duration_parse(value, place);
	case CONF_ADDRESS:
		return address_parse(value, place);
	case CONF_PATH:
		return take_path(place, value);
	}
	return NULL;
}

/* Returns the row of a setting, or the last row, which has no name. */
static const struct conf_row *find_row(const char *name)
{
	const struct conf_row *row = rows;

	while (row->name && strcmp(row->name, name))
		row++;
	return row;
}

/* Whether the file sets @name; otherwise the setting has its default. */
bool conf_gives(const struct conf *conf, const char *name)
{
	return conf->given & 1U << (find_row(name) - rows);
}

static int take_setting(const struct setting_line *line, void *arg)
{
	const struct conf_row *row = find_row(line->name);
	struct conf *conf = arg;
	const char *why;

	if (!row->name)
		return fail(CODE_USAGE, "'%s' line %u: '%s' is not a setting: see nearcache.conf(5)",
			    line->path, line->number, line->name);
	conf->given |= 1U << (row - rows);
	why = take_value(conf, row, line->value);
	return why ? fail(CODE_USAGE, "'%s' line %u: %s '%s': %s", line->path, line->number,
			  line->name, line->value, why) : 0;
}

/* Change @conf by the lines of @text, which is overwritten.  @path: for error messages. */
int conf_parse(struct conf *conf, const char *path, char *text)
{
	return settings_parse(path, text, take_setting, conf);
}

/* Set @conf to the defaults, then apply the file.  A missing file is an error only if @named. */
int conf_read(struct conf *conf, const char *path, bool named)
{
	static char text[SETTINGS_BYTES_MAX + 2];

	conf_default(conf);
	if (!named && access(path, F_OK) && errno == ENOENT)
		return 0;
	return settings_read(path, text) ? fail_code() : conf_parse(conf, path, text);
}
