// SPDX-License-Identifier: GPL-2.0-only
/* nearcache classifier: the BPF program that tells how streams are read and written. */
#include <string.h>
#include <sys/sysmacros.h>

#include "classifier.h"
#include "commands.h"
#include "fail.h"
#include "print.h"

static void show_stream(const struct stream_key *key,
			const struct stream *stream, void *arg)
{
	(void)arg;
	print_record(NULL, NULL);
	print_number("pid", "pid", key->pid);
	print_string("access", "access", key->writes ? "write" : "read");
	print_string("class", "class", class_word(stream->told));
	print_number("accesses", "accesses", stream->accesses);
	print_number("runs", "runs", stream->runs);
	print_bytes("bytes", "bytes", stream->bytes);
	print_number("changes", "changes", stream->changes);
	print_number("major", NULL, key->set.dev >> 20);
	print_number("minor", NULL, key->set.dev & 0xfffff);
	print_number("label_id", NULL, key->set.label);
	print_number("cgroup", "cgroup", key->set.cgroup);
	print_end();
}

static void show_map(const char *name, void *arg)
{
	(void)arg;
	print_record(NULL, NULL);
	print_string("pin", "map", name);
	print_end();
}

static void show_program(const struct classifier *loaded)
{
	print_string("program", "program", loaded->name);
	print_number("program_id", "number", loaded->id);
	print_seconds("age_s", "loaded for", loaded->age / 1000000000);
	print_string("folder", "maps in", CLASSIFIER_DIR);
}

static int show(void)
{
	struct classifier loaded;
	bool found;

	if (classifier_look(&loaded, &found))
		return fail_code();
	print_string("state", "classifier", found ? "loaded" : "none");
	if (found)
		show_program(&loaded);
	print_table("maps");
	if (found)
		classifier_maps(show_map, NULL);
	print_end();
	print_table("streams");
	if (found && loaded.streams)
		classifier_streams(show_stream, NULL);
	print_end();
	return fail_code();
}

static int load(const char *path, bool dry_run)
{
	struct classifier loaded;

	if (classifier_load(path, dry_run, &loaded))
		return fail_code();
	print_string("state", "classifier", dry_run ? "none" : "loaded");
	if (!dry_run)
		show_program(&loaded);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	return 0;
}

static int unload(bool dry_run)
{
	struct classifier loaded;
	bool found;

	if (dry_run ? classifier_look(&loaded, &found) : classifier_unload(&found))
		return fail_code();
	if (!found)
		return fail(CODE_DEVICE, "no classifier is loaded");
	print_string("state", "classifier", dry_run ? "loaded" : "none");
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	return 0;
}

int cmd_classifier(const struct arguments *args)
{
	bool dry_run = given(args, OPTION_DRY_RUN);
	const char *what = args->operand[0];

	if (!strcmp(what, "load"))
		return load(args->operands > 1 ? args->operand[1] : NULL, dry_run);
	if (args->operands > 1)
		return fail(CODE_USAGE, "'classifier %s' does not take '%s'", what,
			    args->operand[1]);
	if (!strcmp(what, "unload"))
		return unload(dry_run);
	if (!strcmp(what, "show"))
		return show();
	return fail(CODE_USAGE,
		    "'%s': 'classifier' takes load, unload or show", what);
}
