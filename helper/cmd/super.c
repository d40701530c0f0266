// SPDX-License-Identifier: GPL-2.0-only
/* nearcache super: show and check the superblocks and the slot table of a cache device. */
#include <stdio.h>
#include <uuid/uuid.h>

#include "cmd/commands.h"
#include "ondisk/print_superblock.h"
#include "block/device.h"
#include "lib/error.h"
#include "ondisk/stage_log.h"
#include "open/origin_match.h"
#include "open/stage_device.h"
#include "open/udev_properties.h"
#include "lib/print.h"
#include "lib/size.h"
#include "ondisk/superblock.h"
#include "ondisk/slot_table.h"
#include "open/witness.h"
#include "open/witness_proof.h"

/* Returns the fault of superblock @i, or the contradiction between both superblocks, or NULL. */
static const char *why_not(const struct super *super, unsigned int i)
{
	if (!super->sound[i])
		return super->why[i];
	return super->best ? NULL : super_why(super);
}

static void print_copies(const struct super *super)
{
	unsigned int i;

	print_table("copies");
	for (i = 0; i < NEARCACHE_SUPER_COPIES; i++) {
		const struct nearcache_super *sb = super->copy[i];
		bool sound = super->sound[i];

		print_record(NULL, NULL);
		print_number("copy", "copy", i);
		print_number("offset", "offset", super_offset(i));
		print_flag("sound", "sound", sound);
		print_flag("counts", "counts", sb == super->best);
		print_number("sequence", "sequence",
			     sound ? le64_to_cpu(sb->sequence) : 0);
		print_string("state", "state",
			     sound ? super_state_word(sb) : NULL);
		print_string("why", "why", why_not(super, i));
		print_end();
	}
	print_end();
}

/* Compare the superblock with the record on the witness.  Ignore a witness that cannot be read. */
static void ask_witness(struct origin_match *match)
{
	const struct nearcache_super *sb = match->super.best;
	const char *path = (const char *)sb->witness;
	struct witness witness = WITNESS_CLOSED;
	struct nearcache_witness record;
	bool found;

	if (witness_named(path) &&
	    !witness_open(&witness, path) &&
	    !witness_look(&witness, sb->uuid, &record, &found) && found)
		match_read_witness(match, &record, true);
	witness_close(&witness);
	fail_reset();
}

static void print_next_open(const struct device *dev, const struct super *super)
{
	struct origin_match match = { .cache = *dev, .super = *super };
	char text[160], size[SIZE_TEXT];
	bool cold;

	ask_witness(&match);
	cold = match_is_cold(&match);
	print_string("next_open", NULL, cold ? "cold" : "warm");
	if (match.older)
		snprintf(text, sizeof(text),
			 "cold: the witness knows of a later session");
	else if (cold)
		snprintf(text, sizeof(text),
			 "cold: open in a writing mode, or a writing mode was not stopped cleanly%s",
			 match_was_writing(&match) ?
			 ", and no witness proves its content" : "");
	else if (match.proven)
		snprintf(text, sizeof(text),
			 "warm, except %llu region%s of %s that were being written",
			 (unsigned long long)match.regions,
			 match.regions == 1 ? "" : "s",
			 size_print(super->geo.intent_region, size));
	if (cold || match.proven)
		print_string(NULL, "next open", text);
}

static int print_slot_table(const struct device *dev, const struct super *super)
{
	struct table_count count;
	int error = table_scan(dev, super, &count);

	if (error)
		return error;
	print_record("slot_table", "Slot table");
	print_number("pages", "pages", count.pages);
	print_number("pages_sound_both", "both copies sound", count.sound_both);
	print_number("pages_sound_one", "one copy damaged", count.sound_one);
	print_number("pages_damaged", "both copies damaged", count.damaged);
	print_number("blocks_used", "blocks used", count.slots_used);
	print_bytes("bytes_valid", "valid bytes", count.bytes_valid);
	print_next_open(dev, super);
	print_end();
	return 0;
}

static void print_log_copies(const struct stage_log *log)
{
	unsigned int i;

	print_table("copies");
	for (i = 0; i < STAGE_LOG_COPIES; i++) {
		print_record(NULL, NULL);
		print_number("copy", "copy", i);
		print_number("offset", "offset", stage_log_offset(i));
		print_flag("sound", "sound", log->sound[i]);
		print_flag("counts", "counts", log->best && log->copy[i] == log->best);
		print_number("sequence", "sequence",
			     log->sound[i] ? le64_to_cpu(log->copy[i]->sequence) : 0);
		print_string("why", "why", log->sound[i] && log->best ? NULL : log->why[i]);
		print_end();
	}
	print_end();
}

static void print_log(const struct nearcache_stage_super *sb)
{
	char uuid[SUPER_UUID_TEXT], time[STAGE_TIME];
	const char *drained = stage_log_drained(sb) ? "yes" : "no, or unknown";

	uuid_unparse_lower(sb->uuid, uuid);
	print_record("log", "Log of a stage");
	print_string("uuid", "uuid", uuid);
	print_string("label", "cache", (const char *)sb->label);
	print_string("origin_id", "origin", *sb->origin_id ? (const char *)sb->origin_id : NULL);
	print_bytes("origin_size", "size of the origin", le64_to_cpu(sb->volume_sectors) * 512);
	print_bytes("ring_bytes", "size of the log",
		    le64_to_cpu(sb->ring_blocks) * NEARCACHE_STAGE_BLOCK);
	print_number("generation", "starts", le64_to_cpu(sb->generation));
	print_number("drained_epoch", "flush on the origin", le64_to_cpu(sb->drained_epoch));
	print_number("drained_time_ns", NULL, le64_to_cpu(sb->drained_time));
	print_string(NULL, sb->drained_time ? "time of that flush" : NULL,
		     stage_time(le64_to_cpu(sb->drained_time), time));
	print_flag("drained", NULL, stage_log_drained(sb));
	print_string(NULL, "all on the origin", drained);
	print_end();
}

static int judge_log(const struct device *dev, const struct stage_log *log)
{
	print_string("path", "path", dev->path);
	print_bytes("size", "size", dev->size);
	print_flag("sound", "sound", log->best);
	print_log_copies(log);
	if (stage_log_require(log, dev))
		return fail_code();
	print_log(log->best);
	return 0;
}

static int judge_super(const struct device *dev)
{
	struct super super;
	int error = super_read(&super, dev);

	if (!error) {
		print_string("path", "path", dev->path);
		print_bytes("size", "size", dev->size);
		print_flag("sound", "sound", super.best);
		print_copies(&super);
		error = super_require(&super, dev);
	}
	if (!error) {
		print_record("super", "Superblock");
		describe_super(super.best, true);
		describe_areas(super.best);
		print_end();
		/* Only the first of several cache devices has a slot table. */
		if (!super.geo.stripe_index)
			error = print_slot_table(dev, &super);
	}
	super_free(&super);
	return error;
}

static int judge_any(const struct device *dev)
{
	struct stage_log log;
	int error = stage_log_read(&log, dev);

	if (!error)
		error = log.magic[0] || log.magic[1] ? judge_log(dev, &log) : judge_super(dev);
	stage_log_free(&log);
	return error;
}

static int cmd_super(const struct arguments *args)
{
	bool udev = option_given(args, OPTION_UDEV);
	struct device dev;
	int error;

	if (udev && option_given(args, OPTION_JSON))
		return fail(CODE_USAGE, "--udev has no JSON form: leave out --json");
	error = device_open_any(&dev, args->operand[0], "device");
	if (!error)
		error = udev ? udev_properties_print(&dev) : judge_any(&dev);
	device_close(&dev);
	return error;
}

const struct verb super_verb = {
	.name = "super",
	.group = VERBS_MAINTAIN,
	.operands = "DEV|FILE",
	.operands_min = 1,
	.operands_max = 1,
	.optional = OPTION_UDEV,
	.summary = "show and check the superblocks and the slot table of a cache device",
	.details =
"super only reads. It also takes an image in a regular file, and the log of a stage. The\n"
"exit code is 4 if neither superblock is valid.\n"
"--udev prints the properties ID_FS_TYPE, ID_FS_UUID, ID_FS_LABEL and others of a cache\n"
"device, a witness or a log. It prints nothing for other devices, and the exit code is 0.\n",
	.run = cmd_super,
};
