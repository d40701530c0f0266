// SPDX-License-Identifier: GPL-2.0-only
#include "open/given_up_log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <uuid/uuid.h>

#include "block/persistent_folder.h"
#include "lib/error.h"
#include "open/uncached_writes.h"

#define FILE_PREFIX	"given-up-"
#define FILE_SIZE	(sizeof(FILE_PREFIX) + UUID_STR_LEN)

static const char *file_name(const unsigned char *uuid, char *name)
{
	strcpy(name, FILE_PREFIX);
	uuid_unparse_lower(uuid, name + strlen(name));
	return name;
}

/* The file is empty: its name has the uuid, and its time is that of the record. */
static int make_file(int folder, const char *name)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	int error = fd < 0 || fsync(fd) || fsync(folder) ? errno : 0;

	if (fd >= 0)
		close(fd);
	return error ? fail_errno(error, "cannot write '%s/%s'", gaps_folder, name) : 0;
}

/*
 * Record durably that the log @uuid is given up.  Also fails if the folder does not survive a reboot;
 * the record then lasts until that.
 */
int given_up_record(const unsigned char *uuid)
{
	char name[FILE_SIZE];
	int folder;

	if (persistent_folder_make(gaps_folder))
		return fail_code();
	folder = open(gaps_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return fail_errno(errno, "cannot open '%s'", gaps_folder);
	if (!make_file(folder, file_name(uuid, name)))
		persistent_folder_check(folder, gaps_folder);
	close(folder);
	return fail_code();
}

/* Fail if the log @uuid, on the device @log, was given up. */
int given_up_check(const unsigned char *uuid, const char *log)
{
	char path[PATH_MAX], name[FILE_SIZE], text[64] = "";
	struct tm local;
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", gaps_folder, file_name(uuid, name));
	if (lstat(path, &st))
		return errno == ENOENT || errno == ENOTDIR ? 0 :
		       fail_errno(errno, "cannot read '%s'", path);
	if (localtime_r(&st.st_mtime, &local))
		strftime(text, sizeof(text), " on %Y-%m-%d %H:%M:%S %z", &local);
	return fail(CODE_BUSY,
		    "the log '%s' was given up%s (recorded in '%s'), and its origin may have newer data: 'nearcache destroy --stage %s --abandon-stage' wipes the log",
		    log, text, path, log);
}

/* The log @uuid is wiped.  A record that stays does no harm: no other log has this uuid. */
void given_up_forget(const unsigned char *uuid)
{
	char path[PATH_MAX], name[FILE_SIZE];

	snprintf(path, sizeof(path), "%s/%s", gaps_folder, file_name(uuid, name));
	unlink(path);
}
