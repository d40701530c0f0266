// SPDX-License-Identifier: GPL-2.0-only
/* cluster/joined.c: records of joins are written, read, listed and removed. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cluster/joined.h"
#include "said.h"

static void record_round_trip(void **state)
{
	const struct cluster_conf conf = {
		.secret = "DHHC-1:x", .tls = true, .keep_alive = 7, .fast_io_fail = 3600,
	};
	struct joined joined, *list;
	size_t count;

	(void)state;
	assert_int_equal(joined_read(&joined, "data"), 0);
	assert_false(joined.found);
	strcpy(joined.config, "/etc/a b.conf");
	strcpy(joined.cluster, "c");
	strcpy(joined.self, "n1");
	strcpy(joined.volume, "2b8fac4d-ce33-5f23-b59a-ad5fcb870bcf");
	joined_take_settings(&joined, &conf);
	assert_int_equal(joined_add(&joined, "n1"), 0);
	assert_int_equal(joined_add(&joined, "fd00::2"), 0);
	assert_int_equal(joined_add(&joined, "n1"), 0);
	assert_int_equal(joined.nodes, 2);
	known_set_host(&joined.known, "nodes.example");
	known_add(&joined.known, "fd00::2", 77, 3);
	assert_int_equal(joined_write(&joined), 0);
	joined_free(&joined);
	assert_int_equal(joined_read(&joined, "data"), 0);
	assert_true(joined.found);
	assert_string_equal(joined.config, "/etc/a b.conf");
	assert_string_equal(joined.self, "n1");
	assert_string_equal(joined.volume, "2b8fac4d-ce33-5f23-b59a-ad5fcb870bcf");
	assert_string_equal(joined.settings.transport, "tcp");
	assert_string_equal(joined.settings.tls, "yes");
	assert_string_equal(joined.settings.secret, "yes");
	assert_string_equal(joined.settings.keep_alive, "7s");
	assert_string_equal(joined.settings.fast_io_fail, "3600s");
	assert_string_equal(joined.settings.data_digest, "no");
	assert_true(joined_has(&joined, "fd00::2") && !joined_has(&joined, "fd00::3"));
	assert_string_equal(joined.known.host, "nodes.example");
	assert_int_equal(joined.known.count, 1);
	assert_string_equal(joined.known.known[0].address, "fd00::2");
	assert_int_equal(joined.known.known[0].since, 77);
	assert_int_equal(joined.known.known[0].answers, 3);
	strcpy(joined.name, "data.joined");
	assert_int_equal(joined_write(&joined), 0);
	joined_free(&joined);
	assert_int_equal(joined_all(&list, &count), 0);
	assert_int_equal(count, 2);
	assert_string_equal(list[0].cluster, "c");
	joined_free_all(list, count);
	assert_int_equal(joined_remove("data"), 0);
	assert_int_equal(joined_remove("data.joined"), 0);
	assert_int_equal(joined_remove("data"), 0);
	assert_int_equal(joined_all(&list, &count), 0);
	assert_int_equal(count, 0);
	joined_free_all(list, count);
	assert_int_equal(rmdir("joined"), 0);
	assert_int_equal(joined_all(&list, &count), 0);
	assert_int_equal(count, 0);
	joined_free_all(list, count);
}

/* A record that cannot be read is in the list, with the reason, beside the others. */
static void odd_record_listed(void **state)
{
	struct joined joined = { .name = "right", .cluster = "c" }, *list;
	size_t count, odd;
	FILE *file;

	(void)state;
	assert_int_equal(joined_write(&joined), 0);
	file = fopen("joined/odd.joined", "w");
	assert_non_null(file);
	fputs("cluster = c\nnode = n1\nself\n", file);
	fclose(file);
	assert_int_equal(joined_all(&list, &count), 0);
	assert_int_equal(count, 2);
	odd = strcmp(list[0].name, "odd") ? 1 : 0;
	assert_true(list[!odd].found && !*list[!odd].why);
	assert_string_equal(list[odd].name, "odd");
	assert_false(list[odd].found || list[odd].nodes || *list[odd].cluster);
	assert_non_null(strstr(list[odd].why, "odd.joined' line 3: 'self' is not of the form"));
	joined_free_all(list, count);
	assert_int_not_equal(joined_read(&joined, "odd"), 0);
	assert_said("then 'nearcache cluster join odd' writes a new one");
	joined_free(&joined);
	fail_reset();
	assert_int_equal(joined_remove("odd") | joined_remove("right") | rmdir("joined"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(record_round_trip),
		cmocka_unit_test(odd_record_listed),
	};
	char folder[] = "/tmp/nearcache-joined-XXXXXX";
	int failed;

	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	failed = RUN(tests);
	return rmdir(folder) || failed;
}
