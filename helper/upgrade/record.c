// SPDX-License-Identifier: GPL-2.0-only
/*
 * The record of an upgrade under way, for a run after a crash of the command: lines of words. A
 * reboot, which removes the devices, removes it too.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/name.h"
#include "upgrade/tables.h"
#include "upgrade/upgrade.h"

#define FILE_NAME	"upgrade"
#define HEAD	"nearcache-upgrade 1"
#define END	"end"
/* Lines after the end: each names a device that was verified later. */
#define VERIFIED	"verified"

const char *upgrade_record_folder = "/run/nearcache";

static const char *record_path(void)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" FILE_NAME, upgrade_record_folder);
	return path;
}

static void write_list(FILE *file, const char *word, const struct upgrade_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		fprintf(file, "%s %" PRIu64 " %" PRIu64 "\n", word, list->range[i].start,
			list->range[i].length);
}

/* A label may have blanks, newlines or nothing: write it as one word. */
static void write_label(FILE *file, const char *label)
{
	putc('=', file);
	for (; *label; label++)
		if (*label > ' ' && *label < 127 && *label != '%')
			putc(*label, file);
		else
			fprintf(file, "%%%02x", (unsigned char)*label);
	putc('\n', file);
}

/* The opposite of write_label(). @label: LABEL_SIZE bytes. */
static bool take_label(const char *word, char *label)
{
	unsigned int code;
	size_t n;

	if (*word++ != '=')
		return false;
	for (n = 0; *word && n < LABEL_SIZE - 1; n++) {
		if (*word != '%') {
			label[n] = *word++;
			continue;
		}
		if (sscanf(word, "%%%2x", &code) != 1 || strlen(word) < 3)
			return false;
		label[n] = (char)code;
		word += 3;
	}
	label[n] = '\0';
	return !*word;
}

static void write_device(FILE *file, const struct upgrade_device *dev)
{
	size_t i;

	fprintf(file, "device %s\nuuid %s\nmade %s\nbytes %" PRIu64 "\ntable %s\n", dev->name,
		dev->uuid, dev->made, dev->bytes, dev->table);
	fprintf(file, "writes %d\nahead %u\n", dev->writes, dev->ahead);
	fprintf(file, "gap %s\n", dev->gap);
	if (dev->counted)
		fprintf(file, "written %" PRIu64 "\n", dev->written);
	if (dev->verified)
		fprintf(file, "verified 1\n");
	if (dev->freezes || dev->frozen)
		fprintf(file, "frozen 1\n");
	for (i = 0; i < dev->ranges; i++) {
		fprintf(file, "range %" PRIu64 " %" PRIu64 " %u %u %u ",
			dev->range[i].range.start, dev->range[i].range.length,
			dev->range[i].flags, dev->range[i].priority, dev->range[i].expires);
		write_label(file, dev->range[i].label);
	}
	for (i = 0; i < dev->jobs; i++) {
		fprintf(file, "job %u %u %" PRIu64 " ", dev->job[i].job.priority,
			dev->job[i].job.deadline, dev->job[i].job.bandwidth);
		write_label(file, dev->job[i].job.label);
		write_list(file, "left", &dev->job[i].left);
	}
	if (dev->planned)
		fprintf(file, "plan %d\n", dev->no_prefetch);
	write_list(file, "visit", &dev->plan);
}

static void write_module(FILE *file, const char *word, const struct upgrade_module *module)
{
	fprintf(file, "%s-source %s\n%s-version %s\n", word, module->source, word,
		module->version);
	if (!strchr(module->file, '\n'))
		fprintf(file, "%s-file %s\n", word, module->file);
}

/* Names of files may be in it, so only root reads it. It lives no longer than this boot: no fsync(). */
static int replace_record(const char *text, size_t bytes)
{
	char fresh[PATH_MAX + 4];
	bool done;
	int fd;

	snprintf(fresh, sizeof(fresh), "%s.new", record_path());
	unlink(fresh);
	errno = 0;
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	done = fd >= 0 && write(fd, text, bytes) == (ssize_t)bytes;
	if (fd >= 0)
		close(fd);
	if (done && !rename(fresh, record_path()))
		return 0;
	return fail_errno(errno ? errno : ENOSPC, "cannot write '%s'", record_path());
}

/* Replace the record: a crash leaves the old or the new one. */
int upgrade_record_save(const struct upgrade *u)
{
	char *text = NULL;
	size_t bytes, i;
	FILE *file;

	if (mkdir(upgrade_record_folder, 0755) && errno != EEXIST)
		return fail_errno(errno, "cannot make '%s'", upgrade_record_folder);
	file = open_memstream(&text, &bytes);
	if (!file)
		return fail_memory();
	fprintf(file, HEAD "\n");
	write_module(file, "before", &u->before);
	write_module(file, "now", &u->now);
	for (i = 0; i < u->count; i++)
		write_device(file, &u->device[i]);
	fprintf(file, END "\n");
	if (fclose(file))
		fail_memory();
	else
		replace_record(text, bytes);
	free(text);
	return fail_code();
}

/* Note in the record, which may be long, that a device is verified: its writers wait meanwhile. */
int upgrade_record_verified(const struct upgrade_device *dev)
{
	char line[sizeof(dev->name) + 16];
	int bytes = snprintf(line, sizeof(line), VERIFIED " %s\n", dev->name);
	int fd = open(record_path(), O_WRONLY | O_APPEND | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, line, (size_t)bytes) == bytes;

	if (fd >= 0)
		close(fd);
	return done ? 0 : fail_errno(errno, "cannot write '%s'", record_path());
}

int upgrade_record_remove(void)
{
	if (unlink(record_path()) && errno != ENOENT)
		return fail_errno(errno, "cannot remove '%s'", record_path());
	return 0;
}

static bool add_device(struct upgrade *u, const char *name)
{
	struct upgrade_device *longer = reallocarray(u->device, u->count + 1, sizeof(*longer));

	if (!longer)
		return false;
	u->device = longer;
	longer[u->count] = (struct upgrade_device){ .mounted = -1 };
	snprintf(longer[u->count++].name, sizeof(longer->name), "%s", name);
	return true;
}

static bool add_range(struct upgrade_device *dev, const char *rest)
{
	struct nl_range range = { 0 }, *longer;
	char label[LABEL_SIZE];
	int used = 0;

	if (sscanf(rest, "%" SCNu64 " %" SCNu64 " %u %u %u %n", &range.range.start,
		   &range.range.length, &range.flags, &range.priority, &range.expires,
		   &used) != 5 || !take_label(rest + used, label))
		return false;
	longer = reallocarray(dev->range, dev->ranges + 1, sizeof(*longer));
	if (!longer)
		return false;
	dev->range = longer;
	range.label = strdup(label);
	longer[dev->ranges] = range;
	dev->ranges += range.label != NULL;
	return range.label;
}

static bool add_job(struct upgrade_device *dev, const char *rest)
{
	struct upgrade_job job = { 0 }, *longer;

	int used = 0;

	if (sscanf(rest, "%u %u %" SCNu64 " %n", &job.job.priority, &job.job.deadline,
		   &job.job.bandwidth, &used) != 3 || !take_label(rest + used, job.job.label))
		return false;
	longer = reallocarray(dev->job, dev->jobs + 1, sizeof(*longer));
	if (!longer)
		return false;
	dev->job = longer;
	longer[dev->jobs++] = job;
	return true;
}

static bool add_part(struct upgrade_list *list, const char *rest)
{
	struct range range = { 0 };

	return sscanf(rest, "%" SCNu64 " %" SCNu64, &range.start, &range.length) == 2 &&
	       !upgrade_list_add(list, &range);
}

static bool take_number(const char *rest, uint64_t *number)
{
	return sscanf(rest, "%" SCNu64, number) == 1;
}

/* Take a line with one value of a device. */
static bool take_value(struct upgrade_device *dev, const char *word, const char *rest)
{
	uint64_t number = 0;

	if (!strcmp(word, "uuid"))
		return snprintf(dev->uuid, sizeof(dev->uuid), "%s", rest) > 0;
	if (!strcmp(word, "made"))
		return snprintf(dev->made, sizeof(dev->made), "%s", rest) >= 0;
	if (!strcmp(word, "gap"))
		return snprintf(dev->gap, sizeof(dev->gap), "%s", rest) > 0;
	if (!strcmp(word, "table"))
		return (dev->table = strdup(rest));
	if (!take_number(rest, &number))
		return false;
	if (!strcmp(word, "bytes"))
		dev->bytes = number;
	else if (!strcmp(word, "writes"))
		dev->writes = number;
	else if (!strcmp(word, "frozen"))
		/* The command may have been killed after it froze the file system. */
		dev->freezes = dev->frozen = number;
	else if (!strcmp(word, "ahead"))
		dev->ahead = (uint32_t)number;
	else if (!strcmp(word, "written"))
		dev->counted = true, dev->written = number;
	else if (!strcmp(word, "verified"))
		dev->verified = number;
	else if (!strcmp(word, "plan"))
		dev->planned = true, dev->no_prefetch = number;
	else
		return false;
	return true;
}

/* Take a line with one value of a module. */
static bool take_module(struct upgrade *u, const char *word, const char *rest)
{
	bool now = !strncmp(word, "now-", 4);
	struct upgrade_module *module = now ? &u->now : &u->before;

	if (!now && strncmp(word, "before-", 7))
		return false;
	word = strchr(word, '-') + 1;
	if (!strcmp(word, "source"))
		snprintf(module->source, sizeof(module->source), "%s", rest);
	else if (!strcmp(word, "version"))
		snprintf(module->version, sizeof(module->version), "%s", rest);
	else if (!strcmp(word, "file"))
		snprintf(module->file, sizeof(module->file), "%s", rest);
	else
		return false;
	return true;
}

static bool take_line(struct upgrade *u, const char *word, const char *rest)
{
	struct upgrade_device *dev = u->count ? &u->device[u->count - 1] : NULL;

	if (!strcmp(word, "device"))
		return add_device(u, rest);
	if (!dev)
		return take_module(u, word, rest);
	if (!strcmp(word, "range"))
		return add_range(dev, rest);
	if (!strcmp(word, "job"))
		return add_job(dev, rest);
	if (!strcmp(word, "left"))
		return dev->jobs && add_part(&dev->job[dev->jobs - 1].left, rest);
	if (!strcmp(word, "visit"))
		return add_part(&dev->plan, rest);
	return take_value(dev, word, rest);
}

static void take_verified(struct upgrade *u, const char *name)
{
	size_t i;

	for (i = 0; i < u->count; i++)
		if (!strcmp(u->device[i].name, name))
			u->device[i].verified = true;
}

/* Parse a record. Returns false if a line is invalid, or the last one is missing. */
static bool parse_record(struct upgrade *u, FILE *file)
{
	char *line = NULL, *rest;
	size_t room = 0;
	bool good = getline(&line, &room, file) > 0 && !strcmp(line, HEAD "\n"), end = false;

	while (good && !end && getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		rest = line;
		strsep(&rest, " ");
		end = !strcmp(line, END);
		good = end || take_line(u, line, rest ? rest : "");
	}
	/* A line without an end was not written completely. */
	while (good && getline(&line, &room, file) > 0) {
		rest = strchr(line, '\n');
		if (!rest || strncmp(line, VERIFIED " ", strlen(VERIFIED " ")))
			break;
		*rest = '\0';
		take_verified(u, line + strlen(VERIFIED " "));
	}
	free(line);
	return good && end;
}

/* Take the state of the devices of a record, which may be gone, from the kernel. */
static int look_all(struct upgrade *u)
{
	bool suspended;
	size_t i;

	for (i = 0; i < u->count; i++) {
		if (!u->device[i].table)
			return fail(CODE_DEVICE, "'%s' has no table of '%s'", record_path(),
				    u->device[i].name);
		if (upgrade_look(&u->device[i], &suspended))
			return fail_code();
	}
	return 0;
}

/* Read the record of a run that was killed. The caller frees @u, even after a failure. */
int upgrade_record_load(struct upgrade *u, bool *found)
{
	FILE *file = fopen(record_path(), "re");

	*found = file;
	if (!file)
		return errno == ENOENT ? 0 :
		       fail_errno(errno, "cannot open '%s'", record_path());
	if (!parse_record(u, file))
		fail(CODE_DEVICE,
		     "the record '%s' is damaged and cannot be read: thaw the file systems of all devices (fsfreeze -u MOUNTPOINT), close and open the devices, then remove this file",
		     record_path());
	fclose(file);
	return fail_code() ? (int)fail_code() : look_all(u);
}
