// SPDX-License-Identifier: GPL-2.0-only
/*
 * systemd runs this program at boot and at each reload. It writes units into the folder NORMAL, so
 * that each line of nearcachetab(5) has a service that opens the device.
 *   usage: nearcache-generator NORMAL [EARLY LATE [TABLE FSTAB]]
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "systemd/fstab.h"
#include "systemd/units.h"

/* At boot no log daemon runs yet, so write messages to the kernel log. */
static void say_to_kernel_log(void)
{
	if (!isatty(STDERR_FILENO) && freopen("/dev/kmsg", "we", stderr))
		setvbuf(stderr, NULL, _IOLBF, 0);
}

/* Return the path of @unit, ../system/ from the folder of this program. @path: PATH_MAX bytes. */
static const char *find_unit(const char *unit, char *path)
{
	char *slash;

	if (!realpath("/proc/self/exe", path))
		strcpy(path, "/usr/lib/systemd/system-generators/-");
	slash = strrchr(path, '/');
	*slash = '\0';
	slash = strrchr(path, '/');
	if (!slash || slash - path > PATH_MAX - 64)
		slash = path;
	sprintf(slash, "/system/%s", unit);
	return path;
}

/* Write the units of a line. A fault only causes a warning, so that main() uses the other lines. */
static void write_line(const struct tab *tab, const struct tab_entry *entry,
		       const char *fstab, const char *folder)
{
	char template[PATH_MAX];
	bool waits;

	if (entry->why) {
		warn("'%s' line %u is left out: %s", tab->path, entry->line,
		     entry->why);
		return;
	}
	/*
	 * If a mount needs the device too early, let nothing wait for the device: that mount then
	 * fails, but the boot has no dependency cycle.
	 */
	waits = !fstab_check(fstab, entry->name);
	if (!waits)
		warn("'%s' line %u: no unit waits for '%s': %s", tab->path,
		     entry->line, entry->name, fail_message());
	fail_reset();
	find_unit("nearcache@.service", template);
	if (!units_write(entry, folder, template, waits))
		return;
	warn("'%s' line %u: %s", tab->path, entry->line, fail_message());
	fail_reset();
}

/* Write the units that join the cluster of a line, as write_line() does for its cache. */
static void write_cluster(const struct tab *tab, const struct tab_entry *entry,
			  const char *fstab, const char *folder)
{
	char template[PATH_MAX], name[UNITS_NAME];
	bool waits;

	if (entry->why || !entry->cluster)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)(strlen(entry->name) - strlen(TAB_HOME)),
		 entry->name);
	waits = !fstab_check(fstab, name);
	if (!waits)
		warn("'%s' line %u: no unit waits for '%s': %s", tab->path, entry->line, name,
		     fail_message());
	fail_reset();
	find_unit("nearcache-cluster@.service", template);
	if (units_write_cluster(entry, folder, template, waits))
		warn("'%s' line %u: '%s' does not join its cluster: %s", tab->path, entry->line,
		     name, fail_message());
	fail_reset();
}

static void add_mount(const char *folder, void *arg)
{
	char escaped[4 * PATH_MAX];

	fprintf(arg, " %s.mount", units_escape_path(folder, escaped));
}

/* Write the unit that refreshes the pins after the mounts that may contain pinned files. */
static void write_pins(const char *fstab, const char *folder)
{
	char template[PATH_MAX];
	char *mounts = NULL;
	size_t bytes;
	FILE *file = open_memstream(&mounts, &bytes);

	if (!file) {
		fail_memory();
		return;
	}
	fstab_each_late(fstab, add_mount, file);
	if (fclose(file))
		fail_memory();
	else if (!fail_code())
		units_write_pins(folder, find_unit(UNITS_PINS, template),
				 mounts + (*mounts == ' '));
	free(mounts);
}

int main(int argc, char **argv)
{
	const char *fstab = argc > 5 ? argv[5] : FSTAB_FILE;
	struct tab tab = { 0 };
	size_t i;

	/* 'systemctl cat' of any user reads the units. */
	umask(022);
	if (argc < 2 || argc > 6) {
		fprintf(stderr, "usage: nearcache-generator NORMAL [EARLY LATE [TABLE FSTAB]]\n");
		return CODE_USAGE;
	}
	if (argc == 4)
		say_to_kernel_log();
	/* In an initial ramdisk write no units, so that no device is opened there. */
	if (argc == 4 && !access("/etc/initrd-release", F_OK))
		return 0;
	if (tab_read(&tab, argc > 4 ? argv[4] : TAB_FILE))
		warn("%s", fail_message());
	for (i = 0; i < tab.entries && !fail_code(); i++) {
		write_line(&tab, &tab.entry[i], fstab, argv[1]);
		write_cluster(&tab, &tab.entry[i], fstab, argv[1]);
	}
	if (tab.entries && !fail_code()) {
		write_pins(fstab, argv[1]);
		if (fail_code())
			warn("'" UNITS_PINS "' is left out: %s", fail_message());
		fail_reset();
	}
	tab_free(&tab);
	return (int)fail_code();
}
