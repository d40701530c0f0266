// SPDX-License-Identifier: GPL-2.0-only
/* verify/manifest.c: lines of sha256sum files, plain, escaped and BSD style, and bad lines. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/error.h"
#include "verify/manifest.h"
#include "unit.h"

#define A	"0123456789abcdef0123456789ABCDEF0123456789abcdef0123456789abcdef"

static bool parse(const char *line, struct manifest_entry *entry, char *why)
{
	static char copy[256];

	snprintf(copy, sizeof(copy), "%s", line);
	return manifest_parse(copy, entry, why);
}

static void good(void **state)
{
	static const struct {
		const char *line, *path;
	} row[] = {
		{ A "  a.tar", "a.tar" }, { A " *dir/a b.tar", "dir/a b.tar" },
		{ A "   two", " two" }, { "\\" A "  a\\nb\\\\c", "a\nb\\c" },
		{ A "  a\\nb", "a\\nb" }, { "SHA256 (a) b.tar) = " A, "a) b.tar" },
		{ "\\SHA256 (a\\rb) = " A, "a\rb" },
	};
	struct manifest_entry entry;
	char why[MANIFEST_WHY];
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		if (!parse(row[i].line, &entry, why))
			fail_msg("'%s': %s", row[i].line, why);
		assert_string_equal(entry.path, row[i].path);
		assert_int_equal(entry.digest[0], 0x01);
		assert_int_equal(entry.digest[15], 0xef);
		assert_int_equal(entry.digest[31], 0xef);
	}
}

static void bad(void **state)
{
	static const struct {
		const char *line, *quoted;
	} row[] = {
		{ "", "not a line of sha256sum" }, { A, "not a line" }, { A " x", "not a line" },
		{ A "  ", "names no file" }, { A "0  x", "not a line" }, { "x" A "  a", "not a line" },
		{ "SHA256 () = " A, "names no file" }, { "SHA256 (a) = " A "0", "not a line" },
		{ "MD5 (a) = 00", "'MD5 (a) = 00'" }, { "\\" A "  a\\b", "escape" },
		{ "\\" A "  a\\", "escape" }, { "SHA256 (a) = 00", "not a line" },
	};
	struct manifest_entry entry;
	char why[MANIFEST_WHY];
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		assert_false(parse(row[i].line, &entry, why));
		if (!strstr(why, row[i].quoted))
			fail_msg("'%s': %s", row[i].line, why);
	}
}

static int read_text(struct manifest *manifest, const char *text)
{
	char path[] = "/tmp/manifest.XXXXXX";
	int error, fd = mkstemp(path);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	fail_reset();
	error = manifest_read(manifest, path);
	unlink(path);
	return error;
}

static void files(void **state)
{
	struct manifest manifest;

	(void)state;
	assert_int_equal(read_text(&manifest, "# made by hand\n\n" A "  a\r\n" A "  b"), 0);
	assert_int_equal(manifest.count, 2);
	assert_string_equal(manifest.entry[0].path, "a");
	assert_string_equal(manifest.entry[1].path, "b");
	assert_int_equal(manifest.entry[1].line, 4);
	manifest_free(&manifest);
	/* A byte order mark; a carriage return that does not end the line belongs to the name. */
	assert_int_equal(read_text(&manifest, "\xef\xbb\xbf" A "  a\r\n" A "  b\rc\n"), 0);
	assert_int_equal(manifest.count, 2);
	assert_string_equal(manifest.entry[0].path, "a");
	assert_string_equal(manifest.entry[1].path, "b\rc");
	manifest_free(&manifest);
	assert_int_equal(read_text(&manifest, A "  a\nnonsense\n"), CODE_USAGE);
	assert_non_null(strstr(fail_message(), "line 2: "));
	manifest_free(&manifest);
	assert_int_equal(read_text(&manifest, "#\n"), CODE_USAGE);
	assert_non_null(strstr(fail_message(), "names no files"));
	manifest_free(&manifest);
	fail_reset();
	assert_int_equal(manifest_read(&manifest, "/none"), CODE_DEVICE);
	fail_reset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(bad),
		cmocka_unit_test(files),
	};

	return RUN(tests);
}
