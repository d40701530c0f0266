// SPDX-License-Identifier: GPL-2.0-only
/*
 * Repeatedly load table lines and send messages of all kinds; tests/fuzz/lines.c generates them.
 *
 *	fuzz_words NAME ORIGIN CACHE WITNESS COUNT SEED
 *
 * A refusal must give its reason in the kernel log, and a live device must return the origin's data
 * (sectors of blockdata, generation 1).
 */
#include "meta/ondisk_check.c"
#include "helper/ondisk/layout.c"
#include "image.c"
#include "lines.c"
#include "crc32c.h"
#include "dm_ioctl.h"
#include "kernel_log.h"
#include "sector.h"

#define TEXT_ROOM	12000U

static struct dm dm;
static u64 origin_sectors, random_state, taken, refused, messages, messages_refused;
static char said[65536];
static void *buffer;

static void wrong(const char *what, const char *text)
{
	printf("input %llu, '%.2000s': %s; the kernel said:\n%s\n",
	       (unsigned long long)(taken + refused), text, what, said);
	exit(1);
}

/* Read a few sectors; an earlier message may have requested any of them. */
static void read_some(const char *text)
{
	u64 at = image_random(&random_state) % (origin_sectors - 64);
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/dev/dm-%u", dm.minor);
	fd = device_open(path, O_RDONLY | O_DIRECT);
	read_exactly(fd, buffer, 64 * SECTOR, at * SECTOR);
	if (!sectors_good(buffer, at, 64, 1))
		wrong("wrong data", text);
	close(fd);
}

static void message(const char *text)
{
	const char *word = text + strspn(text, " \t\v\xa0");
	int r;

	/* Skip empty messages and those that device-mapper handles itself. */
	if (!*word || *word == '@')
		return;
	kernel_log_begin();
	r = dm_message(&dm, text);
	messages++;
	messages_refused += !!r;
	kernel_log_end(said, sizeof(said));
	if (r && !strstr(said, "expected: invalidate all | <sector> <sectors>, inside ") &&
	    !strstr(said, "expected: scrub start <bytes per second>") &&
	    !strstr(said, ": scrub: "))
		wrong("message refused without a reason", text);
	read_some(text);
}

static void try_line(char *text)
{
	char *line = strsep(&text, "\n");
	int r;

	kernel_log_begin();
	r = dm_load(&dm, origin_sectors, "nearcache", line, line[0] == '\t');
	if (r) {
		refused++;
		kernel_log_end(said, sizeof(said));
		if (!strstr(said, ": nearcache: "))
			wrong("table refused without a reason", line);
		return;
	}
	taken++;
	if (dm_simple(&dm, DM_DEV_SUSPEND))
		wrong("no resume", line);
	read_some(line);
	while (text)
		message(strsep(&text, "\n"));
}

static void make_device(void)
{
	if (dm_simple(&dm, DM_DEV_CREATE))
		wrong("no dm device", "");
}

static void remove_device(void)
{
	int i;

	/* Another process may still be closing the device. */
	for (i = 0; i < 500 && dm_simple(&dm, DM_DEV_REMOVE); i++)
		usleep(10000);
}

int main(int argc, char **argv)
{
	static char text[TEXT_ROOM + 1];
	u64 count, i;

	if (argc != 7)
		return 2;
	dm_open(&dm, argv[1]);
	count = strtoull(argv[5], NULL, 0);
	random_state = strtoull(argv[6], NULL, 0);
	buffer = aligned_room(64 * SECTOR);
	i = device_open(argv[2], O_RDONLY);
	origin_sectors = lseek(i, 0, SEEK_END) / SECTOR;
	close(i);
	make_device();
	for (i = 0; i < count; i++) {
		text[lines_make(text, TEXT_ROOM, argv[2], argv[3], argv[4], &random_state)] = 0;
		try_line(text);
		/* Mostly reload a live device; every eighth time load into a new one. */
		if (i % 8 == 7) {
			remove_device();
			make_device();
		}
	}
	remove_device();
	printf("%llu tables taken, %llu refused; %llu messages, %llu refused\n",
	       (unsigned long long)taken, (unsigned long long)refused,
	       (unsigned long long)messages, (unsigned long long)messages_refused);
	return 0;
}
