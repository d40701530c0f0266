// SPDX-License-Identifier: GPL-2.0-only
/* Lists of reads (files/read_list.c): files, ranges and sample numbers, in a temporary folder. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/read_list.h"
#include "lib/error.h"
#include "unit.h"

static char top[] = "/tmp/reads.XXXXXX";

static void make(const char *path, const void *content, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, bytes), bytes);
	close(fd);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(top) || chdir(top) || mkdir("dir", 0700) || mkdir("data", 0700))
		return -1;
	make("a", "", 0);
	make("b c", "", 0);
	make("tab\there", "", 0);
	make("1-2", "", 0);
	make("dir/x", "", 0);
	make("dir/y", "", 0);
	make("data/s0.tar", "", 0);
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", top);
	return chdir("/") || system(command);
}

/* Read a list of @bytes bytes; return "WORD FIRST-END@LINE" of each read, each with a comma behind. */
static const char *listed(struct read_list *list, const char *text, size_t bytes)
{
	static char reads[512];
	char *to = reads;
	size_t i;

	fail_reset();
	make("list", text, bytes);
	*reads = '\0';
	if (read_list_add_file(list, "list"))
		fail_msg("%s", fail_message());
	for (i = 0; i < list->reads; i++) {
		const struct listed_read *r = &list->read[i];

		to += snprintf(to, reads + sizeof(reads) - to, "%s %llu-%llu@%u,",
			       list->words.word[r->word].text, (unsigned long long)r->first,
			       (unsigned long long)r->end, r->line);
	}
	read_list_free(list);
	return reads;
}

static void lists(const char *text, const char *expected)
{
	struct read_list list = { 0 };

	assert_string_equal(listed(&list, text, strlen(text)), expected);
}

/* A file, a range and a directory may come several times; empty lines count. */
static void in_order(void **state)
{
	struct read_list list = { 0 };

	(void)state;
	lists("a\nb c\na\n", "a 0-0@1,b c 0-0@2,a 0-0@3,");
	lists("\xef\xbb\xbf" "a\r\n\r\n0+512\r\n0+512", "a 0-0@1,0+512 0-0@3,0+512 0-0@4,");
	lists("dir\na\ndir", "dir/x 0-0@1,dir/y 0-0@1,a 0-0@2,dir/x 0-0@3,dir/y 0-0@3,");
	lists("\\tab\\x09here\n", "tab\there 0-0@1,");
	/* Words of the command line come first, each of them once more. */
	assert_int_equal(read_list_add(&list, "a"), 0);
	assert_int_equal(read_list_add(&list, "a"), 0);
	assert_string_equal(listed(&list, "a", 1), "a 0-0@0,a 0-0@0,a 0-0@1,");
	/* NULs separate names that are taken as they are. */
	assert_string_equal(listed(&list, "tab\there\0a", 11), "tab\there 0-0@1,a 0-0@2,");
}

static void samples(void **state)
{
	struct read_list list = { .root = "data" };

	(void)state;
	lists("a\t7,3,8-15\na\t007\n", "a 7-8@1,a 3-4@1,a 8-16@1,a 7-8@2,");
	lists("./1-2\t0\n", "./1-2 0-1@1,");
	lists("\\tab\\x09here\t1\n", "tab\there 1-2@1,");
	/* --root applies to relative names only. */
	assert_string_equal(listed(&list, "s0.tar\t1\n0+512\n", 15), "data/s0.tar 1-2@1,0+512 0-0@2,");
	list.root = "/nothing";
	lists("a\t281474976710656", "a 281474976710656-281474976710657@1,");
}

static void refuses(struct read_list list, const char *text, const char *what)
{
	fail_reset();
	make("list", text, strlen(text));
	assert_int_not_equal(read_list_add_file(&list, "list"), 0);
	if (!strstr(fail_message(), what))
		fail_msg("'%s': no '%s' in: %s", text, what, fail_message());
	read_list_free(&list);
	fail_reset();
}

/* Each refusal has the value, and the number of the line. */
static void refused(void **state)
{
	(void)state;
	refuses((struct read_list){ 0 }, "a\n\na\t1,x\n", "'x' after the tab is not a sample number");
	refuses((struct read_list){ 0 }, "a\n\na\t1,x\n", "it is line 3 of the list");
	refuses((struct read_list){ 0 }, "a\t", "'' after the tab");
	refuses((struct read_list){ 0 }, "a\t1,", "'' after the tab");
	refuses((struct read_list){ 0 }, "a\t-1", "'-1' after the tab");
	refuses((struct read_list){ 0 }, "a\t1-", "'1-' after the tab");
	refuses((struct read_list){ 0 }, "a\t1 ", "'1 ' after the tab");
	refuses((struct read_list){ 0 }, "a\t281474976710657", "not a sample number");
	refuses((struct read_list){ 0 }, "a\t99999999999999999999999", "not a sample number");
	refuses((struct read_list){ 0 }, "a\t9-8", "samples '9-8': the range ends before it begins");
	refuses((struct read_list){ 0 }, "tab\there\n", "'here' after the tab");
	refuses((struct read_list){ 0 }, "\t5", "'5': no file stands before the tab; it is line 1");
	refuses((struct read_list){ 0 }, "a\nnone\t1", "'none': No such file or directory; it is line 2");
	refuses((struct read_list){ 0 }, "none", "it is line 1 of the list");
	refuses((struct read_list){ 0 }, "dir\t1", "'dir' has sample numbers, and is a directory");
	refuses((struct read_list){ 0 }, "0+512\t1", "is a range of the device");
	refuses((struct read_list){ 0 }, "\\a\\x0\t1", "has an invalid escape");
	refuses((struct read_list){ .root = "data" }, "a", "'data/a': No such file");
	refuses((struct read_list){ .whole = "no rank" }, "a\na\t1", "'a' has sample numbers: no rank; it is line 2");
	refuses((struct read_list){ 0 }, "", "the list 'list' is empty");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),
		cmocka_unit_test(samples),
		cmocka_unit_test(refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
