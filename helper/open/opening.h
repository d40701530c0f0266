/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State of a cache while it is opened, for open_devices.c and the files opening_*.c.
 * Functions that return int return 0, or an exit code recorded with fail().
 */
#ifndef HELPER_OPEN_OPENING_H
#define HELPER_OPEN_OPENING_H

#include <uuid/uuid.h>

#include "cli/options.h"
#include "open/activate.h"
#include "open/members.h"
#include "open/origin_match.h"
#include "open/remembered.h"
#include "open/stage_device.h"
#include "open/witness.h"

/**
 * struct opening - state of a cache while it is opened
 * @args: @given, or @with once opening_take_remembered() has run
 * @given: the arguments of the command, or of a line of nearcachetab
 * @with: @given and the remembered settings that @given does not replace
 * @remembered: the remembered settings that are in force; with --forget those that are dropped
 * @witness_remembered: 'nearcache set' chose the witness in @args, and the superblock does not name it
 * @witness_outdated: the remembered witness is not used: the superblock has got another one since
 * @match: the origin and the first cache device
 * @members: the other cache devices
 * @witness: its path is empty if there is none
 * @claim: the cache has no current record on @witness and needs a new one
 * @witness_is_newer: the record on @witness says that the cache moved to another witness
 * @recorded: @witness is the one in the superblock, and was read
 * @superseded: a former witness of the cache has a record of a later session than the cache device
 * @stage: the stage, closed if the cache has none
 * @staged: the origin of the cache is @stage
 * @abandon: --abandon-stage: the origin is that of @stage, without its log
 * @log: uuid of the log of the stage, if the cache names one
 * @log_found: with @abandon, the log of @stage is there
 * @emptied: --drop-unreadable: the cache may have writes that the log loses, so it is emptied
 */
struct opening {
	const struct arguments *args;
	const struct arguments *given;
	struct arguments with;
	struct remembered remembered;
	bool witness_remembered;
	bool witness_outdated;
	struct origin_match match;
	struct members members;
	struct witness witness;
	bool claim;
	bool witness_is_newer;
	bool recorded;
	bool superseded;
	struct stage stage;
	bool staged;
	bool abandon;
	uuid_t log;
	bool log_found;
	bool emptied;
};

static inline bool opening_has_witness(const struct opening *open)
{
	return *open->witness.path;
}

/* opening_parts.c: the devices, in this order */
int opening_find_cache(struct opening *open);
int opening_find_origin(struct opening *open);
int opening_find_members(struct opening *open);

/* opening_remembered.c */
int opening_take_remembered(struct opening *open);
void opening_remember(struct opening *open, const char *name);
void opening_set_read_ahead(const struct opening *open, const char *name);
int opening_explain_mode(const struct opening *open);
void opening_print_remembered(const struct opening *open);

/* opening_witness.c */
int opening_find_witness(struct opening *open);
void opening_drop_witness(struct opening *open);
void opening_claim_record(struct opening *open, struct activation *act);

/* opening_report.c */
void opening_print(struct opening *open, const struct activation *act);
void opening_print_stage_only(const struct opening *open, const char *name);

#endif /* HELPER_OPEN_OPENING_H */
