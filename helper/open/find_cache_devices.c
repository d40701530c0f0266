// SPDX-License-Identifier: GPL-2.0-only
#include "open/find_cache_devices.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uuid/uuid.h>

#include "lib/error.h"
#include "lib/wait_data.h"
#include "block/device_sysfs.h"
#include "block/dm.h"
#include "ondisk/superblock.h"

/* Milliseconds between two checks whether a missing device has appeared. */
#define WAIT_PAUSE_MS	100

/* Part of the error message for a device that hangs; consider_device() searches for it. */
#define SILENT	"does not answer"

/**
 * enum carried - a kind of superblock to look for
 * @CARRIED_CACHE: of a cache
 * @CARRIED_LOG: of the log of a stage
 */
enum carried { CARRIED_CACHE, CARRIED_LOG };

static const char *const roles[] = {
	[CARRIED_CACHE] = "cache device",
	[CARRIED_LOG] = "log device",
};

/**
 * struct answer - result that probe_device() sends to its parent through the pipe
 * @code: exit code, 0: the device carries a valid superblock
 * @message: error message
 * @sb: superblock of the device
 */
struct answer {
	int code;
	char message[512];
	unsigned char sb[NEARCACHE_SUPER_SIZE];
};

_Static_assert(sizeof(struct nearcache_super) == NEARCACHE_SUPER_SIZE &&
	       sizeof(struct nearcache_stage_super) == NEARCACHE_SUPER_SIZE, "size of an answer");

static int read_cache(const struct device *dev, struct answer *answer)
{
	struct super super;

	if (!super_read(&super, dev) && !super_require(&super, dev))
		memcpy(answer->sb, super.best, sizeof(answer->sb));
	super_free(&super);
	return fail_code();
}

static int read_log(const struct device *dev, struct answer *answer)
{
	struct stage_log log;

	if (!stage_log_read(&log, dev) && !stage_log_require(&log, dev))
		memcpy(answer->sb, log.best, sizeof(answer->sb));
	stage_log_free(&log);
	return fail_code();
}

/* Runs in a child process, which may hang. The parent waits at most RESOLVE_SECONDS for data. */
static void probe_device(const char *path, enum carried kind, int pipe)
{
	struct device dev = DEVICE_CLOSED;
	struct answer answer = { 0 };

	/*
	 * Close all inherited files. Otherwise a hanging child would hold the locks of the parent,
	 * and readers of the parent's pipes would see no end of file.
	 */
	if (dup2(pipe, STDIN_FILENO) < 0 ||
	    !freopen("/dev/null", "w", stdout) ||
	    !freopen("/dev/null", "w", stderr))
		_exit(CODE_DEVICE);
	close_range(STDERR_FILENO + 1, ~0U, 0);
	/* An error of the parent is none of this device. */
	fail_reset();
	if (!device_open(&dev, path, roles[kind])) {
		if (kind == CARRIED_LOG)
			read_log(&dev, &answer);
		else
			read_cache(&dev, &answer);
	}
	answer.code = fail_code();
	snprintf(answer.message, sizeof(answer.message), "%s", fail_message());
	/* The answer is smaller than the pipe, so write() does not block if no one reads. */
	_exit(write(STDIN_FILENO, &answer, sizeof(answer)) < 0);
}

/* Copy the superblock in the answer of a child process to @sb. */
static int await_answer(const char *path, enum carried kind, int pipe, void *sb)
{
	struct answer answer;
	size_t done = 0;
	ssize_t n = 1;

	while (done < sizeof(answer) && n > 0) {
		if (!wait_data(pipe, RESOLVE_SECONDS * 1000))
			return fail(CODE_DEVICE, "%s '%s' " SILENT " within %d seconds",
				    roles[kind], path, RESOLVE_SECONDS);
		n = read_again(pipe, (char *)&answer + done, sizeof(answer) - done);
		if (n > 0)
			done += (size_t)n;
	}
	if (done < sizeof(answer))
		return fail(CODE_DEVICE,
			    "cannot read %s '%s': the process that reads it has ended",
			    roles[kind], path);
	if (answer.code)
		return fail((enum exit_code)answer.code, "%s", answer.message);
	memcpy(sb, answer.sb, sizeof(answer.sb));
	return 0;
}

/* Read the superblock of the device at @path. Fails if it does not answer in RESOLVE_SECONDS. */
static int ask_device(const char *path, enum carried kind, void *sb)
{
	int pipes[2];
	pid_t child;

	if (pipe(pipes))
		return fail_errno(errno, "cannot read '%s'", path);
	child = fork();
	if (!child)
		probe_device(path, kind, pipes[1]);
	close(pipes[1]);
	if (child < 0)
		fail_errno(errno, "cannot read '%s'", path);
	else
		await_answer(path, kind, pipes[0], sb);
	close(pipes[0]);
	if (child > 0) {
		/* Do not wait for a child that hangs: it ends only when its read completes. */
		kill(child, SIGKILL);
		waitpid(child, NULL, fail_code() ? WNOHANG : 0);
	}
	return fail_code();
}

/* As ask_device(), for a cache device. */
int resolve_path(struct resolved *cache, const char *path)
{
	snprintf(cache->path, sizeof(cache->path), "%s", path);
	return ask_device(cache->path, CARRIED_CACHE, &cache->sb);
}

/* As ask_device(), for a log. */
int resolve_log(const char *path, struct nearcache_stage_super *sb)
{
	return ask_device(path, CARRIED_LOG, sb);
}

/* True if @folder is the sysfs folder of an NVMe controller that is reached through a network. */
static bool is_fabric(const char *folder)
{
	char path[PATH_MAX + 16], text[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/transport", folder);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	return *text && strncmp(text, "pcie", 4);
}

/*
 * True for an NVMe disk behind a network. A multipath disk has no controller of its own but lists
 * the controllers of its paths in its sysfs folder.
 */
static bool has_fabric(const char *disk)
{
	char folder[NAME_MAX + 32], path[PATH_MAX];
	struct dirent *entry;
	bool found;
	DIR *dir;

	snprintf(folder, sizeof(folder), "/sys/class/block/%s/device", disk);
	found = is_fabric(folder);
	dir = opendir(folder);
	while (dir && !found && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		found = !strncmp(entry->d_name, "nvme", 4) && is_fabric(path);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* True for a device that is or may be behind a network: it is no cache device, and may hang. */
static bool is_remote(const char *name)
{
	static const char *const prefixes[] = { "nbd", "rbd", "drbd", "ublk" };
	char path[PATH_MAX], target[PATH_MAX];
	unsigned int i;
	char *part;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	snprintf(path, sizeof(path), "/sys/class/block/%s", name);
	if (!realpath(path, target))
		return true;
	/* iSCSI, FC, NVMe over Fabrics. */
	if (strstr(target, "/session") || strstr(target, "/rport-") ||
	    strstr(target, "/nvme-fabrics/"))
		return true;
	snprintf(path, sizeof(path), "/sys/class/block/%s/partition", name);
	part = !access(path, F_OK) ? strrchr(target, '/') : NULL;
	if (part)
		*part = '\0';
	return has_fabric(strrchr(target, '/') + 1);
}

/* True for a disk without a medium, or a device of nearcache: no cache and no log is on them. */
static bool is_empty(dev_t number)
{
	char text[64];

	return !identity_attribute(number, "size", text, sizeof(text)) || !strcmp(text, "0") ||
	       (identity_attribute(number, "dm/uuid", text, sizeof(text)) &&
		(!strncmp(text, DM_UUID_PREFIX, strlen(DM_UUID_PREFIX)) || dm_uuid_is_stage(text)));
}

/* Decide from sysfs alone whether a device can be a cache device, or have a log. */
static bool is_candidate(const char *name, const struct device *origin,
			 dev_t *number)
{
	unsigned int major_number, minor_number;
	char path[PATH_MAX];
	struct stat st;
	FILE *file;
	int found;

	snprintf(path, sizeof(path), "/sys/class/block/%s/dev", name);
	file = name[0] == '.' ? NULL : fopen(path, "re");
	if (!file)
		return false;
	found = fscanf(file, "%u:%u", &major_number, &minor_number);
	fclose(file);
	if (found != 2)
		return false;
	*number = makedev(major_number, minor_number);
	if (is_remote(name) || is_empty(*number) ||
	    (origin && identity_overlap(*number, origin->number)))
		return false;
	device_path_of(*number, path);
	return !stat(path, &st) && S_ISBLK(st.st_mode);
}

/* True if resolve_logs() reads the device. */
bool resolve_searches(dev_t number)
{
	char name[NAME_MAX + 1], *p;

	if (!identity_kernel_name(number, name, sizeof(name)))
		return false;
	/* As in sysfs, which has no '/' in a name. */
	while ((p = strchr(name, '/')))
		*p = '!';
	return !is_remote(name) && !is_empty(number);
}

static int consider_device(struct carriers *all, dev_t number)
{
	struct resolved *longer, *one;
	char path[PATH_MAX];

	longer = reallocarray(all->one, all->count + 1, sizeof(*all->one));
	if (!longer)
		return fail_memory();
	all->one = longer;
	one = &longer[all->count];
	one->number = number;
	if (!resolve_path(one, device_path_of(number, path))) {
		if (!uuid_compare(one->sb.uuid, all->uuid))
			all->count++;
		return 0;
	}
	if (strstr(fail_message(), SILENT))
		all->silent++;
	fail_reset();
	return 0;
}

/*
 * Find all local devices that carry a member of the cache @uuid. @origin (NULL: unknown) and
 * devices that share its storage are not read. Call resolve_free() even after a failure.
 */
int resolve_carriers(struct carriers *all, const unsigned char *uuid,
		     const struct device *origin)
{
	struct dirent *entry;
	dev_t number;
	DIR *dir;

	memset(all, 0, sizeof(*all));
	uuid_copy(all->uuid, uuid);
	dir = opendir("/sys/class/block");
	while (dir && !fail_code() && (entry = readdir(dir)))
		if (is_candidate(entry->d_name, origin, &number))
			consider_device(all, number);
	if (dir)
		closedir(dir);
	return fail_code();
}

static bool is_part(const struct resolved *one, unsigned int index)
{
	return le16_to_cpu(one->sb.stripe_index) == index;
}

/*
 * True if another device with the same member is stacked on @one, so that both show the same
 * superblock. The upper device is the right one.
 */
static bool is_covered(const struct carriers *all, const struct resolved *one)
{
	size_t i;

	for (i = 0; i < all->count; i++)
		if (is_part(&all->one[i], le16_to_cpu(one->sb.stripe_index)) &&
		    identity_rests_on(all->one[i].number, one->number))
			return true;
	return false;
}

static int fail_two(const struct carriers *all, const struct resolved *a,
		    const struct resolved *b)
{
	char uuid[SUPER_UUID_TEXT];

	uuid_unparse_lower(all->uuid, uuid);
	return fail(CODE_DEVICE,
		    "'%s' and '%s' carry the same part of the cache '%s': detach the copy, or name the right device by its path",
		    a->path, b->path, uuid);
}

/* Fail because no local device carries the member that the caller searched. */
int resolve_none(const struct carriers *all)
{
	char uuid[SUPER_UUID_TEXT];

	uuid_unparse_lower(all->uuid, uuid);
	return fail(CODE_DEVICE, "no local device carries the cache '%s'%s",
		    uuid, all->silent ?
		    ", but one did not answer" : ": is the drive there?");
}

/*
 * Find the device that carries member @index (from 0). Sets @found to NULL if there is none. Fails
 * if there are several, even if only one of these is unused: it may be a copy of the one in use.
 */
int resolve_part(const struct carriers *all, unsigned int index,
		 const struct resolved **found)
{
	const struct resolved *first = NULL;
	size_t i;

	*found = NULL;
	for (i = 0; i < all->count; i++) {
		const struct resolved *one = &all->one[i];

		if (!is_part(one, index) || is_covered(all, one))
			continue;
		if (first)
			return fail_two(all, first, one);
		first = one;
	}
	*found = first;
	return 0;
}

/*
 * Find a copy of the member on device @number: a device that carries member @index and shares no
 * storage with @number. Returns NULL if there is none.
 */
const struct resolved *resolve_rival(const struct carriers *all, unsigned int index,
				     dev_t number)
{
	size_t i;

	for (i = 0; i < all->count; i++)
		if (is_part(&all->one[i], index) &&
		    !identity_overlap(all->one[i].number, number))
			return &all->one[i];
	return NULL;
}

void resolve_free(struct carriers *all)
{
	free(all->one);
	memset(all, 0, sizeof(*all));
}

/*
 * Find the first member of the cache @uuid on local devices. Fails unless exactly one device
 * carries it. @origin is not read; NULL: unknown.
 */
int resolve_uuid(struct resolved *cache, const char *uuid,
		 const struct device *origin)
{
	const struct resolved *found;
	struct carriers all;
	uuid_t parsed;

	if (uuid_parse(uuid, parsed))
		return fail(CODE_USAGE, "'%s' is not a uuid", uuid);
	if (!resolve_carriers(&all, parsed, origin) &&
	    !resolve_part(&all, 0, &found) &&
	    (found || !resolve_none(&all)))
		*cache = *found;
	resolve_free(&all);
	return fail_code();
}

static int consider_log(struct logs *all, dev_t number)
{
	struct log_carrier *longer, *one;
	char path[PATH_MAX];

	longer = reallocarray(all->one, all->count + 1, sizeof(*all->one));
	if (!longer)
		return fail_memory();
	all->one = longer;
	one = &longer[all->count];
	one->number = number;
	snprintf(one->path, sizeof(one->path), "%s", device_path_of(number, path));
	if (!ask_device(one->path, CARRIED_LOG, &one->sb)) {
		all->count++;
		return 0;
	}
	if (strstr(fail_message(), SILENT)) {
		all->silent++;
		strcpy(all->silent_path, one->path);
	}
	fail_reset();
	return 0;
}

/* Drop devices below another one that shows the same log: the legs of a mirror, for example. */
static void drop_covered(struct logs *all)
{
	size_t i, j, kept = 0;

	for (i = 0; i < all->count; i++) {
		bool covered = false;

		for (j = 0; j < all->count && !covered; j++)
			covered = !uuid_compare(all->one[i].sb.uuid, all->one[j].sb.uuid) &&
				  identity_rests_on(all->one[j].number, all->one[i].number);
		all->one[i].covered = covered;
	}
	for (i = 0; i < all->count; i++)
		if (!all->one[i].covered)
			all->one[kept++] = all->one[i];
	all->count = kept;
}

/*
 * Find the logs of stages on local devices. @origin (NULL: unknown) and devices that share its
 * storage are not read. Call logs_free() even after a failure.
 */
int resolve_logs(struct logs *all, const struct device *origin)
{
	struct dirent *entry;
	dev_t number;
	DIR *dir;

	memset(all, 0, sizeof(*all));
	dir = opendir("/sys/class/block");
	while (dir && !fail_code() && (entry = readdir(dir)))
		if (is_candidate(entry->d_name, origin, &number))
			consider_log(all, number);
	if (dir)
		closedir(dir);
	drop_covered(all);
	return fail_code();
}

void logs_free(struct logs *all)
{
	free(all->one);
	memset(all, 0, sizeof(*all));
}

/* Wait until @path exists. Returns false if it does not after @seconds. */
bool resolve_wait(const char *path, unsigned int seconds)
{
	struct timespec pause = { .tv_nsec = WAIT_PAUSE_MS * 1000000L };
	unsigned long tries = seconds * (1000UL / WAIT_PAUSE_MS);

	while (access(path, F_OK)) {
		if (!tries--)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}
