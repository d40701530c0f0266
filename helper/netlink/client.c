// SPDX-License-Identifier: GPL-2.0-only
#include "netlink/request.h"

#include <errno.h>
#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "block/dm.h"
#include "lib/error.h"
#include "nearcache.h"

/* Bytes of a request that has only a few numbers. */
#define REQUEST_USUAL	4096
/* Bytes that any socket can send. A longer request needs send_more(). */
#define SEND_USUAL	65536

/* Each load of the module makes this folder anew, with a new inode number. */
#define MODULE_FOLDER	"/sys/module/dm_nearcache"

static struct nl_sock *sock;
static int family;
/* Inode number of MODULE_FOLDER when @family was found. */
static ino_t module_load;

/*
 * struct answer: the result of a request.
 * @over: the answer is complete.
 * @error: positive errno from the kernel, or 0.
 * @interrupted: devices or ranges changed, so the dump may be incomplete.
 * @text: the kernel's text for the error.
 */
struct answer {
	bool over;
	int error;
	bool interrupted;
	char text[256];
};

static int fail_nl(int error, const char *what)
{
	return fail(error == -NLE_PERM ? CODE_PERMISSION : CODE_DEVICE,
		    "%s: %s", what, nl_geterror(error));
}

static void set_option(int option)
{
	int one = 1;

	/* The result does not matter: an older kernel only sends shorter error texts. */
	setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, option, &one,
		   sizeof(one));
}

/* Enlarge the send buffer: 262144 ranges to change, or 1048576 of a job, exceed the default. */
static void send_more(size_t bytes)
{
	int room = (int)(2 * bytes + 65536);

	setsockopt(nl_socket_get_fd(sock), SOL_SOCKET, SO_SNDBUFFORCE, &room,
		   sizeof(room));
}

/* True if @family is that of the module that is loaded now. */
static bool is_current(ino_t load)
{
	return family > 0 && load == module_load;
}

static int connect_kernel(void)
{
	struct stat st = { 0 };
	int error;

	if (stat(MODULE_FOLDER, &st))
		st.st_ino = 0;
	if (is_current(st.st_ino))
		return 0;
	module_load = 0;
	family = 0;
	nl_socket_free(sock);
	sock = nl_socket_alloc();
	if (!sock)
		return fail_memory();
	error = genl_connect(sock);
	if (error)
		return fail_nl(error, "cannot open a netlink socket");
	set_option(NETLINK_EXT_ACK);
	set_option(NETLINK_CAP_ACK);
	set_option(NETLINK_GET_STRICT_CHK);
	family = genl_ctrl_resolve(sock, NEARCACHE_FAMILY_NAME);
	if (family < 0)
		return fail(CODE_DEVICE,
			    "the kernel has no netlink family '%s': modprobe %s",
			    NEARCACHE_FAMILY_NAME, DM_MODULE);
	module_load = st.st_ino;
	return 0;
}

/* Take the kernel's error text from the attributes between @at and the end of message @h. */
static void take_text(struct answer *answer, const struct nlmsghdr *h,
		      const char *at)
{
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1] = { NULL };
	int bytes = (int)((const char *)h + h->nlmsg_len - at);

	if (bytes > 0 &&
	    !nla_parse(tb, NLMSGERR_ATTR_MAX, (struct nlattr *)at, bytes,
		       NULL) &&
	    tb[NLMSGERR_ATTR_MSG])
		nla_strlcpy(answer->text, tb[NLMSGERR_ATTR_MSG],
			    sizeof(answer->text));
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *error, void *arg)
{
	const struct nlmsghdr *h = (const void *)((const char *)error -
						  NLMSG_HDRLEN);
	struct answer *answer = arg;

	(void)from;
	answer->error = -error->error;
	answer->over = true;
	if (h->nlmsg_flags & NLM_F_ACK_TLVS)
		take_text(answer, h, (const char *)(error + 1));
	return NL_STOP;
}

/* End of a dump. The message carries the error code of the dump. */
static int on_finish(struct nl_msg *msg, void *arg)
{
	const struct nlmsghdr *h = nlmsg_hdr(msg);
	struct answer *answer = arg;
	int error = 0;

	if (nlmsg_datalen(h) >= (int)sizeof(error))
		memcpy(&error, nlmsg_data(h), sizeof(error));
	answer->error = -error;
	answer->over = true;
	take_text(answer, h, (const char *)nlmsg_data(h) + sizeof(error));
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct answer *answer = arg;

	(void)msg;
	answer->over = true;
	return NL_STOP;
}

static int on_interrupt(struct nl_msg *msg, void *arg)
{
	struct answer *answer = arg;

	(void)msg;
	answer->interrupted = true;
	return NL_OK;
}

static int receive_answer(struct answer *answer, nl_recvmsg_msg_cb_t valid, void *arg)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int error = 0;

	if (!cb)
		return fail_memory();
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, answer);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, answer);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, answer);
	nl_cb_set(cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, on_interrupt, answer);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, valid, arg);
	while (!answer->over && !error)
		error = nl_recvmsgs(sock, cb);
	nl_cb_put(cb);
	return error && !answer->over ?
	       fail_nl(error, "no netlink answer from the kernel") : 0;
}

/*
 * Like nl_ask(), for a device or job that may have disappeared. In that case @found is set to false
 * and the function returns 0; if @found is NULL, the function fails.
 */
int nl_look(struct nl_msg *msg, const char *what, nl_recvmsg_msg_cb_t valid,
	    void *arg, bool *found)
{
	size_t bytes = nlmsg_hdr(msg)->nlmsg_len;
	struct answer answer = { 0 };
	int error;

	if (bytes > SEND_USUAL)
		send_more(bytes);
	error = nl_send_auto(sock, msg);
	nlmsg_free(msg);
	if (error < 0)
		return fail_nl(error, what);
	if (receive_answer(&answer, valid, arg))
		return fail_code();
	if (found)
		*found = answer.error != ENOENT;
	if (found && !*found)
		return 0;
	if (answer.error && answer.error != EAGAIN)
		return fail_errno(answer.error, "%s%s%s", what,
				  *answer.text ? ": " : "", answer.text);
	if (answer.interrupted || answer.error)
		return fail(CODE_BUSY,
			    "%s: devices or ranges changed meanwhile: try again",
			    what);
	return 0;
}

/*
 * Send a request and receive the whole answer. Fails with CODE_BUSY if devices or ranges changed
 * during a dump.
 * @msg: from nl_request(); this function frees it.
 * @what: start of the error message: "cannot ...".
 * @valid: called with @arg for each message of the answer.
 */
int nl_ask(struct nl_msg *msg, const char *what, nl_recvmsg_msg_cb_t valid,
	   void *arg)
{
	return nl_look(msg, what, valid, arg, NULL);
}

/*
 * Begin a request about a device. Returns NULL after recording an error. The caller passes the
 * message to nl_ask(), nl_look() or nlmsg_free().
 * @command: NEARCACHE_CMD_*.
 * @flags: NLM_F_DUMP or 0.
 * @bytes: room for attributes in addition to a few numbers.
 */
struct nl_msg *nl_request(int command, int flags, dev_t number, size_t bytes)
{
	struct nl_msg *msg;

	if (connect_kernel())
		return NULL;
	msg = nlmsg_alloc_size(REQUEST_USUAL + bytes);
	if (msg && genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, flags,
			       (uint8_t)command, NEARCACHE_FAMILY_VERSION) &&
	    !nla_put_u32(msg, NEARCACHE_A_DEVICE_DEV,
			 major(number) << 20 | minor(number)))
		return msg;
	nlmsg_free(msg);
	fail_memory();
	return NULL;
}
