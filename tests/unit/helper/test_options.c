// SPDX-License-Identifier: GPL-2.0-only
/* cli/options.c: command lines that are accepted, and those refused with a message. */
#include "cli/options.h"
#include "lib/error.h"
#include "unit.h"

static int nothing(const struct arguments *args)
{
	(void)args;
	return 0;
}

static const struct verb_column sheet[] = {
	{ .name = "name", .help = "a" },
	{ .name = "size", .help = "b", .without = OPTION_LABELS },
	{ .name = "hits", .help = "c", .with = OPTION_LABELS },
	{ .name = "uuid", .help = "d", .chosen = true },
	{ 0 },
};

static const struct verb rows[] = {
	{ .name = "make", .operands = "NAME", .operands_min = 1,
	  .operands_max = 1, .required = OPTION_CACHE,
	  .optional = OPTION_BLOCK_SIZE | OPTION_FORCE, .run = nothing },
	{ .name = "tune", .operands = "NAME", .operands_min = 1,
	  .operands_max = 1,
	  .optional = OPTION_MODE | OPTION_READ_ONLY | OPTION_FILL_MEMORY |
		      OPTION_RANGE | OPTION_GROW |
		      OPTION_CACHE_TIMEOUT | OPTION_ORIGIN_TIMEOUT |
		      OPTION_ON_CHANGE | OPTION_WITNESS, .run = nothing },
	{ .name = "take", .operands = "NAME", .operands_min = 1,
	  .operands_max = 1, .optional = OPTION_FORMAT, .run = nothing },
	{ .name = "index", .operands = "FILE...", .operands_min = 1,
	  .operands_max = -1,
	  .optional = OPTION_SHARD_FORMAT | OPTION_SAMPLES | OPTION_CHECK,
	  .run = nothing },
	{ .name = "watch", .operands = "NAME [TARGET...]", .operands_max = -1,
	  .optional = OPTION_FROM | OPTION_INDEX_ONLY | OPTION_MANIFEST |
		      OPTION_WATCH | OPTION_INTERVAL | OPTION_COUNT | OPTION_OUTPUT |
		      OPTION_BATCH,
	  .run = nothing },
	{ .name = "pin", .operands = "NAME [TARGET...]", .operands_max = -1,
	  .optional = OPTION_LABEL | OPTION_PRIORITY | OPTION_EXPIRES |
		      OPTION_BANDWIDTH | OPTION_RANK | OPTION_WORLD_SIZE |
		      OPTION_SEED | OPTION_SPLIT, .run = nothing },
	{ .name = "show", .operands = "[NAME...]", .operands_max = -1,
	  .run = nothing },
	{ .name = "stage", .operands = "NAME", .operands_max = 1,
	  .optional = OPTION_MODE | OPTION_READ_ONLY | OPTIONS_STAGE, .run = nothing },
	{ .name = "reopen", .operands = "", .optional = OPTION_COMPARE_AT_OPEN, .run = nothing },
	{ .name = "table", .operands = "", .optional = OPTION_LABELS | OPTIONS_TABLE,
	  .columns = sheet, .run = nothing },
};

static const struct verb *const verbs[] = {
	&rows[0], &rows[1], &rows[2], &rows[3], &rows[4], &rows[5], &rows[6], &rows[7], &rows[8], &rows[9], NULL,
};

#define WORDS_MAX	12

static int parse(const char *line, struct arguments *args,
		 const struct verb **verb)
{
	static char words[256];
	static char *argv[WORDS_MAX + 2];
	int argc = 1;
	char *word;

	fail_reset();
	argv[0] = "nearcache";
	strncpy(words, line, sizeof(words) - 1);
	for (word = strtok(words, " "); word && argc <= WORDS_MAX;
	     word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	return arguments_parse(args, argc, argv, verbs, verb);
}

static void good_lines(void **state)
{
	const struct verb *verb;
	struct arguments args;

	(void)state;
	assert_int_equal(parse("-j make a --cache /dev/x --block-size 1M", &args,
			       &verb), 0);
	assert_ptr_equal(verb, verbs[0]);
	assert_string_equal(args.operand[0], "a");
	assert_string_equal(args.cache, "/dev/x");
	assert_int_equal(args.block_size, 1 << 20);
	assert_true(option_given(&args, OPTION_JSON));
	assert_false(option_given(&args, OPTION_FORCE));
	assert_int_equal(parse("make --cache=/dev/x --force a --dry-run", &args,
			       &verb), 0);
	assert_string_equal(args.cache, "/dev/x");
	assert_true(option_given(&args, OPTION_FORCE));
	assert_true(option_given(&args, OPTION_DRY_RUN));
	/* An operand is taken back as JSON output shows it. */
	assert_int_equal(parse("index \\a\\xff\\\\ C:\\x", &args, &verb), 0);
	assert_string_equal(args.operand[0], "a\xff\\");
	assert_string_equal(args.operand[1], "C:\\x");
	assert_int_equal(parse("index \\\\x", &args, &verb), CODE_USAGE);
	assert_int_equal(parse("tune a", &args, &verb), 0);
	assert_int_equal(args.mode, NEARCACHE_READ_ONLY);
	assert_int_equal(parse("tune a --mode writethrough --grow", &args,
			       &verb), 0);
	assert_int_equal(args.mode, NEARCACHE_WRITETHROUGH);
	assert_true(option_given(&args, OPTION_GROW));
	assert_int_equal(parse("tune a --read-only --mode=read-only", &args,
			       &verb), 0);
	assert_int_equal(args.mode, NEARCACHE_READ_ONLY);
	assert_int_equal(parse("tune a --range 1M:4K --fill-memory 1M", &args,
			       &verb), 0);
	assert_false(option_given(&args, OPTION_CACHE_TIMEOUT));
	assert_int_equal(args.range.start, 1 << 20);
	assert_int_equal(args.range.length, 4096);
	assert_int_equal(parse("tune a --cache-timeout 0", &args, &verb), 0);
	assert_true(option_given(&args, OPTION_CACHE_TIMEOUT));
	assert_int_equal(args.cache_timeout, 0);
	assert_int_equal(parse("tune a --origin-timeout=60", &args, &verb), 0);
	assert_true(option_given(&args, OPTION_ORIGIN_TIMEOUT));
	assert_int_equal(args.origin_timeout, 60);
	assert_int_equal(args.on_change, ON_CHANGE_DEFAULT);
	assert_int_equal(parse("tune a --on-change=drop", &args, &verb), 0);
	assert_int_equal(args.on_change, ON_CHANGE_DROP);
	assert_int_equal(parse("tune a --on-change refuse", &args, &verb), 0);
	assert_int_equal(args.on_change, ON_CHANGE_REFUSE);
	assert_int_equal(parse("tune a --on-change=trust", &args, &verb), 0);
	assert_int_equal(args.on_change, ON_CHANGE_TRUST);
	assert_int_equal(parse("tune a --witness=/dev/w", &args, &verb), 0);
	assert_string_equal(args.witness, "/dev/w");
	assert_int_equal(parse("tune a --witness none", &args, &verb), 0);
	assert_string_equal(args.witness, "none");
	assert_int_equal(parse("make a --cache x --cache=y --cache z", &args, &verb), 0);
	assert_string_equal(args.cache, "x");
	assert_int_equal(args.members, 2);
	assert_string_equal(args.member[0], "y");
	assert_string_equal(args.member[1], "z");
	assert_int_equal(parse("show a b c --json", &args, &verb), 0);
	assert_int_equal(args.operands, 3);
	assert_int_equal(parse("show -- --json", &args, &verb), 0);
	assert_string_equal(args.operand[0], "--json");
	assert_int_equal(parse("watch --from - --watch --interval 0.25 --count 7",
			       &args, &verb), 0);
	assert_string_equal(args.from, "-");
	assert_int_equal(args.interval, 250);
	assert_int_equal(args.count, 7);
	assert_int_equal(parse("stage a --mode writeback --stage /dev/l --rate 0 --max-behind 10m --on-full writethrough",
			       &args, &verb), 0);
	assert_int_equal(args.mode, NEARCACHE_WRITEAROUND);
	assert_true(option_given(&args, OPTION_WRITEBACK));
	assert_string_equal(args.stage, "/dev/l");
	assert_int_equal(args.max_behind.seconds, 600);
	assert_int_equal(args.on_full, 1);
	assert_int_equal(parse("watch -jo a.svg", &args, &verb), 0);
	assert_string_equal(args.output, "a.svg");
	assert_true(option_given(&args, OPTION_JSON));
	assert_int_equal(parse("watch -oa.svg x", &args, &verb), 0);
	assert_string_equal(args.output, "a.svg");
	assert_int_equal(args.operands, 1);
	assert_int_equal(parse("watch -n 7 a", &args, &verb), 0);
	assert_int_equal(args.count, 7);
	assert_int_equal(args.operands, 1);
	assert_int_equal(parse("-jbn12 watch", &args, &verb), 0);
	assert_int_equal(args.count, 12);
	assert_true(option_given(&args, OPTION_JSON) && option_given(&args, OPTION_BATCH));
	assert_int_equal(parse("pin a --label x --priority 7 --expires 1h --bandwidth 8Gb/s",
			       &args, &verb), 0);
	assert_string_equal(args.label, "x");
	assert_int_equal(args.priority, 7);
	assert_int_equal(args.expires, 3600);
	assert_int_equal(args.bandwidth, 1000000000);
	assert_int_equal(parse("pin a --rank 0 --world-size 4 --split blocked --seed 18446744073709551615",
			       &args, &verb), 0);
	assert_true(option_given(&args, OPTION_RANK));
	assert_true(option_given(&args, OPTION_SPLIT));
	assert_int_equal(args.world_size, 4);
	assert_int_equal(args.seed, UINT64_MAX);
	assert_int_equal(args.split, SHARE_BLOCKED);
	assert_int_equal(parse("--help", &args, &verb), 0);
	assert_null(verb);
	assert_int_equal(parse("make --help", &args, &verb), 0);
	assert_ptr_equal(verb, verbs[0]);
}

/* --format takes no value with one verb and takes a value with another verb. */
static void one_name_twice(void **state)
{
	const struct verb *verb;
	struct arguments args;

	(void)state;
	assert_int_equal(parse("take --format a", &args, &verb), 0);
	assert_true(option_given(&args, OPTION_FORMAT));
	assert_false(option_given(&args, OPTION_SHARD_FORMAT));
	assert_string_equal(args.operand[0], "a");
	assert_int_equal(parse("index --format npz a b --samples 1", &args,
			       &verb), 0);
	assert_false(option_given(&args, OPTION_FORMAT));
	assert_true(option_given(&args, OPTION_SHARD_FORMAT));
	assert_int_equal(args.shard_format, INDEX_NPZ);
	assert_string_equal(args.samples, "1");
	assert_int_equal(args.operands, 2);
	assert_int_equal(parse("index a --format=mds", &args, &verb), 0);
	assert_int_equal(args.shard_format, INDEX_MDS);
	assert_int_equal(parse("index a --check", &args, &verb), 0);
	assert_int_equal(args.shard_format, INDEX_ANY);
	assert_true(option_given(&args, OPTION_CHECK));
	assert_false(option_given(&args, OPTION_SAMPLES));
}

static void bad_lines(void **state)
{
	/* @line is refused, with a message that must contain @quoted. */
	static const struct {
		const char *line;
		const char *quoted;
	} row[] = {
		{ "", "no verb" },
		{ "-j", "no verb" },
		{ "frob", "'frob'" },
		{ "frob", "'nearcache help' lists all" },
		{ "maek a --cache x", "did you mean 'nearcache make'?" },
		{ "make a --cach x", "did you mean '--cache'?" },
		{ "index a --sampels=1", "did you mean '--samples'?" },
		{ "take a --formta-cache", "did you mean '--format-cache'?" },
		{ "show a --frob", "try 'nearcache help show'" },
		{ "make --cache x", "NAME" },
		{ "make a", "--cache DEV" },
		{ "make a b --cache x", "'b'" },
		{ "make a --cache", "--cache" },
		{ "make a --cache x --cache", "--cache DEV" },
		{ "make a --block-size 64K --cache x --block-size 64K", "twice" },
		{ "make a --cache x --block-size 1Q", "'1Q'" },
		{ "make a --cache x --block-size 0", "'0'" },
		{ "make a --cache x --block-size=", "''" },
		{ "make a --cache x --force=yes", "'yes'" },
		{ "make a --cach x", "'--cach'" },
		{ "make a --cache x -q", "'-q'" },
		{ "tune a --mode writeback", "'writeback'" },
		{ "tune a --mode writearound --read-only", "writearound" },
		{ "tune a --read-only --mode writethrough", "writethrough" },
		{ "tune a --mode read-only --mode writearound", "twice" },
		{ "tune a --fill-memory 1K", "'1024'" },
		{ "tune a --range 1M", "'1M'" },
		{ "tune a --cache-timeout 99", "'99': give 0 (never)" },
		{ "tune a --origin-timeout 86401", "'86401': give 0 (the" },
		{ "tune a --witness=", "--witness '': it is empty" },
		{ "tune a --witness", "--witness needs a value" },
		{ "make a --cache x --witness y", "'--witness'" },
		{ "tune a --on-change trusted", "'trusted': give drop, refuse or" },
		{ "tune a --on-change=", "'': give drop" },
		{ "tune a --origin-timeout -1", "'-1': give 0 (the" },
		{ "tune a --cache-timeout 1 --cache-timeout 2", "twice" },
		{ "tune a --range 1:512", "'1'" },
		{ "take a --format=tar", "takes no value, 'tar' was" },
		{ "index a --format", "--format needs a value: --format FORMAT" },
		{ "index a --format zip", "'zip': give tar, tfrecord, parquet, mds or" },
		{ "index a --format mds --format npz", "twice" },
		{ "index a --summary", "'--summary' is not an option of 'index'" },
		{ "--format index a", "'index': give tar" },
		{ "show a --format", "'--format' is not an option of 'show'" },
		{ "show a --samples 1", "'--samples'" },
		{ "watch --interval 0.01", "'0.01': give 0.1 to 86400" },
		{ "watch --interval 1s", "'1s'" }, { "watch --interval nan", "'nan'" },
		{ "watch --interval -1", "'-1'" }, { "watch --count 0", "'0': give 1" },
		{ "watch --count 4294967296", "'4294967296'" },
		{ "watch -o", "--output needs a value: --output FILE" },
		{ "watch -oa -o b", "--output is given twice" },
		{ "show -o a", "'--output' is not an option of 'show'" },
		{ "watch --count 1x", "'1x'" }, { "watch --from", "--from FILE" },
		{ "watch -n", "--count needs a value" }, { "watch -n0", "'0': give 1" },
		{ "watch -n 1 --count 2", "twice" }, { "watch -nb 1", "'b'" },
		{ "show -n 1", "'--count' is not an option of 'show'" },
		{ "pin a --priority 8", "'8': give 0 to 7" },
		{ "pin a --priority -1", "'-1'" }, { "pin a --expires 0", "'0'" },
		{ "pin a --label=", "'': it is empty" },
		{ "pin a --rank 4294967295", "'4294967295': give 0 to" },
		{ "pin a --seed 18446744073709551616", "of 64 bits" },
		{ "pin a --split half", "give strided or blocked" },
		{ "pin a --epoch 1", "'--epoch' is not an option of 'pin'" },
		{ "show --cache x", "'--cache'" },
		{ "show --forc", "'--forc'" },
		{ "stage a --rate 1", "'1': give 0 (as fast as the origin) or 64K" },
		{ "stage a --max-behind 2d", "'2d': give 0 (no limit), 1M or more" },
		{ "stage a --max-behind 1", "'1': give 0 (no limit), 1M or more" },
		{ "stage a --on-full x", "'x': give wait or writethrough" },
		{ "stage a --mode copyback", "'copyback': give read-only" },
		{ "table -o name,frob", "'frob': it is not a column of 'table'; its columns are NAME, SIZE, UUID" },
		{ "table -o size --labels", "'size': it is not a column of 'table'; its columns are NAME, HITS, UUID" },
		{ "table -o hits", "'hits'" }, { "table -o name,", "''" }, { "table --columns=", "''" },
		{ "table -o nam", "'nam'" }, { "table -o names", "'names'" }, { "table -o +x", "'x'" },
		{ "table -j -o name", "--json has all columns" }, { "table -j --raw", "--json has all columns" },
		{ "table --noheadings -j", "--json has all columns" },
		{ "show --raw", "'--raw' is not an option of 'show'" },
	};
	const struct verb *verb;
	struct arguments args;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		assert_int_equal(parse(row[i].line, &args, &verb), CODE_USAGE);
		if (!strstr(fail_message(), row[i].quoted))
			fail_msg("'%s': %s", row[i].line, fail_message());
	}
}

/* Names of earlier versions: accepted, but not told. */
static void earlier_names(void **state)
{
	const struct verb *verb;
	struct arguments args;

	(void)state;
	assert_int_equal(parse("take --format-cache a", &args, &verb), 0);
	assert_true(option_given(&args, OPTION_FORMAT));
	assert_int_equal(parse("reopen --sample-at-open 4K", &args, &verb), 0);
	assert_true(option_given(&args, OPTION_COMPARE_AT_OPEN));
	assert_int_equal(args.sample, 4096);
	assert_int_equal(parse("reopen --compare-at-open 8K", &args, &verb), 0);
	assert_int_equal(args.sample, 8192);
	assert_int_equal(parse("reopen --compare-at-open 8K --sample-at-open 8K", &args, &verb), CODE_USAGE);
	assert_int_equal(parse("reopen --sample-at-opem 8K", &args, &verb), CODE_USAGE);
	assert_null(strstr(fail_message(), "--sample-at-open"));
}

/* An option that several verbs have, each its own, may stand before the verb. */
static void before_the_verb(void **state)
{
	const struct verb *verb;
	struct arguments args;

	(void)state;
	assert_int_equal(parse("-o name table", &args, &verb), 0);
	assert_ptr_equal(verb, verbs[9]);
	assert_string_equal(args.columns, "name");
	assert_int_equal(parse("-jo a.svg watch x", &args, &verb), 0);
	assert_ptr_equal(verb, verbs[4]);
	assert_string_equal(args.output, "a.svg");
	assert_string_equal(args.operand[0], "x");
	assert_int_equal(parse("--rate=1M -- stage a", &args, &verb), 0);
	assert_true(option_given(&args, OPTION_DRAIN_RATE));
	assert_int_equal(parse("--rate 1M stage a", &args, &verb), 0);
	assert_int_equal(args.operands, 1);
	assert_int_equal(parse("--rate 1 stage a", &args, &verb), CODE_USAGE);
	assert_non_null(strstr(fail_message(), "64K"));
	assert_int_equal(parse("--rate 1M show a", &args, &verb), CODE_USAGE);
	assert_non_null(strstr(fail_message(), "not an option of 'show'"));
	assert_int_equal(parse("--rate", &args, &verb), CODE_USAGE);
	/* --format takes a value with index, and none with take. */
	assert_int_equal(parse("--format take a", &args, &verb), 0);
	assert_ptr_equal(verb, verbs[2]);
	assert_true(option_given(&args, OPTION_FORMAT));
	assert_string_equal(args.operand[0], "a");
	assert_int_equal(parse("--format tar index a", &args, &verb), 0);
	assert_int_equal(args.shard_format, INDEX_TAR);
	assert_int_equal(parse("--format tar take a", &args, &verb), CODE_USAGE);
	assert_non_null(strstr(fail_message(), "'tar' stands before the verb: give 'take' first"));
}

/* -o is --output of one verb and --columns of another one. */
static void table_form(void **state)
{
	struct column_choice choice;
	const struct verb *verb;
	struct arguments args;

	(void)state;
	assert_int_equal(parse("table", &args, &verb), 0);
	assert_false(arguments_columns(&args).active);
	assert_int_equal(arguments_no_table(&args, "show"), 0);
	assert_int_equal(parse("table -o Size,uuid,NAME --raw", &args, &verb), 0);
	assert_null(args.output);
	choice = arguments_columns(&args);
	assert_true(choice.active && choice.raw && !choice.no_headings);
	assert_string_equal(choice.list, "Size,uuid,NAME");
	assert_int_equal(arguments_no_table(&args, "show"), CODE_USAGE);
	assert_int_equal(parse("table --noheadings --columns=+uuid", &args, &verb), 0);
	choice = arguments_columns(&args);
	assert_true(choice.active && !choice.raw && choice.no_headings);
	assert_int_equal(parse("table --labels -o hits", &args, &verb), 0);
	assert_int_equal(parse("watch -o a.svg", &args, &verb), 0);
	assert_null(args.columns);
	assert_string_equal(args.output, "a.svg");
}

static void json_is_known_after_an_error(void **state)
{
	const struct verb *verb;
	struct arguments args;

	(void)state;
	assert_int_equal(parse("make --frob a --json", &args, &verb),
			 CODE_USAGE);
	assert_true(option_given(&args, OPTION_JSON));
}

/* arguments_override() copies only the options that were given: the other fields stay 0xff. */
static void one_over_another(void **state)
{
	struct arguments args, by;
	const struct verb *verb;

	(void)state;
	assert_int_equal(parse("pin a --label job --seed 81985529216486895 --bandwidth 80Gb/s --expires 90",
			       &by, &verb), 0);
	memset(&args, 0xff, sizeof(args));
	args.given = 0;
	arguments_override(&args, &by);
	assert_string_equal(args.label, "job");
	assert_int_equal(args.seed, 81985529216486895);
	assert_int_equal(args.bandwidth, 10000000000);
	assert_int_equal(args.expires, 90);
	assert_int_equal(args.deadline, UINT32_MAX);
	assert_int_equal(args.priority, UINT32_MAX);
	assert_int_equal(args.epoch, UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_lines),
		cmocka_unit_test(one_name_twice),
		cmocka_unit_test(bad_lines),
		cmocka_unit_test(before_the_verb),
		cmocka_unit_test(table_form),
		cmocka_unit_test(earlier_names),
		cmocka_unit_test(one_over_another),
		cmocka_unit_test(json_is_known_after_an_error),
	};

	return RUN(tests);
}
