// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options of the targets nearcache-peers and nearcache-stage.  Messages and netlink requests change
 * them at any time, in parallel, and others read them without a lock.
 */
#include <linux/device-mapper.h>

#include "dm/option.h"

/* Log a bad word of a table line or message; returns -EINVAL.  Logs at most 128 bytes of @value: a
 * record of the kernel log has room for about 1000 bytes.
 */
int nc_refuse_word(struct dm_target *ti, const char *error, const char *value)
{
	pr_err(DM_NAME ": %s: %s: '%.128s': %s\n", ti->type->name,
	       dm_device_name(dm_table_get_md(ti->table)), value, error);
	ti->error = (char *)error;
	return -EINVAL;
}

u64 nc_option_value(const struct dm_target *ti, const struct nc_option *option)
{
	const void *at = ti->private + option->at;

	return option->bytes == sizeof(u64) ? READ_ONCE(*(const u64 *)at) :
	       option->bytes == sizeof(u32) ? READ_ONCE(*(const u32 *)at) :
					      READ_ONCE(*(const u8 *)at);
}

bool nc_option_valid(const struct nc_option *option, u64 value)
{
	return (value >= option->min && value <= option->max) || (option->zero && !value);
}

/* Set an option to a valid value.  Context: process. */
void nc_option_set(struct dm_target *ti, const struct nc_option *option, u64 value)
{
	void *at = ti->private + option->at;

	if (option->bytes == sizeof(u64))
		WRITE_ONCE(*(u64 *)at, value);
	else if (option->bytes == sizeof(u32))
		WRITE_ONCE(*(u32 *)at, value);
	else
		WRITE_ONCE(*(u8 *)at, value);
	if (option->changed)
		option->changed(ti);
}

/* Parse a value and set it.  Returns 0 or -EINVAL. */
static int parse_value(struct dm_target *ti, const struct nc_option *option, const char *word)
{
	u64 value = 0;
	int r;

	if (option->words) {
		r = match_string(option->words, option->max + 1, word);
		value = r;
	} else {
		r = kstrtou64(word, 10, &value);
	}
	if (r < 0 || !nc_option_valid(option, value))
		return nc_refuse_word(ti, option->expected, word);
	nc_option_set(ti, option, value);
	return 0;
}

/* Return the option @name; NULL if there is none, which is logged. */
static const struct nc_option *find_option(struct dm_target *ti, const struct nc_option *options,
					   u32 count, const char *name)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (!strcmp(name, options[i].name))
			return &options[i];
	nc_refuse_word(ti, "Unknown option", name);
	return NULL;
}

/**
 * nc_options_parse() - set the options of a table line: [<#words> [<name> <value>]...]
 * @ti: target with its structure in private
 * @options: all options of the target
 * @count: number of @options, at most NC_OPTIONS_MAX
 * @argc: number of words, 0 if there is no option
 * @argv: words
 *
 * Context: constructor.
 * Return: 0 or -EINVAL; ti->error is set, and the kernel log has the bad value.
 */
int nc_options_parse(struct dm_target *ti, const struct nc_option *options, u32 count,
		     unsigned int argc, char **argv)
{
	const struct nc_option *option;
	unsigned int words, i;
	u32 given = 0;
	int r = 0;

	for (i = 0; i < count; i++)
		nc_option_set(ti, &options[i], options[i].preset);
	if (!argc)
		return 0;
	if (kstrtouint(argv[0], 10, &words) || words != argc - 1 || words % 2)
		return nc_refuse_word(ti, "Number of option words expected, pairs of name, value",
				      argv[0]);
	for (i = 1; i <= words && !r; i += 2) {
		option = find_option(ti, options, count, argv[i]);
		if (!option)
			return -EINVAL;
		if (given & BIT(option - options))
			return nc_refuse_word(ti, "Option given twice", argv[i]);
		given |= BIT(option - options);
		r = parse_value(ti, option, argv[i + 1]);
	}
	return r;
}

/**
 * nc_options_change() - change an option of a live table, for a message
 * @ti: target
 * @options: all options of the target
 * @count: number of @options
 * @name: name of the option
 * @value: its value, as in the table line
 *
 * Context: process.
 * Return: 0 or -EINVAL; the kernel log has the bad value.
 */
int nc_options_change(struct dm_target *ti, const struct nc_option *options, u32 count,
		      const char *name, const char *value)
{
	const struct nc_option *option = find_option(ti, options, count, name);

	if (!option)
		return -EINVAL;
	if (option->constant)
		return nc_refuse_word(ti, "Option can only be given in the table", name);
	return parse_value(ti, option, value);
}

/* Print the options that differ from their preset to @result, in the form that nc_options_parse()
 * takes, with a space before each word.  Prints nothing if all have their preset.
 */
void nc_options_print(const struct dm_target *ti, const struct nc_option *options, u32 count,
		      char *result, size_t room)
{
	u64 value[NC_OPTIONS_MAX];
	u32 i, given = 0;
	size_t n;

	*result = 0;
	/* Options may change meanwhile: count the same values as are printed. */
	for (i = 0; i < count; i++) {
		value[i] = nc_option_value(ti, &options[i]);
		given += value[i] != options[i].preset;
	}
	if (!given)
		return;
	n = scnprintf(result, room, " %u", 2 * given);
	for (i = 0; i < count; i++) {
		if (value[i] == options[i].preset)
			continue;
		n += scnprintf(result + n, room - n, " %s", options[i].name);
		n += options[i].words ?
		     scnprintf(result + n, room - n, " %s", options[i].words[value[i]]) :
		     scnprintf(result + n, room - n, " %llu", value[i]);
	}
}
