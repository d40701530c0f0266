// SPDX-License-Identifier: GPL-2.0-only
/* Module files, and the module that is loaded. modinfo and insmod read compressed files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "block/kernel_module.h"
#include "block/persistent_folder.h"
#include "lib/error.h"
#include "upgrade/upgrade.h"

#define NAME		"dm_nearcache"
#define FOLDER		"/sys/module/" NAME
/*
 * Here is the file of the loaded module, if 'nearcache upgrade' loaded it: SRCVERSION-RELEASE.ko...
 * Packages and users may put SRCVERSION.ko... there.
 */
#define KEPT_FOLDER	"/var/lib/nearcache/module"
/* A copy under way: no srcversion begins like that. */
#define FRESH		KEPT_FOLDER "/new"
/* The last users of a module leave shortly after their last table or BPF link: wait 3 seconds. */
#define USER_TRIES	300
#define USER_PAUSE_US	(10 * 1000)
/* Attempts to load a module while other programs load a different one. */
#define LOAD_TRIES	5

static bool read_word(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	bool got = file && fgets(text, (int)size, file);

	if (file)
		fclose(file);
	if (got)
		text[strcspn(text, " \n")] = '\0';
	return got;
}

/* Get the srcversion of the loaded module (UPGRADE_SOURCE bytes). Returns false if none is loaded. */
bool upgrade_module_loaded(char *source)
{
	return read_word(FOLDER "/srcversion", source, UPGRADE_SOURCE);
}

/* Run a program of kmod. @output: the first line of its output; NULL: not wanted. */
static bool run_program(const char *const *words, char *output, size_t size)
{
	int pipes[2] = { -1, -1 }, status;
	FILE *file;
	pid_t child;

	if (output && pipe2(pipes, O_CLOEXEC))
		return false;
	child = fork();
	if (!child) {
		if (output)
			dup2(pipes[1], STDOUT_FILENO);
		if (freopen("/dev/null", "w", stderr))
			execvp(words[0], (char *const *)words);
		_exit(127);
	}
	if (output) {
		close(pipes[1]);
		file = fdopen(pipes[0], "re");
		*output = '\0';
		if (file && fgets(output, (int)size, file))
			output[strcspn(output, "\n")] = '\0';
		if (file)
			fclose(file);
		else
			close(pipes[0]);
	}
	return child > 0 && waitpid(child, &status, 0) == child && !status;
}

/* Get a field of a module file. Returns false if there is no such file or field. */
static bool read_field(const char *file, const char *field, char *text, size_t size)
{
	const char *const words[] = { "modinfo", "-F", field, file, NULL };

	return run_program(words, text, size) && *text;
}

/* Read what a file says about itself. */
static bool read_module(struct upgrade_module *module)
{
	return read_field(module->file, "srcversion", module->source, sizeof(module->source)) &&
	       (read_field(module->file, "version", module->version, sizeof(module->version)) ||
		true);
}

/* Find the file that modprobe would load. */
static int find_installed(char *path)
{
	const char *const words[] = { "modinfo", "-n", NAME, NULL };
	char found[PATH_MAX];

	if (run_program(words, found, sizeof(found)) && realpath(found, path))
		return 0;
	return fail(CODE_DEVICE,
		    "no module '" DM_MODULE "' is installed for this kernel: install it, or name its file with --module FILE");
}

static int check_kernel(const struct upgrade_module *module)
{
	char magic[256], name[64];
	struct utsname host;

	if (!read_field(module->file, "name", name, sizeof(name)) || strcmp(name, NAME) ||
	    !read_field(module->file, "vermagic", magic, sizeof(magic)))
		return fail(CODE_DEVICE, "'%s' is no module '" DM_MODULE "'", module->file);
	uname(&host);
	magic[strcspn(magic, " ")] = '\0';
	return !strcmp(magic, host.release) ? 0 :
	       fail(CODE_DEVICE, "module '%s' is built for kernel %s, and this one is %s",
		    module->file, magic, host.release);
}

/* Is a file the module with this srcversion, built for this kernel? */
static bool is_module(const char *file, const char *source)
{
	struct upgrade_module module = { 0 };
	bool fits;

	snprintf(module.file, sizeof(module.file), "%s", file);
	fits = read_module(&module) && !strcmp(module.source, source) && !check_kernel(&module);
	fail_reset();
	return fits;
}

/* Take the kept file of the loaded module, or else the installed file if it is that module. */
static void find_before(struct upgrade_module *before)
{
	size_t length = strlen(before->source);
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *folder = opendir(KEPT_FOLDER);

	while (folder && !*before->file && (entry = readdir(folder))) {
		snprintf(path, sizeof(path), KEPT_FOLDER "/%s", entry->d_name);
		if (!strncmp(entry->d_name, before->source, length) &&
		    strchr(".-", entry->d_name[length]) && is_module(path, before->source))
			strcpy(before->file, path);
	}
	if (folder)
		closedir(folder);
	if (*before->file)
		return;
	if (!find_installed(path) && is_module(path, before->source))
		strcpy(before->file, path);
	fail_reset();
}

/* Load the modules that another one needs: insmod does not. */
static void load_needed(const struct upgrade_module *module)
{
	char text[512], *rest = text, *name;

	if (!read_field(module->file, "depends", text, sizeof(text)))
		return;
	while ((name = strsep(&rest, ",")))
		if (*name)
			kernel_module_load(name);
}

/*
 * Inspect the loaded module and the one to load; load the modules that the latter needs. @file: NULL:
 * the installed one.
 */
int upgrade_module_inspect(struct upgrade *u, const char *file)
{
	if (upgrade_module_loaded(u->before.source)) {
		read_word(FOLDER "/version", u->before.version, sizeof(u->before.version));
		find_before(&u->before);
	}
	if (file ? !realpath(file, u->now.file) : find_installed(u->now.file))
		return file ? fail_errno(errno, "cannot open module '%s'", file) : (int)fail_code();
	if (check_kernel(&u->now))
		return fail_code();
	if (!read_module(&u->now))
		return fail(CODE_DEVICE,
			    "module '%s' has no srcversion, so it cannot be told from the loaded one",
			    u->now.file);
	load_needed(&u->now);
	return 0;
}

/* Fail unless a module reads a format. @path: the cache device, for the message. */
int upgrade_module_check_format(const struct upgrade_module *module, uint32_t version,
				uint64_t features, const char *path)
{
	char format[64], known[64];

	if (!read_field(module->file, "cache_format", format, sizeof(format)) ||
	    !read_field(module->file, "cache_features", known, sizeof(known)))
		return fail(CODE_DEVICE,
			    "module '%s' does not say which on-disk formats it reads: it is older than this command; close all devices, then rmmod and modprobe " DM_MODULE "",
			    module->file);
	if (strtoul(format, NULL, 0) != version)
		return fail(CODE_DEVICE,
			    "module '%s' reads on-disk format %s, and cache device '%s' has format %u",
			    module->file, format, path, version);
	if (features & ~strtoull(known, NULL, 0))
		return fail(CODE_DEVICE,
			    "module '%s' reads caches with features %s, and cache device '%s' has 0x%llx",
			    module->file, known, path, (unsigned long long)features);
	return 0;
}

/* Fail if the module has more than @users users: this command cannot remove the others. */
int upgrade_module_check_users(unsigned int users)
{
	unsigned long count = 0;
	char text[32];
	int tries;

	for (tries = 0; tries < USER_TRIES / 10; tries++) {
		if (!read_word(FOLDER "/refcnt", text, sizeof(text)))
			return 0;
		count = strtoul(text, NULL, 10);
		if (count <= users)
			return 0;
		usleep(USER_PAUSE_US);
	}
	return fail(CODE_BUSY,
		    "the module has %lu users besides the devices and nearcache's own BPF programs: end 'nearcache top', 'nearcache trace', perf and other BPF programs on its trace events (bpftool link), stop a daemon that records (systemctl stop nearcache-daemon), and drop loaded tables (dmsetup clear)",
		    count - users);
}

/* Unload the module. Not an error if none is loaded. */
int upgrade_module_unload(void)
{
	int tries, error = 0;

	for (tries = 0; tries < USER_TRIES; tries++) {
		if (!syscall(SYS_delete_module, NAME, O_NONBLOCK) || errno == ENOENT)
			return 0;
		error = errno;
		if (error != EAGAIN && error != EBUSY)
			break;
		usleep(USER_PAUSE_US);
	}
	return fail_errno(error, "cannot unload the module " DM_MODULE);
}

/*
 * Load a module file. Writers wait meanwhile, so insmod is started only if the kernel does not take
 * the file itself (compressed).
 */
static void insert_module(const char *path)
{
	const char *const words[] = { "insmod", path, NULL };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool done = fd >= 0 && !syscall(SYS_finit_module, fd, "", 0);

	if (fd >= 0)
		close(fd);
	if (!done)
		run_program(words, NULL, 0);
}

/* Load a module. If udev or another command has loaded another one meanwhile, that one goes first. */
int upgrade_module_load(const struct upgrade_module *module)
{
	char source[UPGRADE_SOURCE];
	int tries;

	for (tries = 0; tries < LOAD_TRIES; tries++) {
		insert_module(module->file);
		if (!upgrade_module_loaded(source)) {
			if (tries)
				break;
			/* A killed run had loaded the needed modules; a user may have unloaded them. */
			load_needed(module);
			continue;
		}
		if (!strcmp(source, module->source))
			return 0;
		if (upgrade_module_unload())
			return fail_code();
	}
	return fail(CODE_DEVICE, "cannot load module '%s' (see dmesg)", module->file);
}

/* Keep one module in the folder: remove the other files. */
static void remove_others(const char *name)
{
	DIR *folder = opendir(KEPT_FOLDER);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (*entry->d_name != '.' && strcmp(entry->d_name, name))
			unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
}

static bool copy_bytes(int from, int to)
{
	char buffer[1 << 16];
	ssize_t n;

	while ((n = read(from, buffer, sizeof(buffer))) > 0)
		if (write(to, buffer, (size_t)n) != n)
			return false;
	return !n && !fsync(to);
}

/*
 * Keep the file of the module that is loaded now: the next upgrade needs it to go back. A package
 * may replace the installed file before. A failure only warns.
 */
void upgrade_module_keep(const struct upgrade_module *module)
{
	const char *name_of_file = strrchr(module->file, '/');
	const char *end = strstr(name_of_file ? name_of_file : "", ".ko");
	char name[2 * UPGRADE_SOURCE + 64], path[PATH_MAX];
	struct utsname host;
	int from, to;

	uname(&host);
	snprintf(name, sizeof(name), "%s-%s%.12s", module->source, host.release, end ? end : ".ko");
	snprintf(path, sizeof(path), KEPT_FOLDER "/%s", name);
	if (!name_of_file || is_module(path, module->source))
		return;
	if (persistent_folder_make(KEPT_FOLDER)) {
		warn("%s", fail_message());
		fail_reset();
		return;
	}
	from = open(module->file, O_RDONLY | O_CLOEXEC);
	to = open(FRESH, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (from < 0 || to < 0 || !copy_bytes(from, to) || rename(FRESH, path)) {
		unlink(FRESH);
		warn("cannot keep a copy of '%s' in '" KEPT_FOLDER "': the next upgrade needs the file to undo a failure",
		     module->file);
	} else {
		remove_others(name);
	}
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
}
