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
#include "lib/error.h"

/* f_type of configfs; linux/magic.h lacks it. */
#define CONFIGFS_TYPE	0x62656570
/* Bytes of the serial number of a subsystem. */
#define SERIAL_BYTES	20
/* Time in which a host notices that a namespace is disabled, microseconds. */
#define WITHDRAW_US	500000
/* Largest id of an nvmet port. */
#define PORT_ID_MAX	65535

/*
 * struct exporting - a change of an export under way
 * @export: the wanted state
 * @edits: the edits so far; after an error they are undone
 * @map_edits: the edits for the map, which are undone before @edits
 * @device: device number of @export->device
 * @disabled: the namespace was disabled to change it
 * @hosts: the change of the hosts
 * @port: folder of the port
 * @old_port: folder of a port that served only this subsystem before; "": none
 */
struct exporting {
	const struct export *export;
	struct configfs_edit *edits;
	struct configfs_edit *map_edits;
	dev_t device;
	bool disabled;
	struct export_hosts hosts;
	char port[64];
	char old_port[64];
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

static int set_attribute(struct exporting *to, const char *folder, const char *name,
			 const char *value)
{
	char path[PATH_MAX];

	configfs_path(path, "%s/%s", folder, name);
	return configfs_edited(configfs_write(&to->edits, path, value), "set", path);
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
	if (make_folder(to, path) || set_attribute(to, path, "attr_allow_any_host", "0"))
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
		if (set_attribute(to, path, "enable", "0"))
			return fail_code();
	}
	if (set_attribute(to, path, "device_path", to->export->device) ||
	    set_attribute(to, path, "device_uuid", to->export->uuid))
		return fail_code();
	return enable_namespace(to, path, false);
}

static const char *transport_word(const struct export *export)
{
	return export->transport == CLUSTER_TCP ? "tcp" : "rdma";
}

/* True if attribute @name of @folder has the value. */
static bool has_value(const char *folder, const char *name, const char *value)
{
	char path[PATH_MAX], present[CONFIGFS_VALUE];

	return !configfs_read(configfs_path(path, "%s/%s", folder, name), present) &&
	       !strcmp(present, value);
}

/* Tell how many subsystems a port serves, and whether ours is one of them. */
static int port_serves(const char *port, const char *nqn, size_t *count, bool *ours)
{
	char path[PATH_MAX], **names;
	size_t i;
	int error;

	configfs_path(path, "%s/subsystems", port);
	error = configfs_names(path, &names, count);
	*ours = false;
	for (i = 0; i < *count; i++)
		*ours |= !strcmp(names[i], nqn);
	configfs_names_free(names, *count);
	return configfs_edited(error, "read", path);
}

/* True if the port has our address. A port that serves nothing may be a half of ours: also true. */
static bool is_port_ours(const struct export *export, const char *port, size_t served)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", export->port);
	if (has_value(port, "addr_traddr", export->address))
		return has_value(port, "addr_trsvcid", number) ||
		       (!served && has_value(port, "addr_trsvcid", ""));
	return !served && has_value(port, "addr_traddr", "");
}

/* Set the address of a port that serves no subsystem. */
static int set_port(struct exporting *to)
{
	const struct export *export = to->export;
	const char *tsas = export->tls ? "tls1.3" : "none";
	char number[16], path[PATH_MAX];
	int error;

	snprintf(number, sizeof(number), "%u", export->port);
	if (set_attribute(to, to->port, "addr_trtype", transport_word(export)) ||
	    set_attribute(to, to->port, "addr_adrfam",
			  strchr(export->address, ':') ? "ipv6" : "ipv4") ||
	    set_attribute(to, to->port, "addr_traddr", export->address) ||
	    set_attribute(to, to->port, "addr_trsvcid", number))
		return fail_code();
	if (export->transport != CLUSTER_TCP)
		return 0;
	configfs_path(path, "%s/addr_tsas", to->port);
	error = configfs_write(&to->edits, path, tsas);
	/* A kernel without this attribute has no TLS. */
	if (!error || (error == ENOENT && !export->tls))
		return 0;
	if (export->tls && (error == ENOENT || error == EINVAL))
		return fail(CODE_DEVICE,
			    "the NVMe-oF target of this kernel has no TLS ('%s'): use a kernel with CONFIG_NVME_TARGET_TCP_TLS (Debian: 6.12), or 'tls = no'",
			    path);
	return configfs_edited(error, "set", path);
}

/* True if the port has the transport and TLS that we want. */
static bool port_fits(const struct exporting *to)
{
	return has_value(to->port, "addr_trtype", transport_word(to->export)) &&
	       (to->export->transport != CLUSTER_TCP ||
		has_value(to->port, "addr_tsas", "tls1.3") == to->export->tls);
}

/* Fail unless a port that also serves other subsystems fits. */
static int check_shared_port(const struct exporting *to)
{
	const struct export *export = to->export;
	bool tls = has_value(to->port, "addr_tsas", "tls1.3");

	if (port_fits(to))
		return 0;
	if (!has_value(to->port, "addr_trtype", transport_word(export)))
		return fail(CODE_BUSY,
			    "the nvmet port '%s' serves port %u of %s over another transport than %s: choose another 'port'",
			    to->port, export->port, export->address, transport_word(export));
	return fail(CODE_BUSY,
		    "the nvmet port '%s' serves other subsystems on port %u of %s %s TLS: choose another 'port', or 'tls = %s'",
		    to->port, export->port, export->address, tls ? "with" : "without",
		    tls ? "yes" : "no");
}

/* Find a port with our address. @to->port is "" if there is none. */
static int find_port(struct exporting *to)
{
	char **names;
	size_t count, served, i;
	bool ours;
	int error = configfs_names(NVMET "/ports", &names, &count);

	configfs_edited(error, "read", NVMET "/ports");
	for (i = 0; i < count && !fail_code() && !to->port[0]; i++) {
		snprintf(to->port, sizeof(to->port), NVMET "/ports/%.20s", names[i]);
		if (port_serves(to->port, to->export->nqn, &served, &ours) ||
		    !is_port_ours(to->export, to->port, served))
			to->port[0] = '\0';
	}
	configfs_names_free(names, count);
	return fail_code();
}

/* Create a port with a free id. */
static int make_port(struct exporting *to)
{
	unsigned int id;

	for (id = 1; id <= PORT_ID_MAX; id++) {
		snprintf(to->port, sizeof(to->port), NVMET "/ports/%u", id);
		if (access(to->port, F_OK))
			return make_folder(to, to->port);
	}
	return fail(CODE_BUSY, "nvmet has no free port id ('" NVMET "/ports')");
}

static int stop_serving(struct exporting *to, const char *port, const char *nqn)
{
	char link[PATH_MAX], target[PATH_MAX];
	int error;

	configfs_path(link, "%s/subsystems/%s", port, nqn);
	configfs_path(target, NVMET "/subsystems/%s", nqn);
	error = configfs_unlink(&to->edits, link, target);
	return configfs_edited(error, "remove", link);
}

static int start_serving(struct exporting *to)
{
	const struct export *export = to->export;
	char link[PATH_MAX], target[PATH_MAX];
	int error;

	configfs_path(link, "%s/subsystems/%s", to->port, export->nqn);
	configfs_path(target, NVMET "/subsystems/%s", export->nqn);
	error = configfs_link(&to->edits, link, target);
	if (error == EADDRNOTAVAIL)
		return fail(CODE_DEVICE,
			    "nvmet cannot listen on %s: this machine does not have that address; correct the line of this node in the file",
			    export->address);
	if (error == EADDRINUSE)
		return fail(CODE_BUSY,
			    "nvmet cannot listen on %s, port %u: another program or nvmet port uses it; choose another 'port'",
			    export->address, export->port);
	if (error == EINVAL)
		return fail(CODE_DEVICE,
			    "nvmet cannot listen on %s, port %u: the kernel has no transport '%s', load the module 'nvmet-%s' (dmesg may say more)",
			    export->address, export->port, transport_word(export),
			    transport_word(export));
	return configfs_edited(error, "create", link);
}

/* Take the subsystem from all ports, except @to->port, which may be "". */
static int leave_other_ports(struct exporting *to)
{
	char **names, port[64];
	size_t count, served, i;
	bool ours;
	int error = configfs_names(NVMET "/ports", &names, &count);

	configfs_edited(error, "read", NVMET "/ports");
	for (i = 0; i < count && !fail_code(); i++) {
		snprintf(port, sizeof(port), NVMET "/ports/%.20s", names[i]);
		if (!strcmp(port, to->port) ||
		    port_serves(port, to->export->nqn, &served, &ours) || !ours)
			continue;
		stop_serving(to, port, to->export->nqn);
		if (served == 1)
			snprintf(to->old_port, sizeof(to->old_port), "%s", port);
	}
	configfs_names_free(names, count);
	return fail_code();
}

/* Make the subsystem reachable at its port, and only there: the last step. */
static int serve_port(struct exporting *to)
{
	size_t served;
	bool ours;

	if (find_port(to) || (!to->port[0] && make_port(to)) ||
	    port_serves(to->port, to->export->nqn, &served, &ours))
		return fail_code();
	if (served > ours && check_shared_port(to))
		return fail_code();
	if (ours && !port_fits(to)) {
		if (stop_serving(to, to->port, to->export->nqn))
			return fail_code();
		served--;
	}
	if (!served && set_port(to))
		return fail_code();
	/* If the new port fails, the connections at the old one have not noticed. */
	return start_serving(to) ? fail_code() : leave_other_ports(to);
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
	    ((export_hosts_lose(&to->hosts) || allows_any(to)) && leave_other_ports(to)) ||
	    make_subsystem(to) ||
	    make_namespace(to))
		return fail_code();
	add_map(to);
	return serve_port(to);
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
	if (need_nvmet(export->transport) || lock_nvmet(&lock))
		return fail_code();
	if (apply_export(&to)) {
		undo_export(&to);
	} else {
		configfs_keep(&to.map_edits);
		configfs_keep(&to.edits);
		export_hosts_clean(&to.hosts);
		if (strcmp(to.old_port, to.port))
			rmdir(to.old_port);
	}
	export_hosts_free(&to.hosts);
	close(lock);
	return fail_code();
}

/* Stop the ports that serve the subsystem, and remove those that then serve nothing. */
static int remove_from_ports(struct exporting *to, const char *nqn)
{
	char **names, port[64];
	size_t count, served, i;
	bool ours;
	int error = configfs_names(NVMET "/ports", &names, &count);

	configfs_edited(error, "read", NVMET "/ports");
	for (i = 0; i < count && !fail_code(); i++) {
		snprintf(port, sizeof(port), NVMET "/ports/%.20s", names[i]);
		if (port_serves(port, nqn, &served, &ours) || !ours)
			continue;
		if (!stop_serving(to, port, nqn) && served == 1)
			rmdir(port);
	}
	configfs_names_free(names, count);
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
	if (withdraw_namespaces(to, path) || remove_from_ports(to, nqn) ||
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
	if (lock_nvmet(&lock))
		return fail_code();
	remove_subsystem(&to);
	configfs_keep(&to.edits);
	export_hosts_free(&to.hosts);
	close(lock);
	return fail_code();
}
