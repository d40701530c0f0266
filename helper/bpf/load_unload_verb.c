// SPDX-License-Identifier: GPL-2.0-only
/* Implements 'nearcache WORD load|unload|show' for each kind of BPF program. */
#include "bpf/load_unload_verb.h"

#include <string.h>

#include "lib/error.h"
#include "lib/print.h"

static void show_map(const char *name, void *arg)
{
	(void)arg;
	print_record(NULL, NULL);
	print_string("pin", "map", name);
	print_end();
}

static void show_program(const struct loading *loading,
			 const struct program *program)
{
	print_string("program", "program", program->name);
	print_number("program_id", "number", program->id);
	print_seconds("age_s", "loaded for", program->age / 1000000000);
	print_string("folder", "maps in", program_folder(loading->place));
}

static int show_loaded(const struct loading *loading, const struct arguments *args)
{
	struct program program;
	bool found;

	if (program_look(loading->place, &program, &found))
		return fail_code();
	print_string("state", loading->place->word, found ? "loaded" : "none");
	if (found)
		show_program(loading, &program);
	print_table("maps");
	if (found)
		program_maps(loading->place, show_map, NULL);
	print_end();
	return loading->show(loading->place, args);
}

static int load_program(const struct loading *loading, const char *path, bool dry_run)
{
	struct program program;

	if (path ? program_load_file(loading->place, path, dry_run, &program) :
		   program_load_own(loading->place, dry_run, &program))
		return fail_code();
	print_string("state", loading->place->word, dry_run ? "none" : "loaded");
	if (!dry_run)
		show_program(loading, &program);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	return 0;
}

static int unload_program(const struct loading *loading, bool dry_run)
{
	struct program program;
	bool found;

	if (dry_run ? program_look(loading->place, &program, &found) :
		      program_unload(loading->place, &found))
		return fail_code();
	if (!found)
		return fail(CODE_DEVICE, "no %s program is loaded",
			    loading->place->word);
	print_string("state", loading->place->word, dry_run ? "loaded" : "none");
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	return 0;
}

int loading_run(const struct loading *loading, const struct arguments *args)
{
	bool dry_run = option_given(args, OPTION_DRY_RUN);
	const char *what = args->operand[0];
	bool loads = !strcmp(what, "load");

	if (args->operands > 1 && (!loads || !loading->files))
		return fail(CODE_USAGE, "'%s %s' does not take '%s'",
			    loading->place->word, what, args->operand[1]);
	if (strcmp(what, "show") && arguments_no_table(args, "show"))
		return fail_code();
	if (loads)
		return load_program(loading, args->operands > 1 ? args->operand[1] : NULL,
				    dry_run);
	if (!strcmp(what, "unload"))
		return unload_program(loading, dry_run);
	if (!strcmp(what, "show"))
		return show_loaded(loading, args);
	return fail(CODE_USAGE, "'%s': '%s' takes load, unload or show", what,
		    loading->place->word);
}
