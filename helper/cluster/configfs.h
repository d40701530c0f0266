/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Edit configfs so that all edits can be undone. An edit is skipped if its result is there already,
 * so that a list of edits also completes what a killed run left half done.
 */
#ifndef HELPER_CLUSTER_CONFIGFS_H
#define HELPER_CLUSTER_CONFIGFS_H

#include <stddef.h>

#define CONFIGFS	"/sys/kernel/config"
#define NVMET		CONFIGFS "/nvmet"

/* Size of a value of an attribute, with NUL. */
#define CONFIGFS_VALUE	1024

/* The edits made so far; NULL: none. */
struct configfs_edit;

const char *configfs_path(char *path, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int configfs_edited(int error, const char *doing, const char *path);
int configfs_set(struct configfs_edit **edits, const char *folder, const char *name,
		 const char *value);

/* Functions return 0 or an errno, and record no error, unless they say otherwise. */
int configfs_make_folder(struct configfs_edit **edits, const char *path);
int configfs_remove_folder(struct configfs_edit **edits, const char *path);
int configfs_link(struct configfs_edit **edits, const char *path, const char *target);
int configfs_unlink(struct configfs_edit **edits, const char *path, const char *target);
int configfs_save(struct configfs_edit **edits, const char *path);
int configfs_write(struct configfs_edit **edits, const char *path, const char *value);

void configfs_undo(struct configfs_edit **edits);
void configfs_keep(struct configfs_edit **edits);

int configfs_make_private(const char *path);
int configfs_read(const char *path, char *value);
int configfs_names(const char *path, char ***names, size_t *count);
void configfs_names_free(char **names, size_t count);

#endif /* HELPER_CLUSTER_CONFIGFS_H */
