// SPDX-License-Identifier: GPL-2.0-only
/*
 * files/operand.c: a file with several names (hard links) is resolved once, alike on all nodes.
 * Parts of files without data or without a known location are left out and counted.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/fiemap.h"
#include "lib/error.h"
#include "block/layer_map.h"
#include "files/sample_extents.h"
#include "files/node_share.h"
#include "files/operand.h"
#include "unit.h"

static char top[] = "/tmp/target.XXXXXX";

/* Makes the second half of the file, or with "whole" in its name all of it, of another kind. */
static void describe(struct extents *extents, const char *path)
{
	struct extent *extent = realloc(extents->extent, 2 * sizeof(*extent));

	assert_non_null(extent);
	extents->extent = extent;
	extents->count = strstr(path, "gap") ? 1 : 2;
	extent[0].length /= 2;
	extent[1] = extent[0];
	extent[1].offset = extent[1].start = extent[0].length;
	extent[1].kind = strstr(path, "unwritten") ? EXTENT_UNWRITTEN : EXTENT_UNLOCATED;
	extent[1].why = "is inline";
	if (!strstr(path, "whole"))
		return;
	extent[0] = extent[1];
	extent[0].offset = extent[0].start = 0;
	extent[0].length = extents->selected;
	extents->count--;
}

int extents_read(struct extents *extents, int fd, const char *path)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	memset(extents, 0, sizeof(*extents));
	extents->extent = calloc(1, sizeof(*extents->extent));
	assert_non_null(extents->extent);
	extents->extent->length = extents->selected = extents->size = (uint64_t)st.st_size;
	extents->count = 1;
	/* Files of proc have size 0. */
	if (strstr(path, "link"))
		extents->extent->length = extents->selected = extents->size = 512;
	if (strstr(path, "odd/") && strcmp(path, "odd/a"))
		describe(extents, path);
	return 0;
}

/* A file has 512 more bytes beyond its end. */
int extents_read_allocated(struct extents *extents, int fd, const char *path)
{
	int error = extents_read(extents, fd, path);

	if (strstr(path, "unwritten"))
		extents->extent[extents->count - 1].length += 512;
	return error;
}

void extents_free(struct extents *extents)
{
	free(extents->extent);
}

int narrow(struct extents *extents, int fd, const char *path,
	   const struct narrowing *narrowing, bool *none)
{
	(void)extents;
	(void)fd;
	if (!narrowing->index_only || (!strstr(path, ".json") && !strstr(path, ".tar")))
		return 0;
	if (none)
		*none = strstr(path, ".json") || narrowing->skip_damaged;
	return (fail)(CODE_DEVICE, "'%s': unknown format", path);
}

int layers_resolve(struct layers *layers, dev_t upper, dev_t lower)
{
	(void)lower;
	layers->upper = upper;
	return 0;
}

/* The file system of the test's directory is on the device. */
bool layers_touch(const struct layers *layers)
{
	struct stat st;

	assert_int_equal(stat(top, &st), 0);
	return layers->upper == st.st_dev;
}

bool layers_map(const struct layers *layers, uint64_t start, uint64_t length,
		struct range *piece, const char **why)
{
	*piece = (struct range){ start, length };
	*why = "it is on 'sda'";
	return layers_touch(layers);
}

void layers_free(struct layers *layers)
{
	(void)layers;
}

static void make(const char *path, off_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	close(fd);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(top) || chdir(top))
		return -1;
	make("m", 512);
	make("s", 1024);
	make("b", 2048);
	if (mkdir("odd", 0700) || mkfifo("pipe", 0600))
		return -1;
	make("odd/a", 512);
	if (mkdir("w", 0700) || mkdir("bare", 0700))
		return -1;
	make("w/a.json", 100);
	make("w/b.mds", 512);
	make("bare/c.json", 100);
	if (mkdir("cut", 0700))
		return -1;
	make("cut/a.tar", 100);
	make("cut/b.mds", 512);
	if (link("w/a.json", "w/z.json"))
		return -1;
	if (mkdir("far", 0700) || symlink("/proc/version", "far/link") ||
	    mkdir("farther", 0700) || symlink("/proc/version", "farther/link"))
		return -1;
	make("far/near", 512);
	make("odd/gap", 2048);
	make("odd/inline", 2048);
	make("odd/unwritten", 2048);
	make("odd/whole-inline", 2048);
	make("odd/whole-unwritten", 2048);
	return link("m", "z") || link("m", "a") || link("m", "k") ||
	       symlink("b", "n") || mkdir("d", 0700) || link("s", "d/x");
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", top);
	return chdir("/") || system(command);
}

/* Resolve @words; return the names of the shards, each with a blank behind it, and the checksum. */
static const char *resolved(const char *words, uint32_t *checksum)
{
	static const struct dm_device dev = { .name = "nc", .size = 1 << 20 };
	static char names[256];
	char text[256], name[] = "nc", *operand[16] = { name }, *word, *rest;
	struct arguments args = { .operand = operand, .operands = 1 };
	size_t i, order[16];
	struct shards shards;

	snprintf(text, sizeof(text), "%s", words);
	for (word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		operand[args.operands++] = word;
	if (target_resolve(&args, &dev, &shards))
		fail_msg("%s", fail_message());
	assert_in_range(shards.count, 1, 16);
	*names = '\0';
	for (i = 0; i < shards.count; i++) {
		strcat(strcat(names, shards.shard[i].name), " ");
		order[i] = i;
	}
	node_share_sort(&shards, order, shards.count);
	*checksum = node_share_checksum(&shards, order, shards.count);
	shards_free(&shards);
	return names;
}

/* A file given by several names is listed once: at the first place, by the smallest name. */
static void one_of_several_names(void **state)
{
	uint32_t checksum;

	(void)state;
	assert_string_equal(resolved("m", &checksum), "m ");
	assert_string_equal(resolved("m m", &checksum), "m ");
	assert_string_equal(resolved("z m s", &checksum), "m s ");
	assert_string_equal(resolved("s m z k", &checksum), "s k ");
	assert_string_equal(resolved("n s b", &checksum), "b s ");
	assert_string_equal(resolved("d/x ./s", &checksum), "./s ");
	assert_string_equal(resolved("z 0+512 a 0+512", &checksum), "a 0+512 0+512 ");
}

/* Lists in another order, as another node may read a folder, have the same checksum. */
static void nodes_agree(void **state)
{
	static const char *const lists[] = {
		"a b d k m n s z", "z s n m k d b a", "m z a k s d n b", "k . m",
	};
	uint32_t first, other;
	size_t i;

	(void)state;
	resolved(lists[0], &first);
	for (i = 1; i < 3; i++) {
		resolved(lists[i], &other);
		assert_int_equal(other, first);
	}
	/* List 3 names some files "k" and "./a" instead, so the checksum differs. */
	resolved(lists[3], &other);
	assert_int_not_equal(other, first);
}

/* Resolve @word for @use, with --strict or not; return the error, or NULL. */
static const char *resolve_for(enum target_use use, bool strict, const char *word,
			       struct shards *shards)
{
	static const struct dm_device dev = { .name = "nc", .size = 1 << 20 };
	char name[] = "nc", *operand[] = { name, (char *)word };
	struct arguments args = {
		.given = strict ? OPTION_STRICT : 0, .operand = operand, .operands = 2,
	};

	fail_reset();
	return target_resolve_for(use, &args, &dev, shards) ? fail_message() : NULL;
}

static void fits(enum target_use use, const char *word, uint64_t bytes, uint64_t empty,
		 uint64_t unlocated)
{
	struct shards shards;
	const char *error = resolve_for(use, false, word, &shards);

	if (error)
		fail_msg("%s: %s", word, error);
	assert_int_equal(shards_bytes(&shards), bytes);
	assert_int_equal(shards.omitted.empty_bytes, empty);
	assert_int_equal(shards.omitted.unlocated_bytes, unlocated);
	shards_free(&shards);
}

static void refused(enum target_use use, bool strict, const char *word, const char *what)
{
	struct shards shards;
	const char *error = resolve_for(use, strict, word, &shards);

	if (!error || !strstr(error, what))
		fail_msg("%s: not '%s': %s", word, what, error ? error : "no error");
	shards_free(&shards);
	fail_reset();
}

static unsigned int warned;

/* Counts the warnings about holes. */
void __wrap_warn(const char *format, ...);
void __wrap_warn(const char *format, ...)
{
	warned += !!strstr(format, "bytes of holes: if another host has filled them");
}

/* Parts without data, or without a known location: one file of that kind refuses no directory. */
static void parts(void **state)
{
	(void)state;
	/* The directory has 512 + 3 * 1024 bytes of data, and 1024 or 2048 of each other kind. */
	fits(TARGET_BRING, "odd", 3584, 1024 + 1024 + 2048, 1024 + 2048);
	fits(TARGET_SHOW, "odd", 3584, 4096, 3072);
	fits(TARGET_BRING, "odd/w*", 0, 2048, 2048);
	fits(TARGET_BRING, "odd/gap", 1024, 1024, 0);
	fits(TARGET_BRING, "odd/inline", 1024, 0, 1024);
	fits(TARGET_BRING, "odd/whole-unwritten", 0, 2048, 0);
	fits(TARGET_SHOW, "odd/whole-inline", 0, 0, 2048);
	refused(TARGET_BRING, false, "odd/whole-inline", "bytes 0 to 2047: the data is inline");
	/* Another host may have written unwritten data: it is dropped as well. */
	fits(TARGET_DROP, "odd/unwritten", 2560, 1024, 0);
	warned = 0;
	fits(TARGET_DROP, "odd/gap", 1024, 1024, 0);
	assert_int_equal(warned, 1);
	refused(TARGET_DROP, false, "odd", "'odd/inline': bytes 1024 to 2047: the data is inline");
	refused(TARGET_BRING, true, "odd", "'odd/gap': 1024 of 2048 bytes are holes");
	refused(TARGET_SHOW, true, "odd/inline", "the data is inline");
	refused(TARGET_BRING, true, "odd/unwritten", "1024 of 2048 bytes");
	/* A pattern of nothing but odd entries is refused: no verb has to do with an empty list. */
	refused(TARGET_SHOW, false, "pip*", "none of the 1 files can be used: 'pipe': it is not a regular");
}

/* A link in a directory to a file on another file system: proc has none of its device. */
static void other_file_system(void **state)
{
	struct shards shards;

	(void)state;
	assert_null(resolve_for(TARGET_SHOW, false, "far", &shards));
	assert_int_equal(shards.count, 1);
	assert_int_equal(shards.omitted.passed_over, 1);
	shards_free(&shards);
	refused(TARGET_DROP, false, "far/link", "'far/link', byte 0, is not on device 'nc'");
	refused(TARGET_BRING, true, "far", "'far/link', byte 0, is not on device 'nc'");
	refused(TARGET_BRING, false, "farther",
		"none of the 1 files can be used: 'farther/link' is not on device 'nc'");
}

/* A file without data that has a location is refused if the user names it, in whatever order. */
static void named_and_found(void **state)
{
	static const struct dm_device dev = { .name = "nc", .size = 1 << 20 };
	static char *const word[] = { "odd", "odd/whole-inline", "odd/whole-unwritten" };
	char name[] = "nc", *operand[] = { name, NULL, NULL };
	struct arguments args = { .operand = operand, .operands = 3 };
	struct shards shards;
	unsigned int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		/* Unwritten data needs nothing, so that file is accepted, and listed once. */
		bool good = i > 1;

		operand[1 + i % 2] = word[0];
		operand[2 - i % 2] = word[1 + good];
		fail_reset();
		assert_int_equal(target_resolve_for(TARGET_BRING, &args, &dev, &shards),
				 good ? 0 : CODE_DEVICE);
		if (good)
			assert_int_equal(shards.count, 6);
		else
			assert_non_null(strstr(fail_message(), "'odd/whole-inline': bytes 0 to"));
		shards_free(&shards);
	}
	fail_reset();
}

/* Purpose for resolve_index(). */
static enum target_use index_use;

/* Resolve up to two words with --index-only. */
static int resolve_index(bool strict, const char *first, const char *second,
			 struct shards *shards)
{
	static const struct dm_device dev = { .name = "nc", .size = 1 << 20 };
	char name[] = "nc", *operand[] = { name, (char *)first, (char *)second };
	struct arguments args = {
		.given = OPTION_INDEX_ONLY, .operand = operand, .operands = second ? 3 : 2,
	};

	args.given |= strict ? OPTION_STRICT : 0;
	fail_reset();
	return target_resolve_for(index_use, &args, &dev, shards);
}

/*
 * Files that are no shards: a writer leaves them in a directory, and the user does not name them.
 */
static void sidecars(void **state)
{
	struct shards shards;

	(void)state;
	assert_int_equal(resolve_index(false, "w", NULL, &shards), 0);
	assert_int_equal(shards.count, 1);
	assert_string_equal(shards.shard[0].name, "w/b.mds");
	assert_int_equal(shards.omitted.passed_over, 2);
	shards_free(&shards);
	assert_int_equal(resolve_index(false, "w/*", NULL, &shards), 0);
	assert_int_equal(shards.omitted.passed_over, 2);
	shards_free(&shards);
	assert_int_equal(resolve_index(false, "w/a.json", NULL, &shards), CODE_DEVICE);
	shards_free(&shards);
	assert_int_equal(resolve_index(false, "w", "w/a.json", &shards), CODE_DEVICE);
	shards_free(&shards);
	assert_int_equal(resolve_index(true, "w", NULL, &shards), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), "'w/a.json': unknown format"));
	shards_free(&shards);
	assert_int_equal(resolve_index(false, "bare", NULL, &shards), CODE_DEVICE);
	assert_non_null(strstr(fail_message(),
			       "none of the 1 files can be used: 'bare/c.json': unknown format"));
	shards_free(&shards);
	/* A damaged file whose name claims a format: only a verb that shows something passes it. */
	assert_int_equal(resolve_index(false, "cut", NULL, &shards), CODE_DEVICE);
	shards_free(&shards);
	index_use = TARGET_SHOW;
	assert_int_equal(resolve_index(false, "cut", NULL, &shards), 0);
	assert_int_equal(shards.omitted.passed_over, 1);
	shards_free(&shards);
	assert_int_equal(resolve_index(false, "cut/a.tar", NULL, &shards), CODE_DEVICE);
	shards_free(&shards);
	index_use = TARGET_BRING;
	fail_reset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_several_names),
		cmocka_unit_test(nodes_agree),
		cmocka_unit_test(parts),
		cmocka_unit_test(other_file_system),
		cmocka_unit_test(named_and_found),
		cmocka_unit_test(sidecars),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
