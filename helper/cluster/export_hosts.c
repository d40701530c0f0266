// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/export_hosts.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cluster/configfs.h"
#include "lib/error.h"

/* The keys of a host: it proves the first one to this node, which proves the second one to it. */
static const char *const key[] = { "dhchap_key", "dhchap_ctrl_key" };

static int save_keys(struct export_hosts *hosts, const char *host)
{
	char path[PATH_MAX];
	int error = 0;
	size_t i;

	for (i = 0; i < 2 && !error; i++)
		error = configfs_save(hosts->edits, configfs_path(path, "%s/%s", host, key[i]));
	return error;
}

static int refuse_secret(const char *path)
{
	return fail(CODE_DEVICE,
		    "the NVMe-oF target of this kernel cannot check a secret ('%s' is missing): use a kernel with CONFIG_NVME_TARGET_AUTH (Debian: 6.12), or no 'secret-file'",
		    path);
}

static int set_keys(struct export_hosts *hosts, const char *host)
{
	char path[PATH_MAX];
	int error = 0;
	size_t i;

	for (i = 0; i < 2 && !error; i++) {
		configfs_path(path, "%s/%s", host, key[i]);
		error = configfs_write(hosts->edits, path, hosts->export->secret);
	}
	if (error == ENOENT)
		return refuse_secret(path);
	if (error == EINVAL || error == ENOTSUP)
		return fail(CODE_USAGE,
			    "the kernel refuses the secret of the cluster ('%s'): create another one with 'nvme gen-dhchap-key'",
			    path);
	return configfs_edited(error, "set", path);
}

static bool has_key(const char *host)
{
	char path[PATH_MAX], value[CONFIGFS_VALUE];
	bool found;

	configfs_path(path, "%s/%s", host, key[0]);
	found = !configfs_read(path, value) && value[0];
	explicit_bzero(value, sizeof(value));
	return found;
}

/*
 * nvmet cannot take a key away from a host, so a host that has keys and shall have none, or the
 * other way round, is created again. A host that another subsystem allows stays: an error.
 */
static int remove_host_to_change(struct export_hosts *hosts, const char *host, const char *nqn)
{
	bool with_key = has_key(host);
	char link[PATH_MAX];
	int error;

	if (access(host, F_OK) || with_key == !!hosts->export->secret)
		return 0;
	configfs_path(link, NVMET "/subsystems/%s/allowed_hosts/%s", hosts->export->nqn, nqn);
	error = configfs_unlink(hosts->edits, link, host);
	if (error)
		return configfs_edited(error, "remove", link);
	if (with_key && save_keys(hosts, host))
		return fail_memory();
	error = configfs_remove_folder(hosts->edits, host);
	if (error == EBUSY)
		return fail(CODE_BUSY,
			    "another subsystem of nvmet allows the host '%s', %s a secret: remove that export first",
			    nqn, with_key ? "with" : "without");
	return configfs_edited(error, "remove", host);
}

static int make_host(struct export_hosts *hosts, const char *nqn)
{
	char host[PATH_MAX];

	configfs_path(host, NVMET "/hosts/%s", nqn);
	/* A file of a new folder can be opened before the folder is private. */
	if (configfs_edited(configfs_make_private(NVMET "/hosts"), "protect", NVMET "/hosts"))
		return fail_code();
	if (remove_host_to_change(hosts, host, nqn) ||
	    configfs_edited(configfs_make_folder(hosts->edits, host), "create", host))
		return fail_code();
	/* Before the key is written. */
	if (configfs_edited(configfs_make_private(host), "protect", host))
		return fail_code();
	return hosts->export->secret ? set_keys(hosts, host) : 0;
}

static bool is_wanted(const struct export *export, const char *nqn)
{
	size_t i;

	for (i = 0; i < export->hosts_count; i++)
		if (!strcmp(export->hosts[i], nqn))
			return true;
	return false;
}

static int allow_host(struct export_hosts *hosts, const char *nqn)
{
	char host[PATH_MAX], link[PATH_MAX];

	configfs_path(host, NVMET "/hosts/%s", nqn);
	configfs_path(link, NVMET "/subsystems/%s/allowed_hosts/%s", hosts->export->nqn, nqn);
	return configfs_edited(configfs_link(hosts->edits, link, host), "create", link);
}

/* Remove the hosts that are not wanted from the list of the subsystem. */
static int forbid_hosts(struct export_hosts *hosts)
{
	char link[PATH_MAX], host[PATH_MAX];
	size_t i;
	int error;

	for (i = 0; i < hosts->before_count; i++) {
		if (is_wanted(hosts->export, hosts->before[i]))
			continue;
		configfs_path(host, NVMET "/hosts/%s", hosts->before[i]);
		configfs_path(link, NVMET "/subsystems/%s/allowed_hosts/%s", hosts->export->nqn,
			      hosts->before[i]);
		error = configfs_unlink(hosts->edits, link, host);
		if (error)
			return configfs_edited(error, "remove", link);
	}
	return 0;
}

/* Read the list of the subsystem, which may not exist. export_hosts_free() is needed. */
int export_hosts_look(struct export_hosts *hosts)
{
	char folder[PATH_MAX];
	int error;

	configfs_path(folder, NVMET "/subsystems/%s/allowed_hosts", hosts->export->nqn);
	error = configfs_names(folder, &hosts->before, &hosts->before_count);
	return error == ENOENT ? 0 : configfs_edited(error, "read", folder);
}

/*
 * True if the change removes a host from the list, or if hosts have to prove a secret from now on,
 * or no longer. nvmet keeps the connections of such a host, so the caller ends the connections of
 * all hosts before it changes the list.
 */
bool export_hosts_lose(const struct export_hosts *hosts)
{
	char host[PATH_MAX];
	size_t i;

	for (i = 0; i < hosts->before_count; i++) {
		configfs_path(host, NVMET "/hosts/%s", hosts->before[i]);
		if (!is_wanted(hosts->export, hosts->before[i]) ||
		    has_key(host) != !!hosts->export->secret)
			return true;
	}
	return false;
}

/* Fail, before a connection ends, if hosts shall prove a secret and this kernel cannot check one. */
int export_hosts_check(const struct export_hosts *hosts)
{
	char path[PATH_MAX];

	if (!hosts->export->secret || !hosts->before_count)
		return 0;
	configfs_path(path, NVMET "/hosts/%s/%s", hosts->before[0], key[0]);
	return access(path, F_OK) && errno == ENOENT ? refuse_secret(path) : 0;
}

/* Create the hosts of the export. Its subsystem need not exist. */
int export_hosts_make(struct export_hosts *hosts)
{
	size_t i;

	for (i = 0; i < hosts->export->hosts_count; i++)
		if (make_host(hosts, hosts->export->hosts[i]))
			return fail_code();
	return 0;
}

/* Make the list of the subsystem that of the export: first remove hosts, then add hosts. */
int export_hosts_allow(struct export_hosts *hosts)
{
	size_t i;

	if (forbid_hosts(hosts))
		return fail_code();
	for (i = 0; i < hosts->export->hosts_count; i++)
		if (allow_host(hosts, hosts->export->hosts[i]))
			return fail_code();
	return 0;
}

/* Remove the folders of hosts that no subsystem allows now. A folder that stays does no harm. */
void export_hosts_clean(const struct export_hosts *hosts)
{
	char host[PATH_MAX];
	size_t i;

	for (i = 0; i < hosts->before_count; i++)
		if (!is_wanted(hosts->export, hosts->before[i]))
			rmdir(configfs_path(host, NVMET "/hosts/%s", hosts->before[i]));
}

void export_hosts_free(struct export_hosts *hosts)
{
	configfs_names_free(hosts->before, hosts->before_count);
	hosts->before = NULL;
	hosts->before_count = 0;
}
