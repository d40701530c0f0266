// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/joined.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/atomic_file.h"
#include "lib/error.h"
#include "lib/settings_file.h"

#ifndef JOINED_DIR
#define JOINED_DIR	"/run/nearcache/cluster"
#endif
/* Ends the name of a record, so that no name of a device leads to the new file of another. */
#define ENDING		".joined"

static const char *path_of_record(const char *name, char *path)
{
	snprintf(path, PATH_MAX, JOINED_DIR "/%s" ENDING, name);
	return path;
}

/* Add a node; one that the record has stays once. */
int joined_add(struct joined *joined, const char *node)
{
	char (*longer)[CLUSTER_NAME];

	if (joined_has(joined, node))
		return 0;
	longer = reallocarray(joined->node, joined->nodes + 1, sizeof(*longer));
	if (!longer)
		return fail_memory();
	joined->node = longer;
	snprintf(longer[joined->nodes++], CLUSTER_NAME, "%s", node);
	return 0;
}

bool joined_has(const struct joined *joined, const char *node)
{
	size_t i;

	for (i = 0; i < joined->nodes; i++)
		if (!strcmp(joined->node[i], node))
			return true;
	return false;
}

/* Record the settings of the connections of @conf. Not the secret itself, only whether there is one. */
void joined_take_settings(struct joined *joined, const struct cluster_conf *conf)
{
	struct joined_settings *settings = &joined->settings;

	strcpy(settings->transport, conf->transport == CLUSTER_RDMA ? "rdma" : "tcp");
	strcpy(settings->tls, conf->tls ? "yes" : "no");
	strcpy(settings->secret, *conf->secret ? "yes" : "no");
	snprintf(settings->keep_alive, JOINED_SETTING, "%us", conf->keep_alive);
	snprintf(settings->fast_io_fail, JOINED_SETTING, "%us", conf->fast_io_fail);
	strcpy(settings->data_digest, conf->data_digest ? "yes" : "no");
}

/* Take "ADDRESS SINCE ANSWERS", see struct known_address. The line of the host name comes first. */
static void take_known(struct known_addresses *known, const char *value)
{
	char address[ADDRESS_TEXT];
	unsigned long long since;
	unsigned int answers;

	if (sscanf(value, "%45s %llu %u", address, &since, &answers) == 3)
		known_add(known, address, since, answers);
}

static int take_record(const struct setting_line *line, void *arg)
{
	struct joined *joined = arg;
	const struct {
		const char *name;
		char *place;
		size_t size;
	} row[] = {
		{ "config", joined->config, sizeof(joined->config) },
		{ "cluster", joined->cluster, sizeof(joined->cluster) },
		{ "self", joined->self, sizeof(joined->self) },
		{ "volume", joined->volume, sizeof(joined->volume) },
		{ "transport", joined->settings.transport, JOINED_SETTING },
		{ "tls", joined->settings.tls, JOINED_SETTING },
		{ "secret", joined->settings.secret, JOINED_SETTING },
		{ "keep-alive", joined->settings.keep_alive, JOINED_SETTING },
		{ "fast-io-fail", joined->settings.fast_io_fail, JOINED_SETTING },
		{ "data-digest", joined->settings.data_digest, JOINED_SETTING },
	};
	size_t i;

	if (!strcmp(line->name, "node"))
		return joined_add(joined, line->value);
	if (!strcmp(line->name, "host"))
		known_set_host(&joined->known, line->value);
	if (!strcmp(line->name, "known"))
		take_known(&joined->known, line->value);
	/* A newer version may have written more. */
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (!strcmp(row[i].name, line->name))
			snprintf(row[i].place, row[i].size, "%s", line->value);
	return 0;
}

/* Read the record of a device. A missing one is no error. Call joined_free() even after an error. */
int joined_read(struct joined *joined, const char *name)
{
	char text[SETTINGS_BYTES_MAX + 2], path[PATH_MAX];

	memset(joined, 0, sizeof(*joined));
	snprintf(joined->name, sizeof(joined->name), "%s", name);
	if (access(path_of_record(name, path), F_OK) && errno == ENOENT)
		return 0;
	if (settings_read(path, text)) {
		/* 'leave' has removed it meanwhile. */
		if (access(path, F_OK) && errno == ENOENT)
			fail_reset();
		return fail_code();
	}
	if (settings_parse(path, text, take_record, joined))
		return fail_add("remove this record; then 'nearcache cluster join %s' writes a new one",
				name);
	joined->found = true;
	return 0;
}

/* Write the record, replacing an earlier one. */
int joined_write(const struct joined *joined)
{
	const struct joined_settings *settings = &joined->settings;
	const struct known_addresses *known = &joined->known;
	char path[PATH_MAX], *text = NULL;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return fail_memory();
	fprintf(out, "config = %s\ncluster = %s\nself = %s\nvolume = %s\n", joined->config,
		joined->cluster, joined->self, joined->volume);
	fprintf(out, "transport = %s\ntls = %s\nsecret = %s\n", settings->transport, settings->tls,
		settings->secret);
	fprintf(out, "keep-alive = %s\nfast-io-fail = %s\ndata-digest = %s\n", settings->keep_alive,
		settings->fast_io_fail, settings->data_digest);
	for (i = 0; i < joined->nodes; i++)
		fprintf(out, "node = %s\n", joined->node[i]);
	fprintf(out, "host = %s\n", known->host);
	for (i = 0; i < known->count; i++)
		fprintf(out, "known = %s %llu %u\n", known->known[i].address,
			(unsigned long long)known->known[i].since, known->known[i].answers);
	if (fclose(out))
		fail_memory();
	else if (!atomic_file_prepare(path_of_record(joined->name, path), text))
		atomic_file_commit(path);
	free(text);
	return fail_code();
}

int joined_remove(const char *name)
{
	char path[PATH_MAX];
	bool found;

	return atomic_file_remove(path_of_record(name, path), &found);
}

void joined_free(struct joined *joined)
{
	free(joined->node);
	joined->node = NULL;
	joined->nodes = 0;
}

void joined_free_all(struct joined *list, size_t count)
{
	while (count)
		joined_free(&list[--count]);
	free(list);
}

static int append_record(struct joined **list, size_t *count, const char *name)
{
	struct joined *longer = reallocarray(*list, *count + 1, sizeof(*longer));

	if (!longer)
		return fail_memory();
	*list = longer;
	longer += (*count)++;
	if (!joined_read(longer, name))
		return 0;
	joined_free(longer);
	memset(longer, 0, sizeof(*longer));
	snprintf(longer->name, sizeof(longer->name), "%s", name);
	snprintf(longer->why, sizeof(longer->why), "%s", fail_message());
	fail_reset();
	return 0;
}

/*
 * Read all records. A record that cannot be read is in the list as well, with its @why. The list
 * needs joined_free_all(), even after an error.
 */
int joined_all(struct joined **list, size_t *count)
{
	DIR *dir = opendir(JOINED_DIR);
	struct dirent *entry;
	char name[NAME_SIZE];

	*list = NULL;
	*count = 0;
	while (dir && !fail_code() && (entry = readdir(dir))) {
		size_t length = strlen(entry->d_name), end = strlen(ENDING);

		if (length <= end || length - end >= sizeof(name) ||
		    strcmp(entry->d_name + length - end, ENDING))
			continue;
		memcpy(name, entry->d_name, length - end);
		name[length - end] = '\0';
		append_record(list, count, name);
	}
	if (dir)
		closedir(dir);
	return fail_code();
}
