// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load invalid table lines, one per case. The load must fail, the kernel log must name the reason,
 * and no dm device may remain.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "../kselftest_harness.h"

#define NAME	"nc-args"

/* Find the NVMe drive with this serial number; @device is its path. Returns false if none has. */
static bool find_drive(const char *serial, char *device, size_t room)
{
	char path[128], found[64];
	FILE *file;
	int i;

	for (i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "/sys/block/nvme%dn1/device/serial", i);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fscanf(file, "%63s", found) == 1 && !strcmp(found, serial)) {
			snprintf(device, room, "/dev/nvme%dn1", i);
			fclose(file);
			return true;
		}
		fclose(file);
	}
	return false;
}

/* Replace %O and %C by the names of the origin and of the cache device. */
static void expand(const char *from, const char *origin, const char *cache,
		   char *to, size_t room)
{
	size_t n = 0;

	for (; *from && n + 64 < room; from++) {
		if (*from == '%' && (from[1] == 'O' || from[1] == 'C'))
			n += sprintf(to + n, "%s", *++from == 'O' ? origin : cache);
		else
			to[n++] = *from;
	}
	to[n] = 0;
}

FIXTURE(args) {
	char origin[64];
	char cache[64];
	int kmsg;
};

FIXTURE_VARIANT(args) {
	const char *table;
	const char *error;
};

FIXTURE_SETUP(args)
{
	ASSERT_TRUE(find_drive("remote", self->origin, sizeof(self->origin)));
	ASSERT_TRUE(find_drive("local", self->cache, sizeof(self->cache)));
	self->kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	ASSERT_LE(0, self->kmsg);
	lseek(self->kmsg, 0, SEEK_END);
}

FIXTURE_TEARDOWN(args)
{
	close(self->kmsg);
}

/* Has the kernel logged @text since setup? (Each read() of /dev/kmsg returns one record.) */
static bool logged(int kmsg, const char *text)
{
	char record[2048];
	ssize_t n;

	while ((n = read(kmsg, record, sizeof(record) - 1)) > 0) {
		record[n] = 0;
		if (strstr(record, text))
			return true;
	}
	return false;
}

#define CASE(name, line, why)						\
	FIXTURE_VARIANT_ADD(args, name) {				\
		.table = line,						\
		.error = why,						\
	}

#define EXPECTED "Expected: <mode> <origin> <cache> [<#words> <options>]"
#define MEMORY "fill_memory must be 1048576 to 1099511627776 bytes"

CASE(no_words, "", EXPECTED);
CASE(two_words, "read-only %O", EXPECTED);
CASE(mode, "write-all %O %C", "Mode must be read-only");
CASE(mode_upper_case, "Read-Only %O %C", "Mode must be read-only");
CASE(count_is_no_number, "read-only %O %C x", "Number of option words expected");
CASE(count_is_negative, "read-only %O %C -2 fill_memory 1048576",
     "Number of option words expected");
CASE(count_too_high, "read-only %O %C 2",
     "Number of option words does not match the words that follow");
CASE(count_too_low, "read-only %O %C 0 fill_memory 1048576",
     "Number of option words does not match the words that follow");
CASE(count_odd, "read-only %O %C 1 fill_memory", "Options are pairs of name and value");
CASE(option_unknown, "read-only %O %C 2 colour 7", "Unknown option");
CASE(option_twice, "read-only %O %C 4 fill_memory 1048576 fill_memory 1048576",
     "Option given twice");
CASE(memory_no_number, "read-only %O %C 2 fill_memory 1M", MEMORY);
CASE(memory_too_low, "read-only %O %C 2 fill_memory 1048575", MEMORY);
CASE(memory_too_high, "read-only %O %C 2 fill_memory 1099511627777", MEMORY);
CASE(memory_overflow, "read-only %O %C 2 fill_memory 18446744073710600192", MEMORY);
CASE(origin_missing, "read-only /dev/no-such-device %C", "Origin device cannot be opened");
CASE(origin_no_block_device, "read-only /dev/null %C", "Origin device cannot be opened");
CASE(cache_missing, "read-only %O /dev/no-such-device",
     "Cache device cannot be opened for writing");
CASE(one_device, "read-only %C %C", "Origin and cache device are the same device");
CASE(cache_not_formatted, "read-only %O %C", "Cache device refused, see the kernel log");

TEST_F(args, refused)
{
	char words[512], command[1024];

	expand(variant->table, self->origin, self->cache, words, sizeof(words));
	snprintf(command, sizeof(command),
		 "dmsetup create --noudevsync " NAME " --table '0 2048 nearcache %s' 2>&1",
		 words);
	EXPECT_NE(0, system(command))
		TH_LOG("taken: %s", words);
	EXPECT_TRUE(logged(self->kmsg, variant->error))
		TH_LOG("not in the kernel log: %s", variant->error);
	/* The failed create must leave no device behind: to remove it must fail. */
	EXPECT_NE(0, system("dmsetup remove --noudevsync " NAME " 2>/dev/null"));
}

TEST_HARNESS_MAIN
