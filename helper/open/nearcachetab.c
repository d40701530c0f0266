// SPDX-License-Identifier: GPL-2.0-only
#include "open/nearcachetab.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uuid/uuid.h>

#include "lib/error.h"
#include "lib/sanitize.h"

/* Words of a line: NAME ORIGIN CACHE OPTIONS. */
#define FIELDS		4
#define FIELDS_NEEDED	3
/* Maximum number of options of a line that go to 'nearcache open'. */
#define OPTIONS_MAX	24

#define BLANKS		" \t\r"
/* Characters of the path of 'cluster'. */
#define PLAIN		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._+:-"

static bool is_octal(const char *digits)
{
	return digits[0] >= '0' && digits[0] <= '3' && digits[1] >= '0' &&
	       digits[1] <= '7' && digits[2] >= '0' && digits[2] <= '7';
}

/*
 * Replace escapes as in fstab(5), in place: a backslash and three octal digits, \040 for a blank.
 */
void tab_unescape(char *word)
{
	char *to = word;

	while (*word) {
		if (*word == '\\' && is_octal(word + 1)) {
			*to++ = (char)((word[1] - '0') << 6 |
				       (word[2] - '0') << 3 | (word[3] - '0'));
			word += 4;
		} else {
			*to++ = *word++;
		}
	}
	*to = '\0';
}

static int take_timeout(struct tab_entry *entry, const char *value)
{
	unsigned long seconds;
	char *end;

	errno = 0;
	seconds = strtoul(value, &end, 10);
	if (errno || *end || value[0] < '0' || value[0] > '9' || !seconds ||
	    seconds > TAB_TIMEOUT_MAX)
		return fail(CODE_USAGE,
			    "timeout '%s': give 1 to %u seconds", value,
			    TAB_TIMEOUT_MAX);
	entry->timeout = (unsigned int)seconds;
	return 0;
}

/* Units of systemd contain the path, so it has no character that means something there. */
static int take_cluster(struct tab_entry *entry, const char *path)
{
	if (path[0] != '/' || strlen(path) >= PATH_MAX || path[strspn(path, PLAIN)])
		return fail(CODE_USAGE,
			    "cluster '%s': give the absolute path of a cluster.conf, with no other characters than letters, digits, '/', '.', '_', '+', ':' and '-'",
			    path);
	entry->cluster = path;
	return 0;
}

/* Parse an option that only nearcachetab has. Returns false if @word is for "nearcache open". */
static bool take_own(struct tab_entry *entry, const char *word)
{
	static const char timeout[] = "timeout=", cluster[] = "cluster=";

	if (!strcmp(word, "fail"))
		entry->fail = true;
	else if (!strcmp(word, "nofail"))
		entry->fail = false;
	else if (!strcmp(word, "_netdev"))
		entry->netdev = true;
	else if (!strcmp(word, "noauto"))
		entry->noauto = true;
	else if (!strcmp(word, "auto"))
		entry->noauto = false;
	else if (!strncmp(word, timeout, strlen(timeout)))
		take_timeout(entry, word + strlen(timeout));
	else if (!strncmp(word, cluster, strlen(cluster)))
		take_cluster(entry, word + strlen(cluster));
	else
		return !strcmp(word, "defaults");
	return true;
}

/* True for --origin and --cache, which are not allowed: they are words 2 and 3 of the line. */
static bool is_device_option(const char *word)
{
	size_t length = strcspn(word, "=");

	return (length == strlen("origin") && !strncmp(word, "origin", length)) ||
	       (length == strlen("cache") && !strncmp(word, "cache", length));
}

static int add_option(struct tab_entry *entry, const char *option)
{
	char *word;

	if (!*option)
		return fail(CODE_USAGE,
			    "an option is empty: write, for example, mode=writearound,nofail");
	if (is_device_option(option))
		return fail(CODE_USAGE,
			    "option '%s': the second and the third word name the devices",
			    option);
	if (entry->options == OPTIONS_MAX)
		return fail(CODE_USAGE, "there are more than %d options",
			    OPTIONS_MAX);
	if (!entry->option)
		entry->option = calloc(OPTIONS_MAX, sizeof(*entry->option));
	if (!entry->option || asprintf(&word, "--%s", option) < 0)
		return fail_memory();
	entry->option[entry->options++] = word;
	return 0;
}

static int take_options(struct tab_entry *entry, char *options)
{
	char *option;

	while (options && !fail_code()) {
		option = strsep(&options, ",");
		tab_unescape(option);
		if (!take_own(entry, option))
			add_option(entry, option);
	}
	return fail_code();
}

/*
 * Refuse options that make no sense for a device that is opened at boot, when no user is present.
 */
static int check_given(const struct arguments *args)
{
	if (option_given(args, OPTIONS_GLOBAL | OPTION_ALL | OPTION_TAB |
			 OPTION_WAIT_DEVICES | OPTION_FORCE | OPTION_ABANDON_STAGE |
			 OPTION_DROP_UNREADABLE | OPTION_RESERVE | OPTION_NO_RESERVE |
			 OPTION_PREEMPT | OPTION_FORGET | OPTION_VERBOSE))
		return fail(CODE_USAGE,
			    "json, dry-run, help, version, verbose, all, tab, wait, force, forget, reserve, no-reserve, preempt, abandon-stage and drop-unreadable are allowed only on the command line");
	return 0;
}

/* Parse the comma-separated options of a line as 'nearcache open' parses its command line. */
static int parse_options(struct tab_entry *entry, char *options)
{
	static const struct verb open = { .name = "open", .optional = OPTIONS_OPEN };
	static char command[] = "nearcache";
	char *argv[OPTIONS_MAX + 1] = { command };

	if (take_options(entry, options))
		return fail_code();
	if (entry->options)
		memcpy(argv + 1, entry->option,
		       entry->options * sizeof(*entry->option));
	if (!arguments_parse_options(&entry->args, (int)entry->options + 1,
				     argv, &open))
		check_given(&entry->args);
	return fail_code();
}

static int check_path(const char *what, const char *path)
{
	if (path[0] == '/')
		return 0;
	return fail(CODE_USAGE, "%s '%s': give a path, like /dev/disk/by-id/...",
		    what, path);
}

static int check_cache(const char *cache)
{
	uuid_t uuid;

	if (strncmp(cache, TAB_UUID, strlen(TAB_UUID)))
		return check_path("cache device", cache);
	if (!uuid_parse(cache + strlen(TAB_UUID), uuid))
		return 0;
	return fail(CODE_USAGE,
		    "cache device '%s': this is not a uuid; 'nearcache super DEV' shows the uuid",
		    cache);
}

/* Cut a line into words at blanks, in place. @fields is set to their number. */
static int cut_fields(char *line, char **field, unsigned int *fields)
{
	char *rest = NULL, *word;

	*fields = 0;
	for (word = strtok_r(line, BLANKS, &rest); word;
	     word = strtok_r(NULL, BLANKS, &rest)) {
		if (*fields == FIELDS)
			return fail(CODE_USAGE,
				    "'%s' is one word too many: write a blank as \\040",
				    word);
		field[(*fields)++] = word;
	}
	return 0;
}

static int check_text(const char *line)
{
	const char *p;

	/* Tabs and carriage returns separate words, so they are no errors. */
	for (p = line; *(p += text_check(p)) == '\t' || *p == '\r'; p++)
		;
	return *p ? fail(CODE_USAGE,
			 "byte %zu is a control character or invalid UTF-8",
			 (size_t)(p - line) + 1) : 0;
}

/* The cluster device takes the name without TAB_HOME, and reads a cache in mode read-only. */
static int check_cluster(const struct tab_entry *entry)
{
	size_t length = strlen(entry->name), end = strlen(TAB_HOME);

	if (!entry->cluster)
		return 0;
	if (length <= end || strcmp(entry->name + length - end, TAB_HOME))
		return fail(CODE_USAGE,
			    "option 'cluster': the device of a node is NAME" TAB_HOME ", not '%s': the cluster device is NAME",
			    entry->name);
	if (option_given(&entry->args, OPTION_MODE) && mode_writes(entry->args.mode))
		return fail(CODE_USAGE,
			    "option 'cluster': the nodes of a cluster only read: write read-only in place of the mode");
	return 0;
}

static int parse_line(struct tab_entry *entry, char *line)
{
	char *field[FIELDS] = { NULL };
	unsigned int i, fields;

	if (check_text(line) || cut_fields(line, field, &fields))
		return fail_code();
	for (i = 0; i < fields && i < FIELDS_NEEDED; i++)
		tab_unescape(field[i]);
	if (!arguments_check_name(field[0]))
		entry->name = field[0];
	if (!fail_code() && fields < FIELDS_NEEDED)
		fail(CODE_USAGE,
		     "write NAME ORIGIN CACHE [OPTION,...], there %s only %u word%s",
		     fields > 1 ? "are" : "is", fields, fields > 1 ? "s" : "");
	if (fail_code() || check_path("origin", field[1]) ||
	    check_cache(field[2]) || parse_options(entry, field[3]) || check_cluster(entry))
		return fail_code();
	entry->origin = field[1];
	entry->cache = field[2];
	return 0;
}

static int add_line(struct tab *tab, char *line, unsigned int number)
{
	struct tab_entry *longer, *entry;

	line += strspn(line, BLANKS);
	if (!*line || *line == '#')
		return 0;
	longer = reallocarray(tab->entry, tab->entries + 1, sizeof(*entry));
	if (!longer)
		return fail_memory();
	tab->entry = longer;
	entry = &longer[tab->entries++];
	memset(entry, 0, sizeof(*entry));
	entry->line = number;
	entry->name = "";
	entry->timeout = TAB_TIMEOUT;
	if (!parse_line(entry, line))
		return 0;
	entry->why = strdup(fail_message());
	if (!entry->why || fail_code() == CODE_MEMORY)
		return fail_code();
	fail_reset();
	return 0;
}

/* Mark the second of two valid lines with the same name as invalid: the name is ambiguous. */
static int find_twins(struct tab *tab)
{
	size_t i, j;

	for (i = 0; i < tab->entries; i++)
		/* An invalid line already has its error message in @why. */
		for (j = 0; j < i && !tab->entry[i].why; j++) {
			if (tab->entry[j].why ||
			    strcmp(tab->entry[i].name, tab->entry[j].name))
				continue;
			if (asprintf(&tab->entry[i].why,
				     "'%s' is already the name of line %u: choose another one",
				     tab->entry[i].name, tab->entry[j].line) < 0) {
				tab->entry[i].why = NULL;
				return fail_memory();
			}
		}
	return 0;
}

/*
 * Parse the text of a nearcachetab. An invalid line gets an error message in its entry, and the
 * function still returns 0. Call tab_free() even after a failure.
 * @path: name in messages; not copied, so it must live as long as @tab.
 * @text: @bytes long, without a terminating 0.
 */
int tab_parse(struct tab *tab, const char *path, const char *text, size_t bytes)
{
	unsigned int number = 0;
	char *rest, *line;

	memset(tab, 0, sizeof(*tab));
	tab->path = path;
	if (bytes > TAB_BYTES_MAX || memchr(text, 0, bytes))
		return fail(CODE_USAGE,
			    "'%s' is not a valid table: it is binary or longer than %lu bytes",
			    path, TAB_BYTES_MAX);
	tab->text = strndup(text, bytes);
	if (!tab->text)
		return fail_memory();
	rest = tab->text;
	while ((line = strsep(&rest, "\n")))
		if (add_line(tab, line, ++number))
			return fail_code();
	return find_twins(tab);
}

static int read_file(struct tab *tab, int fd)
{
	char *text = malloc(TAB_BYTES_MAX + 1);
	size_t bytes = 0;
	ssize_t n = 1;

	while (text && n > 0 && bytes <= TAB_BYTES_MAX) {
		n = read(fd, text + bytes, TAB_BYTES_MAX + 1 - bytes);
		if (n > 0)
			bytes += (size_t)n;
	}
	if (!text)
		fail_memory();
	else if (n < 0)
		fail_errno(errno, "cannot read '%s'", tab->path);
	else
		tab_parse(tab, tab->path, text, bytes);
	free(text);
	return fail_code();
}

/*
 * Read and parse nearcachetab; a missing file has no lines. Call tab_free() even after a failure.
 * @path is not copied, so it must live as long as @tab.
 */
int tab_read(struct tab *tab, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	memset(tab, 0, sizeof(*tab));
	tab->path = path;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return fail_errno(errno, "cannot open '%s'", path);
	read_file(tab, fd);
	close(fd);
	return fail_code();
}

/* Find the line of a device, preferably a valid one. Returns NULL if there is none. */
const struct tab_entry *tab_find(const struct tab *tab, const char *name)
{
	const struct tab_entry *found = NULL;
	size_t i;

	for (i = 0; i < tab->entries; i++) {
		const struct tab_entry *entry = &tab->entry[i];

		if (!strcmp(entry->name, name) &&
		    (!found || (found->why && !entry->why)))
			found = entry;
	}
	return found;
}

/* Find the valid line of a device. Fails if there is none. */
int tab_need(const struct tab *tab, const char *name,
	     const struct tab_entry **entry)
{
	*entry = tab_find(tab, name);
	if (!*entry)
		return fail(CODE_USAGE,
			    "'%s' has no line in '%s': write one, or name its cache device with --cache DEV",
			    name, tab->path);
	if ((*entry)->why)
		return fail(CODE_USAGE, "'%s' line %u: %s", tab->path,
			    (*entry)->line, (*entry)->why);
	return 0;
}

void tab_free(struct tab *tab)
{
	size_t i;

	for (i = 0; i < tab->entries; i++) {
		while (tab->entry[i].options)
			free(tab->entry[i].option[--tab->entry[i].options]);
		free(tab->entry[i].option);
		free(tab->entry[i].why);
	}
	free(tab->entry);
	free(tab->text);
	memset(tab, 0, sizeof(*tab));
}
