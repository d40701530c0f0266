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

#include "fail.h"
#include "fstab.h"
#include "units.h"

/* What it says comes before anything that could keep it: the kernel log does. */
static void say_to_kernel_log(void)
{
	if (!isatty(STDERR_FILENO) && freopen("/dev/kmsg", "we", stderr))
		setvbuf(stderr, NULL, _IOLBF, 0);
}

/* The template is installed beside this program. */
static const char *find_template(char *path)
{
	char *slash;

	if (!realpath("/proc/self/exe", path))
		strcpy(path, "/usr/lib/systemd/system-generators/-");
	slash = strrchr(path, '/');
	*slash = '\0';
	slash = strrchr(path, '/');
	if (!slash || slash - path > PATH_MAX - 64)
		slash = path;
	strcpy(slash, "/system/nearcache@.service");
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
	if (!units_write(entry, folder, find_template(template), waits))
		return;
	warn("'%s' line %u: %s", tab->path, entry->line, fail_message());
	fail_reset();
}

int main(int argc, char **argv)
{
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
	else
		for (i = 0; i < tab.entries; i++)
			write_line(&tab, &tab.entry[i],
				   argc > 5 ? argv[5] : FSTAB_FILE, argv[1]);
	tab_free(&tab);
	return (int)fail_code();
}
