// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/link_sysfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SUBSYSTEMS	"/sys/class/nvme-subsystem"

/* Read a line of a file. Returns false, with "" in @text, if that fails. */
bool link_read_line(char *text, size_t size, const char *format, ...)
{
	char path[PATH_MAX];
	ssize_t n = -1;
	va_list args;
	int fd;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, size - 1);
		close(fd);
	}
	text[n < 0 ? 0 : n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return n >= 0;
}

/* Write "10.0.0.5:4420" or "[fd00::5]:4420" to @text, of the size of link_state.address. */
static const char *address_text(char *text, const char *address, const char *port)
{
	snprintf(text, sizeof(((struct link_state *)0)->address),
		 strchr(address, ':') ? "[%s]:%s" : "%s:%s", address, port);
	return text;
}

const char *link_address(const struct link *link, char *text)
{
	char port[16];

	snprintf(port, sizeof(port), "%u", link->port);
	return address_text(text, link->address, port);
}

/* Find KEY=VALUE in "traddr=10.0.0.5,trsvcid=4420,...", and write VALUE to @value. */
static void take_value(const char *list, const char *key, char *value, size_t size)
{
	const char *at = list;
	size_t length = strlen(key);

	*value = '\0';
	while (at && (strncmp(at, key, length) || at[length] != '='))
		at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
	if (at)
		snprintf(value, size, "%.*s", (int)strcspn(at + length + 1, ","), at + length + 1);
}

void link_read_address(const char *controller, char *text)
{
	char line[ATTRIBUTE], address[64], port[16];

	link_read_line(line, sizeof(line), CONTROLLERS "/%s/address", controller);
	take_value(line, "traddr", address, sizeof(address));
	take_value(line, "trsvcid", port, sizeof(port));
	address_text(text, address, port);
}

static void trim_end(char *text)
{
	size_t length = strlen(text);

	while (length && text[length - 1] == ' ')
		text[--length] = '\0';
}

/*
 * True if the controller belongs to the subsystem and the host (NULL: any), and is not being
 * deleted. @state: gets its name, address, and whether it works.
 */
bool link_take_controller(const char *name, const char *nqn, const char *host_nqn,
			    struct link_state *state)
{
	char value[ATTRIBUTE];

	if (!link_read_line(value, sizeof(value), CONTROLLERS "/%s/subsysnqn", name) ||
	    strcmp(value, nqn))
		return false;
	link_read_line(value, sizeof(value), CONTROLLERS "/%s/hostnqn", name);
	if (host_nqn && strcmp(value, host_nqn))
		return false;
	if (!link_read_line(value, sizeof(value), CONTROLLERS "/%s/state", name) ||
	    !strncmp(value, "deleting", 8) || !strcmp(value, "dead"))
		return false;
	memset(state, 0, sizeof(*state));
	snprintf(state->controller, sizeof(state->controller), "%s", name);
	link_read_line(state->model, sizeof(state->model), CONTROLLERS "/%s/model", name);
	trim_end(state->model);
	link_read_address(name, state->address);
	state->connected = true;
	state->live = !strcmp(value, "live");
	return true;
}

/* True if @name is that of a namespace of a subsystem or controller: nvmeXnY, and not nvmeXcYnZ. */
static bool is_namespace(const char *name)
{
	int length = 0;

	return sscanf(name, "nvme%*un%*u%n", &length) == 0 && length && !name[length];
}

/* Find the namespace with id 1 in @folder. */
static void find_namespace(const char *folder, struct link_state *state)
{
	DIR *names = opendir(folder);
	struct dirent *entry;
	char id[16];

	while (names && !state->device[0] && (entry = readdir(names))) {
		if (!is_namespace(entry->d_name))
			continue;
		link_read_line(id, sizeof(id), "%s/%s/nsid", folder, entry->d_name);
		if (strcmp(id, "1"))
			continue;
		snprintf(state->device, sizeof(state->device), "/dev/%.50s", entry->d_name);
		link_read_line(state->uuid, sizeof(state->uuid), "%s/%s/uuid", folder, entry->d_name);
		/* udev or the kernel creates the node a moment later than the folder. */
		if (access(state->device, F_OK))
			state->device[0] = '\0';
	}
	if (names)
		closedir(names);
}

/*
 * Find the block device: with native multipath that of the subsystem, which stays when a controller
 * goes and comes, otherwise that of the controller.
 */
static void find_device(struct link_state *state)
{
	DIR *subsystems = opendir(SUBSYSTEMS);
	struct dirent *entry;
	char folder[PATH_MAX];

	while (subsystems && (entry = readdir(subsystems))) {
		snprintf(folder, sizeof(folder), SUBSYSTEMS "/%s/%s", entry->d_name,
			 state->controller);
		if (entry->d_name[0] == '.' || access(folder, F_OK))
			continue;
		*strrchr(folder, '/') = '\0';
		find_namespace(folder, state);
		break;
	}
	if (subsystems)
		closedir(subsystems);
	if (state->device[0])
		return;
	snprintf(folder, sizeof(folder), CONTROLLERS "/%s", state->controller);
	find_namespace(folder, state);
}

/*
 * Find a controller, by preference one that works. @address: only one with this address, or NULL.
 * This reads sysfs. The scan of libnvme 1.3 sends commands to all namespaces of the machine, and
 * waits for the timers of each peer that hangs.
 */
void link_find_controller(const char *nqn, const char *host_nqn, const char *address,
			    struct link_state *state)
{
	DIR *controllers = opendir(CONTROLLERS);
	struct link_state each;
	struct dirent *entry;

	memset(state, 0, sizeof(*state));
	while (controllers && !state->live && (entry = readdir(controllers)))
		if (link_take_controller(entry->d_name, nqn, host_nqn, &each) &&
		    (!address || !strcmp(address, each.address)))
			*state = each;
	if (controllers)
		closedir(controllers);
	if (state->connected)
		find_device(state);
}

int link_find(const struct link *link, struct link_state *state)
{
	link_find_controller(link->nqn, link->host_nqn, NULL, state);
	return 0;
}

unsigned int link_kernel_keep_alive(unsigned int keep_alive)
{
	return keep_alive < 4 ? 1 : (keep_alive - 1) * 2 / 3;
}

static bool attribute_differs(const char *controller, const char *attribute, unsigned int wanted)
{
	char value[ATTRIBUTE], text[16];

	snprintf(text, sizeof(text), "%u", wanted);
	link_read_line(value, sizeof(value), CONTROLLERS "/%s/%s", controller, attribute);
	return *value && strcmp(value, text);
}

bool link_timers_differ(const struct link *link, const struct link_state *state)
{
	const char *controller = state->controller;

	return state->connected &&
	       (attribute_differs(controller, "kato", link_kernel_keep_alive(link->keep_alive)) ||
		attribute_differs(controller, "fast_io_fail_tmo", link->fast_io_fail));
}
