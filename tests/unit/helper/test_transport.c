// SPDX-License-Identifier: GPL-2.0-only
/* block/transport.c: how disks are connected, from folders like those of sysfs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "block/device_sysfs.h"
#include "block/transport.h"
#include "unit.h"

static char root[] = "/tmp/test_transport.XXXXXX";

/* The disks below the device of transport_of(); /sys/dev/block has none with these numbers. */
bool identity_each_disk(dev_t number, bool (*take)(dev_t disk, void *data), void *data)
{
	(void)take;
	(void)data;
	return number;
}

static void run(const char *format, const char *a, const char *b)
{
	char command[1024], text[768];

	snprintf(text, sizeof(text), format, a, b);
	snprintf(command, sizeof(command), "cd %s && %s", root, text);
	assert_int_equal(system(command), 0);
}

/* The disk @name, whose device is in the folder @device. */
static void expect(const char *name, const char *device, enum transport expected, const char *word)
{
	char path[256], found[TRANSPORT_WORD] = "";

	run("mkdir -p block/%s '%s'", name, device);
	run("ln -sfn ../../'%2$s' block/%1$s/device", name, device);
	snprintf(path, sizeof(path), "%s/block/%s", root, name);
	assert_int_equal(transport_of_disk(path, found), expected);
	assert_string_equal(found, word);
}

static void nvme_disks(void **state)
{
	(void)state;
	run("mkdir -p %s && echo %s >pci/nvme0/transport", "pci/nvme0", "pcie");
	expect("nvme0n1", "pci/nvme0", TRANSPORT_LOCAL, "NVMe over PCIe");
	run("mkdir -p %s && echo %s >virtual/nvme1/transport", "virtual/nvme1", "rdma");
	expect("nvme1n1", "virtual/nvme1", TRANSPORT_NETWORK, "NVMe over RDMA");
	run("echo %s%s >virtual/nvme1/transport", "loop", "");
	expect("nvme1n1", "virtual/nvme1", TRANSPORT_UNKNOWN, "");
	/* With native paths, the device of a disk is the subsystem of its controllers. */
	run("mkdir -p subsystem/nvme-subsys2 %s && echo %s >ctl/nvme2/transport && ln -s ../../ctl/nvme2 subsystem/nvme-subsys2/",
	    "ctl/nvme2", "tcp");
	expect("nvme2n1", "subsystem/nvme-subsys2", TRANSPORT_NETWORK, "NVMe over TCP");
}

static void scsi_disks(void **state)
{
	(void)state;
	expect("sda", "pci0/ata1/host0/target0:0:0/0:0:0:0", TRANSPORT_LOCAL, "SATA");
	expect("sdb", "platform/host3/session1/target3:0:0/3:0:0:1", TRANSPORT_NETWORK, "iSCSI");
	expect("sdc", "pci0/host1/rport-1:0-2/target1:0:0/1:0:0:0", TRANSPORT_NETWORK, "Fibre Channel");
	expect("sdd", "pci0/host2/port-2:0/end_device-2:0/target2:0:0/2:0:0:0", TRANSPORT_LOCAL, "SAS");
	expect("sde", "pci0/usb1/1-1/host4/target4:0:0/4:0:0:0", TRANSPORT_LOCAL, "USB");
	/* The disk of a virtual machine can be anywhere. */
	expect("sdf", "pci0/virtio1/host5/target5:0:0/5:0:0:0", TRANSPORT_UNKNOWN, "");
	expect("vda", "pci0/virtio2", TRANSPORT_UNKNOWN, "");
	expect("sdg", "pci0/session/host6", TRANSPORT_UNKNOWN, "");
}

static void names_tell(void **state)
{
	(void)state;
	expect("rbd0", "rbd/0", TRANSPORT_NETWORK, "RBD");
	expect("nbd12", "none", TRANSPORT_NETWORK, "NBD");
	expect("pmem0", "nd", TRANSPORT_LOCAL, "persistent memory");
	expect("nullb0", "none", TRANSPORT_UNKNOWN, "");
}

static void no_disk(void **state)
{
	char word[TRANSPORT_WORD] = "x";

	(void)state;
	assert_int_equal(transport_of_disk("/nowhere", word), TRANSPORT_UNKNOWN);
	assert_int_equal(transport_of(makedev(0, 0), word), TRANSPORT_UNKNOWN);
	assert_string_equal(word, "");
}

int main(void)
{
	char command[64];
	int failed;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nvme_disks),
		cmocka_unit_test(scsi_disks),
		cmocka_unit_test(names_tell),
		cmocka_unit_test(no_disk),
	};

	if (!mkdtemp(root))
		return 1;
	failed = RUN(tests);
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command) || failed;
}
