// SPDX-License-Identifier: GPL-2.0-only
/* nearcache report: pack what a bug report needs, without data and without secrets. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "block/device.h"
#include "block/dm.h"
#include "block/kmsg.h"
#include "block/signals.h"
#include "block/stage_params.h"
#include "block/table_params.h"
#include "cmd/commands.h"
#include "lib/error.h"
#include "lib/print.h"
#include "lib/redact.h"

/* Seconds after which a command that hangs at a device is left alone. */
#define PATIENCE	30
/* Longest line; a longer one is cut: a secret in two pieces would not be found. */
#define LINE_BYTES	8192
#define WORDS_MAX	12
#define SELF		"nearcache"
/* Commands of the system come from here, whatever PATH is: the user may be root. */
#define TRUSTED_PATH	"/usr/sbin:/usr/bin:/sbin:/bin"

/* A file of the report: the output of a command, or a copy of @source if it exists. */
struct part {
	const char *file;
	const char *source;
	const char *words[WORDS_MAX];
};

static const struct part parts[] = {
	{ "version", NULL, { SELF, "--version" } },
	{ "kernel", NULL, { "uname", "-a" } },
	{ "os-release", "/etc/os-release", { NULL } },
	{ "module-version", "/sys/module/dm_nearcache/version", { NULL } },
	{ "module-source", "/sys/module/dm_nearcache/srcversion", { NULL } },
	{ "list.json", NULL, { SELF, "list", "-j" } },
	{ "status.json", NULL, { SELF, "status", "-j" } },
	{ "status", NULL, { SELF, "status" } },
	{ "stats.json", NULL, { SELF, "stats", "-j" } },
	{ "actions.json", NULL, { SELF, "actions", "--all", "-j" } },
	{ "metrics", NULL, { SELF, "metrics" } },
	{ "block-devices", NULL, { "lsblk", "-o", "NAME,MAJ:MIN,SIZE,TYPE,FSTYPE,TRAN,RO,MODEL,MOUNTPOINT" } },
	{ "dm-devices", NULL, { "dmsetup", "info", "-c" } },
	{ "memory", "/proc/meminfo", { NULL } },
	{ "daemon-log", NULL, { "journalctl", "-b", "-u", "nearcache-daemon", "-n", "1000", "--no-pager" } },
	{ "units-log", NULL, { "journalctl", "-b", "-u", "nearcache@*", "-u", "nearcache-cluster@*", "-n", "1000", "--no-pager" } },
	{ "nearcachetab", "/etc/nearcache/nearcachetab", { NULL } },
	{ "nearcache.conf", "/etc/nearcache/nearcache.conf", { NULL } },
	{ "cluster.conf", "/etc/nearcache/cluster.conf", { NULL } },
};

/*
 * The folder @folder, PARENT/NAME, that is packed.
 * @files: number of files; @removed: number of lines that had a secret
 */
struct report {
	char parent[64];
	char folder[160];
	char name[80];
	uint64_t files;
	uint64_t removed;
};

/* Signals that end the program were not blocked in this mask: ^C ends the report, and removes its folder. */
static sigset_t before;

static FILE *open_file(struct report *report, const char *file)
{
	char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", report->folder, file);
	out = fopen(path, "we");
	if (!out)
		fail_errno(errno, "cannot write '%s'", path);
	else
		report->files++;
	return out;
}

/* Writes text to a file, line by line, without its secrets. */
static void write_clean(struct report *report, FILE *out, const char *text)
{
	/* A secret may replace a shorter word. */
	char line[LINE_BYTES + 64];
	struct redaction redaction = { 0 };

	while (*text) {
		size_t length = strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)(length < LINE_BYTES ? length : LINE_BYTES - 1), text);
		report->removed += redact_line(&redaction, line, sizeof(line));
		fprintf(out, "%s%s", line, text[length] ? "\n" : "");
		text += length + (text[length] == '\n');
	}
}

static void write_file(struct report *report, const char *file, const char *text)
{
	FILE *out = open_file(report, file);

	if (!out)
		return;
	write_clean(report, out, text);
	if (fclose(out))
		fail_errno(errno, "cannot write '%s' of the report", file);
}

/* In the child process: run the command, with both outputs to @out. */
static void run_child(const char *const *words, int out)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	signals_release(&before);
	dup2(null, 0);
	dup2(out, 1);
	dup2(out, 2);
	/* A command that hangs ends, unless the kernel does not let it. */
	alarm(PATIENCE);
	setenv("PATH", TRUSTED_PATH, 1);
	setenv("LC_ALL", "C", 1);
	if (!strcmp(words[0], SELF))
		execv("/proc/self/exe", (char **)words);
	else
		execvp(words[0], (char **)words);
	dprintf(2, "cannot run '%s': %s\n", words[0], strerror(errno));
	_exit(127);
}

/* Copies everything that comes from a pipe, until its end or until nothing comes for PATIENCE. */
static void read_pipe(int pipe, FILE *to)
{
	struct pollfd ready = { .fd = pipe, .events = POLLIN };
	char buffer[65536];
	ssize_t n;

	while (poll(&ready, 1, PATIENCE * 1000) > 0 && (n = read(pipe, buffer, sizeof(buffer))) > 0)
		fwrite(buffer, 1, (size_t)n, to);
	if (!ready.revents)
		fprintf(to, "\n(nothing for %d s: the command hangs)\n", PATIENCE);
}

/* Returns the output of a command, which the caller frees; NULL after recording an error. */
static char *output_of(const char *const *words)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);
	int pipes[2];
	pid_t child;

	if (signals_waiting(&before)) {
		if (to)
			fclose(to);
		free(text);
		return NULL;
	}
	if (!to || pipe2(pipes, O_CLOEXEC)) {
		fail_errno(errno, "cannot run '%s'", words[0]);
		return NULL;
	}
	child = fork();
	if (!child)
		run_child(words, pipes[1]);
	close(pipes[1]);
	if (child > 0)
		read_pipe(pipes[0], to);
	close(pipes[0]);
	/* Do not wait for a child that the kernel does not end. */
	if (child > 0)
		waitpid(child, NULL, WNOHANG);
	fclose(to);
	return text;
}

static void take_command(struct report *report, const char *file, const char *const *words)
{
	char *text = output_of(words);

	if (text)
		write_file(report, file, text);
	free(text);
}

/* Copies a small file; one that is missing or may not be read is left out. */
static void take_copy(struct report *report, const char *file, const char *source)
{
	FILE *from = fopen(source, "re");
	char text[65536];
	size_t bytes;

	if (!from)
		return;
	bytes = fread(text, 1, sizeof(text) - 1, from);
	text[bytes] = '\0';
	fclose(from);
	write_file(report, file, text);
}

static void take_super(struct report *report, dev_t number)
{
	char file[PATH_MAX + 16], path[PATH_MAX];
	const char *words[] = { SELF, "super", "-j", path, NULL };

	if (!number)
		return;
	device_path_of(number, path);
	snprintf(file, sizeof(file), "super-%s.json", strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	take_command(report, file, words);
}

static void take_supers(struct report *report, const struct dm_device *dev)
{
	struct stage_params stage;
	struct params params;
	unsigned int i;

	if (dev->stage && dev->table && stage_params_parse(dev->table, &stage))
		take_super(report, stage.log);
	if (!dev->ours || !dev->table || !params_parse(dev->table, &params))
		return;
	take_super(report, params.cache);
	for (i = 0; i < params.members; i++)
		take_super(report, params.member[i]);
}

static void take_jobs(struct report *report, const struct dm_device *dev)
{
	const char *words[] = { SELF, "jobs", "-j", dev->name, NULL };
	char file[256];

	if (!dev->ours)
		return;
	snprintf(file, sizeof(file), "jobs-%s.json", dev->name);
	take_command(report, file, words);
}

/* Takes tables and status lines, superblocks and jobs of devices of one kind. */
static void take_kind(struct report *report, FILE *tables,
		      int (*list_all)(struct dm_device **list, size_t *count))
{
	struct dm_device *list;
	size_t i, count;

	if (list_all(&list, &count))
		return;
	for (i = 0; i < count; i++) {
		fprintf(tables, "%s %s\n  table  %s\n  status %s\n", list[i].name, list[i].uuid,
			list[i].table ? list[i].table : "-", list[i].status ? list[i].status : "-");
		take_supers(report, &list[i]);
		take_jobs(report, &list[i]);
	}
	dm_device_free_all(list, count);
}

static void take_devices(struct report *report)
{
	char *text = NULL;
	size_t bytes;
	FILE *tables = open_memstream(&text, &bytes);

	if (!tables) {
		fail_memory();
		return;
	}
	take_kind(report, tables, dm_all);
	take_kind(report, tables, dm_all_stages);
	take_kind(report, tables, dm_all_clusters);
	if (fail_code())
		fprintf(tables, "%s\n", fail_message());
	/* A report without them is better than none. */
	fail_reset();
	fclose(tables);
	write_file(report, "tables", text);
	free(text);
}

static void add_line(const char *line, uint64_t microseconds, void *arg)
{
	fprintf(arg, "[%12.6f] %s\n", (double)microseconds / 1e6, line);
}

static void take_kernel_log(struct report *report)
{
	char *text = NULL;
	size_t bytes;
	FILE *log = open_memstream(&text, &bytes);

	if (!log) {
		fail_memory();
		return;
	}
	kmsg_each("device-mapper: nearcache", add_line, log);
	kmsg_each("dm_nearcache", add_line, log);
	if (fail_code())
		fprintf(log, "%s\n", fail_message());
	fail_reset();
	fclose(log);
	write_file(report, "kernel-log", text);
	free(text);
}

static void take_all(struct report *report)
{
	const struct part *part;

	for (part = parts; part < parts + sizeof(parts) / sizeof(parts[0]) && !fail_code(); part++) {
		if (part->source)
			take_copy(report, part->file, part->source);
		else
			take_command(report, part->file, part->words);
	}
	if (!fail_code())
		take_kernel_log(report);
	if (!fail_code())
		take_devices(report);
}

/* Makes a folder that only this user can enter: parts exist there before they are packed. */
static int make_folder(struct report *report)
{
	char host[64] = "node", when[32] = "";
	time_t now = time(NULL);
	struct tm local;

	gethostname(host, sizeof(host) - 1);
	if (localtime_r(&now, &local))
		strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &local);
	snprintf(report->name, sizeof(report->name), "nearcache-%.32s-%s", host, when);
	strcpy(report->parent, "/tmp/nearcache-report.XXXXXX");
	if (!mkdtemp(report->parent))
		return fail_errno(errno, "cannot make a folder in /tmp");
	snprintf(report->folder, sizeof(report->folder), "%s/%s", report->parent, report->name);
	return mkdir(report->folder, 0700) ? fail_errno(errno, "cannot make '%s'", report->folder) : 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *place)
{
	(void)st;
	(void)type;
	(void)place;
	return remove(path);
}

/* Packs the folder into @path, which must not exist, and which only this user can read. */
static int pack_folder(const struct report *report, const char *path)
{
	int out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), status = -1;
	pid_t child;

	if (out < 0)
		return fail_errno(errno, "cannot write '%s'", path);
	child = fork();
	if (!child) {
		signals_release(&before);
		dup2(out, 1);
		setenv("PATH", TRUSTED_PATH, 1);
		execlp("tar", "tar", "-C", report->parent, "-czf", "-", report->name, NULL);
		_exit(127);
	}
	if (child > 0)
		waitpid(child, &status, 0);
	if (close(out) || status) {
		unlink(path);
		return fail(CODE_DEVICE, "cannot pack the report: tar failed (is it installed, and gzip? is '%s' full?)",
			    path);
	}
	return 0;
}

static void print_parts(void)
{
	const struct part *part;

	print_table("files");
	for (part = parts; part < parts + sizeof(parts) / sizeof(parts[0]); part++) {
		print_record(NULL, NULL);
		print_string("file", "file", part->file);
		print_string("source", "of", part->source ? part->source : part->words[0]);
		print_end();
	}
	print_end();
	print_flag("dry_run", NULL, true);
}

static int cmd_report(const struct arguments *args)
{
	struct report report = { 0 };
	char path[PATH_MAX];

	if (option_given(args, OPTION_DRY_RUN)) {
		print_parts();
		return 0;
	}
	signals_hold(&before);
	if (make_folder(&report)) {
		signals_release(&before);
		return fail_code();
	}
	snprintf(path, sizeof(path), "%s%s", args->operands ? args->operand[0] : report.name,
		 args->operands ? "" : ".tar.gz");
	/* Before the work, to say it early. */
	if (!access(path, F_OK))
		fail(CODE_BUSY, "'%s' exists: give another name", path);
	else
		take_all(&report);
	if (!fail_code() && !signals_waiting(&before) && !pack_folder(&report, path)) {
		print_string("file", "file", path);
		print_number("files", "files in it", report.files);
		print_number("secrets_removed", report.removed ? "lines without their secret" : NULL,
			     report.removed);
		print_string(NULL, "next", "look through it (tar -xzf), then attach it to the bug report; it has names of devices and hosts, and no data");
	}
	nftw(report.parent, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	signals_release(&before);
	return fail_code();
}

const struct verb report_verb = {
	.name = "report",
	.group = VERBS_MAINTAIN,
	.operands = "[FILE]",
	.operands_max = 1,
	.summary = "pack one file for a bug report, without data and secrets",
	.details =
"FILE (nearcache-HOST-TIME.tar.gz) must not exist. It has versions, tables, status,\n"
"counters, superblocks, jobs, the module's lines of the kernel log, the log of the units,\n"
"and nearcachetab, nearcache.conf and cluster.conf. It has no data of the origin; of file\n"
"names it has only those in labels of jobs and ranges. Keys and passwords are replaced by\n"
"'(removed)'. Without root privileges, parts are missing. --dry-run lists the parts, except\n"
"the kernel log and those of each device.\n",
	.run = cmd_report,
};
