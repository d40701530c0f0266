// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run by systemd at boot, and at each reload: makes a service of each line of the table.
 *   usage: nearcache-generator NORMAL [EARLY LATE [TABLE FSTAB]]     folders for units
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"
#include "systemd/fstab.h"
#include "systemd/units.h"

/* What it says comes before anything that could keep it: the kernel log does. */
static void say_to_kernel_log(void)
{
	if (!isatty(STDERR_FILENO) && freopen("/dev/kmsg", "we", stderr))
		setvbuf(stderr, NULL, _IOLBF, 0);
}

/* Units are installed beside this program. @unit: name of one. @path: PATH_MAX to fill. */
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

/* A line that is wrong keeps nobody from the others. */
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
	/* Whoever needs it too early does not get it rather than the boot a cycle. */
	waits = !fstab_check(fstab, entry->name);
	if (!waits)
		warn("'%s' line %u: nothing waits for '%s': %s", tab->path,
		     entry->line, entry->name, fail_message());
	fail_reset();
	find_unit("nearcache@.service", template);
	if (!units_write(entry, folder, template, waits))
		return;
	warn("'%s' line %u: %s", tab->path, entry->line, fail_message());
	fail_reset();
}

static void add_mount(const char *folder, void *arg)
{
	char escaped[4 * PATH_MAX];

	fprintf(arg, " %s.mount", units_escape_path(folder, escaped));
}

/* Where the files are that are pinned. */
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

	if (argc < 2 || argc > 6) {
		fprintf(stderr, "usage: nearcache-generator NORMAL [EARLY LATE [TABLE FSTAB]]\n");
		return CODE_USAGE;
	}
	if (argc == 4)
		say_to_kernel_log();
	/* In an initial ramdisk nothing is opened. */
	if (argc == 4 && !access("/etc/initrd-release", F_OK))
		return 0;
	if (tab_read(&tab, argc > 4 ? argv[4] : TAB_FILE))
		warn("%s", fail_message());
	for (i = 0; i < tab.entries && !fail_code(); i++)
		write_line(&tab, &tab.entry[i], fstab, argv[1]);
	if (tab.entries && !fail_code()) {
		write_pins(fstab, argv[1]);
		if (fail_code())
			warn("'" UNITS_PINS "' is left out: %s", fail_message());
		fail_reset();
	}
	tab_free(&tab);
	return (int)fail_code();
}
