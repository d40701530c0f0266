// SPDX-License-Identifier: GPL-2.0-only
/* nearcache verify: read files through the cache and compare them with a manifest. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verify/checksum.h"
#include "cluster/homes.h"
#include "cmd/commands.h"
#include "ondisk/print_superblock.h"
#include "files/fiemap.h"
#include "lib/error.h"
#include "block/layer_map.h"
#include "verify/manifest.h"
#include "lib/print.h"
#include "files/operand.h"
#include "verify/verify_threads.h"
#include "files/glob.h"

/*
 * @words: the TARGETs
 * @file: the @files files to check
 * @layers: map from the file system's device to the nearcache device, for the file checked last
 */
struct verification {
	const struct arguments *args;
	struct dm_device dev;
	struct manifest manifest;
	struct glob_words words;
	struct verifying *file;
	size_t files;
	struct layers layers;
};

/* An existing file of the manifest.  @device and @inode identify it. */
struct known {
	dev_t device;
	ino_t inode;
	const struct manifest_entry *entry;
};

static const char *verdict_word(enum verdict verdict)
{
	static const char *const word[VERDICTS] = {
		[VERDICT_NONE] = "not-read",
		[VERDICT_SOUND] = "sound",
		[VERDICT_MISMATCH] = "mismatch",
		[VERDICT_MISSING] = "missing",
		[VERDICT_UNREADABLE] = "unreadable",
		[VERDICT_ELSEWHERE] = "elsewhere",
		[VERDICT_UNLISTED] = "unlisted",
	};

	return word[verdict];
}

static int compare_names(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return x->inode < y->inode ? -1 : x->inode > y->inode;
}

static int choose_words(struct verification *v)
{
	const struct arguments *args = v->args;
	size_t i;
	int o;

	for (o = 1; o < args->operands; o++)
		if (glob_add(&v->words, args->operand[o]))
			return fail_code();
	if (option_given(args, OPTION_FROM) && glob_add_list(&v->words, args->from))
		return fail_code();
	for (i = 0; i < v->words.count; i++)
		if (v->words.word[i].range.length)
			return fail(CODE_USAGE,
				    "'%s' is a range of the device, but a manifest lists files: write './%s' for a file of that name",
				    v->words.word[i].text,
				    v->words.word[i].text);
	return 0;
}

/* The existing files of the manifest by inode, to recognise them under other names. */
static struct known *known_files(const struct manifest *manifest, size_t *count)
{
	struct known *known = calloc(manifest->count, sizeof(*known));
	struct stat st;
	size_t i;

	*count = 0;
	if (!known) {
		fail_memory();
		return NULL;
	}
	for (i = 0; i < manifest->count; i++)
		if (!stat(manifest->entry[i].path, &st))
			known[(*count)++] = (struct known){
				st.st_dev, st.st_ino, &manifest->entry[i]
			};
	qsort(known, *count, sizeof(*known), compare_names);
	return known;
}

/* Refuse a file with two digests: nothing tells which one is right. */
static int check_twins(const struct verification *v, const struct known *known,
		       size_t count)
{
	size_t i;

	for (i = 1; i < count; i++) {
		const struct manifest_entry *a = known[i - 1].entry;
		const struct manifest_entry *b = known[i].entry;

		if (!compare_names(&known[i - 1], &known[i]) &&
		    memcmp(a->digest, b->digest, sizeof(a->digest)))
			return fail(CODE_USAGE,
				    "manifest '%s': line %lu ('%s') and line %lu ('%s') are the same file with different digests: correct one of them",
				    v->args->manifest, a->line, a->path,
				    b->line, b->path);
	}
	return 0;
}

static int choose_targets(struct verification *v)
{
	struct known *known;
	size_t i, count;

	if (choose_words(v))
		return fail_code();
	known = known_files(&v->manifest, &count);
	if (known)
		check_twins(v, known, count);
	v->file = calloc(v->words.count, sizeof(*v->file));
	if (!fail_code() && !v->file)
		fail_memory();
	for (i = 0; i < v->words.count && !fail_code(); i++) {
		struct verifying *file = &v->file[v->files++];
		struct known key, *found;
		struct stat st;

		file->path = v->words.word[i].text;
		file->verdict = VERDICT_UNLISTED;
		if (stat(file->path, &st))
			continue;
		key = (struct known){ st.st_dev, st.st_ino, NULL };
		found = bsearch(&key, known, count, sizeof(*known), compare_names);
		if (!found)
			continue;
		file->digest = found->entry->digest;
		file->verdict = VERDICT_NONE;
	}
	free(known);
	return fail_code();
}

static int choose_all(struct verification *v)
{
	v->file = calloc(v->manifest.count, sizeof(*v->file));
	if (!v->file)
		return fail_memory();
	for (; v->files < v->manifest.count; v->files++) {
		v->file[v->files].path = v->manifest.entry[v->files].path;
		v->file[v->files].digest = v->manifest.entry[v->files].digest;
	}
	return 0;
}

static bool is_below(const struct layers *layers, const struct extent *extent)
{
	uint64_t done = 0;
	struct range piece;
	const char *why;

	while (done < extent->length) {
		if (!layers_map(layers, extent->start + done,
				extent->length - done, &piece, &why))
			return false;
		done += piece.length;
	}
	return true;
}

/*
 * True if a part of the file is on another device, because its file system is on several devices.
 * Also true, after a warning, if the extents of the file cannot be read.
 */
static bool is_elsewhere(const struct layers *layers, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct extents extents = { 0 };
	bool below = fd >= 0 && !extents_read(&extents, fd, path);
	size_t i;

	for (i = 0; i < extents.count && below; i++) {
		const struct extent *extent = &extents.extent[i];

		if (extent->kind == EXTENT_UNLOCATED)
			fail(CODE_DEVICE, "'%s': bytes %llu to %llu: the data %s", path,
			     (unsigned long long)extent->offset,
			     (unsigned long long)(extent->offset + extent->length) - 1,
			     extent->why);
		below = extent->kind == EXTENT_UNWRITTEN ||
			(extent->kind == EXTENT_DATA && is_below(layers, extent));
	}
	if (fail_code())
		warn("%s; its file system has other devices as well",
		     fail_message());
	fail_reset();
	extents_free(&extents);
	if (fd >= 0)
		close(fd);
	return !below;
}

/* Judge a file as far as possible without reading it: missing, or on another device. */
static int look_at(struct verification *v, struct verifying *file)
{
	struct stat st;

	if (file->verdict != VERDICT_NONE)
		return 0;
	if (stat(file->path, &st)) {
		file->error = errno;
		file->verdict = errno == ENOENT ? VERDICT_MISSING :
						  VERDICT_UNREADABLE;
		return 0;
	}
	file->size = (uint64_t)st.st_size;
	if (!v->layers.piece || v->layers.upper != st.st_dev) {
		layers_free(&v->layers);
		if (layers_resolve(&v->layers, st.st_dev, v->dev.number))
			return fail_code();
	}
	if (!layers_touch(&v->layers) ||
	    (!layers_cover(&v->layers) &&
	     is_elsewhere(&v->layers, file->path)))
		file->verdict = VERDICT_ELSEWHERE;
	return 0;
}

static void report_problems(const struct verification *v)
{
	size_t i;

	print_table("problems");
	for (i = 0; i < v->files; i++) {
		const struct verifying *file = &v->file[i];

		if (file->verdict <= VERDICT_SOUND)
			continue;
		print_record(NULL, NULL);
		print_string("result", "result", verdict_word(file->verdict));
		print_string("error", "error",
			     file->error ? checksum_error(file->error) : NULL);
		print_string("path", "file", file->path);
		print_end();
	}
	print_end();
}

static uint64_t count_verdict(const struct verification *v, enum verdict verdict,
			      uint64_t *bytes)
{
	uint64_t found = 0;
	size_t i;

	for (i = 0; i < v->files; i++)
		if (v->file[i].verdict == verdict) {
			found++;
			*bytes += v->file[i].size;
		}
	return found;
}

static int report_files(const struct verification *v, const char *state)
{
	uint64_t found[VERDICTS], bytes[VERDICTS] = { 0 }, problems = 0;
	bool dry_run = option_given(v->args, OPTION_DRY_RUN);
	char what[160] = "";
	unsigned int i;

	for (i = 0; i < VERDICTS; i++) {
		size_t used = strlen(what);

		found[i] = count_verdict(v, i, &bytes[i]);
		if (i <= VERDICT_SOUND || !found[i])
			continue;
		problems += found[i];
		snprintf(what + used, sizeof(what) - used, "%s%llu %s",
			 used ? ", " : "", (unsigned long long)found[i],
			 verdict_word(i));
	}
	print_record(NULL, v->dev.name);
	print_string("name", NULL, v->dev.name);
	print_string("manifest", "manifest", v->args->manifest);
	print_string("state", NULL, state);
	print_number("files", "files", v->files);
	print_number("sound", "sound", found[VERDICT_SOUND]);
	print_bytes("bytes", "bytes", bytes[VERDICT_SOUND] +
		    bytes[VERDICT_MISMATCH] + bytes[VERDICT_NONE]);
	print_number("passed_over", v->words.passed_over ? "files passed over" : NULL,
		     v->words.passed_over);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	report_problems(v);
	print_end();
	if (!problems)
		return 0;
	return fail(CODE_DEVICE,
		    "%llu of %zu files do not match the manifest '%s': %s",
		    (unsigned long long)problems, v->files, v->args->manifest,
		    what);
}

static uint64_t passed_by(const struct status *status)
{
	return status->counter[NEARCACHE_COUNTER_BYPASS_STATE] +
	       status->counter[NEARCACHE_COUNTER_HIT_ERRORS];
}

/* Warn about reads that bypassed the cache: they do not verify its data. */
static const char *look_again(const struct verification *v,
			      const struct status *before)
{
	bool was_normal = before->field[NEARCACHE_FIELD_STATE] ==
			  NEARCACHE_NORMAL;
	const char *name = v->dev.name, *state = "unknown";
	struct dm_device now;
	struct status status;

	if (dm_need_ours(name, &now)) {
		warn("%s: the verified device is gone",
		     fail_message());
		fail_reset();
		return state;
	}
	if (!describe_status(&now, &status)) {
		state = describe_state(&now, &status);
		if (was_normal &&
		    status.field[NEARCACHE_FIELD_STATE] != NEARCACHE_NORMAL)
			warn("device '%s' changed to state '%s' meanwhile: later reads came from the origin and do not verify the cache",
			     name, state);
		else if (was_normal && passed_by(&status) > passed_by(before))
			warn("%llu reads of device '%s' bypassed its cache meanwhile: they do not verify it",
			     (unsigned long long)(passed_by(&status) -
						  passed_by(before)), name);
	}
	fail_reset();
	dm_device_free(&now);
	return state;
}

static int verify_files(struct verification *v)
{
	struct status status;
	const char *state;
	size_t i;

	if (dm_need_running(&v->dev))
		return fail_code();
	if (describe_status(&v->dev, &status) ||
	    manifest_read(&v->manifest, v->args->manifest) ||
	    (target_given(v->args) ? choose_targets(v) : choose_all(v)))
		return fail_code();
	state = describe_state(&v->dev, &status);
	if (status.field[NEARCACHE_FIELD_STATE] != NEARCACHE_NORMAL)
		warn("device '%s' is in state '%s': reads come from the origin and do not verify the cache",
		     v->dev.name, state);
	for (i = 0; i < v->files; i++)
		if (look_at(v, &v->file[i]))
			return fail_code();
	if (option_given(v->args, OPTION_DRY_RUN))
		return report_files(v, state);
	if (verifying_run(v->file, v->files, option_given(v->args, OPTION_JSON)))
		return fail_code();
	return report_files(v, look_again(v, &status));
}

static int cmd_verify(const struct arguments *args)
{
	struct verification v = { .args = args };
	struct homes homes;
	int error = target_check_words(args, false);

	if (!error && option_given(args, OPTION_FROM) && !strcmp(args->from, "-") &&
	    !strcmp(args->manifest, "-"))
		error = fail(CODE_USAGE,
			     "--manifest - and --from - cannot both be standard input: write one to a file");
	if (!error)
		error = homes_find(args->operand[0], &v.dev, &homes);
	if (error)
		return error;
	error = homes_need_running(&homes) ?: verify_files(&v);
	homes_free(&homes);
	layers_free(&v.layers);
	free(v.file);
	glob_free(&v.words);
	manifest_free(&v.manifest);
	dm_device_free(&v.dev);
	return error;
}

const struct verb verify_verb = {
	.name = "verify",
	.group = VERBS_MAINTAIN,
	.operands = "NAME [FILE...]",
	.operands_min = 1,
	.operands_max = -1,
	.required = OPTION_MANIFEST,
	.optional = OPTION_FROM,
	.summary = "read files through the cache and compare them with a manifest",
	.details =
"The manifest is the output of sha256sum(1) (- is standard input); its paths are relative\n"
"to the current directory. Without FILEs, verify reads all files of the manifest; with\n"
"FILEs (directories, patterns, --from) only those. It bypasses the page cache and reads\n"
"several files at a time; data that the cache lacks is read from the origin and cached.\n"
"The exit code is 4 if a file differs, is missing, cannot be read, is not on the device,\n"
"or is not in the manifest.\n",
	.run = cmd_verify,
};
