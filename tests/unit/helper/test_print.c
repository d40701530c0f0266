// SPDX-License-Identifier: GPL-2.0-only
/* lib/print.c: the same calls print text or JSON. */
#include "capture.h"
#include "lib/print.h"

/* Of ASan; gcc has no header for it. */
size_t __sanitizer_get_current_allocated_bytes(void);

/* Make each kind of call once. */
static void print_all(bool json)
{
	print_start(json);
	print_record(NULL, "title");
	print_string("text", "text", "a \"quoted\"\n\\ text");
	print_string("odd", "odd", "a\xff\\");
	print_string("none", "none", NULL);
	print_detail("table", "table", "0 8 linear");
	print_number("big", "big", UINT64_MAX);
	print_bytes("size", "size", 65536);
	print_nanoseconds("fast_ns", "fast", 12345);
	print_nanoseconds("slow_ns", "slow", 7000000000);
	print_position("place", "place", 1536 << 20);
	print_flag("flag", "flag", true);
	print_ratio("ratio", "ratio", 1, 4);
	print_ratio("no_ratio", "no ratio", 0, 0);
	print_table("rows");
	print_record(NULL, NULL);
	print_string("name", "name", "x");
	print_number("value", "value", 7);
	print_end();
	print_end();
	print_list("empty");
	print_end();
	print_record("inner", "Inner");
	print_number("deep", "deep", 1);
	print_end();
	print_end();
	print_finish();
}

static void json(void **state)
{
	struct json_object *root;

	(void)state;
	fail_reset();
	capture();
	print_all(true);
	root = json_tokener_parse(captured());
	assert_non_null(root);
	assert_int_equal(json_object_get_int(member(root, "schema")), 1);
	assert_string_equal(json_object_get_string(member(root, "text")),
			    "a \"quoted\"\n\\ text");
	assert_string_equal(json_object_get_string(member(root, "odd")), "\\a\\xff\\\\");
	assert_null(member(root, "none"));
	assert_string_equal(json_object_get_string(member(root, "table")), "0 8 linear");
	assert_true(json_object_get_uint64(member(root, "big")) == UINT64_MAX);
	assert_int_equal(json_object_get_int(member(root, "size")), 65536);
	assert_true(json_object_get_boolean(member(root, "flag")));
	assert_int_equal(json_object_get_int(member(root, "fast_ns")), 12345);
	assert_int_equal(json_object_get_int(member(root, "place")), 1536 << 20);
	assert_true(json_object_get_double(member(root, "ratio")) == 0.25);
	assert_null(member(root, "no_ratio"));
	assert_int_equal(json_object_array_length(member(root, "rows")), 1);
	assert_int_equal(json_object_array_length(member(root, "empty")), 0);
	assert_int_equal(json_object_get_int(member(member(root, "inner"),
						    "deep")), 1);
	json_object_put(root);
}

static void text(void **state)
{
	const char *output;

	(void)state;
	fail_reset();
	capture();
	print_all(false);
	output = captured();
	assert_non_null(strstr(output, "title\n"));
	assert_non_null(strstr(output, "big       18446744073709551615\n"));
	assert_non_null(strstr(output, "size      64 KiB\n"));
	assert_non_null(strstr(output, "ratio     25.0 %\n"));
	assert_non_null(strstr(output, "fast      12.3 us\n"));
	assert_non_null(strstr(output, "slow      7.0 s\n"));
	assert_non_null(strstr(output, "place     1536M\n"));
	assert_non_null(strstr(output, "NAME  VALUE\nx         7\n"));
	assert_null(strstr(output, "schema"));
	/* Details appear only on request. */
	assert_null(strstr(output, "table"));
	print_details(true);
	capture();
	print_all(false);
	print_details(false);
	assert_non_null(strstr(captured(), "table     0 8 linear\n"));
}

/* An error becomes a part of the JSON document that was being printed. */
static void json_error(void **state)
{
	struct json_object *root, *error;

	(void)state;
	fail_reset();
	capture();
	print_start(true);
	print_list("devices");
	print_record(NULL, "a");
	print_string("name", "name", "a");
	/* The parentheses avoid cmocka's macro fail(). */
	(fail)(CODE_DEVICE, "there is no '%s'", "b");
	print_finish();
	root = json_tokener_parse(captured());
	assert_non_null(root);
	assert_int_equal(json_object_array_length(member(root, "devices")), 1);
	error = member(root, "error");
	assert_int_equal(json_object_get_int(member(error, "code")), 4);
	assert_string_equal(json_object_get_string(member(error, "message")),
			    "there is no 'b'");
	json_object_put(root);
}

/* Several documents, one per line; an empty last document is not printed. */
static void lines(void **state)
{
	const char *output;

	(void)state;
	fail_reset();
	capture();
	print_start(true);
	print_lines();
	print_number("n", NULL, 1);
	assert_int_equal(print_next(), 0);
	print_table("rows");
	print_record(NULL, NULL);
	print_string("name", "name", "a/b");
	assert_int_equal(print_next(), 0);
	assert_int_equal(print_finish(), 0);
	output = captured();
	assert_string_equal(output,
			    "{\"schema\":1,\"n\":1}\n"
			    "{\"schema\":1,\"rows\":[{\"name\":\"a/b\"}]}\n");
	capture();
	print_start(true);
	print_lines();
	(fail)(CODE_DEVICE, "gone");
	assert_int_equal(print_finish(), CODE_DEVICE);
	output = captured();
	assert_non_null(strstr(output, "{\"schema\":1,\"error\":{\"code\":4,"));
	assert_ptr_equal(strchr(output, '\n'), output + strlen(output) - 1);
	fail_reset();
	/* As text, tables follow each other with a blank line between them. */
	capture();
	print_start(false);
	print_lines();
	print_table("rows");
	print_record(NULL, NULL);
	print_number("a", "a", 1);
	print_next();
	print_table("rows");
	print_record(NULL, NULL);
	print_number("a", "a", 2);
	print_next();
	print_finish();
	output = captured();
	assert_non_null(strstr(output, "A\n1\n\nA\n2\n"));
}

/* The records of a list without labels, such as a million prefetched files, take no memory. */
static void unlabelled(void **state)
{
	size_t before, after;
	int i;

	(void)state;
	capture();
	print_start(false);
	print_table("shards");
	before = __sanitizer_get_current_allocated_bytes();
	for (i = 0; i < 1000; i++) {
		print_record(NULL, NULL);
		print_bytes("bytes", NULL, 1 << 20);
		print_string("name", NULL, "n01440764/n01440764_10026.JPEG");
		print_end();
	}
	after = __sanitizer_get_current_allocated_bytes();
	print_finish();
	assert_string_equal(captured(), "");
	assert_int_equal(after, before);
}

static const char *print_chosen(const struct column_choice *columns)
{
	capture();
	print_start(false);
	print_choose(columns);
	print_record(NULL, "title");
	print_number("count", "count", 2);
	print_table("maps");
	print_record(NULL, NULL);
	print_string("pin", "pin", "x");
	print_end();
	print_end();
	print_main_table("rows");
	print_record(NULL, NULL);
	print_string("name", "name", "a b\\c");
	print_string("state", NULL, "normal");
	print_string(NULL, "state", "suspended");
	print_bytes("bytes_valid", "valid", 65536);
	print_ratio("hit_ratio", "hits", 1, 4);
	print_number("hits", NULL, 7);
	print_nanoseconds("mean_ns", "mean", 12345);
	print_flag("here", "here", true);
	print_string("uuid", NULL, "1-2");
	print_table("parts");
	print_record(NULL, NULL);
	print_string("name", NULL, "part");
	print_end();
	print_end();
	print_end();
	print_record(NULL, NULL);
	print_string("name", "name", "-");
	print_string("state", NULL, "bypass");
	print_string(NULL, "state", "bypass");
	print_bytes("bytes_valid", "valid", 0);
	print_ratio("hit_ratio", "hits", 0, 0);
	print_nanoseconds("mean_ns", "mean", 0);
	print_flag("here", "here", false);
	print_end();
	print_end();
	print_finish();
	print_choose(&(struct column_choice){ 0 });
	return captured();
}

/* The user chooses the columns of the main table and their form: nothing else is printed. */
static void columns(void **state)
{
	(void)state;
	fail_reset();
	assert_string_equal(print_chosen(&(struct column_choice){ .active = true, .list = "uuid,NAME,Hits,state" }),
			    "UUID  NAME     HITS  STATE\n"
			    "1-2   a b\\c  25.0 %  suspended\n"
			    "-     -           -  bypass\n");
	assert_string_equal(print_chosen(&(struct column_choice){ .active = true, .list = "+UUID", .no_headings = true }),
			    "a b\\c  suspended  64 KiB  25.0 %  12.3 us  yes  1-2\n"
			    "-      bypass        0 B       -     0 ns  no   -\n");
	assert_string_equal(print_chosen(&(struct column_choice){ .active = true, .raw = true }),
			    "NAME STATE VALID HITS MEAN HERE\n"
			    "a\\x20b\\x5cc normal 65536 0.25 12345 true\n"
			    "\\x2d bypass 0 - 0 false\n");
	assert_string_equal(print_chosen(&(struct column_choice){ .active = true, .list = "UUID,STATE",
								  .raw = true, .no_headings = true }),
			    "1-2 normal\n"
			    "- bypass\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json),
		cmocka_unit_test(text),
		cmocka_unit_test(json_error),
		cmocka_unit_test(lines),
		cmocka_unit_test(unlabelled),
		cmocka_unit_test(columns),
	};

	return RUN(tests);
}
