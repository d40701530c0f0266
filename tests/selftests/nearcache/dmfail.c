// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make device-mapper requests in which the N-th allocation fails (/proc/thread-self/fail-nth of a
 * kernel with fault injection; faults.sh selects the allocations that count). One process makes all
 * requests: there are hundreds, and starting a program is slow on a debug kernel.
 *
 * Commands come on stdin, one per line. The answer to each is one line, "ok ..." or "FAIL why".
 * Sectors have 512 bytes; data are sectors of one GENERATION (sector.h).
 *
 *	nth N				let the N-th allocation of the next request fail
 *	create|suspend|resume|remove|status|table NAME
 *	load NAME ro|rw SECTORS TARGET WORDS...
 *	message NAME WORDS...
 *			all requests -> "done" or an errno, then 1 or 0: has an allocation failed?
 *	write PATH|NAME GENERATION FIRST COUNT
 *	good NAME GENERATION FIRST COUNT	read three times, by misses and then hits; each
 *						read must return sectors of GENERATION
 */
#include "dm_ioctl.h"
#include "sector.h"

#define NTH	"/proc/thread-self/fail-nth"

static struct dm dm;

static void answer(const char *verdict, const char *text)
{
	printf("%s %s\n", verdict, text);
	fflush(stdout);
}

static void nth(unsigned int n)
{
	int fd = device_open(NTH, O_WRONLY);
	char text[16];

	sprintf(text, "%u", n);
	if (write(fd, text, strlen(text)) < 0)
		exit(1);
	close(fd);
}

/* Returns the number of allocations from now to the failing one; 0: an allocation has failed. */
static unsigned int left(void)
{
	int fd = device_open(NTH, O_RDONLY);
	char text[16] = "";

	if (read(fd, text, sizeof(text) - 1) < 0)
		exit(1);
	close(fd);
	return atoi(text);
}

static int load(char *line)
{
	uint64_t sectors;
	char rights[4], target[16];
	int at;

	if (sscanf(line, "%3s %lu %15s %n", rights, &sectors, target, &at) < 3)
		return EINVAL;
	return dm_load(&dm, sectors, target, line + at, rights[1] == 'o');
}

static int suspend(bool on)
{
	dm_prepare(&dm);
	dm.io.dm.flags = on ? DM_SUSPEND_FLAG : 0;
	return dm_request(&dm, DM_DEV_SUSPEND);
}

static int status(bool table)
{
	dm_prepare(&dm);
	dm.io.dm.flags = table ? DM_STATUS_TABLE_FLAG : DM_NOFLUSH_FLAG;
	return dm_request(&dm, DM_TABLE_STATUS);
}

static int request(const char *what, char *rest)
{
	if (!strcmp(what, "create"))
		return dm_simple(&dm, DM_DEV_CREATE);
	if (!strcmp(what, "remove"))
		return dm_simple(&dm, DM_DEV_REMOVE);
	if (!strcmp(what, "load"))
		return load(rest);
	if (!strcmp(what, "message"))
		return dm_message(&dm, rest);
	if (!strcmp(what, "suspend") || !strcmp(what, "resume"))
		return suspend(*what == 's');
	if (!strcmp(what, "status") || !strcmp(what, "table"))
		return status(*what == 't');
	return -1;
}

/* Make a request whose @n-th allocation fails, 0: none.  Returns false for an unknown command. */
static bool faulty_request(const char *what, char *rest, unsigned int n)
{
	unsigned int rest_of_n = 0;
	char text[64];
	int error;

	if (n)
		nth(n);
	error = request(what, rest);
	if (n) {
		rest_of_n = left();
		nth(0);
	}
	if (error < 0)
		return false;
	snprintf(text, sizeof(text), "%s %d", error ? strerrorname_np(error) : "done",
		 n && !rest_of_n);
	answer("ok", text);
	return true;
}

static int open_data(const char *name, int flags)
{
	char path[64];

	if (*name == '/')
		return device_open(name, flags | O_DIRECT);
	if (dm_simple(&dm, DM_DEV_STATUS))
		exit(1);
	snprintf(path, sizeof(path), "/dev/dm-%u", dm.minor);
	return device_open(path, flags | O_DIRECT);
}

static void write_sectors(int fd, uint64_t generation, uint64_t first, uint64_t count)
{
	struct sector *s = aligned_room(count * SECTOR);
	uint64_t i;

	for (i = 0; i < count; i++)
		sector_make(s + i, first + i, generation);
	write_exactly(fd, s, count * SECTOR, first * SECTOR);
	free(s);
	answer("ok", "");
}

static void good(int fd, uint64_t generation, uint64_t first, uint64_t count)
{
	void *buffer = aligned_room(count * SECTOR);
	bool right = true;
	int i;

	for (i = 0; i < 3 && right; i++) {
		memset(buffer, 0xee, count * SECTOR);
		if (pread(fd, buffer, count * SECTOR, first * SECTOR) != count * SECTOR)
			break;
		/* If a sector is wrong, sectors_good() prints the answer to the command. */
		right = sectors_good(buffer, first, count, generation);
	}
	free(buffer);
	if (right && i < 3)
		answer("FAIL", strerror(errno));
	else if (right)
		answer("ok", "");
	else
		fflush(stdout);
}

static void data_command(const char *what, const char *name, const char *rest)
{
	unsigned long generation, first, count;
	bool writes = *what == 'w';
	int fd;

	if (sscanf(rest, "%lu %lu %lu", &generation, &first, &count) != 3) {
		answer("FAIL", "what?");
		return;
	}
	fd = open_data(name, writes ? O_WRONLY : O_RDONLY);
	if (writes)
		write_sectors(fd, generation, first, count);
	else
		good(fd, generation, first, count);
	close(fd);
}

int main(void)
{
	static char line[1024], name[64];
	unsigned int n = 0;
	char what[16];
	int at;

	dm_open(&dm, name);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%15s %63s %n", what, name, &at) < 2) {
			answer("FAIL", "what?");
		} else if (!strcmp(what, "nth")) {
			n = atoi(name);
			answer("ok", "");
		} else if (!strcmp(what, "write") || !strcmp(what, "good")) {
			data_command(what, name, line + at);
		} else {
			if (!faulty_request(what, line + at, n))
				answer("FAIL", what);
			n = 0;
		}
	}
	return 0;
}
