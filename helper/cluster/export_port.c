// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/export_port.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"

/* Largest id of an nvmet port. */
#define PORT_ID_MAX	65535

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

/* Count the subsystems of a port, and find whether ours is one of them. */
static int port_serves(const char *path, const char *nqn, size_t *count, bool *ours)
{
	char folder[PATH_MAX], **names;
	size_t i;
	int error;

	configfs_path(folder, "%s/subsystems", path);
	error = configfs_names(folder, &names, count);
	*ours = false;
	for (i = 0; i < *count; i++)
		*ours |= !strcmp(names[i], nqn);
	configfs_names_free(names, *count);
	/* Another program may have removed its port: then it serves nothing. */
	return error == ENOENT ? 0 : configfs_edited(error, "read", folder);
}

/* True if the port has our address, or serves nothing and lacks a part of it, after an interruption. */
static bool has_address(const struct export *export, const char *path, size_t served)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", export->port);
	if (has_value(path, "addr_traddr", export->address))
		return has_value(path, "addr_trsvcid", number) ||
		       (!served && has_value(path, "addr_trsvcid", ""));
	return !served && has_value(path, "addr_traddr", "");
}

/* Set the address of a port that serves no subsystem. */
static int set_port(struct export_port *port)
{
	const struct export *export = port->export;
	const char *tsas = export->tls ? "tls1.3" : "none";
	char number[16], path[PATH_MAX];
	int error;

	snprintf(number, sizeof(number), "%u", export->port);
	if (configfs_set(port->edits, port->path, "addr_trtype", transport_word(export)) ||
	    configfs_set(port->edits, port->path, "addr_adrfam",
			  strchr(export->address, ':') ? "ipv6" : "ipv4") ||
	    configfs_set(port->edits, port->path, "addr_traddr", export->address) ||
	    configfs_set(port->edits, port->path, "addr_trsvcid", number))
		return fail_code();
	if (export->transport != CLUSTER_TCP)
		return 0;
	configfs_path(path, "%s/addr_tsas", port->path);
	error = configfs_write(port->edits, path, tsas);
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
static bool port_fits(const struct export_port *port)
{
	return has_value(port->path, "addr_trtype", transport_word(port->export)) &&
	       (port->export->transport != CLUSTER_TCP ||
		has_value(port->path, "addr_tsas", "tls1.3") == port->export->tls);
}

/* Fail unless a port that also serves other subsystems fits. */
static int check_shared_port(const struct export_port *port)
{
	const struct export *export = port->export;
	bool tls = has_value(port->path, "addr_tsas", "tls1.3");

	if (port_fits(port))
		return 0;
	if (!has_value(port->path, "addr_trtype", transport_word(export)))
		return fail(CODE_BUSY,
			    "the nvmet port '%s' serves port %u of %s over another transport than %s: choose another 'port'",
			    port->path, export->port, export->address, transport_word(export));
	return fail(CODE_BUSY,
		    "the nvmet port '%s' serves other subsystems on port %u of %s %s TLS: choose another 'port', or 'tls = %s'",
		    port->path, export->port, export->address, tls ? "with" : "without",
		    tls ? "yes" : "no");
}

/* Called for each port. It serves @served subsystems, ours among them if @ours. */
typedef void port_visit_t(struct export_port *port, const char *path, size_t served, bool ours);

static int visit_ports(struct export_port *port, port_visit_t *visit)
{
	char **names, path[64];
	size_t count, served, i;
	bool ours;
	int error = configfs_names(NVMET "/ports", &names, &count);

	configfs_edited(error, "read", NVMET "/ports");
	for (i = 0; i < count && !fail_code(); i++) {
		snprintf(path, sizeof(path), NVMET "/ports/%.20s", names[i]);
		if (!port_serves(path, port->export->nqn, &served, &ours))
			visit(port, path, served, ours);
	}
	configfs_names_free(names, count);
	return fail_code();
}

/* Take the first port with our address. */
static void take_port(struct export_port *port, const char *path, size_t served, bool ours)
{
	(void)ours;
	if (!port->path[0] && has_address(port->export, path, served))
		snprintf(port->path, sizeof(port->path), "%s", path);
}

/* Create a port with a free id. */
static int make_port(struct export_port *port)
{
	unsigned int id;

	for (id = 1; id <= PORT_ID_MAX; id++) {
		snprintf(port->path, sizeof(port->path), NVMET "/ports/%u", id);
		if (access(port->path, F_OK))
			return configfs_edited(configfs_make_folder(port->edits, port->path), "create",
				       port->path);
	}
	return fail(CODE_BUSY, "nvmet has no free port id ('" NVMET "/ports')");
}

static int stop_serving(struct export_port *port, const char *path)
{
	char link[PATH_MAX], target[PATH_MAX];
	int error;

	configfs_path(link, "%s/subsystems/%s", path, port->export->nqn);
	configfs_path(target, NVMET "/subsystems/%s", port->export->nqn);
	error = configfs_unlink(port->edits, link, target);
	return configfs_edited(error, "remove", link);
}

static int start_serving(struct export_port *port)
{
	const struct export *export = port->export;
	char link[PATH_MAX], target[PATH_MAX];
	int error;

	configfs_path(link, "%s/subsystems/%s", port->path, export->nqn);
	configfs_path(target, NVMET "/subsystems/%s", export->nqn);
	error = configfs_link(port->edits, link, target);
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

static void leave_port(struct export_port *port, const char *path, size_t served, bool ours)
{
	if (ours && strcmp(path, port->path) && !stop_serving(port, path) && served == 1)
		snprintf(port->old, sizeof(port->old), "%s", path);
}

/* Remove the subsystem from all ports except @port->path, which may be "". */
int export_port_leave_others(struct export_port *port)
{
	return visit_ports(port, leave_port);
}

/* Make the subsystem reachable at its port, and only there: the last step. */
int export_port_serve(struct export_port *port)
{
	size_t served;
	bool ours;

	if (visit_ports(port, take_port) || (!port->path[0] && make_port(port)) ||
	    port_serves(port->path, port->export->nqn, &served, &ours))
		return fail_code();
	if (served > ours && check_shared_port(port))
		return fail_code();
	if (ours && !port_fits(port)) {
		if (stop_serving(port, port->path))
			return fail_code();
		served--;
	}
	if (!served && set_port(port))
		return fail_code();
	/* The new port first: if it fails, connections at the old port continue. */
	return start_serving(port) ? fail_code() : export_port_leave_others(port);
}

/* Remove the port that served only this subsystem before. */
void export_port_clean(const struct export_port *port)
{
	if (strcmp(port->old, port->path))
		rmdir(port->old);
}

static void remove_port(struct export_port *port, const char *path, size_t served, bool ours)
{
	if (ours && !stop_serving(port, path) && served == 1)
		rmdir(path);
}

/* Remove the subsystem from its ports, and the ports that then serve nothing. */
int export_port_remove(struct export_port *port)
{
	return visit_ports(port, remove_port);
}
