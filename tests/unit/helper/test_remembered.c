// SPDX-License-Identifier: GPL-2.0-only
/* The settings that are remembered with a cache (open/remembered*.c): their file and precedence. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "block/lock.h"
#include "lib/error.h"
#include "open/remembered.h"
#include "said.h"

#define UUID	"ffc45aad-60bf-42f0-88b9-7283dbfab37d"
#define OTHER	"00c45aad-60bf-42f0-88b9-7283dbfab300"

static char folder[64];
static struct remembered r;
static unsigned int locks, warnings;
static bool locked;

void lock_name(const char *name)
{
	assert_string_equal(name, "/settings");
	assert_false(locked);
	locked = true;
	locks++;
}

void lock_release(void)
{
	assert_true(locked);
	locked = false;
}

void __wrap_warn(const char *format, ...);
void __wrap_warn(const char *format, ...)
{
	assert_non_null(format);
	warnings++;
}

static int parse(const char *text)
{
	char copy[4096];

	snprintf(copy, sizeof(copy), "%s", text);
	fail_reset();
	return remembered_parse(&r, "FILE", copy);
}

static void write_text(const char *uuid, const char *text)
{
	char path[PATH_MAX];
	FILE *file;

	mkdir(folder, 0755);
	file = fopen(remembered_path(uuid, path), "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* The file of the cache must be @text; NULL: there must be no file. */
static void assert_text(const char *uuid, const char *text)
{
	char path[PATH_MAX], now[4096] = "";
	FILE *file = fopen(remembered_path(uuid, path), "r");

	assert_int_equal(!!file, !!text);
	if (!file)
		return;
	now[fread(now, 1, sizeof(now) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(now, text);
}

#define ALL	"mode=writearound\nfill_memory=33554432\ncache_timeout=900\norigin_timeout=30\nverify=100\n" \
	    "rate=1048576\nmax_behind=600s\non_full=writethrough\nread_ahead=4194304\n" \
	    "witness=/dev/a #b=c\nbefore=/dev/o\nattached=" OTHER "\nname=n#c\n"

static void parsed(void **state)
{
	char text[REMEMBERED_TEXT];

	(void)state;
	assert_int_equal(parse("# a comment\n\n" ALL), 0);
	assert_int_equal(r.args.mode, NEARCACHE_WRITEAROUND);
	assert_int_equal(r.args.fill_memory, 32 << 20);
	assert_int_equal(r.args.cache_timeout, 900);
	assert_int_equal(r.args.origin_timeout, 30);
	assert_int_equal(r.args.verify, 100);
	assert_int_equal(r.args.drain_rate, 1 << 20);
	assert_int_equal(r.args.max_behind.seconds, 600);
	assert_int_equal(r.args.on_full, 1);
	assert_true(r.ahead_given && r.read_ahead == 4 << 20);
	assert_string_equal(r.witness, "/dev/a #b=c");
	assert_true(r.args.given == REMEMBERED_OPTIONS);
	assert_string_equal(remembered_print(&r, text), ALL);
	assert_string_equal(remembered_describe(&r, true, text),
			    "mode=writearound, fill_memory=32 MiB, cache_timeout=900 ms, origin_timeout=30 s, "
			    "verify=100, rate=1 MiB, max_behind=600s, on_full=writethrough, read_ahead=4 MiB, "
			    "witness=/dev/a #b=c");
	assert_int_equal(parse("cache-timeout=0\nread-ahead=0\nmax-behind=0"), 0);
	assert_string_equal(remembered_describe(&r, false, text),
			    "cache_timeout=0 max_behind=0 read_ahead=0");
	assert_int_equal(parse("name=nc\n"), 0);
	assert_string_equal(remembered_print(&r, text), "");
}

/* Each error names the file, the line, its content and what to do. */
static void refused(void **state)
{
	static const struct {
		const char *line;
		const char *why;
	} wrong[] = {
		{ "mode", "'mode' is not of the form SETTING=VALUE" },
		{ "=", "not a setting that this version knows" },
		{ "mode=", "give read-only, writearound or writethrough" },
		{ "mode=writeback", "give read-only, writearound or writethrough" },
		{ "mode = read-only", "not a setting" },
		{ "exclusive=1", "not a setting that this version knows" },
		{ "fill_memory=0", "it must not be 0" },
		{ "fill_memory=1K", "give 1M to 1T" },
		{ "fill_memory=auto", "" },
		{ "cache_timeout=99", "give 0 (never) or 100" },
		{ "origin_timeout=-1", "give 0 (the origin's own errors)" },
		{ "verify=x", "give 0 (none)" },
		{ "rate=1", "give 0 (as fast" },
		{ "max_behind=x", "" },
		{ "on_full=drop", "give wait or writethrough" },
		{ "read_ahead=1", "give 0 (none) to 1G" },
		{ "witness=", "give a device, or none" },
		{ "attached=x", "it is no uuid" },
		{ "name=a/b", "use only letters" },
		{ "witness=/dev/\x1b[2J", "control character" },
		{ "verify=1\nverify=1", "set twice" },
	};
	char line[2 * sizeof(r.witness)] = "witness=/", advice[] = "'nearcache open --forget'";
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char text[256], place[32];
		bool second = strchr(wrong[i].line, '\n');

		snprintf(text, sizeof(text), "# comment\n%s\nverify=2", wrong[i].line);
		assert_int_equal(parse(text), CODE_DEVICE);
		snprintf(place, sizeof(place), "'FILE' line %d: ", second ? 3 : 2);
		assert_said(place);
		assert_said(wrong[i].why);
		assert_said("correct this line or remove it");
		assert_said(advice);
		assert_true(!r.args.given && !*r.witness);
	}
	memset(line + strlen(line), 'x', sizeof(r.witness));
	assert_int_equal(parse(line), CODE_DEVICE);
	assert_said("too long");
	write_text(UUID, "verify=1\n");
	truncate(remembered_path(UUID, line), 100000);
	fail_reset();
	assert_int_not_equal(remembered_load(&r, UUID), 0);
	assert_said(UUID);
	assert_said(advice);
}

static struct arguments apply(const char *file, struct arguments args, bool staged)
{
	assert_int_equal(parse(file), 0);
	remembered_apply(&r, &args, staged);
	return args;
}

/* Options of the command and of nearcachetab override the file, and the file the defaults. */
static void applied(void **state)
{
	struct arguments args;
	char text[REMEMBERED_TEXT];

	(void)state;
	args = apply(ALL, (struct arguments){ .given = OPTION_VERIFY, .verify = 7 }, false);
	assert_int_equal(args.mode, NEARCACHE_WRITEAROUND);
	assert_int_equal(args.verify, 7);
	assert_int_equal(args.cache_timeout, 900);
	assert_true(args.given == (REMEMBERED_OPTIONS & ~(option_set)REMEMBERED_STAGE));
	/* The report has only the settings that are in force. */
	assert_null(strstr(remembered_describe(&r, true, text), "verify"));
	assert_null(strstr(text, "rate"));
	args = apply(ALL, (struct arguments){ .given = OPTION_READ_ONLY }, true);
	assert_int_equal(args.mode, NEARCACHE_READ_ONLY);
	assert_int_equal(args.drain_rate, 1 << 20);
	args = apply("mode=read-only", (struct arguments){ .given = OPTION_MODE | OPTION_WRITEBACK,
							   .mode = NEARCACHE_WRITEAROUND }, true);
	assert_int_equal(args.mode, NEARCACHE_WRITEAROUND);
	args = apply("", (struct arguments){ 0 }, true);
	assert_true(!args.given);
}

static int reset(void **state)
{
	char path[PATH_MAX];

	(void)state;
	fail_reset();
	warnings = 0;
	unlink(remembered_path(UUID, path));
	unlink(remembered_path(OTHER, path));
	rmdir(folder);
	return 0;
}

static void set(const char *word)
{
	char copy[64], *words[] = { copy };

	snprintf(copy, sizeof(copy), "%s", word);
	remembered_words(UUID, "nc", words, 1, !strncmp(word, "read", 4));
	assert_int_equal(fail_code(), 0);
}

/* Options of a command are remembered, but not --force and the like or those of nearcachetab. */
static void remembered(void **state)
{
	struct arguments args = {
		.given = OPTION_MODE | OPTION_VERIFY | OPTION_CACHE_TIMEOUT | OPTION_EXCLUSIVE |
			 OPTION_FORCE | OPTION_ON_CHANGE | OPTION_WITNESS,
		.of_line = OPTION_VERIFY,
		.mode = NEARCACHE_WRITETHROUGH, .verify = 5, .cache_timeout = 800,
		.witness = "/dev/w", .on_change = ON_CHANGE_TRUST,
	};

	(void)state;
	remembered_options(UUID, "nc", &args);
	assert_text(UUID, "mode=writethrough\ncache_timeout=800\nname=nc\n");
	set("verify=9");
	set("read-ahead=1M");
	set("fill_memory=8M");
	set("witness=/dev/x");
	assert_text(UUID, "mode=writethrough\nfill_memory=8388608\ncache_timeout=800\nverify=9\n"
			  "read_ahead=1048576\nname=nc\n");
	set("fill-memory=auto");
	set("max-behind=10m");
	args = (struct arguments){ .given = OPTION_READ_ONLY };
	remembered_opened(UUID, "nd", &args, false);
	assert_text(UUID, "mode=read-only\ncache_timeout=800\nverify=9\nmax_behind=600s\n"
			  "read_ahead=1048576\nname=nd\n");
	/* A stage gives its cache a mode: it is not remembered, and replaces the one that was. */
	args = (struct arguments){ .given = OPTION_MODE | OPTION_WRITEBACK | OPTION_FORGET };
	remembered_opened(UUID, "nc", &args, false);
	assert_text(UUID, NULL);
	args = (struct arguments){ .given = OPTION_VERIFY, .verify = 3 };
	remembered_opened(UUID, "nc", &args, false);
	assert_text(UUID, "verify=3\nname=nc\n");
	remembered_forget(UUID);
	assert_text(UUID, NULL);
	assert_true(locks && !warnings);
}

/* --forget also drops a file that cannot be parsed; other commands leave it, and warn. */
static void damaged(void **state)
{
	struct arguments args = { .given = OPTION_VERIFY, .verify = 3 };

	(void)state;
	write_text(UUID, "verify\n");
	set("verify=9");
	assert_text(UUID, "verify\n");
	assert_int_equal(warnings, 1);
	args.given |= OPTION_FORGET;
	remembered_opened(UUID, "nc", &args, false);
	assert_text(UUID, "verify=3\nname=nc\n");
	assert_int_equal(warnings, 1);
}

/* The folder cannot be made, as on a read-only file system: a warning, and no error. */
static void unwritable(void **state)
{
	const char *usual = remembered_folder;
	struct arguments none = { 0 };

	(void)state;
	remembered_folder = "/proc/nearcache/settings";
	set("verify=9");
	assert_int_equal(warnings, 1);
	/* Without settings there is nothing to write. */
	remembered_opened(UUID, "nc", &none, true);
	remembered_forget(UUID);
	assert_int_equal(warnings, 1);
	remembered_folder = usual;
}

/* The witness is in the file only while the superblock names another one. */
static void witness(void **state)
{
	struct arguments none = { 0 };

	(void)state;
	remembered_witness(UUID, "nc", "/dev/v", "/dev/w");
	assert_text(UUID, "witness=/dev/v\nbefore=/dev/w\nname=nc\n");
	remembered_witness(UUID, "nc", "none", "/dev/w");
	assert_text(UUID, "witness=none\nbefore=/dev/w\nname=nc\n");
	remembered_witness(UUID, "nc", "/dev/w", "/dev/w");
	assert_text(UUID, NULL);
	remembered_witness(UUID, "nc", "none", "");
	assert_text(UUID, NULL);
	remembered_witness(UUID, "nc", "/dev/v", "");
	remembered_opened(UUID, "nc", &none, false);
	assert_text(UUID, "witness=/dev/v\nbefore=\nname=nc\n");
	assert_int_equal(remembered_load(&r, UUID), 0);
	remembered_opened(UUID, "nc", &none, true);
	assert_text(UUID, NULL);
	remembered_witness(UUID, "nc", "/dev/a\nb", "");
	assert_text(UUID, NULL);
}

/* A device that got another cache keeps the uuid of the first one. Its settings go to the other. */
static void attached(void **state)
{
	struct arguments none = { 0 };

	(void)state;
	set("verify=9");
	remembered_attached(UUID, "nc", UUID);
	assert_text(UUID, "verify=9\nname=nc\n");
	remembered_attached(UUID, "nc", OTHER);
	assert_text(OTHER, "verify=9\nname=nc\n");
	set("verify=4");
	assert_text(OTHER, "verify=4\nname=nc\n");
	assert_text(UUID, "verify=9\nattached=" OTHER "\nname=nc\n");
	/* The first cache comes back to the device. */
	remembered_attached(UUID, "nc", UUID);
	assert_text(UUID, "verify=4\nname=nc\n");
	/* The first cache does not come back, and is opened alone. */
	remembered_attached(UUID, "nc", OTHER);
	remembered_opened(UUID, "nc", &none, false);
	assert_text(UUID, "verify=4\nname=nc\n");
	assert_false(warnings);
}

/* Without the uuid of a cache: the settings that a device of this name had last. */
static void found(void **state)
{
	struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	char path[PATH_MAX], uuid[SUPER_UUID_TEXT];

	(void)state;
	assert_false(remembered_find(&r, "nc", uuid));
	write_text(UUID, "verify=1\nname=nc\n");
	write_text(OTHER, "verify=2\nname=nc\n");
	assert_int_equal(utimensat(AT_FDCWD, remembered_path(OTHER, path), old, 0), 0);
	assert_true(remembered_find(&r, "nc", uuid));
	assert_int_equal(r.args.verify, 1);
	assert_string_equal(uuid, UUID);
	assert_false(remembered_find(&r, "nd", uuid));
	write_text(UUID, "verify\n");
	assert_true(remembered_find(&r, "nc", uuid));
	assert_int_equal(r.args.verify, 2);
	assert_string_equal(uuid, OTHER);
	assert_int_equal(fail_code(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parsed),
		cmocka_unit_test_teardown(refused, reset),
		cmocka_unit_test(applied),
		cmocka_unit_test_setup_teardown(remembered, reset, reset),
		cmocka_unit_test_setup_teardown(damaged, reset, reset),
		cmocka_unit_test_setup(unwritable, reset),
		cmocka_unit_test_setup_teardown(witness, reset, reset),
		cmocka_unit_test_setup_teardown(attached, reset, reset),
		cmocka_unit_test_setup_teardown(found, reset, reset),
	};
	char base[] = "/tmp/remembered-XXXXXX";
	int failed;

	if (!mkdtemp(base))
		return 1;
	snprintf(folder, sizeof(folder), "%s/settings", base);
	remembered_folder = folder;
	failed = RUN(tests);
	rmdir(base);
	return failed;
}
