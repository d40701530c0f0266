// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/action_log.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/error.h"

#define FOLDER	"/run/nearcache"
#define OLD	ACTIONS_FILE ".1"

static void copy_member(char *to, size_t size, struct json_object *json,
			const char *key)
{
	struct json_object *value;

	*to = '\0';
	if (json_object_object_get_ex(json, key, &value))
		snprintf(to, size, "%s", json_object_get_string(value));
}

static uint64_t number_member(struct json_object *json, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(json, key, &value) ?
	       json_object_get_uint64(value) : 0;
}

/* Returns false if @line is no JSON object with an "id", for example if it is truncated. */
static bool parse_action(const char *line, struct action *action)
{
	struct json_object *json = json_tokener_parse(line);

	memset(action, 0, sizeof(*action));
	if (json_object_is_type(json, json_type_object)) {
		action->id = number_member(json, "id");
		action->time = number_member(json, "time");
		action->from = number_member(json, "from");
		action->to = number_member(json, "to");
		action->of = number_member(json, "of");
		copy_member(action->device, sizeof(action->device), json, "device");
		copy_member(action->setting, sizeof(action->setting), json, "setting");
		copy_member(action->label, sizeof(action->label), json, "label");
		copy_member(action->state, sizeof(action->state), json, "state");
		copy_member(action->why, sizeof(action->why), json, "why");
	}
	json_object_put(json);
	return action->id;
}

static int each_of(const char *path, uint64_t after,
		   void (*visit)(const struct action *action, void *arg),
		   void *arg)
{
	FILE *file = fopen(path, "re");
	struct action action;
	char *line = NULL;
	size_t room = 0;

	if (!file)
		return errno == ENOENT ? 0 : fail_errno(errno, "cannot open '%s'", path);
	while (getline(&line, &room, file) > 0)
		if (parse_action(line, &action) && action.id > after)
			visit(&action, arg);
	if (ferror(file))
		fail_errno(errno, "cannot read '%s'", path);
	free(line);
	fclose(file);
	return fail_code();
}

/* Call @visit for each action with a number above @after, in ascending order. */
int action_each(uint64_t after,
		void (*visit)(const struct action *action, void *arg), void *arg)
{
	return each_of(OLD, after, visit, arg) ? (int)fail_code() :
						 each_of(ACTIONS_FILE, after, visit, arg);
}

static void take_last(const struct action *action, void *arg)
{
	uint64_t *last = arg;

	*last = action->id > *last ? action->id : *last;
}

struct search {
	uint64_t id;
	struct action *action;
};

static void take_found(const struct action *action, void *arg)
{
	const struct search *search = arg;

	if (action->id == search->id)
		*search->action = *action;
}

int action_find(uint64_t id, struct action *action)
{
	const struct search search = { id, action };

	memset(action, 0, sizeof(*action));
	if (action_each(id - 1, take_found, (void *)&search))
		return fail_code();
	return action->id ? 0 : fail(CODE_USAGE,
				     "no action %llu: 'nearcache actions' lists the actions",
				     (unsigned long long)id);
}

/* Returns the line, which the caller frees, or NULL if memory is short. */
static char *print_action(const struct action *action)
{
	struct json_object *json = json_object_new_object();
	char *line = NULL;

	if (!json)
		return NULL;
	json_object_object_add(json, "id", json_object_new_uint64(action->id));
	json_object_object_add(json, "time", json_object_new_uint64(action->time));
	json_object_object_add(json, "device", json_object_new_string(action->device));
	json_object_object_add(json, "setting", json_object_new_string(action->setting));
	if (*action->label)
		json_object_object_add(json, "label", json_object_new_string(action->label));
	json_object_object_add(json, "from", json_object_new_uint64(action->from));
	json_object_object_add(json, "to", json_object_new_uint64(action->to));
	json_object_object_add(json, "state", json_object_new_string(action->state));
	json_object_object_add(json, "of", json_object_new_uint64(action->of));
	json_object_object_add(json, "why", json_object_new_string(action->why));
	if (asprintf(&line, "%s\n",
		     json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN)) < 0)
		line = NULL;
	json_object_put(json);
	return line;
}

/* Append @line with one write(), so that concurrent readers do not see a part of the line. */
static int append_line(int file, const char *line)
{
	size_t bytes = strlen(line);
	struct stat st;
	ssize_t written;

	if (fstat(file, &st))
		return fail_errno(errno, "cannot write '" ACTIONS_FILE "'");
	written = write(file, line, bytes);
	if (written == (ssize_t)bytes)
		return 0;
	fail_errno(written < 0 ? errno : ENOSPC, "cannot write '" ACTIONS_FILE "'");
	/* Remove a partial line, because the next action would be appended to that line. */
	if (written > 0 && ftruncate(file, st.st_size))
		warn("'" ACTIONS_FILE "' ends with a partial line");
	return fail_code();
}

/*
 * Returns true if @file is ACTIONS_FILE and not full.  Renames a full file to OLD.  If this returns
 * false, the caller opens ACTIONS_FILE again, which may be a new file.
 */
static bool is_current(int file)
{
	struct stat there, st;

	if (fstat(file, &st) || stat(ACTIONS_FILE, &there) || st.st_ino != there.st_ino)
		return false;
	return st.st_size <= ACTIONS_BYTES || rename(ACTIONS_FILE, OLD);
}

/* Returns ACTIONS_FILE, open for appending and locked against other writers, or -1 with errno. */
static int open_file(void)
{
	int file, error;

	if (mkdir(FOLDER, 0755) && errno != EEXIST)
		return -1;
	for (;;) {
		file = open(ACTIONS_FILE, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
		if (file < 0)
			return -1;
		if (flock(file, LOCK_EX)) {
			error = errno;
			close(file);
			errno = error;
			return -1;
		}
		/* Another process may have renamed the file while this one waited for the lock. */
		if (is_current(file))
			return file;
		close(file);
	}
}

/* Append @action to ACTIONS_FILE, after setting its @id to the next number and its @time to now. */
int action_add(struct action *action)
{
	int file = open_file();
	uint64_t last = 0;
	char *line = NULL;

	if (file < 0)
		return fail_errno(errno, "cannot open '" ACTIONS_FILE "'");
	if (!action_each(0, take_last, &last)) {
		action->id = last + 1;
		action->time = (uint64_t)time(NULL);
		line = print_action(action);
		if (!line)
			fail_memory();
		else
			append_line(file, line);
	}
	free(line);
	close(file);
	return fail_code();
}
