// SPDX-License-Identifier: GPL-2.0-only
/* files/operand.c: a file with several names (hard links) is resolved once, alike on all nodes. */
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

int extents_read(struct extents *extents, int fd, const char *path)
{
	struct stat st;

	(void)path;
	assert_int_equal(fstat(fd, &st), 0);
	memset(extents, 0, sizeof(*extents));
	extents->extent = calloc(1, sizeof(*extents->extent));
	assert_non_null(extents->extent);
	extents->extent->length = (uint64_t)st.st_size;
	extents->count = 1;
	return 0;
}

void extents_free(struct extents *extents)
{
	free(extents->extent);
}

int narrow(struct extents *extents, int fd, const char *path,
	   const struct narrowing *narrowing)
{
	(void)extents;
	(void)fd;
	(void)path;
	(void)narrowing;
	return 0;
}

int layers_resolve(struct layers *layers, dev_t upper, dev_t lower)
{
	(void)layers;
	(void)upper;
	(void)lower;
	return 0;
}

bool layers_map(const struct layers *layers, uint64_t start, uint64_t length,
		struct range *piece, const char **why)
{
	(void)layers;
	(void)why;
	*piece = (struct range){ start, length };
	return true;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_several_names),
		cmocka_unit_test(nodes_agree),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
