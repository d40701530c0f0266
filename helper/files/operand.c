// SPDX-License-Identifier: GPL-2.0-only
/* Resolves the TARGETs of a verb to ranges of the device. */
#include "files/operand.h"

#include <string.h>

#include "files/glob.h"
#include "files/read_list.h"
#include "files/read_order.h"
#include "files/resolve_file.h"
#include "lib/error.h"

/* Returns whether the command line names a TARGET. Operand 0 is the device's name. */
bool target_given(const struct arguments *args)
{
	return args->operands > 1 || option_given(args, OPTION_FROM);
}

static int check_options(const struct arguments *args)
{
	bool narrowed = option_given(args, OPTION_SAMPLES | OPTION_INDEX_ONLY);

	if (option_given(args, OPTION_SAMPLES) && option_given(args, OPTION_INDEX_ONLY))
		return fail(CODE_USAGE,
			    "--index-only conflicts with --samples, which includes the index");
	if (option_given(args, OPTION_SHARD_FORMAT) && !narrowed)
		return fail(CODE_USAGE,
			    "--format goes with --samples or --index-only");
	if (option_given(args, OPTION_CONCATENATED) && !option_given(args, OPTION_SAMPLES))
		return fail(CODE_USAGE, "--concatenated goes with --samples");
	if (option_given(args, OPTION_STRICT) && !target_given(args))
		return fail(CODE_USAGE, "--strict needs a TARGET: name the files");
	if (narrowed && !target_given(args))
		return fail(CODE_USAGE,
			    "--%s needs a TARGET: name the files",
			    option_given(args, OPTION_SAMPLES) ? "samples" :
							  "index-only");
	return 0;
}

static int check_range(const struct arguments *args, const char *text)
{
	char why[RANGE_WHY];
	struct range range;

	if (!range_like(text))
		return 0;
	if (option_given(args, OPTION_SAMPLES | OPTION_INDEX_ONLY))
		return fail(CODE_USAGE,
			    "'%s': --samples and --index-only are for files; to name a file write './%s'",
			    text, text);
	if (range_parse_word(text, &range, why))
		return 0;
	return fail(CODE_USAGE,
		    "'%s' is not a range of the device: %s; to name a file write './%s'",
		    text, why, text);
}

/*
 * Checks TARGETs and their options as far as that is possible without the device. @needed: fail if
 * there is no TARGET.
 */
int target_check_words(const struct arguments *args, bool needed)
{
	int i;

	if (needed && !target_given(args))
		return fail(CODE_USAGE,
			    "no TARGET given: name files, directories or ranges of the device, or a list of them with --from FILE");
	if (check_options(args))
		return fail_code();
	for (i = 1; i < args->operands; i++)
		if (check_range(args, args->operand[i]))
			return fail_code();
	return 0;
}

/*
 * Fail if a TARGET may be a file, and the device is suspended: the file system then hangs where it
 * has to read, and this program could not be killed.
 */
static int check_files_answer(const struct arguments *args, const struct dm_device *dev)
{
	bool files = option_given(args, OPTION_FROM);
	int i;

	for (i = 1; i < args->operands; i++)
		files |= !range_like(args->operand[i]);
	if (!files || !dev->suspended)
		return 0;
	return fail(CODE_BUSY,
		    "device '%s' is suspended, and its files cannot be read: 'dmsetup resume %s' first, or name ranges of the device",
		    dev->name, dev->name);
}

/* Collects the TARGETs in @list->words, and for TARGET_READ also their order. */
static int collect_words(enum target_use use, const struct arguments *args,
			 struct read_list *list)
{
	int i;

	for (i = 1; i < args->operands; i++)
		if (use == TARGET_READ ? read_list_add(list, args->operand[i]) :
					 glob_add(&list->words, args->operand[i]))
			return fail_code();
	if (option_given(args, OPTION_FROM) && use == TARGET_READ)
		read_list_add_file(list, args->from);
	else if (option_given(args, OPTION_FROM))
		glob_add_list(&list->words, args->from);
	/* target_check_words() has not checked the words of a list. */
	for (i = 0; i < list->words.count && !fail_code(); i++)
		if (list->words.word[i].range.length)
			check_range(args, list->words.word[i].text);
	return fail_code();
}

/* Adds a shard for each word that has none. */
static int resolve_words(struct resolving *r, const struct glob_words *words)
{
	size_t i, number;

	for (i = 0; i < words->count; i++)
		if (words->word[i].range.length ? resolving_range(r, &words->word[i]) :
						  resolving_file(r, &words->word[i], &number))
			return fail_code();
	return 0;
}

static int check_strict(const struct resolving *r, const struct glob_words *words)
{
	if (!r->strict || !words->passed_over)
		return 0;
	return fail(CODE_DEVICE, "--strict refuses '%s': it is not a regular file",
		    words->passed_first);
}

/* Fails if there is nothing but entries of directories and patterns that were passed over. */
static int check_any(const struct resolving *r, const struct glob_words *words)
{
	if (r->shards->count || (!r->why && !words->passed_over))
		return 0;
	if (r->why)
		return fail(CODE_DEVICE, "none of the %llu files can be used: %s",
			    (unsigned long long)r->shards->omitted.passed_over, r->why);
	return fail(CODE_DEVICE,
		    "none of the %llu files can be used: '%s': it is not a regular file",
		    (unsigned long long)words->passed_over, words->passed_first);
}

/*
 * Resolves @list: the words to @r->shards, or with an @order their reads to one shard of @order.
 */
static int resolve_list(struct resolving *r, const struct arguments *args,
			const struct read_list *list, struct shards *order)
{
	const struct fixed_samples fixed = { args->header, args->sample_size };

	if (check_strict(r, &list->words))
		return fail_code();
	r->shards->omitted.passed_over = list->words.passed_over;
	if (order ? read_order_resolve(r, list, &fixed, order) : resolve_words(r, &list->words))
		return fail_code();
	if (!check_any(r, &list->words))
		resolving_warn_holes(r);
	return fail_code();
}

/*
 * Resolves the TARGETs to @shards: one shard per range, and one per file even if the file is named
 * several times. Of several names of a file the shard gets the first in strcmp() order. With
 * TARGET_READ and without --rank, there is one shard instead, with all reads in their order. Call
 * shards_free() after success and failure.
 *
 * Fails at the first TARGET that cannot be mapped; map_extents() tells which data is left out
 * instead. Reads directories, metadata of the file system and, for samples and --index-only,
 * headers of the files.
 */
int target_resolve_for(enum target_use use, const struct arguments *args,
		       const struct dm_device *dev, struct shards *shards)
{
	bool shared = option_given(args, OPTION_RANK), ordered = use == TARGET_READ && !shared;
	struct shards files = { .size = dev->size };
	struct resolving r = {
		.dev = dev,
		.use = use == TARGET_RESTORE || use == TARGET_READ ? TARGET_BRING : use,
		.strict = option_given(args, OPTION_STRICT),
		.shards = ordered ? &files : shards,
		.narrowing = {
			.samples = args->samples,
			.index_only = option_given(args, OPTION_INDEX_ONLY),
			.format = args->shard_format,
			.concatenated = option_given(args, OPTION_CONCATENATED),
			.quiet = use == TARGET_RESTORE,
			.skip_damaged = use == TARGET_SHOW,
		},
	};
	struct read_list list = {
		.root = args->root,
		.whole = shared ? "--rank shares out whole files" :
			 args->samples || r.narrowing.index_only ?
			 "--samples and --index-only select the part of all files" : NULL,
	};

	memset(shards, 0, sizeof(*shards));
	shards->size = dev->size;
	if (!check_files_answer(args, dev) && !collect_words(use, args, &list))
		resolve_list(&r, args, &list, ordered ? shards : NULL);
	resolving_free(&r);
	read_list_free(&list);
	shards_free(&files);
	return fail_code();
}

/* target_resolve_for() for a verb that brings data. */
int target_resolve(const struct arguments *args, const struct dm_device *dev,
		   struct shards *shards)
{
	return target_resolve_for(TARGET_BRING, args, dev, shards);
}
