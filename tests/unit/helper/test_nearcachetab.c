// SPDX-License-Identifier: GPL-2.0-only
/* nearcachetab (open/nearcachetab.c): valid lines are used, and invalid ones keep their reason. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/error.h"
#include "open/nearcachetab.h"
#include "unit.h"

#define UUID	"ffc45aad-60bf-42f0-88b9-7283dbfab37d"

static struct tab tab;

static void parse(const char *text)
{
	tab_free(&tab);
	fail_reset();
	assert_int_equal(tab_parse(&tab, "TAB", text, strlen(text)), 0);
	assert_int_equal(fail_code(), 0);
}

static void taken(void **state)
{
	const struct tab_entry *entry;

	(void)state;
	parse("# comment\n\n  a\t/dev/o  /dev/c\r\n"
	      "b /dev/disk/by-id/x\\040y UUID=" UUID
	      " _netdev,mode=writearound,origin-timeout=600,timeout=5,fail,grow\n"
	      "c /dev/o /dev/c defaults\n"
	      "d /dev/o /dev/c noauto,dataset-version=v\\0541,fill-memory=128M,nofail");
	assert_int_equal(tab.entries, 4);
	entry = tab_find(&tab, "a");
	assert_null(entry->why);
	assert_int_equal(entry->line, 3);
	assert_string_equal(entry->origin, "/dev/o");
	assert_string_equal(entry->cache, "/dev/c");
	assert_int_equal(entry->timeout, TAB_TIMEOUT);
	assert_false(entry->fail || entry->netdev || entry->noauto);
	assert_int_equal(entry->args.given, 0);
	entry = tab_find(&tab, "b");
	assert_null(entry->why);
	assert_string_equal(entry->origin, "/dev/disk/by-id/x y");
	assert_string_equal(entry->cache, "UUID=" UUID);
	assert_true(entry->fail && entry->netdev && !entry->noauto);
	assert_int_equal(entry->timeout, 5);
	assert_int_equal(entry->args.mode, NEARCACHE_WRITEAROUND);
	assert_int_equal(entry->args.origin_timeout, 600);
	assert_int_equal(entry->args.given, OPTION_MODE |
			 OPTION_ORIGIN_TIMEOUT | OPTION_GROW);
	assert_null(tab_find(&tab, "c")->why);
	entry = tab_find(&tab, "d");
	assert_true(entry->noauto && !entry->fail);
	assert_string_equal(entry->args.dataset_version, "v,1");
	assert_int_equal(entry->args.fill_memory, 128 << 20);
	assert_null(tab_find(&tab, "e"));
	assert_null(tab_find(&tab, "d")->cluster);
	parse("n-home /dev/o /dev/c cluster=/etc/n.conf,read-only\n");
	assert_null(tab_find(&tab, "n-home")->why);
	assert_string_equal(tab_find(&tab, "n-home")->cluster, "/etc/n.conf");
}

/* An invalid line gets its number and a reason; the line behind it is still used. */
static void refused(void **state)
{
	static const struct {
		const char *line;
		const char *why;
	} wrong[] = {
		{ "x", "only 1 word" },
		{ "x /dev/o", "only 2 words" },
		{ "x /dev/o /dev/c nofail more", "'more' is one word too many" },
		{ "a/b /dev/o /dev/c", "'a/b' is not a valid device name" },
		{ "-x /dev/o /dev/c", "starts with '-'" },
		{ "x o /dev/c", "origin 'o': give a path" },
		{ "x /dev/o UUID=1", "'UUID=1': this is not a uuid" },
		{ "x /dev/o LABEL=1", "cache device 'LABEL=1'" },
		{ "x /dev/o /dev/c modes=read-only", "'--modes' is not an option" },
		{ "x /dev/o /dev/c mode=slow", "--mode 'slow'" },
		{ "x /dev/o /dev/c mode", "--mode needs a value" },
		{ "x /dev/o /dev/c cluster=/etc/n", "the device of a node is NAME-home, not 'x'" },
		{ "-home /dev/o /dev/c cluster=/etc/n", "starts with '-'" },
		{ "x-home /dev/o /dev/c cluster=etc/n", "cluster 'etc/n': give the absolute path" },
		{ "x-home /dev/o /dev/c cluster=/etc/%n", "cluster '/etc/%n': give the absolute path" },
		{ "x-home /dev/o /dev/c cluster=/n,mode=writearound", "the nodes of a cluster only read" },
		{ "x /dev/o /dev/c grow=1", "--grow takes no value" },
		{ "x /dev/o /dev/c block-size=1M", "not an option" },
		{ "x /dev/o /dev/c cache=/dev/d", "name the devices" },
		{ "x /dev/o /dev/c origin", "name the devices" },
		{ "x /dev/o /dev/c nofail,,grow", "an option is empty" },
		{ "x /dev/o /dev/c timeout=0", "timeout '0'" },
		{ "x /dev/o /dev/c timeout=-1", "timeout '-1'" },
		{ "x /dev/o /dev/c timeout=1s", "timeout '1s'" },
		{ "x /dev/o /dev/c help", "only on the command line" },
		{ "x /dev/o /dev/c force", "only on the command line" },
		{ "x /dev/o /dev/c json", "only on the command line" },
		{ "x /dev/o /dev/c mode=writearound,read-only", "contradicts" },
		{ "x /dev/o /dev/c verify=1,verify=2", "given twice" },
		{ "x /dev/o /dev/\a", "byte 15 is a control character" },
		{ "x /dev/o /dev/\377", "byte 15 is" },
	};
	char text[256];
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(text, sizeof(text), "#\n%s\ngood /dev/o /dev/c\n",
			 wrong[i].line);
		parse(text);
		assert_int_equal(tab.entries, 2);
		assert_int_equal(tab.entry[0].line, 2);
		assert_non_null(tab.entry[0].why);
		if (!strstr(tab.entry[0].why, wrong[i].why))
			fail_msg("no '%s' in: %s", wrong[i].why,
				 tab.entry[0].why);
		assert_null(tab.entry[1].why);
	}
}

static void found(void **state)
{
	const struct tab_entry *entry;

	(void)state;
	/* tab_find() prefers a valid line to an invalid one, and the first of two valid ones. */
	parse("x /dev/o\nx /dev/o /dev/c\nx /dev/o /dev/d\nx\ny bad /dev/c\n");
	entry = tab_find(&tab, "x");
	assert_int_equal(entry->line, 2);
	assert_null(entry->why);
	assert_non_null(strstr(tab.entry[2].why, "already the name of line 2"));
	assert_int_equal(tab_need(&tab, "x", &entry), 0);
	assert_int_equal(tab_need(&tab, "y", &entry), CODE_USAGE);
	assert_non_null(strstr(fail_message(), "'TAB' line 5: origin 'bad'"));
	fail_reset();
	assert_int_equal(tab_need(&tab, "z", &entry), CODE_USAGE);
	assert_non_null(strstr(fail_message(), "'z' has no line in 'TAB'"));
}

static void files(void **state)
{
	char path[] = "/tmp/test_tab.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "a /o /c\n", 8), 8);
	tab_free(&tab);
	fail_reset();
	assert_int_equal(tab_read(&tab, path), 0);
	assert_int_equal(tab.entries, 1);
	tab_free(&tab);
	assert_int_equal(write(fd, "a\0b", 3), 3);
	assert_int_equal(tab_read(&tab, path), CODE_USAGE);
	tab_free(&tab);
	fail_reset();
	close(fd);
	unlink(path);
	assert_int_equal(tab_read(&tab, path), 0);
	assert_int_equal(tab.entries, 0);
	assert_int_equal(tab_read(&tab, "/"), CODE_DEVICE);
	tab_free(&tab);
}

static void overridden(void **state)
{
	struct arguments by = {
		.given = OPTION_READ_ONLY | OPTION_VERIFY | OPTION_ORIGIN,
		.verify = 9,
		.origin = "/dev/p",
	};
	struct arguments args;

	(void)state;
	parse("a /dev/o /dev/c mode=writearound,verify=3,cache-timeout=500\n");
	args = tab.entry[0].args;
	arguments_override(&args, &by);
	assert_int_equal(args.mode, NEARCACHE_READ_ONLY);
	assert_int_equal(args.verify, 9);
	assert_int_equal(args.cache_timeout, 500);
	assert_string_equal(args.origin, "/dev/p");
	assert_int_equal(args.given, OPTION_READ_ONLY | OPTION_VERIFY |
			 OPTION_ORIGIN | OPTION_CACHE_TIMEOUT);
	tab_free(&tab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taken),
		cmocka_unit_test(refused),
		cmocka_unit_test(found),
		cmocka_unit_test(files),
		cmocka_unit_test(overridden),
	};

	return RUN(tests);
}
