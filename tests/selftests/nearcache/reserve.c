// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node that uses the persistent reservations of a device, by the kernel's ioctls.
 *   reserve DEV register KEY | take KEY | preempt KEY OTHER | release KEY | forget KEY
 */
#include <fcntl.h>
#include <linux/pr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

int main(int argc, char **argv)
{
	int fd = argc > 3 ? open(argv[1], O_RDWR) : -1, status;
	__u64 key = argc > 3 ? strtoull(argv[3], NULL, 0) : 0;
	struct pr_registration add = { .new_key = key, .flags = PR_FL_IGNORE_KEY };
	struct pr_reservation hold = { .key = key, .type = PR_WRITE_EXCLUSIVE_REG_ONLY };
	struct pr_preempt other = { .old_key = key, .type = PR_WRITE_EXCLUSIVE_REG_ONLY };
	struct pr_registration forget = { .old_key = key };

	if (fd < 0)
		return 2;
	if (argc > 4)
		other.new_key = strtoull(argv[4], NULL, 0);
	if (!strcmp(argv[2], "register"))
		status = ioctl(fd, IOC_PR_REGISTER, &add);
	else if (!strcmp(argv[2], "take"))
		status = ioctl(fd, IOC_PR_RESERVE, &hold);
	else if (!strcmp(argv[2], "preempt"))
		status = ioctl(fd, IOC_PR_PREEMPT, &other);
	else if (!strcmp(argv[2], "release"))
		status = ioctl(fd, IOC_PR_RELEASE, &hold);
	else if (!strcmp(argv[2], "forget"))
		status = ioctl(fd, IOC_PR_REGISTER, &forget);
	else
		return 2;
	if (status)
		fprintf(stderr, "%s %s: status %d\n", argv[1], argv[2], status);
	return !!status;
}
