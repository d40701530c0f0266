/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of devices that come back after a reboot: /etc/nearcache/nearcachetab.  The
 * format is described in helper/man/nearcachetab.5.
 */
#ifndef HELPER_OPEN_NEARCACHETAB_H
#define HELPER_OPEN_NEARCACHETAB_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/options.h"

#define TAB_FILE	"/etc/nearcache/nearcachetab"

/* Before the uuid of a cache, in place of a device. */
#define TAB_UUID	"UUID="

/* Seconds: how long the devices of a line are waited for, and what a line may say. */
#define TAB_TIMEOUT		60U
#define TAB_TIMEOUT_MAX		86400U

/* Bytes that the file may have. */
#define TAB_BYTES_MAX	65536UL

/**
 * struct tab_entry - one line
 * @line: its number, from 1
 * @name: name of the device, "" if there is none that can be shown
 * @origin: path of the origin
 * @cache: path of the cache device, or TAB_UUID and the uuid
 * @args: what 'nearcache open' would make of it, but for --cache
 * @fail: a boot needs the device
 * @netdev: the network must be online before
 * @noauto: it is opened when it is asked for only
 * @timeout: seconds that the devices are waited for
 * @option: words that @args points into
 * @options: how many
 * @why: what is wrong with the line, NULL: nothing
 */
struct tab_entry {
	unsigned int line;
	const char *name;
	const char *origin;
	const char *cache;
	struct arguments args;
	bool fail;
	bool netdev;
	bool noauto;
	unsigned int timeout;
	char **option;
	size_t options;
	char *why;
};

/**
 * struct tab - the file
 * @path: of it
 * @text: what it says, cut to words
 * @entry: its lines, but for comments and empty ones
 * @entries: how many
 */
struct tab {
	const char *path;
	char *text;
	struct tab_entry *entry;
	size_t entries;
};

void tab_unescape(char *word);
int tab_read(struct tab *tab, const char *path);
int tab_parse(struct tab *tab, const char *path, const char *text, size_t bytes);
const struct tab_entry *tab_find(const struct tab *tab, const char *name);
int tab_need(const struct tab *tab, const char *name,
	     const struct tab_entry **entry);
void tab_free(struct tab *tab);

#endif /* HELPER_OPEN_NEARCACHETAB_H */
