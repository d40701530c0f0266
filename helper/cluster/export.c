// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/export.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "block/device.h"
#include "block/device_sysfs.h"
#include "block/dm.h"
#include "block/kernel_module.h"
#include "cluster/configfs.h"
#include "cluster/export_hosts.h"
#include "cluster/export_map.h"
#include "cluster/export_port.h"
#include "lib/error.h"

/* f_type of configfs; linux/magic.h lacks it. */
#define CONFIGFS_TYPE	0x62656570
/* Bytes of the serial number of a subsystem. */
#define SERIAL_BYTES	20
/* Time in which a host notices that a namespace is disabled, microseconds. */
#define WITHDRAW_US	500000

/*
 * struct exporting - a change of an export under way
 * @export: the wanted state
 * @edits: the edits so far; after an error they are undone
 * @map_edits: the edits for the map, which are undone before @edits
 * @device: device number of @export->device
 * @disabled: the namespace was disabled to change it
 * @hosts: the change of the hosts
 * @port: the change of the port
 */
struct exporting {
	const struct export *export;
	struct configfs_edit *edits;
	struct configfs_edit *map_edits;
	dev_t device;
	bool disabled;
	struct export_hosts hosts;
	struct export_port port;
};

static bool is_configfs(void)
{
	struct statfs fs;

	return !statfs(CONFIGFS, &fs) && fs.f_type == CONFIGFS_TYPE;
}

/* Load the modules and mount configfs, as far as that is necessary. */
static int need_nvmet(enum cluster_transport transport)
{
	if (!is_configfs()) {
		kernel_module_load("configfs");
		if (mount("configfs", CONFIGFS, "configfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) &&
		    errno != EBUSY)
			return fail_errno(errno, "cannot mount configfs on '" CONFIGFS "'");
	}
	if (access(NVMET, F_OK))
		kernel_module_load("nvmet");
	if (access(NVMET, F_OK))
		return fail(CODE_DEVICE,
			    "the kernel has no NVMe-oF target ('" NVMET "' is missing): load the module 'nvmet' of this kernel (modprobe nvmet says why it cannot)");
	kernel_module_load(transport == CLUSTER_TCP ? "nvmet-tcp" : "nvmet-rdma");
	return 0;
}

/* Byte of DM_CONTROL_NODE that lock_nvmet() locks. */
#define LOCK_BYTE	1
/* Longest wait for this lock, and pause between two attempts. */
#define LOCK_SECONDS	60U
#define LOCK_PAUSE_US	(50 * 1000)

static int await_lock(int fd)
{
	/* Only root can open this file, so no other user can hold up this lock. */
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_BYTE, .l_len = 1,
	};
	unsigned int tries = LOCK_SECONDS * 1000000 / LOCK_PAUSE_US;

	while (fcntl(fd, F_OFD_SETLK, &lock)) {
		if (errno != EAGAIN && errno != EACCES)
			return fail_errno(errno, "cannot lock '" DM_CONTROL_NODE "'");
		if (!tries--)
			return fail(CODE_BUSY,
				    "another 'nearcache' has been changing an export of this node for %u seconds: its cache may not answer (see ps, dmesg); try again",
				    LOCK_SECONDS);
		usleep(LOCK_PAUSE_US);
	}
	return 0;
}

/*
 * Keep other runs of this command from changing exports, until the descriptor @fd is closed or this
 * process ends. A run that hangs, because it waits for reads of its cache, must not hold up the other
 * clusters of this node in silence: fails after LOCK_SECONDS.
 */
static int lock_nvmet(int *fd)
{
	*fd = open(DM_CONTROL_NODE, O_RDWR | O_CLOEXEC);
	if (*fd < 0)
		return fail_errno(errno, "cannot open '" DM_CONTROL_NODE "'");
	if (!await_lock(*fd))
		return 0;
	close(*fd);
	return fail_code();
}

static int make_folder(struct exporting *to, const char *path)
{
	return configfs_edited(configfs_make_folder(&to->edits, path), "create", path);
}

/* Fail unless the device is a block device. */
static int check_device(struct exporting *to)
{
	const char *path = to->export->device;
	struct stat st;

	if (stat(path, &st))
		return fail_errno(errno, "cannot export '%s'", path);
	if (!S_ISBLK(st.st_mode))
		return fail(CODE_DEVICE, "cannot export '%s': not a block device", path);
	to->device = st.st_rdev;
	return 0;
}

/* Make the serial number of the subsystem from its NQN, so that a new one looks like the old. */
static void make_serial(const char *nqn, char *serial)
{
	const char *from = nqn + strlen(nqn);
	size_t i = SERIAL_BYTES;

	memset(serial, '0', SERIAL_BYTES);
	serial[SERIAL_BYTES] = '\0';
	while (i && from > nqn)
		if (isalnum((unsigned char)*--from))
			serial[--i] = *from;
}

/* Create the subsystem, which no port serves yet, with the hosts that may connect. */
static int make_subsystem(struct exporting *to)
{
	char path[PATH_MAX], attribute[PATH_MAX], serial[SERIAL_BYTES + 1];
	char enabled[CONFIGFS_VALUE] = "";

	if (export_hosts_make(&to->hosts))
		return fail_code();
	configfs_path(path, NVMET "/subsystems/%s", to->export->nqn);
	if (make_folder(to, path) || configfs_set(&to->edits, path, "attr_allow_any_host", "0"))
		return fail_code();
	/*
	 * The serial and model numbers are for people, and for compare_settings(). nvmet keeps both
	 * once a host has connected, and logs each attempt to change them. So leave those of an
	 * export that was complete: an older version may have made it.
	 */
	configfs_read(configfs_path(attribute, "%s/namespaces/1/enable", path), enabled);
	if (strcmp(enabled, "1")) {
		make_serial(to->export->nqn, serial);
		configfs_write(&to->edits, configfs_path(attribute, "%s/attr_serial", path), serial);
		configfs_write(&to->edits, configfs_path(attribute, "%s/attr_model", path),
			       to->export->model);
	}
	return export_hosts_allow(&to->hosts);
}

static bool is_read_only(dev_t number)
{
	char value[8];

	return identity_attribute(number, "ro", value, sizeof(value)) && !strcmp(value, "1");
}

/* Tell whether the device is a nearcache device in mode read-only. Writes its name to @dev. */
static int is_cache(const struct exporting *to, struct dm_device *dev, bool *cache)
{
	char name[DEVICE_DM_NAME];
	bool found = false;

	*cache = false;
	if (!identity_attribute(to->device, "dm/name", name, sizeof(name)))
		return 0;
	if (dm_find(name, dev, &found))
		return fail_code();
	*cache = found && dev->ours && !strcmp(dev->mode, "read-only");
	return 0;
}

/*
 * Make nvmet open the device. nvmet opens it for reading and writing, which the kernel refuses for
 * a read-only disk, so the module makes the disk writable for this moment. It refuses writes all
 * the same. A killed run may have left the disk writable, so make it read-only again in any case.
 */
static int enable_namespace(struct exporting *to, const char *namespace, bool enabled)
{
	struct dm_device dev = { 0 };
	char path[PATH_MAX];
	bool cache;
	int error = 0;

	if (is_cache(to, &dev, &cache))
		return fail_code();
	if (!cache && is_read_only(to->device))
		fail(CODE_DEVICE,
		     "cannot export '%s': it is read-only, and nvmet exports a read-only device only if it is a nearcache device",
		     to->export->device);
	else if (cache && !enabled)
		dm_message(&dev, "write_opens allow");
	if (!fail_code() && !enabled)
		error = configfs_write(&to->edits, configfs_path(path, "%s/enable", namespace), "1");
	if (error)
		fail_errno(error, "nvmet cannot export '%s' ('%s')", to->export->device, path);
	if (cache && !is_read_only(to->device))
		dm_message(&dev, "write_opens refuse");
	dm_device_free(&dev);
	return fail_code();
}

/* Fail if the namespace exports another device than @to->device. */
static int check_same_device(struct exporting *to, const char *path)
{
	struct stat st;

	if (!stat(path, &st) ? S_ISBLK(st.st_mode) && st.st_rdev == to->device :
			       !strcmp(path, to->export->device))
		return 0;
	return fail(CODE_BUSY,
		    "the subsystem '%s' exports '%s' already, not '%s': leave the cluster there first, or give each node of the file its own name",
		    to->export->nqn, path, to->export->device);
}

static int make_namespace(struct exporting *to)
{
	char path[PATH_MAX], attribute[PATH_MAX];
	char enabled[CONFIGFS_VALUE] = "", device[CONFIGFS_VALUE] = "", uuid[CONFIGFS_VALUE] = "";

	configfs_path(path, NVMET "/subsystems/%s/namespaces/1", to->export->nqn);
	if (make_folder(to, path))
		return fail_code();
	configfs_read(configfs_path(attribute, "%s/enable", path), enabled);
	configfs_read(configfs_path(attribute, "%s/device_path", path), device);
	configfs_read(configfs_path(attribute, "%s/device_uuid", path), uuid);
	if (!strcmp(enabled, "1")) {
		if (check_same_device(to, device))
			return fail_code();
		if (!strcasecmp(uuid, to->export->uuid))
			return enable_namespace(to, path, true);
		/* Another version of the volume: its readers must not take one for the other. */
		to->disabled = true;
		if (configfs_set(&to->edits, path, "enable", "0"))
			return fail_code();
	}
	if (configfs_set(&to->edits, path, "device_path", to->export->device) ||
	    configfs_set(&to->edits, path, "device_uuid", to->export->uuid))
		return fail_code();
	return enable_namespace(to, path, false);
}

/* Does the subsystem admit every host, by an edit in configfs? Then unknown hosts may be connected. */
static bool allows_any(const struct exporting *to)
{
	char path[PATH_MAX], value[CONFIGFS_VALUE];

	configfs_path(path, NVMET "/subsystems/%s/attr_allow_any_host", to->export->nqn);
	return !configfs_read(path, value) && !strcmp(value, "1");
}

/* Export the map as well. Without it, peers read here, but do not warm from here by themselves. */
static void add_map(struct exporting *to)
{
	if (!to->export->map || !export_map_apply(to->export, &to->map_edits))
		return;
	configfs_undo(&to->map_edits);
	warn("the cache is exported without its map, so that peers do not warm from it by themselves: %s",
	     fail_message());
	fail_reset();
}

/*
 * The connections of a host that is no longer allowed end before the list changes. Otherwise, a run
 * that is killed after the change would leave the host connected, and the next run would see nothing
 * to do.
 */
static int apply_export(struct exporting *to)
{
	if (check_device(to) || export_hosts_look(&to->hosts) || export_hosts_check(&to->hosts) ||
	    ((export_hosts_lose(&to->hosts) || allows_any(to)) && export_port_leave_others(&to->port)) ||
	    make_subsystem(to) ||
	    make_namespace(to))
		return fail_code();
	add_map(to);
	return export_port_serve(&to->port);
}

/* Undo all. If that enables the namespace again, nvmet opens the device: see enable_namespace(). */
static void undo_export(struct exporting *to)
{
	struct dm_device dev = { 0 };
	bool cache = false;

	if (to->disabled)
		is_cache(to, &dev, &cache);
	if (cache)
		dm_message(&dev, "write_opens allow");
	configfs_undo(&to->map_edits);
	configfs_undo(&to->edits);
	if (cache)
		dm_message(&dev, "write_opens refuse");
	dm_device_free(&dev);
}

int export_apply(const struct export *export)
{
	struct exporting to = { .export = export };
	int lock;

	to.hosts = (struct export_hosts){ .export = export, .edits = &to.edits };
	to.port = (struct export_port){ .export = export, .edits = &to.edits };
	if (need_nvmet(export->transport) || lock_nvmet(&lock))
		return fail_code();
	if (apply_export(&to)) {
		undo_export(&to);
	} else {
		configfs_keep(&to.map_edits);
		configfs_keep(&to.edits);
		export_hosts_clean(&to.hosts);
		export_port_clean(&to.port);
	}
	export_hosts_free(&to.hosts);
	close(lock);
	return fail_code();
}

/*
 * Disable the namespaces, and give the hosts time to notice. The hosts get an event and remove
 * their device. Until then their reads get an error at once, and their cluster devices read at the
 * next homes. If the connections ended first, these reads would wait for fast-io-fail. Waits for
 * the reads in flight.
 */
static int withdraw_namespaces(struct exporting *to, const char *subsystem)
{
	char path[PATH_MAX], enabled[CONFIGFS_VALUE];
	int error;

	configfs_path(path, "%s/namespaces/1/enable", subsystem);
	if (!configfs_read(path, enabled) && !strcmp(enabled, "1")) {
		error = configfs_write(&to->edits, path, "0");
		if (!error)
			usleep(WITHDRAW_US);
		if (configfs_edited(error, "set", path))
			return fail_code();
	}
	/* After the cache, which readers need: a map that hangs must not hold that up. */
	return export_map_disable(subsystem, &to->edits);
}

/* Remove the namespaces, which closes their devices. Waits for the reads in flight. */
static int remove_namespaces(struct exporting *to, const char *subsystem)
{
	char path[PATH_MAX];
	int error;

	if (export_map_remove(subsystem, &to->edits))
		return fail_code();
	configfs_path(path, "%s/namespaces/1", subsystem);
	error = configfs_remove_folder(&to->edits, path);
	return configfs_edited(error, "remove", path);
}

static int remove_subsystem(struct exporting *to)
{
	const char *nqn = to->export->nqn;
	char path[PATH_MAX];

	configfs_path(path, NVMET "/subsystems/%s", nqn);
	if (access(path, F_OK))
		return 0;
	if (withdraw_namespaces(to, path) || export_port_remove(&to->port) ||
	    remove_namespaces(to, path) || export_hosts_look(&to->hosts) || export_hosts_allow(&to->hosts))
		return fail_code();
	export_hosts_clean(&to->hosts);
	return configfs_edited(configfs_remove_folder(&to->edits, path), "remove", path);
}

int export_remove(const char *nqn)
{
	const struct export none = { .nqn = nqn };
	struct exporting to = { .export = &none };
	int lock;

	if (access(NVMET, F_OK))
		return 0;
	to.hosts = (struct export_hosts){ .export = &none, .edits = &to.edits };
	to.port = (struct export_port){ .export = &none, .edits = &to.edits };
	if (lock_nvmet(&lock))
		return fail_code();
	remove_subsystem(&to);
	configfs_keep(&to.edits);
	export_hosts_free(&to.hosts);
	close(lock);
	return fail_code();
}
