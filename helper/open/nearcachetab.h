/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parser of /etc/nearcache/nearcachetab, the table of devices to open at boot. Format:
 * helper/man/nearcachetab.5.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_OPEN_NEARCACHETAB_H
#define HELPER_OPEN_NEARCACHETAB_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/options.h"

#define TAB_FILE	"/etc/nearcache/nearcachetab"

/* Prefix of the third word if it names the cache by uuid instead of by path. */
#define TAB_UUID	"UUID="

/* Ends the name of a cache that a cluster device reads: that of device NAME is NAME-home. */
#define TAB_HOME	"-home"

/* Seconds to wait for the devices of a line: default and maximum. */
#define TAB_TIMEOUT		60U
#define TAB_TIMEOUT_MAX		86400U

#define TAB_BYTES_MAX	65536UL

/**
 * struct tab_entry - one line
 * @line: line number, from 1
 * @name: name of the device, "" if the line has no valid name
 * @origin: path of the origin
 * @cache: path of the cache device, or TAB_UUID and the uuid
 * @args: options of the line, parsed as for 'nearcache open', without --cache
 * @fail: the boot fails without the device
 * @netdev: open only after the network is online
 * @noauto: open only on request, not at boot
 * @cluster: configuration of the cluster that the device joins at boot; NULL: none
 * @timeout: seconds to wait for the devices
 * @option: words to which pointers in @args point, freed by tab_free()
 * @options: entries of @option
 * @why: error message of an invalid line; NULL: the line is valid
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
	const char *cluster;
	unsigned int timeout;
	char **option;
	size_t options;
	char *why;
};

/**
 * struct tab - the parsed file
 * @path: path of the file, owned by the caller of tab_read()
 * @text: content, cut into words to which @entry points
 * @entry: lines, without comments and empty lines; invalid lines are included
 * @entries: entries of @entry
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
