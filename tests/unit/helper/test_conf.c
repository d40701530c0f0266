// SPDX-License-Identifier: GPL-2.0-only
/* nearcache.conf (daemon/conf.c): valid settings apply, an invalid line is named by its number. */
#include <stdio.h>

#include "daemon/conf.h"
#include "lib/error.h"
#include "unit.h"

static struct conf conf;

static int parse(const char *text)
{
	char copy[512];

	snprintf(copy, sizeof(copy), "%s", text);
	conf_default(&conf);
	return conf_parse(&conf, "F", copy);
}

static void taken(void **state)
{
	(void)state;
	assert_int_equal(parse(""), 0);
	assert_true(conf.read_ahead && conf.replay_loops && conf.around);
	assert_int_equal(conf.read_ahead_sequential, 4 << 20);
	assert_int_equal(conf.hold, 600);
	assert_int_equal(conf.first_touch, 2);
	assert_false(conf_gives(&conf, "window") || conf_gives(&conf, "checkpoint"));
	assert_int_equal(parse("window = 1M\n"), 0);
	assert_true(conf_gives(&conf, "window"));
	assert_false(conf_gives(&conf, "checkpoint"));
	assert_int_equal(parse("# all of them\n"
			       "interval = 2\n read-ahead=no\n"
			       "read-ahead-sequential = 8M # more\n"
			       "read-ahead-scattered\t=\t4K\n"
			       "window = 0\ncheckpoint = cache\nsettle = 7\nfirst-touch = 15%\npin-hot=7%\nreplay-loops = no\n"
			       "calm = 1m\ntrial = 30\nhold = 1h\n"
			       "metrics-listen = 127.0.0.1:9435\n"
			       "metrics-textfile = /var/x y.prom\n"), 0);
	assert_int_equal(ntohs(conf.listen.sin_port), 9435);
	assert_int_equal(ntohl(conf.listen.sin_addr.s_addr), 0x7f000001);
	assert_string_equal(conf.textfile, "/var/x y.prom");
	assert_int_equal(conf.interval, 2);
	assert_false(conf.read_ahead);
	assert_int_equal(conf.read_ahead_sequential, 8 << 20);
	assert_int_equal(conf.read_ahead_scattered, 4096);
	assert_int_equal(conf.window, 0);
	assert_false(conf.replay_loops);
	assert_false(conf.around);
	assert_int_equal(conf.settle, 7);
	assert_int_equal(conf.first_touch, 15);
	assert_int_equal(conf.pin_hot, 7);
	assert_int_equal(conf.calm, 60);
	assert_int_equal(conf.trial, 30);
	assert_int_equal(conf.hold, 3600);
}

static void refused(void **state)
{
	static const struct {
		const char *text;
		const char *says;
	} row[] = {
		{ "x", "'F' line 1: 'x' is not of the form SETTING = VALUE" },
		{ "\n\nspeed = 1", "'F' line 3: 'speed' is not a setting" },
		{ "read-ahead = maybe", "read-ahead 'maybe': give yes or no" },
		{ "read-ahead-sequential = 5", "'5': give 0 (none) to 1G" },
		{ "first-touch = 2", "'2': give 0% (none) to 100%" },
		{ "first-touch = 101%", "'101%': give 0% (none) to 100%" },
		{ "first-touch = -1%", "'-1%': give 0% (none) to 100%" },
		{ "read-ahead-scattered = 2G", "'2G': give 0 (none) to 1G" },
		{ "window = 65M", "'65M': give 0 (none) to 64M" },
		{ "window = 513", "'513': give 0 (none) to 64M" },
		{ "window = much", "window 'much': " },
		{ "checkpoint = yes", "'yes': give around or cache" },
		{ "settle = 0", "'0': give 1 to 1000" },
		{ "settle = 1001", "'1001': give 1 to 1000" },
		{ "settle = 1x", "'1x': give 1 to 1000" },
		{ "interval = -1", "interval '-1': " },
		{ "metrics-listen = 9435", "'9435': give ADDRESS:PORT" },
		{ "metrics-listen = 127.0.0.1:0", "'127.0.0.1:0': give ADDRESS:PORT" },
		{ "metrics-listen = 127.0.0.1:", "'127.0.0.1:': give ADDRESS:PORT" },
		{ "metrics-listen = 127.0.0.1:65536", "'127.0.0.1:65536': give ADDRESS:PORT" },
		{ "metrics-listen = 127.0.0.1:1x", "'127.0.0.1:1x': give ADDRESS:PORT" },
		{ "metrics-listen = host:1", "'host:1': give ADDRESS:PORT" },
		{ "metrics-listen = 0.0.0.0:9435", "give a loopback address" },
		{ "metrics-listen = 10.0.0.1:9435", "give a loopback address" },
		{ "metrics-textfile = nc.prom", "'nc.prom': give an absolute path" },
		{ "interval =", "interval '': " },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		assert_int_equal(parse(row[i].text), CODE_USAGE);
		if (!strstr(fail_message(), row[i].says))
			fail_msg("'%s', not '%s'", fail_message(), row[i].says);
		fail_reset();
	}
}

static void files(void **state)
{
	(void)state;
	assert_int_equal(conf_read(&conf, "/none/at/all", false), 0);
	assert_int_equal(conf.interval, 1);
	assert_int_equal(conf_read(&conf, "/none/at/all", true), CODE_DEVICE);
	fail_reset();
	/* A binary file is refused. */
	assert_int_equal(conf_read(&conf, "/proc/self/exe", true), CODE_USAGE);
	fail_reset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taken),
		cmocka_unit_test(refused),
		cmocka_unit_test(files),
	};

	return RUN(tests);
}
