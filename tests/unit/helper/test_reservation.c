// SPDX-License-Identifier: GPL-2.0-only
/*
 * block/reservation.c: reports of SCSI and NVMe, and the answers of the kernel's ioctls.  No kernel
 * that the guests use has an NVMe target with reservations; the guest test stage_reserve has SCSI.
 */
#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <linux/pr.h>
#include <scsi/sg.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>

#include "block/reservation.h"
#include "lib/error.h"
#include "unit.h"

static const struct device dev = { .path = "/dev/o", .role = "origin", .fd = 3 };

/* The device: no SCSI answer means NVMe; no NVMe answer means neither. */
static const unsigned char *scsi_keys, *scsi_held, *nvme_answer;
static unsigned int attentions;
static bool short_host_id;
/* The answer to a change, and the changes so far. */
static int change_answer, change_errno;
static unsigned long changes[8];
static unsigned int changed;
static struct pr_preempt preempted;
/* The answer of SCSI about the holder, if a RELEASE changes it, and whether this connection holds. */
static unsigned char *released_held;
static bool holds;

static int answer_scsi(struct sg_io_hdr *io)
{
	const unsigned char *from = io->cmdp[1] ? scsi_held : scsi_keys;

	if (!scsi_keys) {
		errno = ENOTTY;
		return -1;
	}
	assert_int_equal(io->cmdp[0], 0x5e);
	io->info = attentions ? SG_INFO_CHECK : SG_INFO_OK;
	if (attentions)
		attentions--;
	else
		memcpy(io->dxferp, from, io->dxfer_len < 24 ? io->dxfer_len : 24);
	return 0;
}

static int answer_nvme(const struct nvme_passthru_cmd *command)
{
	assert_int_equal(command->opcode, 0x0e);
	assert_int_equal(command->nsid, 9);
	if (short_host_id && command->cdw11)
		return 0x4018;
	memcpy((void *)(uintptr_t)command->addr, nvme_answer, 192);
	return 0;
}

int __wrap_ioctl(int fd, unsigned long request, ...);

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *argument;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	assert_int_equal(fd, 3);
	if (request == SG_IO)
		return answer_scsi(argument);
	if (request == NVME_IOCTL_ID && nvme_answer)
		return 9;
	if (request == NVME_IOCTL_IO_CMD)
		return answer_nvme(argument);
	if (request != NVME_IOCTL_ID) {
		changes[changed++] = request;
		if (request == IOC_PR_PREEMPT) {
			preempted = *(struct pr_preempt *)argument;
			holds = true;
		}
		if (request == IOC_PR_RELEASE && released_held && holds)
			released_held[7] = 0;
	}
	errno = request == NVME_IOCTL_ID ? ENOTTY : change_errno;
	return request == NVME_IOCTL_ID ? -1 : change_answer;
}

static void neither(void **state)
{
	struct reservation now;

	(void)state;
	scsi_keys = nvme_answer = NULL;
	assert_false(reservation_read(&dev, &now));
}

static void scsi_read(void **state)
{
	static const unsigned char keys[24] = {
		0, 0, 0, 7, 0, 0, 0, 16, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 2,
	};
	static unsigned char held[24] = { 0, 0, 0, 7, 0, 0, 0, 16, [15] = 2, [21] = 5 };
	struct reservation now;
	uint64_t other;

	(void)state;
	scsi_keys = keys;
	scsi_held = held;
	attentions = 2;
	assert_true(reservation_read(&dev, &now));
	assert_int_equal(now.generation, 7);
	assert_true(now.held && now.shared && now.key == 2 && now.keys == 2);
	assert_true(reservation_has_key(&now, 0x0102030405060708ULL));
	assert_false(reservation_has_key(&now, 3));
	assert_true(reservation_other_key(&now, 2, &other) && other == 0x0102030405060708ULL);
	/* Its holder is another node, though this one is registered. */
	assert_true(reservation_other_key(&now, 0x0102030405060708ULL, &other) && other == 2);
	held[21] = 7;
	assert_true(reservation_read(&dev, &now));
	assert_true(now.held && !now.shared && !now.key);
	held[7] = 0;
	assert_true(reservation_read(&dev, &now) && !now.held);
	/* A device that reports events without end gives no answer. */
	attentions = 100;
	assert_false(reservation_read(&dev, &now));
	attentions = 0;
}

static void nvme_read(void **state)
{
	static unsigned char extended[192] = {
		5, 1, 0, 0, 3, 2, 0, [64] = 1, [64 + 8] = 0xaa, [128] = 2, [128 + 2] = 1, [128 + 8] = 0xbb,
		[128 + 15] = 0x80,
	};
	static const unsigned char plain[192] = { 6, [4] = 3, 1, [24 + 2] = 1, [24 + 16] = 0xcc };
	struct reservation now;

	(void)state;
	scsi_keys = NULL;
	nvme_answer = extended;
	assert_true(reservation_read(&dev, &now));
	assert_int_equal(now.generation, 261);
	assert_true(now.held && now.shared && now.keys == 2);
	assert_true(now.registered[0] == 0xaa && now.key == 0x80000000000000bbULL);
	short_host_id = true;
	nvme_answer = plain;
	assert_true(reservation_read(&dev, &now));
	assert_true(now.held && now.keys == 1 && now.key == 0xcc && now.generation == 6);
	short_host_id = false;
	nvme_answer = NULL;
}

static void changes_answered(void **state)
{
	(void)state;
	fail_reset();
	changed = change_answer = 0;
	assert_int_equal(reservation_register(&dev, 4), 0);
	assert_int_equal(reservation_preempt(&dev, 4, 8), 0);
	assert_int_equal(reservation_take(&dev, 4), 0);
	assert_int_equal(changed, 3);
	/* The own key comes first, as SCSI and NVMe have it. */
	assert_true(preempted.old_key == 4 && preempted.new_key == 8);
	change_answer = 0x18;
	assert_int_equal(reservation_take(&dev, 4), CODE_BUSY);
	fail_reset();
	change_answer = 0x4083;
	assert_int_equal(reservation_take(&dev, 4), CODE_BUSY);
	fail_reset();
	change_answer = 2;
	assert_int_equal(reservation_take(&dev, 4), CODE_DEVICE);
	fail_reset();
	change_answer = -1;
	change_errno = EOPNOTSUPP;
	assert_int_equal(reservation_register(&dev, 4), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), "has no persistent reservations"));
	fail_reset();
	change_errno = EPERM;
	assert_int_equal(reservation_register(&dev, 4), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), "is a partition"));
	fail_reset();
}

static void released(void **state)
{
	static unsigned char keys[24] = { [3] = 7, [7] = 8, [15] = 4 };
	static unsigned char held[24] = { [3] = 7, [7] = 16, [15] = 4, [21] = 5 };

	(void)state;
	scsi_keys = keys;
	scsi_held = held;
	changed = change_answer = 0;
	assert_int_equal(reservation_release(&dev, 4), 0);
	assert_true(changed == 2 && changes[0] == IOC_PR_REGISTER && changes[1] == IOC_PR_CLEAR);
	/* Another node has a key: its registration stays. */
	keys[7] = 16;
	keys[23] = 9;
	released_held = held;
	holds = true;
	changed = 0;
	assert_int_equal(reservation_release(&dev, 4), 0);
	assert_true(changed == 3 && changes[0] == IOC_PR_REGISTER && changes[1] == IOC_PR_RELEASE &&
		    changes[2] == IOC_PR_REGISTER);
	/* An earlier connection of this node holds the reservation. */
	held[7] = 16;
	holds = false;
	changed = 0;
	assert_int_equal(reservation_release(&dev, 4), 0);
	assert_true(changed == 6 && changes[2] == IOC_PR_PREEMPT && changes[4] == IOC_PR_RELEASE &&
		    changes[5] == IOC_PR_REGISTER);
	assert_true(preempted.old_key == 4 && preempted.new_key == 4 && !held[7]);
	/* Another node holds it. */
	held[7] = 16;
	held[15] = 9;
	changed = 0;
	assert_int_equal(reservation_release(&dev, 4), 0);
	assert_true(changed == 2 && changes[0] == IOC_PR_REGISTER && changes[1] == IOC_PR_REGISTER);
	/* This node has no key. */
	changed = 0;
	assert_int_equal(reservation_release(&dev, 5), 0);
	assert_int_equal(changed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neither),
		cmocka_unit_test(scsi_read),
		cmocka_unit_test(nvme_read),
		cmocka_unit_test(changes_answered),
		cmocka_unit_test(released),
	};

	return RUN(tests);
}
