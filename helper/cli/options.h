/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parses the command line and prints help, from tables of verbs and options. Functions that return
 * int return 0, or an exit code after recording an error with fail(), unless they say otherwise.
 * The parse functions reorder @argv. Even after an error @args->given has the bit of --json, so
 * that the caller can print the error as JSON.
 */
#ifndef HELPER_CLI_OPTIONS_H
#define HELPER_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "block/stage_params.h"
#include "lib/column_choice.h"
#include "lib/enum_words.h"
#include "nearcache_format.h"
#include "lib/range.h"
#include "shard/shard_split.h"

/* Largest value of --compare-at-open, bytes. */
#define SAMPLE_MAX	(64ULL << 30)

/* A set of options, one bit each. Its complement must have this type, or it lacks high bits. */
typedef unsigned __int128 option_set;

/* Options, one bit each. */
#define OPTION_ORIGIN		(1U << 0)
#define OPTION_CACHE		(1U << 1)
#define OPTION_READ_ONLY	(1U << 2)
#define OPTION_BLOCK_SIZE	(1U << 3)
#define OPTION_FILL_MEMORY	(1U << 4)
#define OPTION_DATASET_VERSION	(1U << 5)
#define OPTION_FORCE		(1U << 6)
#define OPTION_FORMAT_ONLY	(1U << 7)
#define OPTION_JSON		(1U << 8)
#define OPTION_DRY_RUN		(1U << 9)
#define OPTION_HELP		(1U << 10)
#define OPTION_VERSION		(1U << 11)
#define OPTION_MODE		(1U << 12)
#define OPTION_RANGE		(1U << 13)
#define OPTION_GROW		(1U << 14)
#define OPTION_CACHE_TIMEOUT	(1U << 15)
#define OPTION_FORMAT		(1U << 16)
#define OPTION_ORIGIN_TIMEOUT	(1U << 17)
#define OPTION_ON_CHANGE	(1U << 18)
#define OPTION_WITNESS		(1U << 19)
#define OPTION_CONFIG		(1U << 20)
#define OPTION_OBSERVE		(1U << 21)
#define OPTION_REVERT		(1U << 22)
#define OPTION_TEXTFILE		(1U << 23)
#define OPTION_OPENMETRICS	(1U << 30)
#define OPTION_INTEGRITY	(1U << 24)
#define OPTION_VERIFY		(1U << 25)
#define OPTION_RATE		(1U << 26)
#define OPTION_WITH_ORIGIN	(1U << 27)
#define OPTION_STOP		(1U << 28)
#define OPTION_WAIT		(1U << 29)
#define OPTION_BATCH		(1U << 31)
#define OPTION_SHARD_FORMAT	(1ULL << 32)
#define OPTION_SAMPLES		(1ULL << 33)
#define OPTION_SUMMARY		(1ULL << 34)
#define OPTION_CHECK		(1ULL << 35)
#define OPTION_LABEL		(1ULL << 36)
#define OPTION_PRIORITY		(1ULL << 37)
#define OPTION_EXPIRES		(1ULL << 38)
#define OPTION_EVICT_AFTER_USE	(1ULL << 39)
#define OPTION_BYPASS		(1ULL << 40)
#define OPTION_NO_LOAD		(1ULL << 41)
#define OPTION_EVERYTHING	(1ULL << 42)
#define OPTION_LABELS		(1ULL << 43)
#define OPTION_REFRESH		(1ULL << 47)
#define OPTION_FROM		(1ULL << 48)
#define OPTION_INDEX_ONLY	(1ULL << 49)
#define OPTION_MANIFEST		(1ULL << 50)
#define OPTION_WATCH		(1ULL << 51)
#define OPTION_INTERVAL		(1ULL << 52)
#define OPTION_COUNT		(1ULL << 53)
#define OPTION_OUTPUT		(1ULL << 54)
#define OPTION_ALL		(1ULL << 44)
#define OPTION_TAB		(1ULL << 45)
#define OPTION_WAIT_DEVICES	(1ULL << 46)
/* Options of 'open', also allowed in a line of nearcachetab. */
#define OPTIONS_OPEN		(OPTION_ALL | OPTION_TAB | OPTION_WAIT_DEVICES | \
				 OPTION_CACHE | OPTION_ORIGIN | OPTION_MODE | \
				 OPTION_READ_ONLY | OPTION_FILL_MEMORY | \
				 OPTION_CACHE_TIMEOUT | OPTION_ORIGIN_TIMEOUT | \
				 OPTION_VERIFY | OPTION_DATASET_VERSION | \
				 OPTION_ON_CHANGE | OPTION_GROW | OPTION_WITNESS | \
				 OPTION_COMPARE_AT_OPEN | OPTION_FORCE | OPTIONS_STAGE | \
				 OPTION_ABANDON_STAGE | OPTION_DROP_UNREADABLE | OPTION_RESERVE | \
				 OPTION_NO_RESERVE | OPTION_PREEMPT | OPTION_EXCLUSIVE | OPTION_FORGET | \
				 OPTION_VERBOSE)
#define OPTION_CLEAR		(1ULL << 55)
#define OPTION_EPOCHS		(1ULL << 56)
#define OPTION_DEADLINE		(1ULL << 57)
#define OPTION_BANDWIDTH	(1ULL << 58)
#define OPTION_RANK		(1ULL << 59)
#define OPTION_WORLD_SIZE	(1ULL << 60)
#define OPTION_SEED		(1ULL << 61)
#define OPTION_EPOCH		(1ULL << 62)
#define OPTION_SPLIT		(1ULL << 63)
#define OPTION_CONCATENATED	((option_set)1 << 64)
#define OPTION_STRICT		((option_set)1 << 65)
#define OPTION_COMPARE_AT_OPEN	((option_set)1 << 66)
#define OPTION_KEEP_GONE	((option_set)1 << 67)
#define OPTION_ENDED		((option_set)1 << 68)
#define OPTION_UNCHANGED	((option_set)1 << 69)
#define OPTION_CLUSTER_CONFIG	((option_set)1 << 70)
#define OPTION_SELF		((option_set)1 << 71)
#define OPTION_CLUSTER		((option_set)1 << 72)
#define OPTION_APPEND		((option_set)1 << 73)
#define OPTION_NO_PREFETCH	((option_set)1 << 74)
#define OPTION_UDEV		((option_set)1 << 75)
#define OPTION_EVERYWHERE	((option_set)1 << 76)
#define OPTION_PEERS		((option_set)1 << 77)
#define OPTION_FROM_PEERS	((option_set)1 << 78)
#define OPTION_NO_WARM		((option_set)1 << 79)
#define OPTION_STAGE		((option_set)1 << 80)
#define OPTION_DRAIN_RATE	((option_set)1 << 81)
#define OPTION_MAX_BEHIND	((option_set)1 << 82)
#define OPTION_ABANDON_STAGE	((option_set)1 << 83)
#define OPTION_KEEP		((option_set)1 << 84)
#define OPTION_WAIT_DRAINED	((option_set)1 << 85)
/* Not an option of its own: the user gave --mode writeback. */
#define OPTION_WRITEBACK	((option_set)1 << 86)
#define OPTION_RESERVE		((option_set)1 << 87)
#define OPTION_PREEMPT		((option_set)1 << 88)
#define OPTION_EXCLUSIVE	((option_set)1 << 89)
#define OPTION_ON_FULL		((option_set)1 << 90)
#define OPTION_DROP_UNREADABLE	((option_set)1 << 91)
#define OPTION_NO_RESERVE	((option_set)1 << 92)
/* Options that describe the list of --from. */
#define OPTION_ROOT		((option_set)1 << 93)
#define OPTION_SAMPLE_SIZE	((option_set)1 << 94)
#define OPTION_HEADER		((option_set)1 << 95)
#define OPTION_FORGET		((option_set)1 << 96)
#define OPTION_MODULE		((option_set)1 << 97)
#define OPTION_FOLLOW		((option_set)1 << 98)
#define OPTION_VERBOSE		((option_set)1 << 101)
#define OPTION_MEASURE		((option_set)1 << 105)
#define OPTION_COLUMNS		((option_set)1 << 102)
#define OPTION_NO_HEADINGS	((option_set)1 << 103)
#define OPTION_RAW		((option_set)1 << 104)
/* The form of the table of a verb. */
#define OPTIONS_TABLE		(OPTION_COLUMNS | OPTION_NO_HEADINGS | OPTION_RAW)
/* A stage, and its limits. */
#define OPTIONS_STAGE		(OPTION_STAGE | OPTION_DRAIN_RATE | OPTION_MAX_BEHIND | \
				 OPTION_ON_FULL)
#define OPTIONS_GLOBAL		(OPTION_JSON | OPTION_DRY_RUN | OPTION_HELP | \
				 OPTION_VERSION)

/*
 * A parsed command line. @given has the bit OPTION_* of each given option. @of_line has the bits
 * of the options in @given that come from a line of nearcachetab, not from the command line. The
 * field named after an option has the value of the option, by default 0 or NULL. 0 means read-only
 * for @mode, none for @integrity, strided for @split, and INDEX_ANY for @shard_format. With --mode
 * writeback, @mode is writearound, and @given has OPTION_WRITEBACK.
 * @no_remembered: do not read the remembered settings of the cache.
 * @cache is the first --cache; @member is the array of the others, @members their number.
 * @config is the value of --config or --cluster.
 * @witness is a device or "none", @from a path or "-", @revert the number of an action.
 * @sample is the value of --compare-at-open, 0 without the option. @drain_rate is --rate of a stage.
 * Sizes are in bytes, rates in bytes per second, @cache_timeout and @interval in ms, and
 * @origin_timeout, @expires and @deadline in seconds.
 * @operand is the array of words after the verb, @operands their number.
 * @typed: the command line as it was typed, ends with NULL; main() sets it.
 */
struct arguments {
	option_set given;
	option_set of_line;
	bool no_remembered;
	const char *origin;
	const char *cache;
	const char *member[NEARCACHE_MEMBERS_MAX - 1];
	unsigned int members;
	const char *witness;
	const char *dataset_version;
	enum nearcache_mode mode;
	enum on_change on_change;
	uint64_t sample;
	struct range range;
	uint64_t block_size;
	enum nearcache_integrity integrity;
	uint64_t fill_memory;
	unsigned int cache_timeout;
	unsigned int origin_timeout;
	unsigned int verify;
	uint64_t rate;
	enum index_format shard_format;
	const char *samples;
	const char *from;
	const char *root;
	uint64_t sample_size;
	uint64_t header;
	const char *manifest;
	const char *module;
	unsigned int interval;
	unsigned int count;
	const char *tab;
	const char *columns;
	const char *textfile;
	const char *output;
	const char *config;
	const char *self;
	uint64_t revert;
	const char *label;
	const char *stage;
	uint64_t drain_rate;
	struct stage_limit max_behind;
	unsigned int on_full;
	unsigned int priority;
	unsigned int expires;
	unsigned int deadline;
	uint64_t bandwidth;
	unsigned int rank;
	unsigned int world_size;
	uint64_t seed;
	uint64_t epoch;
	unsigned int epochs;
	enum share_split split;
	char **operand;
	int operands;
	char **typed;
};

/* A group of verbs in the help; see option_help.c for its title. */
enum verb_group {
	VERBS_DEVICES,
	VERBS_DATA,
	VERBS_OBSERVE,
	VERBS_MAINTAIN,
	VERBS_AUTOMATIC,
};

/*
 * A column of the table of a verb. @chosen: not in the table unless -o names it. @with, @without: only
 * if this option is given, or is not given; 0: in any case. @name NULL: the end.
 */
struct verb_column {
	const char *name;
	const char *help;
	bool chosen;
	option_set with;
	option_set without;
};

/*
 * A verb of the command.
 * @operands: text for help. @operands_max: -1 means any number.
 * @required, @optional: options OPTION_*; the global ones are always allowed.
 * @changes: the verb changes the device named by the first operand; main() locks that name.
 * @summary: a line of help; @details: the lines below it.
 * @columns: those of the table, if it takes OPTIONS_TABLE.
 * @run: returns 0 or the exit code. If NULL, @program is executed, see exec_program.h.
 */
struct verb {
	const char *name;
	enum verb_group group;
	const char *operands;
	int operands_min;
	int operands_max;
	option_set required;
	option_set optional;
	bool changes;
	const char *summary;
	const char *details;
	const struct verb_column *columns;
	int (*run)(const struct arguments *args);
	const char *program;
};

int arguments_parse(struct arguments *args, int argc, char **argv,
		    const struct verb *const *verbs, const struct verb **verb);
int arguments_parse_verb(struct arguments *args, int argc, char **argv,
			 const struct verb *verb);
int arguments_parse_options(struct arguments *args, int argc, char **argv,
			    const struct verb *verb);
void arguments_override(struct arguments *args, const struct arguments *by);
int arguments_check_operand(const struct arguments *args);
int arguments_no_table(const struct arguments *args, const char *where);
struct column_choice arguments_columns(const struct arguments *args);
void arguments_help(const struct verb *const *verbs, const struct verb *verb);
const struct verb *verb_find(const struct verb *const *verbs, const char *name);
int verb_unknown(const struct verb *const *verbs, const char *name);
int arguments_check_name(const char *name);

static inline bool option_given(const struct arguments *args, option_set option)
{
	return args->given & option;
}

#endif /* HELPER_CLI_OPTIONS_H */
