/* SPDX-License-Identifier: GPL-2.0-only */
/* Options of a table line, which are pairs of a name and a value. */
#ifndef NEARCACHE_DM_OPTION_H
#define NEARCACHE_DM_OPTION_H

#include <linux/stddef.h>
#include <linux/types.h>

struct dm_target;

/* Highest number of options of a target. */
#define NC_OPTIONS_MAX	16

/**
 * struct nc_option - an option of a target
 * @name: its name in the table line
 * @expected: error text that states the valid values
 * @min: lowest value
 * @max: highest value
 * @preset: value of an option that is not given; the printed table line leaves it out
 * @zero: 0 is valid as well as @min to @max
 * @constant: a live table cannot change it
 * @words: NULL: the value is a decimal number.  Otherwise a list of @max + 1 words: the value is
 *	the index of a word
 * @at: offset of the value in the structure at ti->private
 * @bytes: size of the value: 1, 4 or 8
 * @changed: NULL, or called after a change.  May sleep, must not do I/O
 * @attribute: netlink attribute of the value: a u64 if @bytes is 8, otherwise a u32
 */
struct nc_option {
	const char *name;
	const char *expected;
	u64 min;
	u64 max;
	u64 preset;
	bool zero;
	bool constant;
	const char *const *words;
	u16 at;
	u8 bytes;
	void (*changed)(struct dm_target *ti);
	u16 attribute;
};

#define NC_OPTION_AT(type, member) \
	.at = offsetof(type, member), .bytes = sizeof_field(type, member)

int nc_refuse_word(struct dm_target *ti, const char *error, const char *value);
u64 nc_option_value(const struct dm_target *ti, const struct nc_option *option);
bool nc_option_valid(const struct nc_option *option, u64 value);
void nc_option_set(struct dm_target *ti, const struct nc_option *option, u64 value);
int nc_options_parse(struct dm_target *ti, const struct nc_option *options, u32 count,
		     unsigned int argc, char **argv);
int nc_options_change(struct dm_target *ti, const struct nc_option *options, u32 count,
		      const char *name, const char *value);
void nc_options_print(const struct dm_target *ti, const struct nc_option *options, u32 count,
		      char *result, size_t room);

#endif /* NEARCACHE_DM_OPTION_H */
