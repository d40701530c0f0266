// SPDX-License-Identifier: GPL-2.0-only
#include "cli/options.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lib/error.h"
#include "lib/name.h"
#include "lib/sanitize.h"
#include "cli/option_value.h"
#include "block/table_params.h"

/*
 * Options of all verbs. @offset: place of the value in struct arguments. Two options may have the
 * same name if no verb has both. The verb tells them apart, so it must precede such an option.
 */
static const struct option_row {
	option_set bit;
	char letter;
	const char *name;
	enum option_value value;
	const char *operand;
	size_t offset;
	const char *help;
} options[] = {
	{ OPTION_ORIGIN, 0, "origin", TEXT, "DEV",
	  offsetof(struct arguments, origin),
	  "remote block device" },
	{ OPTION_CACHE, 0, "cache", TEXT, "DEV",
	  offsetof(struct arguments, cache), "local block device" },
	{ OPTION_WITNESS, 0, "witness", TEXT, "DEV",
	  offsetof(struct arguments, witness),
	  "keeps the cache warm over a crash; or none" },
	{ OPTION_MODE, 0, "mode", MODE, "MODE", offsetof(struct arguments, mode),
	  "read-only (default), writearound, writethrough, writeback" },
	{ OPTION_READ_ONLY, 0, "read-only", FLAG, NULL, 0,
	  "the same as --mode read-only" },
	{ OPTION_BLOCK_SIZE, 0, "block-size", SIZE, "SIZE",
	  offsetof(struct arguments, block_size),
	  "cache block, 64K to 4M (default: by cache size)" },
	{ OPTION_INTEGRITY, 0, "integrity", INTEGRITY, "SUMS",
	  offsetof(struct arguments, integrity),
	  "none (default) or crc32c: checksums of cached data" },
	{ OPTION_FILL_MEMORY, 0, "fill-memory", SIZE, "SIZE",
	  offsetof(struct arguments, fill_memory),
	  "most memory that fills may hold (64M)" },
	{ OPTION_CACHE_TIMEOUT, 0, "cache-timeout", CACHE_TIMEOUT, "MS",
	  offsetof(struct arguments, cache_timeout),
	  "bypass the cache after MS without completion (700)" },
	{ OPTION_ORIGIN_TIMEOUT, 0, "origin-timeout", ORIGIN_TIMEOUT, "SECONDS",
	  offsetof(struct arguments, origin_timeout),
	  "retry reads for SECONDS while the origin fails (0)" },
	{ OPTION_VERIFY, 0, "verify", VERIFY, "N",
	  offsetof(struct arguments, verify),
	  "compare one of N hits with the origin (0: none)" },
	{ OPTION_STAGE, 0, "stage", TEXT, "DEV", offsetof(struct arguments, stage),
	  "local device for the log of a stage" },
	{ OPTION_DRAIN_RATE, 0, "rate", DRAIN_RATE, "SIZE",
	  offsetof(struct arguments, drain_rate),
	  "write to the origin at most SIZE per second (0: no limit)" },
	{ OPTION_MAX_BEHIND, 0, "max-behind", STAGE_LIMIT, "LIMIT",
	  offsetof(struct arguments, max_behind),
	  "writes wait if the origin lacks more: 50G, 10m (0: none)" },
	{ OPTION_ON_FULL, 0, "on-full", ON_FULL, "WHAT",
	  offsetof(struct arguments, on_full),
	  "if the log is full: wait (default) or writethrough" },
	{ OPTION_ABANDON_STAGE, 0, "abandon-stage", FLAG, NULL, 0,
	  "lose the writes that are not on the origin" },
	{ OPTION_DROP_UNREADABLE, 0, "drop-unreadable", FLAG, NULL, 0,
	  "drop the writes after a log block that cannot be read" },
	{ OPTION_RESERVE, 0, "reserve", FLAG, NULL, 0,
	  "let no other node write to the origin (SCSI, NVMe)" },
	{ OPTION_NO_RESERVE, 0, "no-reserve", FLAG, NULL, 0,
	  "release the origin, and do not reserve it any more" },
	{ OPTION_PREEMPT, 0, "preempt", FLAG, NULL, 0,
	  "take the origin from another node that has reserved it" },
	{ OPTION_EXCLUSIVE, 0, "exclusive", FLAG, NULL, 0,
	  "assert that only this device writes to the origin" },
	{ OPTION_KEEP, 0, "keep", FLAG, NULL, 0,
	  "leave writes in the log for the next open" },
	{ OPTION_RATE, 0, "rate", SIZE, "SIZE", offsetof(struct arguments, rate),
	  "highest rate, bytes per second (64M)" },
	{ OPTION_WITH_ORIGIN, 0, "with-origin", FLAG, NULL, 0,
	  "compare with the origin as well" },
	{ OPTION_WAIT, 0, "wait", FLAG, NULL, 0, "wait until the job is over" },
	{ OPTION_WAIT_DRAINED, 0, "wait", FLAG, NULL, 0,
	  "wait until the writes are on the origin" },
	{ OPTION_STOP, 0, "stop", FLAG, NULL, 0, "cancel the scrub" },
	{ OPTION_DATASET_VERSION, 0, "dataset-version", TEXT, "TEXT",
	  offsetof(struct arguments, dataset_version),
	  "version of the cached data, recorded" },
	{ OPTION_GROW, 0, "grow", FLAG, NULL, 0,
	  "accept an origin that is larger than before" },
	{ OPTION_ON_CHANGE, 0, "on-change", ON_CHANGE, "WHAT",
	  offsetof(struct arguments, on_change),
	  "if the origin changed: drop, refuse or trust" },
	{ OPTION_SAMPLE_AT_OPEN, 0, "sample-at-open", SIZE_OR_0, "SIZE",
	  offsetof(struct arguments, sample),
	  "compare SIZE of cached data with the origin (64M)" },
	{ OPTION_RANGE, 0, "range", RANGE, "START:LENGTH",
	  offsetof(struct arguments, range), "only this part, like 1G:64M" },
	{ OPTION_FORCE, 0, "force", FLAG, NULL, 0,
	  "go ahead although something is in the way" },
	{ OPTION_FORMAT_ONLY, 0, "format-only", FLAG, NULL, 0,
	  "format the cache device and open nothing" },
	{ OPTION_FORMAT, 0, "format", FLAG, NULL, 0,
	  "format the cache device first" },
	{ OPTION_SHARD_FORMAT, 0, "format", SHARD_FORMAT, "FORMAT",
	  offsetof(struct arguments, shard_format),
	  "tar, tfrecord, parquet, mds or npz" },
	{ OPTION_SAMPLES, 0, "samples", TEXT, "LIST",
	  offsetof(struct arguments, samples),
	  "only these samples, like 0-9,12 or NAME" },
	{ OPTION_SUMMARY, 0, "summary", FLAG, NULL, 0, "one line per file" },
	{ OPTION_CHECK, 0, "check", FLAG, NULL, 0,
	  "compare data with its checksums (tfrecord)" },
	{ OPTION_CONCATENATED, 0, "concatenated", FLAG, NULL, 0,
	  "also read tar archives that follow in the same file" },
	{ OPTION_FROM, 0, "from", TEXT, "FILE", offsetof(struct arguments, from),
	  "more TARGETs, one on each line; - is stdin" },
	{ OPTION_INDEX_ONLY, 0, "index-only", FLAG, NULL, 0,
	  "only the bytes needed to open each shard" },
	{ OPTION_STRICT, 0, "strict", FLAG, NULL, 0,
	  "refuse a TARGET if a part of it would be left out" },
	{ OPTION_MANIFEST, 0, "manifest", TEXT, "FILE",
	  offsetof(struct arguments, manifest),
	  "output of sha256sum for the files" },
	{ OPTION_WATCH, 0, "watch", FLAG, NULL, 0, "repeat until ^C" },
	{ OPTION_INTERVAL, 0, "interval", INTERVAL, "SECONDS",
	  offsetof(struct arguments, interval), "time from one output to the next (1)" },
	{ OPTION_BATCH, 'b', "batch", FLAG, NULL, 0,
	  "print lines, without a terminal" },
	{ OPTION_COUNT, 'n', "count", COUNT, "N",
	  offsetof(struct arguments, count), "number of outputs; default: until ^C" },
	{ OPTION_WAIT_DEVICES, 0, "wait", FLAG, NULL, 0,
	  "wait for devices that are missing" },
	{ OPTION_ALL, 0, "all", FLAG, NULL, 0, "all devices, in place of NAME" },
	{ OPTION_TAB, 0, "tab", TEXT, "FILE", offsetof(struct arguments, tab),
	  "the table (/etc/nearcache/nearcachetab)" },
	{ OPTION_TEXTFILE, 0, "textfile", TEXT, "FILE",
	  offsetof(struct arguments, textfile),
	  "write to FILE, replacing it as a whole" },
	{ OPTION_OUTPUT, 'o', "output", TEXT, "FILE",
	  offsetof(struct arguments, output), "write SVG to FILE, replacing it as a whole" },
	{ OPTION_OPENMETRICS, 0, "openmetrics", FLAG, NULL, 0,
	  "in the format OpenMetrics 1.0" },
	{ OPTION_CONFIG, 0, "config", TEXT, "FILE",
	  offsetof(struct arguments, config),
	  "configuration (/etc/nearcache/nearcache.conf)" },
	{ OPTION_CLUSTER_CONFIG, 0, "config", TEXT, "FILE",
	  offsetof(struct arguments, config),
	  "configuration (/etc/nearcache/cluster.conf)" },
	{ OPTION_CLUSTER, 0, "cluster", TEXT, "FILE",
	  offsetof(struct arguments, config),
	  "join the cluster of FILE; the cache is NAME-home" },
	{ OPTION_PEERS, 0, "cluster", FLAG, NULL, 0,
	  "also bring the parts of the other nodes into their caches" },
	{ OPTION_FROM_PEERS, 0, "from-peers", FLAG, NULL, 0,
	  "read at the other nodes instead of the origin" },
	{ OPTION_NO_WARM, 0, "no-warm", FLAG, NULL, 0,
	  "do not bring data from the other nodes" },
	{ OPTION_EVERYWHERE, 0, "everywhere", FLAG, NULL, 0,
	  "print the command that each other node has to run" },
	{ OPTION_SELF, 0, "self", TEXT, "NODE",
	  offsetof(struct arguments, self),
	  "name of this node (default: by its address)" },
	{ OPTION_OBSERVE, 0, "observe", FLAG, NULL, 0,
	  "report changes without making them" },
	{ OPTION_REVERT, 0, "revert", NUMBER, "N",
	  offsetof(struct arguments, revert), "revert action N" },
	{ OPTION_LABEL, 0, "label", LABEL, "LABEL",
	  offsetof(struct arguments, label), "name for counting and for unpin" },
	{ OPTION_PRIORITY, 0, "priority", PRIORITY, "N",
	  offsetof(struct arguments, priority), "0 (default) to 7 (first)" },
	{ OPTION_EXPIRES, 0, "expires", DURATION, "TIME",
	  offsetof(struct arguments, expires), "end the pin after TIME: 90, 30m, 12h, 7d" },
	{ OPTION_EVICT_AFTER_USE, 0, "evict-after-use", FLAG, NULL, 0,
	  "do not pin; evict first, once read" },
	{ OPTION_BYPASS, 0, "bypass", FLAG, NULL, 0,
	  "do not pin; always read from the origin" },
	{ OPTION_NO_LOAD, 0, "no-load", FLAG, NULL, 0,
	  "reserve room, prefetch nothing" },
	{ OPTION_REFRESH, 0, "refresh", FLAG, NULL, 0,
	  "follow files that moved or are gone, prefetch data" },
	{ OPTION_KEEP_GONE, 0, "keep-gone", FLAG, NULL, 0,
	  "keep the pins of files that do not exist any more" },
	{ OPTION_EVERYTHING, 0, "all", FLAG, NULL, 0, "all of them" },
	{ OPTION_ENDED, 0, "all", FLAG, NULL, 0, "also streams of ended processes" },
	{ OPTION_UNCHANGED, 0, "all", FLAG, NULL, 0, "also actions that changed nothing" },
	{ OPTION_LABELS, 0, "labels", FLAG, NULL, 0,
	  "one line per label, with the reads of its ranges" },
	{ OPTION_DEADLINE, 0, "deadline", DURATION, "TIME",
	  offsetof(struct arguments, deadline), "when the data is needed: 90, 30m, 2h from now" },
	{ OPTION_BANDWIDTH, 0, "bandwidth", BANDWIDTH, "RATE",
	  offsetof(struct arguments, bandwidth),
	  "highest rate: 40Gb/s (bits), 5GB/s (bytes)" },
	{ OPTION_RANK, 0, "rank", RANK, "N", offsetof(struct arguments, rank),
	  "number of this node, from 0" },
	{ OPTION_WORLD_SIZE, 0, "world-size", WORLD_SIZE, "N",
	  offsetof(struct arguments, world_size), "number of nodes" },
	{ OPTION_SEED, 0, "seed", NUMBER, "N", offsetof(struct arguments, seed),
	  "seed of the shuffled order" },
	{ OPTION_EPOCH, 0, "epoch", NUMBER, "N",
	  offsetof(struct arguments, epoch), "epoch, mixed into the seed (0)" },
	{ OPTION_EPOCHS, 0, "epochs", COUNT, "N",
	  offsetof(struct arguments, epochs), "number of epochs, one after another (1)" },
	{ OPTION_CLEAR, 0, "clear", FLAG, NULL, 0, "remove the plan" },
	{ OPTION_SPLIT, 0, "split", SPLIT, "HOW",
	  offsetof(struct arguments, split),
	  "strided (default: every Nth) or blocked (a run)" },
	{ OPTION_JSON, 'j', "json", FLAG, NULL, 0,
	  "JSON on stdout, errors as well; base units" },
	{ OPTION_DRY_RUN, 0, "dry-run", FLAG, NULL, 0,
	  "show the actions, change nothing" },
	{ OPTION_HELP, 'h', "help", FLAG, NULL, 0,
	  "show help on nearcache or on the verb" },
	{ OPTION_VERSION, 'V', "version", FLAG, NULL, 0, "show the version" },
	{ 0 },
};

static option_set options_of(const struct verb *verb)
{
	return verb->required | verb->optional | OPTIONS_GLOBAL;
}

/* Finds an option by name. Of several, prefers an option of @verb (NULL: verb not parsed yet). */
static const struct option_row *find_option(const char *word, size_t length,
					    const struct verb *verb)
{
	const struct option_row *row, *found = NULL;

	for (row = options; row->bit; row++) {
		if (strlen(row->name) != length ||
		    strncmp(row->name, word, length))
			continue;
		if (!found || (verb && row->bit & options_of(verb)))
			found = row;
	}
	return found;
}

static const struct option_row *find_letter(char letter)
{
	const struct option_row *row;

	for (row = options; row->bit; row++)
		if (row->letter && row->letter == letter)
			return row;
	return NULL;
}

static const struct verb *find_verb(const struct verb *const *verbs, const char *name)
{
	for (; *verbs; verbs++)
		if (!strcmp((*verbs)->name, name))
			return *verbs;
	return NULL;
}

static void take_value(struct arguments *args, const struct option_row *row,
		       const char *value)
{
	const char *why;

	/* A write-back is a stage below a cache that sends its writes there. */
	if (row->bit == OPTION_MODE && !strcmp(value, "writeback")) {
		args->given |= OPTION_WRITEBACK;
		args->mode = NEARCACHE_WRITEAROUND;
		return;
	}
	why = option_value_take((char *)args + row->offset, row->value, value);
	if (why)
		fail(CODE_USAGE, "--%s '%s': %s", row->name, value, why);
}

/* Takes the value of each --cache after the first. Returns the number of words used. */
static int take_member(struct arguments *args, const char *value,
		       const char *next)
{
	if (!value && !next)
		fail(CODE_USAGE, "--cache needs a value: --cache DEV");
	else if (args->members == NEARCACHE_MEMBERS_MAX - 1)
		fail(CODE_USAGE, "--cache '%s': a cache has at most %u devices",
		     value ? value : next, NEARCACHE_MEMBERS_MAX);
	else
		args->member[args->members++] = value ? value : next;
	return value || !next ? 1 : 2;
}

/* Returns the number of words used. @value: from the option's word, NULL: use the word @next. */
static int take_row(struct arguments *args, const struct option_row *row,
		    const char *value, const char *next)
{
	if (row->value == FLAG && value)
		fail(CODE_USAGE, "--%s takes no value, '%s' was given",
		     row->name, value);
	else if (row->bit == OPTION_CACHE && args->given & row->bit)
		return take_member(args, value, next);
	else if (row->value != FLAG && args->given & row->bit)
		fail(CODE_USAGE, "--%s is given twice", row->name);
	args->given |= row->bit;
	if (row->value == FLAG)
		return 1;
	if (!value && !next)
		fail(CODE_USAGE, "--%s needs a value: --%s %s", row->name,
		     row->name, row->operand);
	else
		take_value(args, row, value ? value : next);
	return value || !next ? 1 : 2;
}

/* Parses "--name", "--name=value" or "--name value". Returns the number of words used. */
static int take_option(struct arguments *args, const char *word,
		       const char *next, const struct verb *verb)
{
	const char *name = word + 2;
	size_t length = strcspn(name, "=");
	const struct option_row *row = find_option(name, length, verb);
	const char *value = name[length] ? name + length + 1 : NULL;

	if (!row) {
		fail(CODE_USAGE,
		     "'--%.*s' is not an option: try 'nearcache --help'",
		     (int)length, name);
		return 1;
	}
	return take_row(args, row, value, next);
}

/* Parses "-j", "-o value", "-ovalue" or "-jo value". Returns the number of words used. */
static int take_letters(struct arguments *args, const char *word, const char *next)
{
	const char *letter;

	for (letter = word + 1; *letter; letter++) {
		const struct option_row *row = find_letter(*letter);

		if (!row)
			fail(CODE_USAGE,
			     "'-%c' is not an option: try 'nearcache --help'",
			     *letter);
		else if (row->value == FLAG)
			args->given |= row->bit;
		else
			return take_row(args, row, letter[1] ? letter + 1 : NULL, next);
	}
	return 1;
}

/* Decodes an operand that begins with a backslash: JSON output escapes some names like this. */
static void decode_operand(char *word)
{
	if (*word == '\\' && !text_unescape(word))
		fail(CODE_USAGE,
		     "'%s' has an invalid escape behind its first backslash (valid: \\xHH and \\\\); for a file of this name write './%s'",
		     word, word);
}

/*
 * Separates options and operands; operands move to the front of @argv. The first operand is the
 * verb: it is looked up in @verbs, and @verb receives the result. If @verbs is NULL, the caller has
 * set @verb, and no operand is the verb.
 */
static void split_words(struct arguments *args, int argc, char **argv,
			const struct verb *const *verbs, const struct verb **verb)
{
	bool only_operands = false;
	int i = 1;

	args->operand = argv;
	while (i < argc) {
		const char *next = i + 1 < argc ? argv[i + 1] : NULL;
		char *word = argv[i];

		if (only_operands || word[0] != '-' || !word[1]) {
			if (verbs && !args->operands)
				*verb = find_verb(verbs, word);
			decode_operand(word);
			args->operand[args->operands++] = word;
			i++;
		} else if (!strcmp(word, "--")) {
			only_operands = true;
			i++;
		} else if (word[1] == '-') {
			i += take_option(args, word, next, *verb);
		} else {
			i += take_letters(args, word, next);
		}
	}
}

static int check_known(const struct arguments *args, const struct verb *verb)
{
	option_set known = options_of(verb);
	const struct option_row *row;

	for (row = options; row->bit; row++)
		if (args->given & row->bit & ~known)
			return fail(CODE_USAGE,
				    "'--%s' is not an option of '%s': try 'nearcache %s --help'",
				    row->name, verb->name, verb->name);
	if (option_given(args, OPTION_WRITEBACK) && !(known & OPTION_STAGE))
		return fail(CODE_USAGE, "--mode 'writeback': give " MODE_WORDS);
	return 0;
}

static int check_needed(const struct arguments *args, const struct verb *verb)
{
	const struct option_row *row;

	for (row = options; row->bit; row++)
		if (verb->required & row->bit & ~args->given)
			return fail(CODE_USAGE, "'%s' needs --%s %s",
				    verb->name, row->name, row->operand);
	return 0;
}

static int check_operands(const struct arguments *args, const struct verb *verb)
{
	if (args->operands < verb->operands_min)
		return fail(CODE_USAGE, "'%s' needs %s: try 'nearcache %s --help'",
			    verb->name, verb->operands, verb->name);
	if (verb->operands_max >= 0 && args->operands > verb->operands_max)
		return fail(CODE_USAGE,
			    "'%s' does not take '%s': try 'nearcache %s --help'",
			    verb->name, args->operand[verb->operands_max],
			    verb->name);
	return 0;
}

/* Checks values, and options that contradict each other. */
static int check_values(const struct arguments *args)
{
	if (option_given(args, OPTION_READ_ONLY) && mode_writes(args->mode))
		return fail(CODE_USAGE,
			    "--read-only contradicts --mode %s: give one of them",
			    mode_word(args->mode));
	/* An empty word is probably an unset shell variable. */
	if (option_given(args, OPTION_WITNESS) && !*args->witness)
		return fail(CODE_USAGE,
			    "--witness '': it is empty; give a device, or none");
	if (args->fill_memory && !params_fill_memory_ok(args->fill_memory))
		return fail(CODE_USAGE,
			    "--fill-memory '%llu': give " PARAMS_FILL_MEMORY_RANGE,
			    (unsigned long long)args->fill_memory);
	if (args->sample > SAMPLE_MAX)
		return fail(CODE_USAGE,
			    "--sample-at-open '%llu': give 0 to 64G",
			    (unsigned long long)args->sample);
	return 0;
}

/* @verbs and @verb: see split_words(). */
static int parse_words(struct arguments *args, int argc, char **argv,
		       const struct verb *const *verbs, const struct verb **verb)
{
	memset(args, 0, sizeof(*args));
	split_words(args, argc, argv, verbs, verb);
	if (fail_code())
		return fail_code();
	if (verbs && !args->operands)
		return args->given & (OPTION_HELP | OPTION_VERSION) ? 0 :
			fail(CODE_USAGE, "no verb given: try 'nearcache --help'");
	if (!*verb)
		return fail(CODE_USAGE, "'%s' is not a verb: try 'nearcache --help'",
			    args->operand[0]);
	if (verbs) {
		args->operand++;
		args->operands--;
	}
	if (args->given & (OPTION_HELP | OPTION_VERSION))
		return 0;
	return check_known(args, *verb) ? fail_code() : check_values(args);
}

/*
 * Parses the words after a verb. Missing operands and required options are no error. @argv[0] is
 * ignored.
 */
int arguments_parse_options(struct arguments *args, int argc, char **argv,
			    const struct verb *verb)
{
	return parse_words(args, argc, argv, NULL, &verb);
}

static int check_complete(const struct arguments *args, const struct verb *verb)
{
	if (!verb || args->given & (OPTION_HELP | OPTION_VERSION))
		return 0;
	return check_needed(args, verb) || check_operands(args, verb) ? fail_code() : 0;
}

/* Like arguments_parse_options(), but missing operands and required options are an error. */
int arguments_parse_verb(struct arguments *args, int argc, char **argv,
			 const struct verb *verb)
{
	return arguments_parse_options(args, argc, argv, verb) ?: check_complete(args, verb);
}

/*
 * Parses the command line. @verbs ends with NULL. @verb is NULL for --help and --version without a
 * verb. args->operand[-1] is the word that names the verb.
 */
int arguments_parse(struct arguments *args, int argc, char **argv,
		    const struct verb *const *verbs, const struct verb **verb)
{
	*verb = NULL;
	return parse_words(args, argc, argv, verbs, verb) ?: check_complete(args, *verb);
}

/* Replaces the operands of @args, and each option that @by has, by those of @by. */
void arguments_override(struct arguments *args, const struct arguments *by)
{
	const struct option_row *row;

	/* Either of the two options in @by replaces both in @args, because both set the mode. */
	if (option_given(by, OPTION_MODE | OPTION_READ_ONLY)) {
		args->given &= ~(OPTION_MODE | OPTION_READ_ONLY | OPTION_WRITEBACK);
		args->mode = by->mode;
	}
	if (option_given(by, OPTION_CACHE)) {
		memcpy(args->member, by->member, sizeof(args->member));
		args->members = by->members;
	}
	for (row = options; row->bit; row++)
		if (option_given(by, row->bit))
			memcpy((char *)args + row->offset,
			       (const char *)by + row->offset,
			       option_value_size(row->value));
	args->given |= by->given;
	args->operand = by->operand;
	args->operands = by->operands;
}

/* Fails unless there are either operands or --all. */
int arguments_check_operand(const struct arguments *args)
{
	if (!args->operands == !!option_given(args, OPTION_ALL))
		return 0;
	return fail(CODE_USAGE, "give NAME or --all%s",
		    args->operands ? ", not both" : "");
}

int arguments_check_name(const char *name)
{
	const char *why;

	if (name_check(name, &why))
		return 0;
	return fail(CODE_USAGE, "'%s' is not a valid device name: %s", name, why);
}

static void help_options(option_set bits)
{
	const struct option_row *row;

	for (row = options; row->bit; row++) {
		char word[48];

		if (!(row->bit & bits))
			continue;
		snprintf(word, sizeof(word), "%c%c%c --%s%s%s",
			 row->letter ? '-' : ' ', row->letter ? row->letter : ' ',
			 row->letter ? ',' : ' ', row->name,
			 row->operand ? " " : "",
			 row->operand ? row->operand : "");
		printf("  %-28s %s\n", word, row->help);
	}
}

/* Prints the usage, wrapped before column 80. */
static void help_synopsis(const struct verb *verb)
{
	int column = printf("Usage: nearcache %s%s%s", verb->name,
			    *verb->operands ? " " : "", verb->operands);
	const struct option_row *row;

	for (row = options; row->bit; row++) {
		bool required = row->bit & verb->required;
		char word[48];
		int length;

		if (!(row->bit & (verb->required | verb->optional)))
			continue;
		length = snprintf(word, sizeof(word), " %s--%s%s%s%s",
				  required ? "" : "[", row->name,
				  row->operand ? " " : "",
				  row->operand ? row->operand : "",
				  required ? "" : "]");
		if (column + length > 79)
			column = printf("\n%16s", "") - 1;
		column += printf("%s", word);
	}
	putchar('\n');
}

static void help_all(const struct verb *const *verbs)
{
	int code;

	puts("nearcache - cache a remote block device on a local one\n");
	puts("Usage: nearcache VERB [NAME...] [OPTION...]\n");
	puts("Verbs (more: 'nearcache VERB --help'):");
	for (; *verbs; verbs++)
		printf("  %-10s %s\n", (*verbs)->name, (*verbs)->summary);
	puts("\nOptions of all verbs, before or behind the verb:");
	help_options(OPTIONS_GLOBAL);
	puts("\nSizes are bytes or take K, M, G, T, P, E (powers of 1024; KB, MB ... of 1000).");
	puts("\nExit codes:");
	for (code = 0; code < CODE_COUNT; code++)
		printf("  %d  %s\n", code, fail_code_word(code));
}

/* Prints help on @verb on stdout. If @verb is NULL, prints help on the command and its @verbs. */
void arguments_help(const struct verb *const *verbs, const struct verb *verb)
{
	if (!verb) {
		help_all(verbs);
		return;
	}
	help_synopsis(verb);
	printf("\n%c%s.\n", toupper((unsigned char)verb->summary[0]),
	       verb->summary + 1);
	if (verb->details)
		printf("\n%s", verb->details);
	puts("\nOptions:");
	help_options(options_of(verb));
}
