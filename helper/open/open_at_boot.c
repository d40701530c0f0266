// SPDX-License-Identifier: GPL-2.0-only
/* Opens devices of nearcachetab(5), at boot or by name, if need be without their cache. */
#include "open/open_at_boot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uuid/uuid.h>

#include "open/activate.h"
#include "block/dm.h"
#include "lib/error.h"
#include "block/parallel_devices.h"
#include "open/open_devices.h"
#include "open/passthrough.h"
#include "open/remembered.h"
#include "open/stage_device.h"
#include "lib/print.h"
#include "open/find_cache_devices.h"
#include "open/nearcachetab.h"

/* Seconds to wait for a cache device, which is a local drive, after the origin has appeared. */
#define CACHE_WAIT	10U
/* Seconds that one line may take after its devices appeared, including timeouts of the kernel. */
#define OPEN_SECONDS	90U

/**
 * struct reopening - state while the device of one line of nearcachetab is opened
 * @entry: the line
 * @args: options of the line; those of the command line take precedence
 * @by: options of the command line
 * @origin: open origin
 * @cache: the cache device, found by the path or uuid in the line
 * @uuid: uuid of the cache, if @known
 * @known: @uuid is set
 * @staged: the cache has a stage, with the log @log
 * @why: reason to open the device without its cache; "": none
 */
struct reopening {
	const struct tab_entry *entry;
	struct arguments args;
	const struct arguments *by;
	struct device origin;
	struct resolved cache;
	uuid_t uuid;
	bool known;
	uuid_t log;
	bool staged;
	char why[1024];
};

static const char *tab_path(const struct arguments *args)
{
	return option_given(args, OPTION_TAB) ? args->tab : TAB_FILE;
}

static void wait_for_devices(const struct reopening *re)
{
	unsigned int seconds = re->entry->timeout;
	const char *cache = re->entry->cache;

	if (!option_given(&re->args, OPTION_WAIT_DEVICES))
		return;
	/* A cache named by uuid has no path to wait for. */
	if (resolve_wait(re->args.origin, seconds) && cache[0] == '/')
		resolve_wait(cache, seconds < CACHE_WAIT ? seconds : CACHE_WAIT);
	if (option_given(&re->args, OPTION_STAGE))
		resolve_wait(re->args.stage, seconds < CACHE_WAIT ? seconds : CACHE_WAIT);
}

static int open_origin(struct reopening *re)
{
	if (device_open(&re->origin, re->args.origin, "origin"))
		return fail_add("'%s' needs it: is it connected?",
				re->entry->name);
	return 0;
}

/* Move the recorded error to @re->why: the device will be opened without its cache. */
static int keep_reason(struct reopening *re)
{
	snprintf(re->why, sizeof(re->why), "%s", fail_message());
	fail_reset();
	return 0;
}

/*
 * Check that the cache was made for this origin. If it was not and the line has a path, another
 * drive may have that path now: ignore the drive and open the device without a cache. If the line
 * has a uuid, the line is wrong, perhaps in its origin: fail, lest users write to a wrong origin.
 */
static int check_whose(struct reopening *re, bool by_uuid)
{
	const char *id = (const char *)re->cache.sb.origin_id;

	/* The log of a stage names the origin, and open compares it. */
	re->staged = stage_id_parse(id, re->log);
	if (!*id || re->staged || !strcmp(id, re->origin.id)) {
		re->known = by_uuid || *id;
		uuid_copy(re->uuid, re->cache.sb.uuid);
		return 0;
	}
	fail(CODE_DEVICE,
	     "cache device '%s' was made for the origin '%s', but '%s' is '%s'",
	     re->cache.path, id, re->origin.path, re->origin.id);
	if (by_uuid)
		return fail_add("'%s' is not opened: correct its line, or open it with --cache and --origin",
				re->entry->name);
	return keep_reason(re);
}

/* Find the cache. Returns 0 with @re->why set if the device must be opened without its cache. */
static int find_cache(struct reopening *re)
{
	const char *cache = re->entry->cache;
	bool by_uuid = cache[0] != '/';
	int error;

	if (by_uuid) {
		uuid_parse(cache + strlen(TAB_UUID), re->uuid);
		re->known = true;
		error = resolve_uuid(&re->cache, cache + strlen(TAB_UUID),
				     &re->origin);
	} else {
		error = resolve_path(&re->cache, cache);
	}
	if (error)
		return fail_code() == CODE_DEVICE || fail_code() == CODE_BUSY ?
		       keep_reason(re) : fail_code();
	return check_whose(re, by_uuid);
}

static void warn_of_line(const struct reopening *re, const char *what)
{
	warn("%s, but line %u of '%s' names one: take stage=, rate=, max-behind=, on-full= and mode=writeback out of the line",
	     what, re->entry->line, tab_path(re->by));
}

/*
 * Ignore the options of a stage in the line if the superblock of the cache names no log:
 * --abandon-stage has given up the stage.  If a log has writes for the origin, open fails later.
 */
static void drop_stage(struct reopening *re)
{
	if (re->staged || !stage_options_given(&re->entry->args) || stage_options_given(re->by))
		return;
	re->args.given &= ~(option_set)(OPTIONS_STAGE | OPTION_WRITEBACK);
	warn_of_line(re, "the cache has no stage any more");
}

static bool mode_is_given(const struct arguments *args)
{
	return option_given(args, OPTION_MODE | OPTION_READ_ONLY);
}

/* The remembered settings cannot be read: the mode among them may be read-only. */
static void warn_of_settings(struct reopening *re)
{
	warn("%s; '%s' is opened without the remembered settings%s", fail_message(), re->entry->name,
	     mode_is_given(&re->args) ? "" : ", read-only");
	fail_reset();
	if (!mode_is_given(&re->args))
		re->args.given |= OPTION_READ_ONLY;
}

/* Go on without settings that cannot be read: without its cache, the device would have none either. */
static void check_remembered(struct reopening *re)
{
	char uuid[SUPER_UUID_TEXT];
	struct remembered r;

	uuid_unparse_lower(re->uuid, uuid);
	if (option_given(&re->args, OPTION_FORGET) || !remembered_load(&r, uuid))
		return;
	warn_of_settings(re);
	re->args.no_remembered = true;
}

static int open_with_cache(struct reopening *re)
{
	drop_stage(re);
	check_remembered(re);
	re->args.cache = re->cache.path;
	re->args.given |= OPTION_CACHE | OPTION_ORIGIN;
	if (!open_devices(&re->args))
		return 0;
	/* Other errors do not come from the cache device: pass-through would fail as well. */
	if (fail_code() != CODE_DEVICE && fail_code() != CODE_BUSY)
		return fail_code();
	return keep_reason(re);
}

/*
 * Pass through to the stage, if the line or the cache names one: the origin may lack writes of its
 * log.
 */
static int pass_to_stage(struct reopening *re, struct passthrough *pass)
{
	struct stage stage = STAGE_CLOSED;

	stage_pass_through(&stage, re->staged ? re->log : NULL, pass, &re->args);
	stage_close(&stage);
	return fail_code();
}

/*
 * Do not use a remembered writing mode without the cache. Only the cache tells whether it has a
 * stage: then the origin lacks the writes of the log, and must not be written.
 */
static void drop_writing_mode(struct reopening *re, struct remembered *r)
{
	if (!option_given(&r->args, OPTION_MODE) || !mode_writes(r->args.mode))
		return;
	r->args.given &= ~(option_set)OPTION_MODE;
	if (mode_is_given(&re->args))
		return;
	warn("'%s' is read-only without its cache: the remembered mode %s is not used; if the device must be writable without the cache, write mode=%s into line %u of '%s'",
	     re->entry->name, mode_word(r->args.mode), mode_word(r->args.mode), re->entry->line,
	     tab_path(re->by));
}

/*
 * Give the device, which will have no cache, the remembered settings of the missing cache. If the
 * uuid of the cache is unknown, use those of the cache that a device of this name had last. @raw,
 * @text: receive the settings as remembered_describe() prints them, for JSON and for people,
 * REMEMBERED_TEXT bytes each.
 */
static void take_remembered(struct reopening *re, bool staged, char *raw, char *text)
{
	struct remembered r = { 0 };
	char uuid[SUPER_UUID_TEXT];
	bool found;

	*raw = *text = '\0';
	if (re->args.no_remembered)
		return;
	uuid_unparse_lower(re->uuid, uuid);
	found = re->known ? !remembered_load(&r, uuid) && r.exists :
			    remembered_find(&r, re->entry->name, uuid);
	if (option_given(&re->args, OPTION_FORGET)) {
		fail_reset();
		if ((re->known || found) && !option_given(&re->args, OPTION_DRY_RUN))
			remembered_forget(uuid);
		return;
	}
	if (fail_code()) {
		warn_of_settings(re);
	} else if (found) {
		if (!staged)
			drop_writing_mode(re, &r);
		remembered_apply(&r, &re->args, staged);
		/* Without a cache, other settings have no effect. */
		r.args.given &= OPTION_MODE | (staged ? REMEMBERED_STAGE | OPTION_ORIGIN_TIMEOUT : 0);
		r.ahead_given = false;
		*r.witness = '\0';
		remembered_describe(&r, false, raw);
		remembered_describe(&r, true, text);
	}
}

static int open_without_cache(struct reopening *re)
{
	char raw[REMEMBERED_TEXT], text[REMEMBERED_TEXT];
	struct passthrough pass = {
		.name = re->args.operand[0],
		.origin = &re->origin,
		.cache = re->known ? re->uuid : NULL,
		.why = re->why,
		.remembered = raw,
		.remembered_text = text,
	};
	/* The command line may have replaced mode=writeback of the line. */
	bool staged = re->staged || stage_options_given(&re->args) ||
		      stage_options_given(&re->entry->args);

	if (option_given(&re->args, OPTION_ABANDON_STAGE))
		return fail(CODE_DEVICE, "%s", re->why);
	if (!staged && option_given(&re->args, OPTION_RESERVE | OPTION_NO_RESERVE | OPTION_PREEMPT))
		return fail(CODE_USAGE,
			    "%s; without the cache, '%s' has no stage: leave out --reserve, --no-reserve and --preempt, or name the log with --stage",
			    re->why, re->entry->name);
	take_remembered(re, staged, raw, text);
	pass.mode = re->args.mode;
	if (staged ? pass_to_stage(re, &pass) :
	    stage_check_origin(&re->origin, NULL, mode_writes(re->args.mode)) ||
	    passthrough_start(&pass, option_given(&re->args, OPTION_DRY_RUN)))
		return fail_add("opening it with its cache failed as well: %s", re->why);
	return 0;
}

/* True for a nearcache device without a dm table: a run was killed while it created the device. */
static bool is_half_made(const struct dm_device *dev)
{
	return !dev->live && !dev->open_count && !dm_uuid_is_cluster(dev->uuid) &&
	       !strncmp(dev->uuid, DM_UUID_PREFIX, strlen(DM_UUID_PREFIX));
}

/*
 * Demand an unused name, and remove a half-made device that has this name. The caller holds
 * lock_name(), so no other run is creating the device now.
 */
static int free_name(const char *name, bool dry_run)
{
	struct dm_device dev;
	bool found, half;

	if (dm_find(name, &dev, &found))
		return fail_code();
	half = found && is_half_made(&dev);
	dm_device_free(&dev);
	if (!half)
		return activate_check_name(name);
	if (!dry_run && dm_remove(name))
		return fail_add("'%s' has no table and blocks the name",
				name);
	warn("device '%s' was incomplete, without a table: it %s removed", name,
	     dry_run ? "would be" : "was");
	return 0;
}

static int reopen_devices(struct reopening *re)
{
	bool dry_run = option_given(&re->args, OPTION_DRY_RUN);

	/* Ignore a failure: pass-through needs only device-mapper, which is loaded by now. */
	if (!dry_run && dm_need_target())
		fail_reset();
	if (free_name(re->args.operand[0], dry_run))
		return fail_code();
	wait_for_devices(re);
	if (open_origin(re) || find_cache(re))
		return fail_code();
	if (!*re->why && (open_with_cache(re) || !*re->why)) {
		if (!fail_code() && !dry_run && option_given(re->by, OPTION_ABANDON_STAGE) &&
		    stage_options_given(&re->entry->args))
			warn_of_line(re, "the cache has no stage from now on");
		return fail_code();
	}
	return open_without_cache(re);
}

static int open_entry(const struct tab_entry *entry,
		      const struct arguments *args)
{
	struct reopening re = {
		.entry = entry,
		.args = entry->args,
		.by = args,
		.origin = DEVICE_CLOSED,
	};

	re.args.origin = entry->origin;
	arguments_override(&re.args, args);
	re.args.of_line = re.args.given & ~args->given;
	/* The cache of a cluster device is opened read-only, whatever mode is remembered with it. */
	if (entry->cluster && !option_given(&re.args, OPTION_MODE | OPTION_READ_ONLY)) {
		re.args.given |= OPTION_READ_ONLY;
		re.args.of_line |= OPTION_READ_ONLY;
	}
	reopen_devices(&re);
	device_close(&re.origin);
	return fail_code();
}

/*
 * Open one device of nearcachetab. Options on the command line replace those in its line. Returns 0
 * even if the device was opened without its cache.
 */
int opentab(const struct arguments *args)
{
	const struct tab_entry *entry;
	struct tab tab = { 0 };

	if (!arguments_check_name(args->operand[0]) &&
	    !tab_read(&tab, tab_path(args)) &&
	    !tab_need(&tab, args->operand[0], &entry))
		open_entry(entry, args);
	tab_free(&tab);
	return fail_code();
}

/* Parameters of open_one(), which runs in a child process. */
struct all {
	const struct tab_entry *entry;
	const struct arguments *args;
};

static int open_one(const struct many_job *job)
{
	const struct all *all = job->data;
	struct arguments args = *all->args;
	char *operand[] = { (char *)all->entry->name };

	if (all->entry->why)
		return fail(CODE_USAGE, "line %u: %s", all->entry->line,
			    all->entry->why);
	args.operand = operand;
	args.operands = 1;
	return open_entry(all->entry, &args);
}

/* Return the present state as a word for the output; NULL: no such device, or a half-made one. */
static const char *state_of(const char *name)
{
	struct dm_device dev;
	const char *state = NULL;
	bool found;

	if (!*name || dm_find(name, &dev, &found)) {
		fail_reset();
		return NULL;
	}
	if (found && !is_half_made(&dev))
		state = dev.live && dev.ours ? "open" :
			dev.live && dm_uuid_passes_through(dev.uuid) ?
			"pass-through" : "another device";
	dm_device_free(&dev);
	return state;
}

static void report_devices(const struct many_job *job, size_t count, bool dry_run)
{
	size_t i;

	print_table("devices");
	for (i = 0; i < count; i++) {
		const char *state = state_of(job[i].name);

		if (job[i].code)
			state = "failed";
		else if (!state)
			state = dry_run ? "would open" : "closed";
		print_record(NULL, NULL);
		print_string("name", "name", job[i].name);
		print_string("state", "state", state);
		print_string("reason", "reason",
			     *job[i].message ? job[i].message : NULL);
		print_end();
	}
	print_end();
	print_flag("dry_run", NULL, dry_run);
}

/* True if --all must try this line: it has no "noauto", and its device is not open yet. */
static bool is_wanted(const struct tab_entry *entry)
{
	const char *state;

	if (entry->noauto)
		return false;
	state = entry->why ? NULL : state_of(entry->name);
	return !state || !strcmp(state, "another device");
}

static int open_all(const struct tab *tab, const struct arguments *args)
{
	struct all *all = calloc(tab->entries + 1, sizeof(*all));
	struct many_job *job = calloc(tab->entries + 1, sizeof(*job));
	size_t i, count = 0;

	for (i = 0; all && job && i < tab->entries; i++) {
		if (!is_wanted(&tab->entry[i]))
			continue;
		all[count] = (struct all){ &tab->entry[i], args };
		job[count].name = tab->entry[i].name;
		job[count].data = &all[count];
		job[count++].seconds = OPEN_SECONDS + CACHE_WAIT +
				       tab->entry[i].timeout;
	}
	if (!all || !job) {
		fail_memory();
	} else {
		many_run(job, count, open_one);
		report_devices(job, count, option_given(args, OPTION_DRY_RUN));
		many_sum(job, count, "opened");
	}
	free(all);
	free(job);
	return fail_code();
}

/* Open the devices of nearcachetab, each in a process, except open ones and "noauto" lines. */
int opentab_all(const struct arguments *args)
{
	struct tab tab = { 0 };

	if (args->given & ~(option_set)(OPTIONS_GLOBAL | OPTION_ALL | OPTION_TAB |
					OPTION_WAIT_DEVICES | OPTION_ON_CHANGE))
		return fail(CODE_USAGE,
			    "--all takes no option of one device: write it into '%s'",
			    tab_path(args));
	if (!tab_read(&tab, tab_path(args))) {
		if (!option_given(args, OPTION_DRY_RUN) && dm_need_target())
			fail_reset();
		open_all(&tab, args);
	}
	tab_free(&tab);
	return fail_code();
}
