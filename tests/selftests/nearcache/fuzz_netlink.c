// SPDX-License-Identifier: GPL-2.0-only
/*
 * Send COUNT messages to the netlink family: valid, with one fault, or with random attributes.
 *
 *	fuzz_netlink NAME,DEV[:NAME,DEV...] COUNT SEED
 *
 * DEV is the number of the dm device NAME, as device-get prints it. The kernel must not crash. If
 * it refuses the content of a request, its answer must have a message or name the attribute.
 */
#include <errno.h>
#include <stdbool.h>

#include "genl.h"
#include "sector.h"

#define DEVICES	8

struct target {
	char name[64];
	uint32_t dev;
};

static struct target target[DEVICES];
static unsigned int targets;
static uint64_t state, answered, refused, runs;

static uint64_t any(uint64_t below)
{
	return random_next(&state) % below;
}

static void wrong(const char *what)
{
	const struct nlmsghdr *h = (void *)genl_request;
	size_t i;

	printf("message %llu: %s:", (unsigned long long)(answered + refused), what);
	for (i = 0; i < h->nlmsg_len && i < 400; i++)
		printf(" %02x", genl_request[i]);
	printf("\n");
	exit(1);
}

/* Draw a number: a limit of an attribute, a number near a limit, or any number. */
static uint64_t number(void)
{
	static const uint64_t border[] = {
		0, 1, 99, 100, 512, 600000, 600001, 86400, 86401, 1 << 20, 10 << 20, 1ULL << 31,
		1ULL << 32, 1ULL << 40, 1ULL << 63, ~0ULL,
	};
	uint64_t n = border[any(sizeof(border) / sizeof(border[0]))];

	switch (any(4)) {
	case 0:
		return n;
	case 1:
		return n + any(3) - 1;
	case 2:
		return any(20000) * 512;
	default:
		return random_next(&state) >> any(64);
	}
}

static void add_any(unsigned int depth)
{
	unsigned char data[300];
	unsigned int type = any(8) ? any(NEARCACHE_A_DEVICE_MAX + 3) : any(0x10000);
	size_t bytes = any(4) ? 4 * (1 + any(2)) : any(sizeof(data)), i;
	struct nlmsghdr *h = (void *)genl_request;
	uint64_t value = number();
	size_t at = NLMSG_ALIGN(h->nlmsg_len);

	memcpy(data, &value, sizeof(value));
	for (i = sizeof(value); i < bytes; i++)
		data[i] = random_next(&state);
	genl_add(type, data, bytes);
	if (depth && !any(6)) {
		/* Replace the payload by nested attributes. */
		struct nlattr *a = (void *)(genl_request + at);

		h->nlmsg_len = at + NLA_HDRLEN;
		for (i = any(4); i; i--)
			add_any(depth - 1);
		a->nla_type = type | (any(2) ? NLA_F_NESTED : 0);
		a->nla_len = h->nlmsg_len - at;
	}
}

static void add_u32(unsigned int number, uint32_t value)
{
	genl_add(number, &value, sizeof(value));
}

static void add_u64(unsigned int number, uint64_t value)
{
	genl_add(number, &value, sizeof(value));
}

/* Add a range, mostly with valid attributes. */
static void add_range(int type)
{
	size_t begin = NLMSG_ALIGN(((struct nlmsghdr *)genl_request)->nlmsg_len);
	char label[8];

	genl_add(type, "", 0);
	if (any(20))
		add_u64(NEARCACHE_A_RANGE_START, any(20) ? any(16000) * 512 : number());
	if (any(20))
		add_u64(NEARCACHE_A_RANGE_LENGTH, any(20) ? (1 + any(4000)) * 512 : number());
	if (any(4)) {
		snprintf(label, sizeof(label), "%u", (unsigned int)any(40));
		genl_add(NEARCACHE_A_RANGE_LABEL, label, strlen(label) + 1);
	}
	if (any(2))
		add_u32(NEARCACHE_A_RANGE_FLAGS, any(20) ? any(8) : number());
	if (!any(4))
		add_u32(NEARCACHE_A_RANGE_PRIORITY, any(9));
	if (!any(4))
		add_u32(NEARCACHE_A_RANGE_EXPIRES, any(20) ? any(3) : number());
	genl_nest(type, begin);
}

static void add_job(int command)
{
	size_t begin = NLMSG_ALIGN(((struct nlmsghdr *)genl_request)->nlmsg_len);

	genl_add(NEARCACHE_A_DEVICE_JOB, "", 0);
	if (command != NEARCACHE_CMD_JOB_SUBMIT || !any(20))
		add_u32(NEARCACHE_A_JOB_ID, any(4) ? any(200) : number());
	if (!any(4))
		genl_add(NEARCACHE_A_JOB_LABEL, "job", 4);
	if (!any(4))
		add_u32(NEARCACHE_A_JOB_PRIORITY, any(9));
	if (!any(4))
		add_u32(NEARCACHE_A_JOB_DEADLINE, number());
	if (!any(4))
		add_u64(NEARCACHE_A_JOB_BANDWIDTH, number());
	if (!any(20))
		add_u64(NEARCACHE_A_JOB_BYTES + any(5), number());
	genl_nest(NEARCACHE_A_DEVICE_JOB, begin);
}

static void add_plan(void)
{
	size_t begin = NLMSG_ALIGN(((struct nlmsghdr *)genl_request)->nlmsg_len);

	genl_add(NEARCACHE_A_DEVICE_PLAN, "", 0);
	if (!any(4))
		add_u64(NEARCACHE_A_PLAN_AT, any(4) ? any(6) : number());
	if (any(4))
		genl_add(NEARCACHE_A_PLAN_COMMIT, "", 0);
	if (!any(4))
		genl_add(NEARCACHE_A_PLAN_APPEND + any(2), "", 0);
	if (!any(20))
		add_u64(NEARCACHE_A_PLAN_RANGES + any(5), number());
	genl_nest(NEARCACHE_A_DEVICE_PLAN, begin);
}

/* Add a piece of a job or plan: a range with start and length only. */
static void add_piece(void)
{
	size_t begin = NLMSG_ALIGN(((struct nlmsghdr *)genl_request)->nlmsg_len);

	genl_add(NEARCACHE_A_DEVICE_RANGE, "", 0);
	add_u64(NEARCACHE_A_RANGE_START, any(20) ? any(16000) * 512 : number());
	add_u64(NEARCACHE_A_RANGE_LENGTH, any(20) ? (1 + any(2000)) * 512 : number());
	genl_nest(NEARCACHE_A_DEVICE_RANGE, begin);
}

static bool has_ranges(int command)
{
	return command == NEARCACHE_CMD_RANGE_ADD || command == NEARCACHE_CMD_RANGE_DELETE;
}

static bool has_job(int command)
{
	return command == NEARCACHE_CMD_JOB_SUBMIT || command == NEARCACHE_CMD_JOB_CANCEL ||
	       command == NEARCACHE_CMD_JOB_GET;
}

static void add_target(void)
{
	const struct target *t = &target[any(targets)];

	if (any(20)) {
		if (any(2))
			genl_add(NEARCACHE_A_DEVICE_DEV, &t->dev, sizeof(t->dev));
		else
			genl_add(NEARCACHE_A_DEVICE_NAME, t->name, strlen(t->name) + 1);
	}
}

/* Add the attributes that @command takes, mostly with valid values. */
static void add_right(int command)
{
	uint64_t n;
	uint32_t small;

	if (has_ranges(command)) {
		for (n = 1 + any(6); n; n--)
			add_range(NEARCACHE_A_DEVICE_RANGE);
	} else if (command == NEARCACHE_CMD_RANGE_REPLACE) {
		for (n = 1 + any(12); n; n--)
			add_range(any(2) ? NEARCACHE_A_DEVICE_RANGE :
				  any(3) ? NEARCACHE_A_DEVICE_DROP : NEARCACHE_A_DEVICE_KEEP);
	} else if (has_job(command)) {
		for (n = command == NEARCACHE_CMD_JOB_SUBMIT ? 1 + any(5) : 0; n; n--)
			add_piece();
		if (any(4))
			add_job(command);
	} else if (command == NEARCACHE_CMD_PLAN_SUBMIT) {
		for (n = any(20); n; n--)
			add_piece();
		if (any(4))
			add_plan();
	} else if (command == NEARCACHE_CMD_DEVICE_SET) {
		small = any(10);
		genl_add(NEARCACHE_A_DEVICE_VERIFY, &small, sizeof(small));
		small = any(2) * (100 + any(1000));
		genl_add(NEARCACHE_A_DEVICE_CACHE_TIMEOUT, &small, sizeof(small));
		n = (1 << 20) + any(64 << 20);
		genl_add(NEARCACHE_A_DEVICE_FILL_MEMORY, &n, sizeof(n));
	} else if (command == NEARCACHE_CMD_STAGE_SET) {
		if (any(2))
			add_u64(NEARCACHE_A_DEVICE_RATE, any(2) ? 65536 + any(1 << 30) : number());
		if (any(2))
			add_u64(NEARCACHE_A_DEVICE_MAX_BEHIND, any(2) ? any(2) * (1 << 20) : number());
		if (any(2))
			add_u32(NEARCACHE_A_DEVICE_MAX_BEHIND_TIME, any(2) ? any(86401) : number());
	} else if (any(2)) {
		n = any(16000) * 512;
		genl_add(NEARCACHE_A_DEVICE_START, &n, sizeof(n));
		n = (1 + any(8000)) * 512;
		genl_add(NEARCACHE_A_DEVICE_LENGTH, &n, sizeof(n));
	}
}

/* Make the request invalid in one random way. */
static void spoil(void)
{
	struct nlmsghdr *h = (void *)genl_request;
	unsigned int body = h->nlmsg_len - NLMSG_HDRLEN;

	switch (any(4)) {
	case 0:
		/* Shorten the message, so that its last attribute may end behind the message. */
		h->nlmsg_len = NLMSG_HDRLEN + any(body + 1);
		break;
	case 1:
		genl_request[NLMSG_LENGTH(GENL_HDRLEN) +
			     any(body - GENL_HDRLEN + 1)] = random_next(&state);
		break;
	case 2:
		/* Change the length in the first attribute. */
		if (body > GENL_HDRLEN + 4)
			((struct nlattr *)(genl_request + NLMSG_LENGTH(GENL_HDRLEN)))->nla_len =
				any(any(2) ? 64 : 0x10000);
		break;
	default:
		add_any(2);
	}
}

static bool has_words(const struct nlmsghdr *h)
{
	return h->nlmsg_flags & NLM_F_ACK_TLVS;
}

/* Must the kernel explain @error?  Yes for bad content, if the request has a complete header. */
static bool wants_words(int error)
{
	const struct nlmsghdr *h = (void *)genl_request;

	if (h->nlmsg_len < NLMSG_LENGTH(GENL_HDRLEN))
		return false;
	return error == -EINVAL || error == -ERANGE || error == -ELOOP || error == -ENODEV || error == -EBUSY;
}

static void judge(struct nlmsghdr *h, ssize_t bytes)
{
	for (; NLMSG_OK(h, bytes); h = NLMSG_NEXT(h, bytes)) {
		const struct nlmsgerr *e = NLMSG_DATA(h);

		if (h->nlmsg_type == genl_family)
			runs++;
		if (h->nlmsg_type != NLMSG_ERROR)
			continue;
		refused += !!e->error;
		if (wants_words(e->error) && !has_words(h))
			wrong("refused without a message");
	}
}

/* Send the request and judge the answers; the kernel has answered when send() returns. */
static void send_it(void)
{
	const struct nlmsghdr *h = (void *)genl_request;
	ssize_t bytes;

	if (send(genl_sock, genl_request, h->nlmsg_len < 16 ? 16 : h->nlmsg_len, 0) < 0)
		wrong(strerror(errno));
	while ((bytes = recv(genl_sock, genl_answer, GENL_ROOM, MSG_DONTWAIT)) >= 0)
		judge((void *)genl_answer, bytes);
	if (errno != EAGAIN && errno != ENOBUFS)
		wrong(strerror(errno));
	answered++;
}

static void try(void)
{
	int command = any(10) ? 1 + any(NEARCACHE_CMD_MAX) : any(256), i;

	genl_message(genl_family, any(3) ? NLM_F_ACK : NLM_F_ACK | NLM_F_DUMP, command);
	add_target();
	if (any(4))
		add_right(command);
	for (i = any(3) ? 0 : any(5); i; i--)
		add_any(2);
	if (!any(3))
		spoil();
	send_it();
}

static void parse(char *words)
{
	char *word, *number;

	while ((word = strsep(&words, ":")) && targets < DEVICES) {
		number = strchr(word, ',');
		if (!number)
			exit(2);
		*number = '\0';
		snprintf(target[targets].name, sizeof(target[0].name), "%s", word);
		target[targets++].dev = strtoul(number + 1, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	uint64_t count, i;

	if (argc != 4)
		return 2;
	parse(argv[1]);
	count = strtoull(argv[2], NULL, 0);
	state = strtoull(argv[3], NULL, 0);
	genl_open();
	for (i = 0; i < count; i++)
		try();
	printf("%llu messages, %llu refused, %llu answers with data\n", (unsigned long long)answered,
	       (unsigned long long)refused, (unsigned long long)runs);
	return !refused || !runs;
}
