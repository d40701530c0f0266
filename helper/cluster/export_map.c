// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/export_map.h"

#include <limits.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "lib/error.h"

static bool has_value(const char *folder, const char *name, const char *value)
{
	char path[PATH_MAX], present[CONFIGFS_VALUE];

	return !configfs_read(configfs_path(path, "%s/%s", folder, name), present) &&
	       !strcasecmp(present, value);
}

/*
 * Export @export->map in the subsystem, which exists. Its connections stay: their hosts get an event
 * about the new namespace. nvmet opens devices for writing, so the disk of a map has no read-only
 * flag, and only the target nearcache-map refuses writes.
 */
int export_map_apply(const struct export *export, struct configfs_edit **edits)
{
	char path[PATH_MAX];

	configfs_path(path, NVMET "/subsystems/%s/namespaces/2", export->nqn);
	if (configfs_edited(configfs_make_folder(edits, path), "create", path))
		return fail_code();
	if (has_value(path, "enable", "1")) {
		/* nvmet keeps the device open, so an equal path means the same device. */
		if (has_value(path, "device_path", export->map) &&
		    has_value(path, "device_uuid", export->map_uuid))
			return 0;
		if (configfs_set(edits, path, "enable", "0"))
			return fail_code();
	}
	if (configfs_set(edits, path, "device_path", export->map) ||
	    configfs_set(edits, path, "device_uuid", export->map_uuid))
		return fail_code();
	return configfs_set(edits, path, "enable", "1");
}

/* Disable the namespace of the map, if there is one. Waits for the reads in flight. */
int export_map_disable(const char *subsystem, struct configfs_edit **edits)
{
	char path[PATH_MAX];

	configfs_path(path, "%s/namespaces/2", subsystem);
	return has_value(path, "enable", "1") ? configfs_set(edits, path, "enable", "0") : 0;
}

/* Remove the namespace of the map, if there is one, which closes its device. */
int export_map_remove(const char *subsystem, struct configfs_edit **edits)
{
	char path[PATH_MAX];

	configfs_path(path, "%s/namespaces/2", subsystem);
	if (access(path, F_OK))
		return 0;
	return configfs_edited(configfs_remove_folder(edits, path), "remove", path);
}
