// SPDX-License-Identifier: GPL-2.0-only
/* Pins recorded ranges again that the kernel lacks, and prefetches their data. */
#include "pins/restore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "pins/change.h"
#include "lib/error.h"
#include "pins/kernel_ranges.h"
#include "pins/pinned_file.h"
#include "pins/record_owner.h"
#include "files/operand.h"

/* Number of files that restore_tell_gone() names. */
#define TELL_MAX	20

static int64_t now_seconds(void)
{
	return (int64_t)time(NULL);
}

/*
 * Start a prefetch job for the ranges that pins_pieces() lists for the @chosen pins. @wishes: label
 * and priority of the job. @job receives its number; 0: there are no such ranges.
 */
int restore_load(const struct dm_device *dev, const struct pins *pins,
		 bool (*chosen)(const struct pin *pin),
		 const struct nl_job *wishes, uint32_t *job)
{
	struct range *piece = NULL;
	size_t count;

	*job = 0;
	if (!pins_pieces(pins, chosen, &piece, &count) && count)
		nl_job_submit(dev->number, wishes, piece, count, job);
	free(piece);
	return fail_code();
}

/*
 * State while the files of pins are looked up.
 * @known: the kernel's ranges
 * @look: look up the files; otherwise pin the recorded ranges
 * @keep_gone: keep the pins of files that are gone
 * @fresh: pins to add, some in place of recorded ones
 */
struct following {
	const struct dm_device *dev;
	struct pins *pins;
	struct known known;
	struct mounted_all mounts;
	bool look;
	bool keep_gone;
	struct pins fresh;
	struct restored *restored;
};

int (*restore_keep_part)(const struct dm_device *dev, struct shards *shards);

/* Map TARGET @path as pin @like. Returns false, without an error, if that is not possible. */
static bool map_target(const struct dm_device *dev, const struct pin *like, const char *path,
		       struct shards *shards)
{
	char *operand[] = { (char *)dev->name, (char *)path };
	struct arguments args = {
		.given = (like->index_only ? OPTION_INDEX_ONLY : 0) |
			 (like->concatenated ? OPTION_CONCATENATED : 0),
		.samples = like->samples,
		.shard_format = like->format,
		.operand = operand,
		.operands = 2,
	};

	memset(shards, 0, sizeof(*shards));
	if (target_resolve_for(TARGET_RESTORE, &args, dev, shards) || !shards->count)
		return false;
	return !like->part || !restore_keep_part || !restore_keep_part(dev, shards);
}

/* Map the file of a pin; a folder has no ranges. Returns false, without an error, if it fails. */
static bool find_file(const struct dm_device *dev, const struct pin *pin, const char *path,
		      struct shards *shards)
{
	struct stat st;

	memset(shards, 0, sizeof(*shards));
	if (stat(path, &st) || (pin->folder ? !S_ISDIR(st.st_mode) : !S_ISREG(st.st_mode)))
		return false;
	if (pin->folder || map_target(dev, pin, path, shards))
		return true;
	shards_free(shards);
	fail_reset();
	return false;
}

static bool is_there(const struct pin *pin, const struct shard *shard)
{
	return pin->ranges == shard->ranges &&
	       !memcmp(pin->range, shard->range,
		       pin->ranges * sizeof(*pin->range));
}

/* Append a copy of a pin to @fresh, with the ranges of @shard. @path: NULL: that of @pin. */
static int append_pin(struct pins *fresh, const struct pin *pin, const char *path,
		      const struct shard *shard)
{
	struct pin *to = pins_append(fresh, pin, path ? path : pin->path);

	return to ? pin_place(to, shard) : (int)fail_code();
}

/* Record the handle of the file that the path leads to: perhaps another file than before. */
static void note_handle(struct pin *pin)
{
	char *handle = file_handle(pin->path);

	if (!handle || (pin->handle && !strcmp(handle, pin->handle))) {
		free(handle);
		return;
	}
	free(pin->handle);
	pin->handle = handle;
	pin->changed = true;
}

/* Record whether a refresh keeps the pin although its file is gone. */
static void note_kept(struct pin *pin, bool kept)
{
	pin->changed |= pin->kept != kept;
	pin->kept = kept;
}

static int pin_again(struct following *f, const struct pin *pin)
{
	const struct shard recorded = { .range = pin->range, .ranges = pin->ranges };

	if (known_has_pin(&f->known, f->pins, pin))
		return 0;
	f->restored->again++;
	return append_pin(&f->fresh, pin, NULL, &recorded);
}

/* The path does not lead to the file, or the file cannot be mapped. */
static int follow_lost(struct following *f, struct pin *pin)
{
	struct shards shards = { 0 };
	char *path = NULL;

	switch (mounted_look(&f->mounts, pin, &path)) {
	case FILE_GONE:
		pin->gone = true;
		note_kept(pin, pin->kept || f->keep_gone);
		pin->dropped = !pin->kept;
		f->restored->gone++;
		break;
	case FILE_EXISTS:
		if (path && find_file(f->dev, pin, path, &shards)) {
			pin->kept = false;
			append_pin(&f->fresh, pin, path,
				   shards.count ? &shards.shard[0] : &(struct shard){ 0 });
			pin->dropped = true;
			f->restored->moved++;
			break;
		}
		/* fall through */
	case FILE_UNSURE:
		f->restored->unchecked++;
	}
	shards_free(&shards);
	free(path);
	return pin->dropped || fail_code() ? (int)fail_code() : pin_again(f, pin);
}

static int follow_pin(struct following *f, struct pin *pin)
{
	struct shards shards;

	if (!f->look || !pin->path)
		return pin_again(f, pin);
	if (!find_file(f->dev, pin, pin->path, &shards))
		return follow_lost(f, pin);
	/* The file was mapped to the device; a folder may be on another one. */
	if (!pin->folder || mounted_has(&f->mounts, pin->path)) {
		note_handle(pin);
		note_kept(pin, false);
	}
	if (pin->folder || is_there(pin, &shards.shard[0])) {
		pin_again(f, pin);
	} else {
		append_pin(&f->fresh, pin, NULL, &shards.shard[0]);
		f->restored->moved++;
	}
	shards_free(&shards);
	return fail_code();
}

/* True if a part of the pin is on the device, which may have been longer before. */
static bool is_on_device(const struct pins *pins, const struct pin *pin)
{
	struct range part;
	size_t i;

	for (i = 0; i < pin->ranges; i++)
		if (pins_inside(pins, &pin->range[i], &part))
			return true;
	return false;
}

/*
 * Count the pins of files whose ranges the kernel has. Records no error: the ranges were changed
 * before, and the caller goes on.
 */
static void count_pinned(const struct dm_device *dev, const struct pins *pins,
			 struct restored *restored)
{
	struct known known;
	size_t i;

	if (!known_read(&known, dev->number))
		for (i = 0; i < pins->count; i++)
			restored->pins += !pins->pin[i].dropped && !pins->pin[i].folder &&
					  is_on_device(pins, &pins->pin[i]) &&
					  known_has_pin(&known, pins, &pins->pin[i]);
	known_free(&known);
	if (fail_code())
		restored->pins = 0;
	fail_reset();
}

/*
 * Drop expired pins, and pins of files that are gone. Mark as fresh the pins that the kernel lacks
 * and the pins of files that moved; the caller then changes the kernel's ranges. Look up the files
 * if @asked. Look them up also if the kernel has no ranges of the device, but only while it has an
 * opener: only then can it be mounted. free_following() is needed even after a failure.
 */
static int follow_pins(struct following *f, bool asked)
{
	struct pins *pins = f->pins;
	size_t i;

	pins_drop_old(pins, now_seconds());
	if (known_read(&f->known, f->dev->number))
		return fail_code();
	f->look = asked || (f->dev->open_count && !f->known.count);
	if (f->look && mounted_find(&f->mounts, f->dev->number))
		return fail_code();
	for (i = 0; i < pins->count && !fail_code(); i++)
		if (!pins->pin[i].dropped)
			follow_pin(f, &pins->pin[i]);
	if (!fail_code())
		pins_replace(pins, &f->fresh);
	return fail_code();
}

static void free_following(struct following *f)
{
	pins_free(&f->fresh);
	known_free(&f->known);
	mounted_free(&f->mounts);
}

/*
 * Compare the kernel's ranges @known with the record @pins. @extra: receives those that a refresh
 * deletes, room for known->count; NULL: not wanted.
 */
static int find_unrecorded(const struct dm_device *dev, const struct pins *pins,
			   const struct known *known, struct record_difference *difference,
			   struct nl_range *extra)
{
	struct known recorded = { 0 };
	const char **label = NULL;
	size_t i, labels = 0, count = 0;

	memset(difference, 0, sizeof(*difference));
	difference->absent = !pins->file.exists;
	if (pins_recorded(pins, &recorded) || pins_labels(pins, &label, &labels))
		goto out;
	for (i = 0; i < known->count; i++) {
		const struct nl_range *range = &known->range[i];

		if (!known_is_unrecorded(&recorded, range))
			continue;
		difference->unrecorded++;
		if (!labels_have(label, labels, range->label)) {
			difference->left++;
			snprintf(difference->label, LABEL_SIZE, "%s", range->label);
		} else if (extra) {
			extra[count++] = *range;
		}
	}
	if (difference->unrecorded &&
	    !record_elsewhere(dev, difference->elsewhere, &difference->taken))
		*difference->elsewhere = '\0';
out:
	free(label);
	free(recorded.range);
	return fail_code();
}

/* Say what to do about a difference. Writes to @text (ADVICE_TEXT bytes) and returns it. */
const char *restore_advice(const struct dm_device *dev,
			   const struct record_difference *difference, char *text)
{
	const char *name = dev->name, *before = difference->elsewhere;

	if (*before && difference->taken)
		snprintf(text, ADVICE_TEXT,
			 "recorded as those of '%s', a name that another device has now: after 'dmsetup rename' of that device, 'dmsetup rename %s %s' restores the name; 'nearcache unpin %s --all' removes the ranges",
			 before, name, before, name);
	else if (*before)
		snprintf(text, ADVICE_TEXT,
			 "recorded as those of '%s': if dmsetup renamed it, 'dmsetup rename %s %s' undoes that; otherwise 'nearcache unpin %s --all' removes the ranges",
			 before, name, before, name);
	else if (difference->left && difference->absent)
		snprintf(text, ADVICE_TEXT,
			 "%zu ranges have no record: if a file system with '" PINS_DIR "' is not mounted, mount it; otherwise 'nearcache unpin %s --all' removes the ranges",
			 difference->left, name);
	else if (difference->left)
		snprintf(text, ADVICE_TEXT,
			 "%zu ranges have labels that are not on record, for example '%s': another program or a killed 'nearcache pin' made them; 'nearcache unpin %s --label' removes the ranges of a label",
			 difference->left, difference->label, name);
	else
		snprintf(text, ADVICE_TEXT,
			 "they differ from the record: 'nearcache pin %s --refresh' makes them equal",
			 name);
	return text;
}

/* Count what a refresh would mend. Ignores a record that belongs to another device. */
int restore_compare(const struct dm_device *dev, struct record_difference *difference)
{
	struct known known = { 0 };
	struct owner owner;
	struct pins pins;
	size_t i;

	memset(difference, 0, sizeof(*difference));
	owner_of(dev, &owner);
	if (pins_load(&pins, dev->name))
		goto out;
	pins.size = dev->size;
	pins_drop_old(&pins, now_seconds());
	if ((owner_known(&pins.owner) && !owner_same(&pins.owner, &owner)) ||
	    known_read(&known, dev->number) ||
	    find_unrecorded(dev, &pins, &known, difference, NULL))
		goto out;
	for (i = 0; i < pins.count; i++)
		difference->missing += !pins.pin[i].dropped &&
				       !known_has_pin(&known, &pins, &pins.pin[i]);
out:
	known_free(&known);
	pins_free(&pins);
	return fail_code();
}

/* Append a pin for each file below a pinned folder. A folder that cannot be searched is a warning. */
static int append_folder(const struct dm_device *dev, const struct pin *folder,
			 struct pins *fresh)
{
	struct shards shards = { 0 };
	size_t i;

	if (!map_target(dev, folder, folder->path, &shards) && fail_code()) {
		warn("cannot look for new files in the pinned folder '%s': %s", folder->path,
		     fail_message());
		fail_reset();
	}
	for (i = 0; i < shards.count && !fail_code(); i++) {
		struct pin like = *folder;

		like.folder = false;
		pin_file(fresh, &like, &shards.shard[i]);
	}
	shards_free(&shards);
	return fail_code();
}

/* Pin the files @fresh, all or none: without room, or after another error, warn. */
static void pin_fresh(const struct dm_device *dev, struct pins *pins, struct pins *fresh,
		      struct restored *restored)
{
	struct change change = { .dev = dev, .pins = pins };
	size_t before = pins->count, i;

	if (!pins_replace(pins, fresh) && !change_both(&change)) {
		restored->added = pins->count - before;
		return;
	}
	/* Neither the kernel nor the record has these pins. */
	for (i = before; i < pins->count; i++) {
		pins->pin[i].dropped = true;
		pins->pin[i].number = 0;
	}
	warn("%zu new files in the pinned folders of '%s' are not pinned: %s",
	     pins->count - before + fresh->count, dev->name, fail_message());
	fail_reset();
}

/* Pin files that came into a pinned folder. A failure leaves them unpinned, and all else as it is. */
static int pin_new_files(const struct dm_device *dev, struct pins *pins,
			 struct restored *restored)
{
	struct pins fresh = { 0 };
	size_t i;

	for (i = 0; i < pins->count && !fail_code(); i++) {
		struct pin *pin = &pins->pin[i];

		pin->fresh = false;
		if (pin->folder && !pin->dropped && !pin->gone)
			append_folder(dev, pin, &fresh);
	}
	if (!fail_code() && fresh.count && !pins_keep_new(&fresh, pins) && fresh.count)
		pin_fresh(dev, pins, &fresh, restored);
	pins_free(&fresh);
	return fail_code();
}

/*
 * List the ranges that a refresh deletes: a killed command left them. Fails if the pins are on
 * record under an earlier name of the device. @extra is for free(); its labels belong to @f.
 */
static int list_unrecorded(const struct following *f, struct record_difference *difference,
			   struct nl_range **extra)
{
	char text[ADVICE_TEXT];

	*extra = calloc(f->known.count + 1, sizeof(**extra));
	if (!*extra)
		return fail_memory();
	if (find_unrecorded(f->dev, f->pins, &f->known, difference, *extra))
		return fail_code();
	if (*difference->elsewhere)
		return fail(CODE_DEVICE, "the pins of device '%s' are %s", f->dev->name,
			    restore_advice(f->dev, difference, text));
	return 0;
}

/*
 * Find files that moved or are gone, pin missing ranges, and delete ranges that are not on record
 * though the record has their label. Then pin new files in pinned folders. Files that cannot be
 * found or mapped, without proof that they are gone, keep their recorded ranges. A failure of the
 * first part changes neither kernel nor record. Sets @restored, but not its @job, and pin.gone.
 */
int restore_refresh(const struct dm_device *dev, struct pins *pins, bool keep_gone,
		    struct restored *restored)
{
	struct following f = { .dev = dev, .pins = pins, .keep_gone = keep_gone,
			       .restored = restored };
	struct change change = { .dev = dev, .pins = pins };
	struct record_difference difference = { 0 };
	struct nl_range *extra = NULL;
	char text[ADVICE_TEXT];

	memset(restored, 0, sizeof(*restored));
	if (!follow_pins(&f, true) && !list_unrecorded(&f, &difference, &extra)) {
		change.which = extra;
		change.count = difference.unrecorded - difference.left;
		restored->unrecorded = change.count;
		restored->left = difference.left;
		change_both(&change);
	}
	free(extra);
	free_following(&f);
	if (!fail_code() && difference.left)
		warn("'%s': %s", dev->name, restore_advice(dev, &difference, text));
	if (fail_code() || pin_new_files(dev, pins, restored))
		return fail_code();
	count_pinned(dev, pins, restored);
	return 0;
}

/*
 * Warn of each file that is gone, up to TELL_MAX. Without a handle, the file may have another path.
 */
void restore_tell_gone(const struct pins *pins)
{
	size_t i, count = 0;

	for (i = 0; i < pins->count; i++) {
		if (!pins->pin[i].gone || ++count > TELL_MAX)
			continue;
		warn("the pinned file '%s' %s: its pin was %s", pins->pin[i].path,
		     pins->pin[i].handle ? "does not exist any more" :
					   "is no longer at this path",
		     pins->pin[i].kept ? "kept" : "dropped");
	}
	if (count > TELL_MAX)
		warn("%zu more pinned files do not exist any more", count - TELL_MAX);
}

/* Turn an error into a warning: the device works without its pins. */
static void warn_instead(const char *what, const char *name, const char *how)
{
	if (fail_code())
		warn("%s '%s' %s: %s", what, name, how, fail_message());
	fail_reset();
}

/* Pin the recorded ranges that fit. A failure leaves the kernel's ranges unchanged. */
static int restore_kernel(const struct dm_device *dev, struct pins *pins,
			  struct restored *restored)
{
	struct change change = { .dev = dev, .pins = pins, .some = true };
	struct following f = { .dev = dev, .pins = pins, .restored = restored };

	if (!follow_pins(&f, false))
		change_kernel(&change);
	free_following(&f);
	if (!fail_code())
		count_pinned(dev, pins, restored);
	return fail_code();
}

/* Prefetches also for pins that the kernel still has: an attached cache may lack their data. */
static void restore_device(const struct dm_device *dev, struct pins *pins,
			   const char *attached, struct restored *restored)
{
	const struct nl_job wishes = { .label = RESTORE_LABEL };
	char *known = pins->owner.attached;
	bool other = attached && strcmp(known, attached);

	if (other)
		snprintf(known, sizeof(pins->owner.attached), "%s", attached);
	if (restore_kernel(dev, pins, restored))
		return;
	restore_load(dev, pins, NULL, &wishes, &restored->job);
	warn_instead("the pins of", dev->name,
		     "are not prefetched, only cached when they are read");
	restore_tell_gone(pins);
	if (restored->moved || restored->gone || other)
		pins_save(pins, dev->name);
	warn_instead("the pins of", dev->name,
		     "could not be recorded, the old record remains");
}

/*
 * Pin the recorded ranges of a device again after it was opened or a cache was attached to it. A
 * failure is only a warning, because the device works without its pins.
 * @attached: uuid of the attached cache; "" if it is the cache with which the device was opened;
 * NULL if no cache was attached.
 */
void restore(const char *name, const char *attached, struct restored *restored)
{
	struct pins pins = { 0 };
	struct dm_device dev;

	memset(restored, 0, sizeof(*restored));
	if (!dm_need_ours(name, &dev)) {
		if (!record_open(&pins, &dev) && !record_require(&pins, &dev) &&
		    pins.count)
			restore_device(&dev, &pins, attached, restored);
		dm_device_free(&dev);
	}
	pins_free(&pins);
	warn_instead("the pins of", name, "could not be restored");
}
