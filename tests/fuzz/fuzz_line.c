// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzes table lines and messages.  The first line of the input holds the arguments of the target,
 * the other lines are messages to the device.  The cache device is valid, as after "nearcache
 * create", so that valid lines are accepted.
 */
#include "fuzz.h"

#include "dm/table_line.h"
#include "cache.h"
#include "image.h"
#include "lines.h"
#include "dm/target.h"

#define ORIGIN_SECTORS	20480U

static void said_nothing(void)
{
	fuzz_said[0] = 0;
}

static char *dup_words(const char *text, char **argv, int *argc)
{
	char *copy = strdup(text);

	*argc = fuzz_split(copy, argv);
	return copy;
}

static void print_table(struct fuzz_table *t, char *line, size_t room)
{
	line[0] = 0;
	fuzz_target->status(&t->ti, STATUSTYPE_TABLE, 0, line, room);
	if (!line[0] || strlen(line) >= room - 1)
		fuzz_bug("the table line is '%s'", line);
}

/* The target must accept the table line that it prints, with the same meaning. */
static void reloads_to_itself(struct fuzz_table *t)
{
	const struct nc_target *now = t->ti.private, *then;
	const struct dm_dev *witness = now->witness;
	char line[512], again[512], status[4096];
	struct fuzz_table second = { .table.mode = t->table.mode };
	char *argv[FUZZ_WORDS_MAX], *copy;
	int argc;

	print_table(t, line, sizeof(line));
	copy = dup_words(line, argv, &argc);
	/* Both tables belong to one dm device, as in a reload: two devices cannot share a cache. */
	second.table.md = &t->md;
	second.ti.table = &second.table;
	second.ti.len = ORIGIN_SECTORS;
	if (fuzz_target->ctr(&second.ti, argc, argv))
		fuzz_bug("refuses its own line '%s'", line);
	then = second.ti.private;
	print_table(&second, again, sizeof(again));
	if (strcmp(line, again) || now->mode != then->mode ||
	    now->fill_memory_max != then->fill_memory_max ||
	    now->origin->bdev != then->origin->bdev || now->dev->bdev != then->dev->bdev ||
	    (witness ? witness->bdev : NULL) != (then->witness ? then->witness->bdev : NULL))
		fuzz_bug("'%s' reloads to '%s'", line, again);
	fuzz_target->status(&second.ti, STATUSTYPE_INFO, 0, status, sizeof(status));
	fuzz_target->dtr(&second.ti);
	free(copy);
}

/* Abort if an option of an accepted line occurs twice.  Returns whether "witness" occurs. */
static bool names_witness(int argc, char **argv)
{
	bool named = false;
	int i, j;

	for (i = 4; i < argc; i += 2) {
		named = named || !strcmp(argv[i], "witness");
		for (j = 4; j < i; j += 2)
			if (!strcmp(argv[i], argv[j]))
				fuzz_bug("'%s' is accepted twice", argv[i]);
	}
	return named;
}

static void check_witness(const struct nc_target *n, bool named)
{
	if (!n->witness != !named)
		fuzz_bug("the table names %s witness", named ? "a" : "no");
	if (!n->witness)
		return;
	HOLDS(n->witness->bdev == &fuzz_witness);
	HOLDS(n->mode == NEARCACHE_READ_ONLY || !fuzz_witness.read_only);
	fuzz_count("lines_witness", 1);
}

static void check_taken(struct fuzz_table *t, bool witness)
{
	const struct nc_target *n = t->ti.private;

	if (n->mode < 0 || !nc_args_mode(n->mode) || n->origin->bdev != &fuzz_origin ||
	    n->dev->bdev != &fuzz_cache || n->fill_memory_max < 1 << 20 ||
	    n->fill_memory_max > 1ULL << 40)
		fuzz_bug("mode %d, fill_memory %llu", n->mode, n->fill_memory_max);
	check_witness(n, witness);
	reloads_to_itself(t);
}

/* A refusal must leave its reason in ti->error and in the log. */
static void check_refused(struct fuzz_table *t, int r)
{
	if (r >= 0 || !t->ti.error || !t->ti.error[0])
		fuzz_bug("refused with %d without a reason", r);
	/* The line names another device as cache device, which is not formatted or too small. */
	if (strstr(t->ti.error, "see the kernel log") &&
	    (strstr(fuzz_said, "magic not found") || strstr(fuzz_said, "device has only") ||
	     strstr(fuzz_said, "the disk of the cache device is gone")))
		return;
	if (!strstr(fuzz_said, t->ti.error))
		fuzz_bug("the log lacks '%s'", t->ti.error);
}

static void message(struct fuzz_table *t, char *text)
{
	char *argv[FUZZ_WORDS_MAX], result[64];
	int argc = fuzz_split(text, argv), r;

	/* device-mapper itself handles messages that start with "@". */
	if (!argc || argv[0][0] == '@')
		return;
	said_nothing();
	r = fuzz_target->message(&t->ti, argc, argv, result, sizeof(result));
	if (!r && !strcasecmp(argv[0], "scrub"))
		return;
	if (!r && (fuzz_told_first > fuzz_told_last || fuzz_told_last >= t->ti.len ||
		   strcasecmp(argv[0], "invalidate")))
		fuzz_bug("accepted: sectors %llu to %llu", fuzz_told_first, fuzz_told_last);
	if (r && (r != -EINVAL ||
		  (!strstr(fuzz_said, "expected: invalidate all | <sector> <sectors>, inside ") &&
		   !strstr(fuzz_said, "expected: scrub start <bytes per second> [origin]"))))
		fuzz_bug("message refused with %d without a reason", r);
}

static void messages(struct fuzz_table *t, char *text)
{
	if (fuzz_target->preresume(&t->ti))
		fuzz_bug("no resume");
	fuzz_target->resume(&t->ti);
	while (text)
		message(t, strsep(&text, "\n"));
	fuzz_target->presuspend(&t->ti);
	fuzz_target->postsuspend(&t->ti);
}

static struct image *sound;

static void setup(void)
{
	u64 random = 1;

	if (sound)
		return;
	sound = calloc(1, sizeof(*sound));
	image_create(sound, &random, 32 << 20, ORIGIN_SECTORS * 512ULL, 65536);
	nc_target_register();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz_table t = { .table.mode = BLK_OPEN_READ | BLK_OPEN_WRITE };
	char *text = calloc(1, size + 1), *rest = text, *argv[FUZZ_WORDS_MAX];
	int argc, r;

	setup();
	memcpy(text, data, size);
	fuzz_devices(ORIGIN_SECTORS * 512ULL, 32 << 20, 1 << 20);
	image_place(sound);
	/* A first byte \t, \v or \f makes the table, the origin or the witness read-only. */
	if (size && text[0] == '\t')
		t.table.mode = BLK_OPEN_READ;
	fuzz_origin.read_only = size && text[0] == '\v';
	fuzz_witness.read_only = size && text[0] == '\f';
	argc = fuzz_split(strsep(&rest, "\n"), argv);
	r = fuzz_ctr(&t, ORIGIN_SECTORS, argc, argv);
	fuzz_count("fuzz_inputs", 1);
	fuzz_count("lines_taken", !r);
	if (r) {
		check_refused(&t, r);
	} else {
		check_taken(&t, names_witness(argc, argv));
		messages(&t, rest);
		fuzz_target->dtr(&t.ti);
	}
	free(text);
	if (fuzz_allocated)
		fuzz_bug("%zu bytes were not freed", fuzz_allocated);
	return 0;
}

size_t LLVMFuzzerMutate(u8 *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t room, unsigned int seed);

/* lines_make() generates every other input; libFuzzer mutates the rest. */
size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t room, unsigned int seed)
{
	u64 random = seed;

	if (room < LINES_ROOM_MIN || image_random(&random) % 2)
		return LLVMFuzzerMutate(data, size, room);
	return lines_make((char *)data, room, "/dev/origin", "/dev/cache",
			  "/dev/witness", &random);
}
