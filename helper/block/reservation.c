// SPDX-License-Identifier: GPL-2.0-only
/*
 * Persistent reservations.  The kernel has ioctls that change them, on all paths of a multipath
 * device.  Before 7.0 it has none to read them, so this file sends the commands of SCSI and NVMe.
 */
#include "block/reservation.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/nvme_ioctl.h>
#include <linux/pr.h>
#include <scsi/sg.h>
#include <string.h>
#include <sys/ioctl.h>

#include "lib/error.h"

#define SCSI_RESERVE_IN		0x5e
#define SCSI_READ_KEYS		0
#define SCSI_READ_RESERVATION	1
/* Types of a reservation; NVMe has others. */
#define SCSI_WRITE_REGISTERED	5
#define SCSI_ALL_WRITE		7
#define SCSI_ALL_ACCESS		8
#define NVME_RESERVE_REPORT	0x0e
#define NVME_REPORT_EXTENDED	1U
#define NVME_HOST_ID_OTHER	0x18
#define NVME_WRITE_REGISTERED	3
#define NVME_ALL_WRITE		5
#define NVME_ALL_ACCESS		6
/* Sizes of the data of NVMe: a header, and a registration with a host id of 64 or 128 bits. */
#define NVME_HEADER		24U
#define NVME_HEADER_EXTENDED	64U
#define NVME_REGISTRATION	24U
#define NVME_REGISTRATION_EXTENDED 64U

#define ANSWER_MS		10000U
/* Results of the ioctls that mean a conflict: with SCSI, and with NVMe before kernel 6.4. */
#define CONFLICT		0x18
#define CONFLICT_NVME		0x83

static uint64_t from_be(const unsigned char *bytes, size_t size)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < size; i++)
		value = value << 8 | bytes[i];
	return value;
}

static uint64_t from_le(const unsigned char *bytes, size_t size)
{
	uint64_t value = 0;

	while (size--)
		value = value << 8 | bytes[size];
	return value;
}

static void add_key(struct reservation *now, uint64_t key)
{
	if (now->keys < RESERVATION_KEYS)
		now->registered[now->keys] = key;
	now->keys++;
}

static bool scsi_command(const struct device *dev, unsigned char action, void *answer,
			 unsigned short size)
{
	unsigned char command[10] = { SCSI_RESERVE_IN, action, [7] = size >> 8, [8] = size & 0xff };
	unsigned char sense[32];
	struct sg_io_hdr io = {
		.interface_id = 'S',
		.dxfer_direction = SG_DXFER_FROM_DEV,
		.cmd_len = sizeof(command),
		.cmdp = command,
		.dxferp = answer,
		.dxfer_len = size,
		.sbp = sense,
		.mx_sb_len = sizeof(sense),
		.timeout = ANSWER_MS,
	};
	int tries = 3;

	/* In place of an answer, a device first reports an earlier event, such as a removed key. */
	do {
		if (ioctl(dev->fd, SG_IO, &io))
			return false;
	} while ((io.info & SG_INFO_OK_MASK) != SG_INFO_OK && --tries);
	return tries;
}

static bool read_scsi(const struct device *dev, struct reservation *now)
{
	unsigned char answer[8 + 8 * RESERVATION_KEYS] = { 0 };
	unsigned char held[24] = { 0 }, type;
	size_t i, keys;

	if (!scsi_command(dev, SCSI_READ_KEYS, answer, sizeof(answer)) ||
	    !scsi_command(dev, SCSI_READ_RESERVATION, held, sizeof(held)))
		return false;
	now->generation = (uint32_t)from_be(answer, 4);
	keys = from_be(answer + 4, 4) / 8;
	for (i = 0; i < keys; i++)
		add_key(now, i < RESERVATION_KEYS ? from_be(answer + 8 + 8 * i, 8) : 0);
	now->held = from_be(held + 4, 4);
	type = held[21] & 0xf;
	now->shared = type == SCSI_WRITE_REGISTERED;
	now->key = type == SCSI_ALL_WRITE || type == SCSI_ALL_ACCESS ? 0 : from_be(held + 8, 8);
	return true;
}

/* Read the report of an NVMe namespace.  @extended is cleared if the host id has 64 bits. */
static bool nvme_report(const struct device *dev, void *answer, unsigned int size, bool *extended)
{
	struct nvme_passthru_cmd command = {
		.opcode = NVME_RESERVE_REPORT,
		.addr = (uintptr_t)answer,
		.data_len = size,
		.cdw10 = size / 4 - 1,
		.cdw11 = NVME_REPORT_EXTENDED,
		.timeout_ms = ANSWER_MS,
	};
	int nsid = ioctl(dev->fd, NVME_IOCTL_ID), status;

	if (nsid <= 0)
		return false;
	command.nsid = (unsigned int)nsid;
	status = ioctl(dev->fd, NVME_IOCTL_IO_CMD, &command);
	*extended = (status & 0x7ff) != NVME_HOST_ID_OTHER;
	if (*extended)
		return !status;
	command.cdw11 = 0;
	return !ioctl(dev->fd, NVME_IOCTL_IO_CMD, &command);
}

static bool read_nvme(const struct device *dev, struct reservation *now)
{
	unsigned char answer[NVME_HEADER_EXTENDED + NVME_REGISTRATION_EXTENDED * RESERVATION_KEYS] = {
		0
	};
	unsigned int type, size, header;
	size_t i, keys;
	bool extended;

	if (!nvme_report(dev, answer, sizeof(answer), &extended))
		return false;
	header = extended ? NVME_HEADER_EXTENDED : NVME_HEADER;
	size = extended ? NVME_REGISTRATION_EXTENDED : NVME_REGISTRATION;
	now->generation = (uint32_t)from_le(answer, 4);
	type = answer[4];
	keys = from_le(answer + 5, 2);
	now->held = type;
	now->shared = type == NVME_WRITE_REGISTERED;
	for (i = 0; i < keys && i < RESERVATION_KEYS; i++) {
		const unsigned char *one = answer + header + size * i;
		/* With 128 bits, the key comes before the host id. */
		uint64_t key = from_le(one + (extended ? 8 : 16), 8);

		add_key(now, key);
		if (one[2] & 1 && type != NVME_ALL_WRITE && type != NVME_ALL_ACCESS)
			now->key = key;
	}
	now->keys = keys;
	return true;
}

/* Read keys and reservation.  Returns false if the device has none, or gives no answer. */
bool reservation_read(const struct device *dev, struct reservation *now)
{
	memset(now, 0, sizeof(*now));
	if (read_scsi(dev, now))
		return true;
	memset(now, 0, sizeof(*now));
	return read_nvme(dev, now);
}

bool reservation_has_key(const struct reservation *now, uint64_t key)
{
	size_t i;

	for (i = 0; i < now->keys && i < RESERVATION_KEYS; i++)
		if (now->registered[i] == key)
			return true;
	return false;
}

/* Find a key other than @key that is registered, or that has reserved the device; 0: not known. */
bool reservation_other_key(const struct reservation *now, uint64_t key, uint64_t *other)
{
	size_t i;

	*other = now->key;
	if (now->held && now->key != key)
		return true;
	for (i = 0; i < now->keys && i < RESERVATION_KEYS; i++) {
		*other = now->registered[i];
		if (*other != key)
			return true;
	}
	*other = 0;
	return now->keys > RESERVATION_KEYS;
}

/* Send a change.  Returns false after a conflict with another node, which records no error, or
 * after fail().
 */
static bool send_change(const struct device *dev, unsigned long request, void *change,
			const char *what)
{
	int status = ioctl(dev->fd, request, change);

	if (!status)
		return true;
	if (status == CONFLICT || (status & 0x7ff) == CONFLICT_NVME)
		return false;
	if (status > 0)
		fail(CODE_DEVICE, "%s '%s': cannot %s: status 0x%x", dev->role, dev->path, what,
		     (unsigned int)status);
	else if (errno == EPERM)
		fail(CODE_DEVICE,
		     "%s '%s' is a partition: only a whole device has persistent reservations",
		     dev->role, dev->path);
	else if (errno == EOPNOTSUPP || errno == ENOTTY || errno == EINVAL)
		fail(CODE_DEVICE, "%s '%s' has no persistent reservations", dev->role, dev->path);
	else
		fail_errno(errno, "%s '%s': cannot %s", dev->role, dev->path, what);
	return false;
}

static int refuse_conflict(const struct device *dev, const char *what)
{
	return fail_code() ? (int)fail_code() :
	       fail(CODE_BUSY, "%s '%s': cannot %s: another node has reserved it meanwhile",
		    dev->role, dev->path, what);
}

/* Register a key for this node, in place of one that it has registered before. */
int reservation_register(const struct device *dev, uint64_t key)
{
	struct pr_registration change = { .new_key = key, .flags = PR_FL_IGNORE_KEY };

	return send_change(dev, IOC_PR_REGISTER, &change, "register a key") ? 0 :
	       refuse_conflict(dev, "register a key");
}

/* Do not use PREEMPT AND ABORT, which the target of Linux 6.12 never answers. */
static int preempt_key(const struct device *dev, uint64_t key, uint64_t other, const char *what)
{
	/* Documentation/block/pr.rst has these two keys in the wrong order. */
	struct pr_preempt change = {
		.old_key = key,
		.new_key = other,
		.type = PR_WRITE_EXCLUSIVE_REG_ONLY,
	};

	return send_change(dev, IOC_PR_PREEMPT, &change, what) ? 0 : refuse_conflict(dev, what);
}

/*
 * Take over the reservation of the key @other, and remove this key: nodes with it cannot write any
 * more.
 */
int reservation_preempt(const struct device *dev, uint64_t key, uint64_t other)
{
	return preempt_key(dev, key, other, "remove the key of another node");
}

/* Reserve the device for the nodes that have registered a key. */
int reservation_take(const struct device *dev, uint64_t key)
{
	struct pr_reservation change = { .key = key, .type = PR_WRITE_EXCLUSIVE_REG_ONLY };

	return send_change(dev, IOC_PR_RESERVE, &change, "reserve it") ? 0 :
	       refuse_conflict(dev, "reserve it");
}

/*
 * Release the reservation of @key. A release by a connection that does not hold the reservation has
 * no effect and returns no error. An earlier connection of this node may hold it, with the same
 * key: then preempt it first.
 */
static int release_held(const struct device *dev, uint64_t key)
{
	struct pr_reservation release = { .key = key, .type = PR_WRITE_EXCLUSIVE_REG_ONLY };
	struct reservation now;

	if (!send_change(dev, IOC_PR_RELEASE, &release, "release it"))
		return refuse_conflict(dev, "release it");
	if (!reservation_read(dev, &now) || !now.held || now.key != key)
		return 0;
	/* The preemption removes @key from all other connections, including other paths of this
	 * one: register it there again.
	 */
	if (preempt_key(dev, key, key, "release it") || reservation_register(dev, key))
		return fail_code();
	return send_change(dev, IOC_PR_RELEASE, &release, "release it") ?
	       0 : refuse_conflict(dev, "release it");
}

/*
 * Remove the key of this node, and its reservation.  If no other key is registered, remove all
 * registrations: those of an earlier connection of this node, or of a node that had the log before,
 * cannot be removed in another way.
 */
int reservation_release(const struct device *dev, uint64_t key)
{
	struct pr_registration change = { .old_key = key };
	struct pr_clear clear = { .key = key };
	struct reservation now;
	uint64_t other;

	if (!reservation_read(dev, &now) || !reservation_has_key(&now, key))
		return 0;
	/* The key may be that of an earlier connection: only a connection with a key can release. */
	if (reservation_register(dev, key))
		return fail_code();
	if (!reservation_other_key(&now, key, &other))
		return send_change(dev, IOC_PR_CLEAR, &clear, "release it") ?
		       0 : refuse_conflict(dev, "release it");
	if (now.key == key && release_held(dev, key))
		return fail_code();
	return send_change(dev, IOC_PR_REGISTER, &change, "remove its key") ?
	       0 : refuse_conflict(dev, "release it");
}
