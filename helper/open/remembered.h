/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Settings that a cache has at its next open: create, open, set and stage gave them. Each cache has
 * one file, REMEMBERED_FOLDER/UUID, with a line KEY=VALUE for each; see nearcache(7). The caller of
 * a function that changes a file holds lock_name() of the device, or has no device.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_OPEN_REMEMBERED_H
#define HELPER_OPEN_REMEMBERED_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/options.h"
#include "lib/name.h"
#include "ondisk/superblock.h"
#include "open/witness.h"

#define REMEMBERED_FOLDER	"/var/lib/nearcache/settings"

/* Tests use another folder. */
extern const char *remembered_folder;

/* Options that are remembered; those of a stage only while the cache has one. */
#define REMEMBERED_STAGE	(OPTION_DRAIN_RATE | OPTION_MAX_BEHIND | OPTION_ON_FULL)
#define REMEMBERED_OPTIONS	(OPTION_MODE | OPTION_FILL_MEMORY | OPTION_CACHE_TIMEOUT | \
				 OPTION_ORIGIN_TIMEOUT | OPTION_VERIFY | REMEMBERED_STAGE)

/* Size of the texts of remembered_print() and remembered_describe() with NUL. */
#define REMEMBERED_TEXT		2048

/**
 * struct remembered - the settings of one cache
 * @args: options; @given has their bits
 * @ahead_given: @read_ahead is set
 * @read_ahead: read-ahead of the device, bytes
 * @name: name of the device at the last change, "": unknown
 * @witness: the witness of 'nearcache set', path or "none", until the superblock names it; "": none
 * @before: the witness in the superblock when @witness was set. If the superblock names another
 *	witness now, @witness is outdated
 * @attached: uuid of the cache that 'nearcache attach' gave to the device, "": none. The device
 *	keeps the uuid of this cache, but changes of its settings go to the file of the other one
 * @exists: there is a file
 */
struct remembered {
	struct arguments args;
	bool ahead_given;
	uint64_t read_ahead;
	char name[NAME_SIZE];
	char witness[WITNESS_PATH];
	char before[WITNESS_PATH];
	char attached[SUPER_UUID_TEXT];
	bool exists;
};

/*
 * The settings that a change begins with.
 * REMEMBERED_FILE: those in the file of the cache.
 * REMEMBERED_ATTACHED: the same; if this file names an attached cache, those in its file.
 * REMEMBERED_NONE: none.
 */
enum remembered_base {
	REMEMBERED_FILE,
	REMEMBERED_ATTACHED,
	REMEMBERED_NONE,
};

/* remembered_text.c */
int remembered_parse(struct remembered *r, const char *path, char *text);
const char *remembered_take(struct remembered *r, const char *word, size_t length,
			    const char *value);
char *remembered_print(const struct remembered *r, char *text);
char *remembered_describe(const struct remembered *r, bool units, char *text);

/* remembered_file.c */
const char *remembered_path(const char *uuid, char *path);
int remembered_load(struct remembered *r, const char *uuid);
bool remembered_find(struct remembered *r, const char *name, char *uuid);
void remembered_change(const char *uuid, const char *name, enum remembered_base base,
		       void (*change)(struct remembered *r, const void *arg), const void *arg);
void remembered_forget(const char *uuid);

/* remembered.c */
void remembered_drop_writing_mode(struct remembered *r);
void remembered_apply(struct remembered *r, struct arguments *args, bool staged);
void remembered_options(const char *uuid, const char *name, const struct arguments *args);
void remembered_opened(const char *uuid, const char *name, const struct arguments *args,
		       bool drop_witness);
void remembered_words(const char *uuid, const char *name, char **words, int count, bool ahead);
void remembered_witness(const char *uuid, const char *name, const char *witness, const char *recorded);
void remembered_attached(const char *uuid, const char *name, const char *now);
const char *remembered_uuid(const char *dm_uuid);

#endif /* HELPER_OPEN_REMEMBERED_H */
