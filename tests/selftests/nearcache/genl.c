// SPDX-License-Identifier: GPL-2.0-only
/*
 * Send one request to the nearcache family and print the answer. No library limits the bytes sent.
 *
 *	genl [-d] [-u USER] [-s] [-n COUNT] COMMAND [ATTRIBUTE=VALUE...]
 *		-d: dump; -u: as USER; -s: without CAP_SYS_ADMIN; -n: COUNT times or until an error
 *	genl listen COUNT FILE		print COUNT events; create FILE once the program listens
 *
 * COMMAND is "device-get" or a number. An attribute is NAME=VALUE, NUMBER:HEX for raw bytes, or a
 * nest of attributes: range=start=0,length=512,label=x. A prefix COUNT@STEP of a nest adds COUNT
 * nests whose starts are STEP apart; only the first nest has the label.
 * Each attribute of the answer is printed on one line, with the names of its parents in front. On
 * an error, stderr gets "ENODEV: text (name)", the kernel's message and the attribute that the
 * message names, and the exit code is 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <sys/syscall.h>

#include "genl.h"
#include "nearcache_counters.h"
#include "nearcache_stage.h"

enum kind { U32, U64, FLAG, TEXT, BYTES, NEST };

struct attribute {
	const char *name;
	unsigned int number;
	enum kind kind;
	const struct attribute *nested;
};

#define FIELD(symbol, name, unit, help)	{ name, NEARCACHE_A_STATUS_##symbol, U64, NULL },
static const struct attribute status[] = {
	NEARCACHE_STATUS_FIELDS(FIELD)
	{ }
};

#define COUNTER(symbol, name, unit, help) { name, NEARCACHE_A_COUNTER_##symbol, U64, NULL },
static const struct attribute counters[] = {
	NEARCACHE_COUNTERS(COUNTER)
	{ }
};

static const struct attribute run[] = {
	{ "start", NEARCACHE_A_RUN_START, U64, NULL },
	{ "length", NEARCACHE_A_RUN_LENGTH, U64, NULL },
	{ "cached", NEARCACHE_A_RUN_CACHED, U32, NULL },
	{ }
};

static const struct attribute range[] = {
	{ "start", NEARCACHE_A_RANGE_START, U64, NULL },
	{ "length", NEARCACHE_A_RANGE_LENGTH, U64, NULL },
	{ "label", NEARCACHE_A_RANGE_LABEL, TEXT, NULL },
	{ "flags", NEARCACHE_A_RANGE_FLAGS, U32, NULL },
	{ "priority", NEARCACHE_A_RANGE_PRIORITY, U32, NULL },
	{ "expires", NEARCACHE_A_RANGE_EXPIRES, U32, NULL },
	{ }
};

#define LABEL(symbol, name, unit, help)	{ name, NEARCACHE_A_LABEL_##symbol, U64, NULL },
static const struct attribute label[] = {
	{ "name", NEARCACHE_A_LABEL_NAME, TEXT, NULL },
	{ "ranges", NEARCACHE_A_LABEL_RANGES, U64, NULL },
	{ "bytes", NEARCACHE_A_LABEL_BYTES, U64, NULL },
	{ "id", NEARCACHE_A_LABEL_ID, U32, NULL },
	NEARCACHE_LABEL_COUNTERS(LABEL)
	{ }
};

static const struct attribute job[] = {
	{ "id", NEARCACHE_A_JOB_ID, U32, NULL },
	{ "label", NEARCACHE_A_JOB_LABEL, TEXT, NULL },
	{ "state", NEARCACHE_A_JOB_STATE, U32, NULL },
	{ "priority", NEARCACHE_A_JOB_PRIORITY, U32, NULL },
	{ "deadline", NEARCACHE_A_JOB_DEADLINE, U32, NULL },
	{ "bandwidth", NEARCACHE_A_JOB_BANDWIDTH, U64, NULL },
	{ "bytes", NEARCACHE_A_JOB_BYTES, U64, NULL },
	{ "fetched", NEARCACHE_A_JOB_FETCHED, U64, NULL },
	{ "present", NEARCACHE_A_JOB_PRESENT, U64, NULL },
	{ "left", NEARCACHE_A_JOB_LEFT, U64, NULL },
	{ "flying", NEARCACHE_A_JOB_FLYING, U64, NULL },
	{ "peer-fd", NEARCACHE_A_JOB_PEER_FD, U32, NULL },
	{ "peer-dev", NEARCACHE_A_JOB_PEER_DEV, U32, NULL },
	{ }
};

static const struct attribute plan[] = {
	{ "at", NEARCACHE_A_PLAN_AT, U64, NULL },
	{ "commit", NEARCACHE_A_PLAN_COMMIT, FLAG, NULL },
	{ "state", NEARCACHE_A_PLAN_STATE, U32, NULL },
	{ "ranges", NEARCACHE_A_PLAN_RANGES, U64, NULL },
	{ "visits", NEARCACHE_A_PLAN_VISITS, U64, NULL },
	{ "blocks", NEARCACHE_A_PLAN_BLOCKS, U64, NULL },
	{ "position", NEARCACHE_A_PLAN_POSITION, U64, NULL },
	{ "hits", NEARCACHE_A_PLAN_HITS, U64, NULL },
	{ "misses", NEARCACHE_A_PLAN_MISSES, U64, NULL },
	{ "skipped", NEARCACHE_A_PLAN_SKIPPED, U64, NULL },
	{ "astray", NEARCACHE_A_PLAN_ASTRAY, U64, NULL },
	{ "refused", NEARCACHE_A_PLAN_REFUSED, U64, NULL },
	{ "sought", NEARCACHE_A_PLAN_SOUGHT, U64, NULL },
	{ "memory", NEARCACHE_A_PLAN_MEMORY, U64, NULL },
	{ "append", NEARCACHE_A_PLAN_APPEND, FLAG, NULL },
	{ "no-prefetch", NEARCACHE_A_PLAN_NO_PREFETCH, FLAG, NULL },
	{ }
};

/* The fields of a stage have the order of the status line; static/netlink compares their names. */
enum {
	STAGE_PAD = NEARCACHE_A_STAGE_STATUS_PAD,
#define STAGE_NUMBER(name)	STAGE_##name,
	NEARCACHE_STAGE_STATUS(STAGE_NUMBER)
};

#define STAGE_FIELD(name)	{ #name, STAGE_##name, U64, NULL },
static const struct attribute stage_status[] = {
	NEARCACHE_STAGE_STATUS(STAGE_FIELD)
	{ }
};

static const struct attribute device[] = {
	{ "dev", NEARCACHE_A_DEVICE_DEV, U32, NULL },
	{ "name", NEARCACHE_A_DEVICE_NAME, TEXT, NULL },
	{ "uuid", NEARCACHE_A_DEVICE_UUID, BYTES, NULL },
	{ "status", NEARCACHE_A_DEVICE_STATUS, NEST, status },
	{ "counters", NEARCACHE_A_DEVICE_COUNTERS, NEST, counters },
	{ "event", NEARCACHE_A_DEVICE_EVENT, U32, NULL },
	{ "start", NEARCACHE_A_DEVICE_START, U64, NULL },
	{ "length", NEARCACHE_A_DEVICE_LENGTH, U64, NULL },
	{ "run", NEARCACHE_A_DEVICE_RUN, NEST, run },
	{ "error", NEARCACHE_A_DEVICE_ERROR, U32, NULL },
	{ "cached-bytes", NEARCACHE_A_DEVICE_CACHED_BYTES, U64, NULL },
	{ "verify", NEARCACHE_A_DEVICE_VERIFY, U32, NULL },
	{ "cache-timeout", NEARCACHE_A_DEVICE_CACHE_TIMEOUT, U32, NULL },
	{ "origin-timeout", NEARCACHE_A_DEVICE_ORIGIN_TIMEOUT, U32, NULL },
	{ "fill-memory", NEARCACHE_A_DEVICE_FILL_MEMORY, U64, NULL },
	{ "range", NEARCACHE_A_DEVICE_RANGE, NEST, range },
	{ "label", NEARCACHE_A_DEVICE_LABEL, NEST, label },
	{ "needed", NEARCACHE_A_DEVICE_NEEDED, U64, NULL },
	{ "available", NEARCACHE_A_DEVICE_AVAILABLE, U64, NULL },
	{ "count", NEARCACHE_A_DEVICE_COUNT, U64, NULL },
	{ "job", NEARCACHE_A_DEVICE_JOB, NEST, job },
	{ "plan", NEARCACHE_A_DEVICE_PLAN, NEST, plan },
	{ "cache", NEARCACHE_A_DEVICE_CACHE, U32, NULL },
	{ "drop", NEARCACHE_A_DEVICE_DROP, NEST, range },
	{ "keep", NEARCACHE_A_DEVICE_KEEP, NEST, range },
	{ "stage-status", NEARCACHE_A_DEVICE_STAGE_STATUS, NEST, stage_status },
	{ "log", NEARCACHE_A_DEVICE_LOG, U32, NULL },
	{ "origin", NEARCACHE_A_DEVICE_ORIGIN, U32, NULL },
	{ "rate", NEARCACHE_A_DEVICE_RATE, U64, NULL },
	{ "max-behind", NEARCACHE_A_DEVICE_MAX_BEHIND, U64, NULL },
	{ "max-behind-time", NEARCACHE_A_DEVICE_MAX_BEHIND_TIME, U32, NULL },
	{ "map-memory", NEARCACHE_A_DEVICE_MAP_MEMORY, U64, NULL },
	{ "keep-retained", NEARCACHE_A_DEVICE_KEEP_RETAINED, U32, NULL },
	{ "on-full", NEARCACHE_A_DEVICE_ON_FULL, U32, NULL },
	{ }
};

static const struct {
	const char *name;
	int number;
} commands[] = {
	{ "device-get", NEARCACHE_CMD_DEVICE_GET },
	{ "device-set", NEARCACHE_CMD_DEVICE_SET },
	{ "invalidate", NEARCACHE_CMD_INVALIDATE },
	{ "residency-get", NEARCACHE_CMD_RESIDENCY_GET },
	{ "range-add", NEARCACHE_CMD_RANGE_ADD },
	{ "range-delete", NEARCACHE_CMD_RANGE_DELETE },
	{ "range-get", NEARCACHE_CMD_RANGE_GET },
	{ "label-get", NEARCACHE_CMD_LABEL_GET },
	{ "job-submit", NEARCACHE_CMD_JOB_SUBMIT },
	{ "job-cancel", NEARCACHE_CMD_JOB_CANCEL },
	{ "job-get", NEARCACHE_CMD_JOB_GET },
	{ "plan-submit", NEARCACHE_CMD_PLAN_SUBMIT },
	{ "plan-clear", NEARCACHE_CMD_PLAN_CLEAR },
	{ "plan-get", NEARCACHE_CMD_PLAN_GET },
	{ "range-replace", NEARCACHE_CMD_RANGE_REPLACE },
	{ "stage-get", NEARCACHE_CMD_STAGE_GET },
	{ "stage-set", NEARCACHE_CMD_STAGE_SET },
};

static void usage(const char *word)
{
	fprintf(stderr, "genl: unknown word '%s'\n", word);
	exit(2);
}

static void add_hex(unsigned int number, const char *hex)
{
	unsigned char data[4096];
	size_t bytes = 0;

	while (hex[0] && hex[1] && bytes < sizeof(data)) {
		char two[3] = { hex[0], hex[1] };

		data[bytes++] = strtoul(two, NULL, 16);
		hex += 2;
	}
	genl_add(number, data, bytes);
}

static void add_word(const struct attribute *set, const char *word, uint64_t ahead);

/* Add a nest of the comma-separated @words; leave out the label unless this is the @first nest. */
static void add_nest(const struct attribute *a, const char *words, uint64_t ahead, bool first)
{
	size_t begin = NLMSG_ALIGN(((struct nlmsghdr *)genl_request)->nlmsg_len);
	char *copy = strdup(words), *rest = copy, *word;

	genl_add(a->number, "", 0);
	while ((word = strsep(&rest, ",")))
		if (first || strncmp(word, "label=", 6))
			add_word(a->nested, word, ahead);
	genl_nest(a->number, begin);
	free(copy);
}

static void add_nests(const struct attribute *a, const char *words)
{
	char *end;
	uint64_t count = strtoull(words, &end, 0), step = 0, i;

	if (*end == '@') {
		step = strtoull(end + 1, &end, 0);
		words = end + 1;
	} else {
		count = 1;
	}
	for (i = 0; i < count; i++)
		add_nest(a, words, i * step, !i);
}

/* Add the attribute of @set that @word names; if it is "start", add @ahead to its value. */
static void add_word(const struct attribute *set, const char *word, uint64_t ahead)
{
	const char *value = strchr(word, '=');
	const struct attribute *a;
	uint64_t number;
	uint32_t small;

	if (!value && strchr(word, ':')) {
		add_hex(strtoul(word, NULL, 0), strchr(word, ':') + 1);
		return;
	}
	if (!value)
		usage(word);
	for (a = set; a->name; a++)
		if (!strncmp(a->name, word, value - word) && !a->name[value - word])
			break;
	if (!a->name)
		usage(word);
	number = strtoull(++value, NULL, 0);
	if (!strcmp(a->name, "start"))
		number += ahead;
	small = number;
	if (a->kind == NEST)
		add_nests(a, value);
	else if (a->kind == FLAG)
		genl_add(a->number, "", 0);
	else if (a->kind == TEXT)
		genl_add(a->number, value, strlen(value) + 1);
	else if (a->kind == U32)
		genl_add(a->number, &small, sizeof(small));
	else
		genl_add(a->number, &number, sizeof(number));
}

static void show(const unsigned char *at, const unsigned char *end, const struct attribute *set,
		 const char *in)
{
	const struct nlattr *a;

	while ((a = genl_next(&at, end))) {
		const unsigned char *data = (const unsigned char *)a + NLA_HDRLEN;
		size_t bytes = a->nla_len - NLA_HDRLEN;
		const struct attribute *is = set;
		unsigned int type = a->nla_type & NLA_TYPE_MASK;
		uint64_t number = 0;
		char name[256];

		while (is->name && is->number != type)
			is++;
		if (!is->name)
			continue;
		snprintf(name, sizeof(name), "%s%s", in, is->name);
		memcpy(&number, data, bytes < 8 ? bytes : 8);
		switch (is->kind) {
		case FLAG:
		case U32:
		case U64:
			printf("%s=%llu\n", name, (unsigned long long)number);
			break;
		case TEXT:
			printf("%s=%.*s\n", name, (int)bytes, data);
			break;
		case BYTES:
			printf("%s=", name);
			while (bytes--)
				printf("%02x", *data++);
			printf("\n");
			break;
		case NEST:
			printf("%s\n", name);
			strcat(name, ".");
			show(data, data + bytes, is->nested, name);
			break;
		}
	}
}

/* Find the name of the attribute at byte @offset of the request; "?" if there is none. */
static const char *named_at(const unsigned char *at, const unsigned char *end, uint32_t offset,
			    const struct attribute *set)
{
	const struct nlattr *a;

	while ((a = genl_next(&at, end))) {
		const unsigned char *begin = (const unsigned char *)a;
		const struct attribute *is = set;

		while (is->name && is->number != (a->nla_type & NLA_TYPE_MASK))
			is++;
		if (begin == genl_request + offset)
			return is->name ? is->name : "?";
		if (is->nested && genl_request + offset > begin &&
		    genl_request + offset < begin + a->nla_len)
			return named_at(begin + NLA_HDRLEN, begin + a->nla_len, offset, is->nested);
	}
	return "?";
}

static const char *at_offset(uint32_t offset)
{
	const struct nlmsghdr *h = (void *)genl_request;

	return named_at(genl_request + NLMSG_LENGTH(GENL_HDRLEN), genl_request + h->nlmsg_len,
			offset, device);
}

/* Print the error in an acknowledgement or at the end of a dump (without a copy of the request). */
static void explain(const struct nlmsghdr *h)
{
	const struct nlmsgerr *error = NLMSG_DATA(h);
	const unsigned char *at = (const unsigned char *)error + sizeof(error->error);
	const unsigned char *end = (const unsigned char *)h + h->nlmsg_len;
	const struct nlattr *a;

	fprintf(stderr, "%s:", strerrorname_np(-error->error));
	if (h->nlmsg_type == NLMSG_ERROR)
		at += h->nlmsg_flags & NLM_F_CAPPED ? sizeof(error->msg) :
						      NLMSG_ALIGN(error->msg.nlmsg_len);
	while ((h->nlmsg_flags & NLM_F_ACK_TLVS || h->nlmsg_type == NLMSG_DONE) &&
	       (a = genl_next(&at, end))) {
		if (a->nla_type == NLMSGERR_ATTR_MSG)
			fprintf(stderr, " %s", (const char *)a + NLA_HDRLEN);
		else if (a->nla_type == NLMSGERR_ATTR_OFFS)
			fprintf(stderr, " (%s)",
				at_offset(*(const uint32_t *)((const char *)a + NLA_HDRLEN)));
	}
	fprintf(stderr, "\n");
}

static int failed(struct nlmsghdr *h)
{
	int *error = NLMSG_DATA(h);

	if (!*error)
		return 0;
	explain(h);
	return 1;
}

/* An answer to the request has been printed. */
static bool shown;

/* Print one datagram.  Returns 0 if more must follow, 1 at the end, 2 after an error. */
static int take(const struct attribute *set, bool ends)
{
	ssize_t bytes = recv(genl_sock, genl_answer, GENL_ROOM, 0);
	struct nlmsghdr *h = (void *)genl_answer;

	if (bytes < 0)
		genl_die("recv");
	for (; NLMSG_OK(h, bytes); h = NLMSG_NEXT(h, bytes)) {
		if (h->nlmsg_flags & NLM_F_DUMP_INTR)
			printf("interrupted\n");
		if (h->nlmsg_type == NLMSG_ERROR || h->nlmsg_type == NLMSG_DONE)
			return 1 + failed(h);
		shown = true;
		show((unsigned char *)NLMSG_DATA(h) + GENL_HDRLEN,
		     (unsigned char *)h + h->nlmsg_len, set, "");
		if (!ends)
			return 1;
	}
	return 0;
}

static int ask(const struct attribute *set, bool later)
{
	struct nlmsghdr *h = (void *)genl_request;
	int end;

	if (send(genl_sock, genl_request, h->nlmsg_len, 0) != h->nlmsg_len)
		genl_die("send");
	while (!(end = take(set, true)))
		;
	/* @later: the kernel works in the background and may answer after the ACK. */
	if (end == 1 && later && !shown)
		take(set, false);
	return end - 1;
}

static int listen_for(int count, const char *path)
{
	if (setsockopt(genl_sock, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &genl_group, sizeof(genl_group)))
		genl_die("listen");
	if (close(open(path, O_CREAT | O_WRONLY, 0600)))
		genl_die(path);
	while (count--) {
		take(device, false);
		fflush(stdout);
	}
	return 0;
}

static int number_of(const char *command)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(command, commands[i].name))
			return commands[i].number;
	i = strtoul(command, NULL, 0);
	if (!i)
		usage(command);
	return i;
}

static void drop_sys_admin(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data))
		genl_die("capget");
	data[0].effective &= ~(1U << CAP_SYS_ADMIN);
	data[0].permitted &= ~(1U << CAP_SYS_ADMIN);
	data[0].inheritable &= ~(1U << CAP_SYS_ADMIN);
	if (syscall(SYS_capset, &header, data))
		genl_die("capset");
}

int main(int argc, char **argv)
{
	const char *command;
	bool dump = false;
	int option, error, count = 1;

	while ((option = getopt(argc, argv, "+du:sn:")) != -1) {
		if (option == 'd')
			dump = true;
		else if (option == 's')
			drop_sys_admin();
		else if (option == 'n')
			count = atoi(optarg);
		else if (option != 'u')
			return 2;
		else if (setgid(atoi(optarg)) || setuid(atoi(optarg)))
			genl_die("setuid");
	}
	argv += optind;
	if (!argv[0])
		usage("");
	genl_open();
	if (!strcmp(argv[0], "listen"))
		return argv[1] && argv[2] ? listen_for(atoi(argv[1]), argv[2]) : 2;
	command = argv[0];
	genl_message(genl_family, dump ? NLM_F_DUMP : NLM_F_ACK, number_of(command));
	while (*++argv)
		add_word(device, *argv, 0);
	do
		error = ask(device, number_of(command) == NEARCACHE_CMD_INVALIDATE);
	while (!error && --count);
	return error;
}
