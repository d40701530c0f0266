// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/link.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libnvme.h>
#include <limits.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "block/kernel_module.h"
#include "block/kmsg.h"
#include "cluster/link_sysfs.h"
#include "lib/error.h"
#include "lib/periodic_wait.h"

/* Writing options to this device creates a controller; reading it lists the options. */
#define FABRICS		"/dev/nvme-fabrics"

/* Seconds that a peer has to accept a TCP connection, and to show its namespace. */
#define REACH_SECONDS		3
#define NAMESPACE_SECONDS	10
#define NAMESPACE_PAUSE_US	(20 * 1000)
#define SECOND			1000000000ULL
/* Pause between two looks for the controller that the kernel is connecting. */
#define WATCH_PAUSE_US		2000
/* Seconds between two attempts of the kernel to connect again. */
#define RECONNECT_DELAY		1

static const char *transport_word(enum cluster_transport transport)
{
	return transport == CLUSTER_TCP ? "tcp" : "rdma";
}

/* True if the kernel's list of options for a connection has @option. */
static bool has_option(const char *options, const char *option)
{
	size_t length = strlen(option);
	const char *at = options;

	while (at && (strncmp(at, option, length) || !strchr("=,\n", at[length])))
		at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
	return at;
}

/*
 * Fail if the kernel cannot connect as wanted. A kernel that does not know the option of the secret
 * would write the secret to its log.
 */
static int check_kernel(const struct link *link)
{
	const char *word = transport_word(link->transport);
	char options[4096];

	if (access(FABRICS, F_OK))
		kernel_module_load("nvme-fabrics");
	kernel_module_load(link->transport == CLUSTER_TCP ? "nvme-tcp" : "nvme-rdma");
	if (!link_read_line(options, sizeof(options), FABRICS)) {
		if (errno == EACCES || errno == EPERM)
			return fail_errno(errno, "cannot use '" FABRICS "'");
		return fail(CODE_DEVICE,
			    "the kernel cannot connect to NVMe-oF ('" FABRICS "' is missing): load the module 'nvme-%s' of this kernel (modprobe nvme-%s says why it cannot)",
			    word, word);
	}
	if (link->secret && !has_option(options, "dhchap_secret"))
		return fail(CODE_DEVICE,
			    "this kernel cannot prove a secret to a peer: use a kernel with CONFIG_NVME_HOST_AUTH (Debian: 6.12), or no 'secret-file'");
	if (link->tls && !has_option(options, "tls"))
		return fail(CODE_DEVICE,
			    "this kernel cannot connect over TLS: use a kernel with CONFIG_NVME_TCP_TLS (Debian: 6.12), or 'tls = no'");
	return 0;
}

/* Wait until the TCP connection of @fd is made. Returns 0 or an errno. */
static int await_connection(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLOUT };
	uint64_t end = watch_now() + REACH_SECONDS * SECOND, now;
	socklen_t size = sizeof(int);
	int error, ready;

	do {
		now = watch_now();
		ready = poll(&wait, 1, now < end ? (int)((end - now) / 1000000) : 0);
	} while (ready < 0 && errno == EINTR);
	if (ready < 0)
		return errno;
	if (!ready)
		return ETIMEDOUT;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) ? errno : error;
}

/* @fd: gets the connection, -1 after an error. Returns 0 or an errno. */
static int open_connection(const struct addrinfo *to, int *fd)
{
	int error = 0;

	*fd = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return errno;
	if (connect(*fd, to->ai_addr, to->ai_addrlen))
		error = errno == EINPROGRESS ? await_connection(*fd) : errno;
	if (!error)
		return 0;
	close(*fd);
	*fd = -1;
	return error;
}

/*
 * Fail if nothing accepts TCP connections at the address: the kernel would try for two minutes, and
 * would not say why it gave up. The caller closes @fd, the connection, when the kernel has its own:
 * nvmet logs an error for one that is closed before it is accepted.
 */
static int check_reachable(const struct link *link, const char *address, int *fd)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *to;
	char port[16];
	int error;

	snprintf(port, sizeof(port), "%u", link->port);
	if (getaddrinfo(link->address, port, &hints, &to))
		return fail(CODE_USAGE, "'%s' is no numeric address", link->address);
	error = open_connection(to, fd);
	freeaddrinfo(to);
	if (error == ECONNREFUSED)
		return fail(CODE_DEVICE,
			    "the node at %s is up, but exports nothing at this port: has it joined the cluster?",
			    address);
	if (error == ETIMEDOUT)
		return fail(CODE_DEVICE,
			    "the node at %s does not answer: is it up, and does a firewall let TCP port %u through?",
			    address, link->port);
	return error ? fail_errno(error, "cannot reach the node at %s", address) : 0;
}

/*
 * The reasons why there is no connection, which only the kernel log has. @named: the line has the
 * NQN of the subsystem.
 */
static const struct {
	const char *line;
	bool named;
	enum exit_code code;
	const char *meaning;
} refusal[] = {
	{ "is not allowed, hostnqn", true, CODE_PERMISSION,
	  "it does not allow this node: it serves another volume, or another version of it (compare origin and --dataset-version), or its file lacks this node (compare cluster and name)" },
	{ "subsysnqn", true, CODE_DEVICE,
	  "it does not export its cache under the expected name: has it joined the cluster, with the same cluster and name in its file?" },
	{ "uthentication", false, CODE_PERMISSION,
	  "one of the two nodes has no secret or another one: compare their files 'secret-file'" },
	{ "no valid PSK found", false, CODE_PERMISSION,
	  "this node has no TLS key for it in the keyring '.nvme' of the kernel: insert one (nvme gen-tls-key), or set 'tls = no'" },
	{ "failed to start TLS", false, CODE_DEVICE,
	  "the TLS handshake did not begin: start tlshd (package ktls-utils), or set 'tls = no'" },
	{ "TLS handshake", false, CODE_PERMISSION,
	  "the TLS handshake failed: compare the TLS keys of the two nodes, see the log of tlshd, or set 'tls = no'" },
};

static bool record_refusal(const struct link *link, const char *address, const char *line)
{
	size_t i;

	for (i = 0; i < sizeof(refusal) / sizeof(*refusal); i++) {
		if (!strstr(line, refusal[i].line) ||
		    (refusal[i].named && !strstr(line, link->nqn)))
			continue;
		fail(refusal[i].code, "cannot connect to the node at %s: %s", address,
		     refusal[i].meaning);
		return true;
	}
	return false;
}

/*
 * struct watching - a thread that finds the name of the controller which the kernel is connecting
 * @controller: the name, which the kernel log has in each line about it; valid after the thread has
 *	ended; "": not found. A controller that fails is gone before the kernel returns.
 * @ended: the kernel has returned
 */
struct watching {
	const struct link *link;
	const char *address;
	char controller[16];
	_Atomic bool ended;
};

/*
 * A controller that is not connected yet shows no subsystem: "(null)". Skip a controller of the
 * same host that is connected to another subsystem at the same address.
 */
static bool is_watched(const struct watching *watching, const char *name)
{
	char host[ATTRIBUTE], nqn[ATTRIBUTE], address[sizeof(((struct link_state *)0)->address)];

	link_read_line(host, sizeof(host), CONTROLLERS "/%s/hostnqn", name);
	link_read_line(nqn, sizeof(nqn), CONTROLLERS "/%s/subsysnqn", name);
	link_read_address(name, address);
	return !strcmp(host, watching->link->host_nqn) && !strcmp(address, watching->address) &&
	       (strncmp(nqn, "nqn.", 4) || !strcmp(nqn, watching->link->nqn));
}

static void *watch_controllers(void *arg)
{
	struct watching *watching = arg;
	struct dirent *entry;
	DIR *controllers;

	while (!watching->ended && !*watching->controller) {
		controllers = opendir(CONTROLLERS);
		while (controllers && (entry = readdir(controllers)))
			if (is_watched(watching, entry->d_name))
				snprintf(watching->controller, sizeof(watching->controller),
					 "%.15s", entry->d_name);
		if (controllers)
			closedir(controllers);
		usleep(WATCH_PAUSE_US);
	}
	return NULL;
}

/*
 * Record why the kernel did not connect. @error: a code of libnvme. @controller: its name, or "".
 * Other nodes are connected at the same time, and most lines of the log do not name the node.
 */
static int connect_failed(const struct link *link, struct kmsg *log, int error,
			  const char *address, const char *controller)
{
	char line[512], start[32];

	/* Lines of a controller of this host; nvmet has others. */
	snprintf(start, sizeof(start), *controller ? "nvme %s:" : "nvme nvme%s", controller);
	while (kmsg_find(log, start, line, sizeof(line)))
		if (record_refusal(link, address, line))
			return fail_code();
	return fail(CODE_DEVICE, "cannot connect to the node at %s: %s; dmesg may say why", address,
		    nvme_errno_to_string(error));
}

static void fill_config(const struct link *link, struct nvme_fabrics_config *config)
{
	bool tcp = link->transport == CLUSTER_TCP;

	nvmf_default_config(config);
	config->ctrl_loss_tmo = -1;
	config->reconnect_delay = RECONNECT_DELAY;
	config->keep_alive_tmo = (int)link_kernel_keep_alive(link->keep_alive);
	config->fast_io_fail_tmo = (int)link->fast_io_fail;
	config->data_digest = tcp && link->data_digest;
	config->tls = tcp && link->tls;
}

/* Create a controller. Returns 0, or an errno or a code of libnvme. */
static int add_controller(const struct link *link, nvme_root_t root)
{
	struct nvme_fabrics_config config;
	nvme_ctrl_t controller = NULL;
	nvme_host_t host;
	char port[16];
	int error;

	snprintf(port, sizeof(port), "%u", link->port);
	fill_config(link, &config);
	host = nvme_lookup_host(root, link->host_nqn, link->host_id);
	if (host)
		controller = nvme_create_ctrl(root, link->nqn, transport_word(link->transport),
					      link->address, NULL, NULL, port);
	if (!controller)
		return ENOMEM;
	if (link->secret) {
		nvme_host_set_dhchap_key(host, link->secret);
		nvme_ctrl_set_dhchap_key(controller, link->secret);
	}
	if (!nvmf_add_ctrl(host, controller, &config))
		return 0;
	error = errno;
	nvme_free_ctrl(controller);
	return error;
}

/* No messages of libnvme: some contain the secret. */
static nvme_root_t create_root(void)
{
	nvme_root_t root = nvme_create_root(NULL, -1);

	if (!root)
		fail_memory();
	return root;
}

/*
 * Open the folder of a controller that connects the host (NULL: any) to the subsystem. Returns a
 * descriptor, or -1 if its number is no longer that of such a connection.
 *
 * The kernel gives the number of a controller that is gone to the next one, whose folder then has
 * the same name. The descriptor stays that of the old folder, whose files can no longer be opened.
 */
static int open_controller(const char *name, const char *nqn, const char *host_nqn)
{
	char value[ATTRIBUTE];
	int fd;

	snprintf(value, sizeof(value), CONTROLLERS "/%s", name);
	fd = open(value, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (link_read_line(value, sizeof(value), "/proc/self/fd/%d/subsysnqn", fd) &&
	    !strcmp(value, nqn) &&
	    (!host_nqn || (link_read_line(value, sizeof(value), "/proc/self/fd/%d/hostnqn", fd) &&
			   !strcmp(value, host_nqn))))
		return fd;
	close(fd);
	return -1;
}

/*
 * End a connection of the host (NULL: any) to the subsystem, and wait for its end. @name: of its
 * controller. It may end by itself at the same time. nvme_disconnect_ctrl() of libnvme does the same
 * with the name, which may be that of another connection by then.
 */
static int disconnect_controller(const char *name, const char *nqn, const char *host_nqn)
{
	int folder = open_controller(name, nqn, host_nqn), file, error = 0;
	struct link_state state;

	if (folder < 0)
		return 0;
	file = openat(folder, "delete_controller", O_WRONLY | O_CLOEXEC);
	if (file < 0 || write(file, "1", 1) < 0)
		error = errno;
	if (file >= 0)
		close(file);
	close(folder);
	if (error && link_take_controller(name, nqn, host_nqn, &state))
		fail_errno(error, "cannot disconnect the controller '%s' (%s)", name, state.address);
	return fail_code();
}

/*
 * Fail if a new connection with a secret was not authenticated. Some kernels ignore the option; others
 * prove the secret only to a peer that asks for it, and log an authentication. @log: marked before
 * the connect.
 */
static int check_proof(const struct link *link, const char *address, struct kmsg *log)
{
	char path[PATH_MAX], proven[64];
	struct link_state state;

	link_find_controller(link->nqn, link->host_nqn, address, &state);
	if (!link->secret || !state.connected)
		return 0;
	snprintf(path, sizeof(path), CONTROLLERS "/%s/dhchap_secret", state.controller);
	snprintf(proven, sizeof(proven), "nvme %s: qid 0: authenticated", state.controller);
	if (access(path, F_OK))
		fail(CODE_DEVICE,
		     "this kernel cannot prove a secret to a peer: use a kernel with CONFIG_NVME_HOST_AUTH (Debian: 6.12), or no 'secret-file'");
	else if (!kmsg_has(log, proven))
		fail(CODE_PERMISSION,
		     "cannot trust the node at %s: it does not ask for the secret, so it has proven none: give its file the same 'secret-file'",
		     address);
	else
		return 0;
	disconnect_controller(state.controller, link->nqn, link->host_nqn);
	return fail_code();
}

static int connect_to(const struct link *link, const char *address)
{
	struct watching watching = { .link = link, .address = address };
	struct kmsg log = kmsg_mark(0);
	nvme_root_t root = create_root();
	pthread_t thread;
	bool watched;
	int error;

	if (root) {
		watched = !pthread_create(&thread, NULL, watch_controllers, &watching);
		error = add_controller(link, root);
		watching.ended = true;
		if (watched)
			pthread_join(thread, NULL);
		if (error)
			connect_failed(link, &log, error, address, watching.controller);
		else
			check_proof(link, address, &log);
		nvme_free_tree(root);
	}
	kmsg_close(&log);
	return fail_code();
}

/*
 * Wait until the kernel has scanned the new controller. Returns with the state of the connection,
 * without a device if that takes too long or the controller does not work.
 */
static void await_namespace(const struct link *link, const char *address,
			    struct link_state *state)
{
	uint64_t end = watch_now() + NAMESPACE_SECONDS * SECOND;

	for (;;) {
		link_find_controller(link->nqn, link->host_nqn, address, state);
		if (!state->live || state->device[0] || watch_now() >= end)
			return;
		usleep(NAMESPACE_PAUSE_US);
	}
}

/* Disconnect the controllers of the subsystem and of the host (NULL: any host). */
static int disconnect_all(const char *nqn, const char *host_nqn)
{
	DIR *controllers = opendir(CONTROLLERS);
	struct link_state state;
	struct dirent *entry;

	while (controllers && (entry = readdir(controllers))) {
		if (!link_take_controller(entry->d_name, nqn, host_nqn, &state))
			continue;
		if (disconnect_controller(state.controller, nqn, host_nqn))
			break;
	}
	if (controllers)
		closedir(controllers);
	return fail_code();
}

/* Fail if check_proof() could not tell whether the peer proves the secret: that is in the kernel log. */
static int check_log(const struct link *link, const char *address)
{
	struct kmsg log = kmsg_mark(0);
	bool readable = log.fd >= 0;

	kmsg_close(&log);
	if (readable || !link->secret)
		return 0;
	return fail(CODE_PERMISSION,
		    "cannot check whether the node at %s knows the secret: '/dev/kmsg' cannot be read, which needs CAP_SYSLOG",
		    address);
}

static int reach_and_connect(const struct link *link, const char *address)
{
	int fd = -1;

	if (check_log(link, address))
		return fail_code();
	if (link->transport == CLUSTER_TCP && check_reachable(link, address, &fd))
		return fail_code();
	/*
	 * First, end a connection to another address, or one that is lost: the ids of its controller
	 * and of the new one may be the same, and the kernel refuses that.
	 */
	if (!disconnect_all(link->nqn, link->host_nqn))
		connect_to(link, address);
	if (fd >= 0)
		close(fd);
	return fail_code();
}

int link_connect(const struct link *link, struct link_state *state)
{
	char address[sizeof(state->address)];
	bool existed;

	link_address(link, address);
	if (check_kernel(link))
		return fail_code();
	link_find_controller(link->nqn, link->host_nqn, address, state);
	/* The node has left: a connection that the kernel keeps trying to restore is of no use. */
	existed = state->live || state->device[0];
	if (!existed && reach_and_connect(link, address))
		return fail_code();
	await_namespace(link, address, state);
	if (state->device[0])
		return 0;
	if (!existed && state->connected)
		disconnect_controller(state->controller, link->nqn, link->host_nqn);
	if (state->connected && !state->live)
		return fail(CODE_DEVICE,
			    "the connection to the node at %s is lost; the kernel tries to connect again",
			    address);
	return fail(CODE_DEVICE,
		    "the node at %s does not export a namespace: join the cluster there again",
		    address);
}

int link_disconnect(const char *nqn)
{
	return disconnect_all(nqn, NULL);
}
