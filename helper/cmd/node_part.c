// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/node_part.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/print.h"
#include "lib/size.h"

#define EVERYWHERE	"--everywhere"

/* As homes_find() for the first operand. Fail if --everywhere makes no sense. */
int node_part_find(const struct arguments *args, struct dm_device *dev, struct homes *homes)
{
	if (option_given(args, OPTION_EVERYWHERE) && option_given(args, OPTION_FROM) &&
	    !strcmp(args->from, "-"))
		return fail(CODE_USAGE,
			    EVERYWHERE " cannot repeat '--from -': write the list to a file that every node has");
	if (homes_find(args->operand[0], dev, homes))
		return fail_code();
	if (!option_given(args, OPTION_EVERYWHERE) || homes_divide(homes))
		return 0;
	fail(CODE_USAGE, EVERYWHERE " is for a cluster device: '%s' is the cache of one node",
	     dev->name);
	dm_device_free(dev);
	return fail_code();
}

/* Call @show for the first operand, for a verb that takes TARGETs and changes nothing. */
int node_part_show(const struct arguments *args,
		   int (*show)(const struct arguments *args, const struct dm_device *dev,
			       const struct homes *homes))
{
	struct dm_device dev;
	struct homes homes;
	int error = target_check_words(args, false);

	if (!error)
		error = homes_find(args->operand[0], &dev, &homes);
	if (error)
		return error;
	error = show(args, &dev, &homes);
	homes_free(&homes);
	dm_device_free(&dev);
	return error;
}

/* Print how much of the TARGETs is here. JSON has the numbers also for the name of a cache. */
void node_part_print(const struct homes *homes, const struct homes_part *part)
{
	char here[SIZE_TEXT], all[SIZE_TEXT], text[160];
	bool divide = homes_divide(homes);

	snprintf(text, sizeof(text), "%s of %s have their home on this node",
		 size_print(part->here, here), size_print(part->all, all));
	print_string("cluster", divide ? "cluster" : NULL, divide ? homes->name : NULL);
	print_string(NULL, divide ? "part" : NULL, text);
	print_number("home_bytes", NULL, part->here);
	print_number("target_bytes", NULL, part->all);
}

static bool is_plain(const char *word)
{
	return *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_-+=.,:/@%")];
}

/* Write a word, quoted for a shell. */
static void put_word(FILE *out, const char *word)
{
	if (is_plain(word)) {
		fputs(word, out);
		return;
	}
	putc('\'', out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			putc(*word, out);
	putc('\'', out);
}

/* True if the command names a file by a path that depends on the current folder. */
static bool has_relative_path(const struct arguments *args)
{
	int i;

	for (i = 1; i < args->operands; i++)
		if (*args->operand[i] != '/' && !range_like(args->operand[i]))
			return true;
	if (option_given(args, OPTION_ROOT) && *args->root != '/')
		return true;
	return option_given(args, OPTION_FROM) && *args->from != '/';
}

/* Returns the command of this process without --everywhere, for free(); NULL: out of memory. */
static char *print_command(const struct arguments *args)
{
	char *text = NULL, **word, folder[PATH_MAX];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (has_relative_path(args) && getcwd(folder, sizeof(folder))) {
		fputs("cd ", out);
		put_word(out, folder);
		fputs(" && ", out);
	}
	fputs("nearcache", out);
	for (word = args->typed + 1; *word; word++) {
		if (!strcmp(*word, EVERYWHERE))
			continue;
		putc(' ', out);
		put_word(out, *word);
	}
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* With --everywhere, list the command that each other node has to run. */
void node_part_print_commands(const struct arguments *args, const struct homes *homes)
{
	char *command;
	size_t i;

	if (!option_given(args, OPTION_EVERYWHERE))
		return;
	command = print_command(args);
	if (!command) {
		fail_memory();
		return;
	}
	print_table("everywhere");
	for (i = 0; i < homes->table.nodes; i++) {
		if (i == homes->self)
			continue;
		print_record(NULL, NULL);
		print_string("node", "on node", homes->table.node[i].name);
		print_string("command", "run", command);
		print_end();
	}
	print_end();
	free(command);
}

/* Print the cluster device above a cache, if there is one, and the command that shows its nodes. */
void node_part_print_cluster(const struct dm_device *dev)
{
	char text[2 * sizeof(dev->name) + 64];
	struct homes homes;
	bool below = !homes_find_above(dev, &homes) && homes_divide(&homes);

	/* A cluster device that cannot be read is no error of this cache. */
	fail_reset();
	snprintf(text, sizeof(text), "'%s': see 'nearcache cluster status %s'", homes.name,
		 homes.name);
	print_string("cluster", NULL, below ? homes.name : NULL);
	print_string(NULL, below ? "cluster" : NULL, text);
	homes_free(&homes);
}
