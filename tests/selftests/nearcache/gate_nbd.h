/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The gates of the program 'gate': network block devices that the program itself serves.  Rules hold
 * or fail requests; a test script answers held requests in any order.  gate.c lists the commands.
 */
#ifndef NEARCACHE_TEST_GATE_NBD_H
#define NEARCACHE_TEST_GATE_NBD_H

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <linux/fs.h>
#include <linux/nbd.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#include "device.h"
#include "gate_runs.h"

#define PATIENCE	(30 * slow)	/* seconds */
#define CMD_ZEROES	6	/* NBD_CMD_WRITE_ZEROES; older headers lack it */
#define FLAG_ZEROES	(1 << 6)
#define CMD_FUA		(1 << 16)

static int slow = 1;		/* factor of PATIENCE; $SLOW */

enum { READ, WRITE, FLUSH, TRIM, ZEROES, FUA, CLASSES, ANY = CLASSES };
enum action { PASS, HOLD, MUTE, FAIL };

static const char *const class_names[] = { "read", "write", "flush", "trim",
					   "zeroes", "fua", "any" };

struct rule {
	enum action action;
	int class;
	uint64_t first, last;
	unsigned int before;		/* matching requests that pass before the rule applies */
};

struct request {
	struct request *next;
	char handle[8];
	int class;
	uint64_t first, count;
	char *data;
	bool done;
};

struct gate {
	char name[16];
	char path[24];
	int fd, socket, pipe[2];
	char *data, *kept;
	uint64_t bytes;
	struct rule rules[8];
	int rule_count;
	struct request *held, **tail;
	int held_count;
	unsigned int seen[CLASSES];
	pthread_t server, kernel;
};

/* For the gates and gate.c's operations.  @changed: a request is held or an operation ended. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct gate gates[4];
static int gate_count;

static inline void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

#define ok(format, ...)		say("ok " format, ##__VA_ARGS__)
#define bad(format, ...)	say("FAIL " format, ##__VA_ARGS__)

static inline void give(struct gate *g, const char *data, size_t bytes)
{
	ssize_t n;

	for (; bytes; bytes -= n, data += n) {
		n = write(g->socket, data, bytes);
		/* The kernel has closed its side of the socket: end this thread. */
		if (n <= 0)
			pthread_exit(NULL);
	}
}

/*
 * Receive through a pipe.  A read() of the socket may fault on user memory under the socket's
 * lock, and a page fault takes file-system locks.  File systems in turn read from nbd, which takes
 * the socket's lock: lockdep would report this circle once and then stop checking all locks.
 */
static inline void take(struct gate *g, char *data, size_t bytes)
{
	ssize_t n, moved = 0;

	for (; bytes; bytes -= n, data += n, moved -= n) {
		if (!moved)
			moved = splice(g->socket, NULL, g->pipe[1], NULL, bytes, 0);
		if (moved <= 0)
			pthread_exit(NULL);
		n = read(g->pipe[0], data, moved);
		if (n <= 0)
			pthread_exit(NULL);
	}
}

static inline void perform(struct gate *g, struct request *r)
{
	char *at = g->data + r->first * SECTOR;

	if (r->done)
		return;
	r->done = true;
	switch (r->class) {
	case READ:
		memcpy(r->data, at, r->count * SECTOR);
		break;
	case WRITE:
		memcpy(at, r->data, r->count * SECTOR);
		break;
	case TRIM:
	case ZEROES:
		memset(at, 0, r->count * SECTOR);
	}
}

/* Reply to @r and free it.  @lock is held, so that two replies do not mix on the socket. */
static inline void answer(struct gate *g, struct request *r, int error)
{
	struct nbd_reply reply = { .magic = htonl(NBD_REPLY_MAGIC), .error = htonl(error) };

	if (!error)
		perform(g, r);
	memcpy(&reply.handle, r->handle, sizeof(r->handle));
	give(g, (char *)&reply, sizeof(reply));
	if (!error && r->class == READ)
		give(g, r->data, r->count * SECTOR);
	free(r->data);
	free(r);
}

static inline enum action verdict(struct gate *g, const struct request *r)
{
	int i;

	for (i = 0; i < g->rule_count; i++) {
		struct rule *rule = &g->rules[i];

		if ((rule->class != ANY && rule->class != r->class) ||
		    r->first > rule->last || r->first + r->count <= rule->first)
			continue;
		if (!rule->before)
			return rule->action;
		rule->before--;
	}
	return PASS;
}

static inline void arrived(struct gate *g, struct request *r)
{
	enum action action = verdict(g, r);

	g->seen[r->class]++;
	if (action == PASS || action == FAIL) {
		answer(g, r, action == FAIL ? EIO : 0);
		return;
	}
	if (action == MUTE)
		perform(g, r);
	*g->tail = r;
	g->tail = &r->next;
	g->held_count++;
	pthread_cond_broadcast(&changed);
}

static inline void *serve(void *arg)
{
	struct gate *g = arg;

	for (;;) {
		struct nbd_request n;
		struct request *r = calloc(1, sizeof(*r));
		uint32_t type;

		take(g, (char *)&n, sizeof(n));
		type = ntohl(n.type);
		memcpy(r->handle, &n.handle, sizeof(r->handle));
		r->first = be64toh(n.from) / SECTOR;
		r->count = ntohl(n.len) / SECTOR;
		switch (type & 0xffff) {
		case NBD_CMD_READ:
			r->class = READ;
			break;
		case NBD_CMD_WRITE:
			r->class = WRITE;
			break;
		case NBD_CMD_FLUSH:
			r->class = FLUSH;
			r->first = 0;
			r->count = g->bytes / SECTOR;
			break;
		case NBD_CMD_TRIM:
			r->class = TRIM;
			break;
		case CMD_ZEROES:
			r->class = ZEROES;
			break;
		default:
			return NULL;
		}
		if (r->class == READ || r->class == WRITE)
			r->data = malloc(r->count * SECTOR);
		if (r->class == WRITE)
			take(g, r->data, r->count * SECTOR);
		pthread_mutex_lock(&lock);
		if (type & CMD_FUA)
			g->seen[FUA]++;
		arrived(g, r);
		pthread_mutex_unlock(&lock);
	}
}

static inline void *kernel_side(void *arg)
{
	struct gate *g = arg;

	ioctl(g->fd, NBD_DO_IT);
	return NULL;
}

static inline struct gate *gate(const char *name)
{
	int i;

	for (i = 0; i < gate_count; i++)
		if (!strcmp(gates[i].name, name))
			return &gates[i];
	return NULL;
}

static inline bool open_gate(struct gate *g, unsigned long flags)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) ||
	    pipe2(g->pipe, O_CLOEXEC))
		return false;
	g->socket = pair[1];
	g->data = mmap(NULL, g->bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ioctl(g->fd, NBD_SET_SOCK, (long)pair[0]) ||
	    ioctl(g->fd, NBD_SET_BLKSIZE, (long)SECTOR) ||
	    ioctl(g->fd, NBD_SET_SIZE_BLOCKS, (long)(g->bytes / SECTOR)) ||
	    ioctl(g->fd, NBD_SET_FLAGS, flags))
		return false;
	g->tail = &g->held;
	return !pthread_create(&g->server, NULL, serve, g) &&
	       !pthread_create(&g->kernel, NULL, kernel_side, g);
}

/* Returns true once the kernel has connected the device, so that it has a size and a pid. */
static inline bool is_there(const char *path, uint64_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t size = 0;
	char pid[64];

	if (fd < 0)
		return false;
	ioctl(fd, BLKGETSIZE64, &size);
	close(fd);
	snprintf(pid, sizeof(pid), "/sys/block/%s/pid", path + strlen("/dev/"));
	return size == bytes && !access(pid, F_OK);
}

static inline void setting(const char *path, const char *name, const char *value)
{
	char file[64];
	FILE *f;

	snprintf(file, sizeof(file), "/sys/block/%s/queue/%s", path + strlen("/dev/"), name);
	f = fopen(file, "w");
	if (f) {
		fputs(value, f);
		fclose(f);
	}
}

static inline void device(int words, char **word)
{
	static const struct { const char *name; int flag; } flags[] = {
		{ "trim", NBD_FLAG_SEND_TRIM }, { "zeroes", FLAG_ZEROES },
		{ "flush", NBD_FLAG_SEND_FLUSH }, { "fua", NBD_FLAG_SEND_FUA },
		{ "ro", NBD_FLAG_READ_ONLY },
	};
	struct gate *g = &gates[gate_count];
	unsigned long all = NBD_FLAG_HAS_FLAGS;
	unsigned int i, tries;

	snprintf(g->name, sizeof(g->name), "%s", word[1]);
	snprintf(g->path, sizeof(g->path), "/dev/nbd%d", gate_count++);
	g->bytes = strtoull(word[2], NULL, 0) << 20;
	for (; words > 3; words--)
		for (i = 0; i < sizeof(flags) / sizeof(*flags); i++)
			if (!strcmp(flags[i].name, word[words - 1]))
				all |= flags[i].flag;
	g->fd = open(g->path, O_RDWR | O_CLOEXEC);
	if (g->fd < 0 || !open_gate(g, all)) {
		bad("%s: %s", g->path, strerror(errno));
		return;
	}
	for (tries = 0; !is_there(g->path, g->bytes); tries++) {
		if (tries > PATIENCE * 100) {
			bad("%s does not appear", g->path);
			return;
		}
		usleep(10000);
	}
	/* Make the kernel send requests unmerged and in order. */
	setting(g->path, "scheduler", "none");
	setting(g->path, "nomerges", "2");
	ok("%s", g->path);
}

static inline void add_rule(struct gate *g, int words, char **word, enum action action,
			    unsigned int before)
{
	struct rule rule = { .action = action, .last = UINT64_MAX, .before = before };
	bool full;

	while (rule.class < ANY && strcmp(class_names[rule.class], word[2]))
		rule.class++;
	/* No request has the class "fua": it is only counted. */
	if (strcmp(class_names[rule.class], word[2]) || rule.class == FUA) {
		bad("no class of requests is '%s'", word[2]);
		return;
	}
	if (words > 4) {
		rule.first = strtoull(word[3], NULL, 0);
		rule.last = rule.first + strtoull(word[4], NULL, 0) - 1;
	}
	pthread_mutex_lock(&lock);
	full = g->rule_count == sizeof(g->rules) / sizeof(g->rules[0]);
	if (!full)
		g->rules[g->rule_count++] = rule;
	pthread_mutex_unlock(&lock);
	if (full)
		bad("a gate has at most %d rules", g->rule_count);
	else
		ok("");
}

/* Save the content of the device; with @back, restore the saved content. */
static inline void keep(struct gate *g, bool back)
{
	if (!g->kept)
		g->kept = calloc(1, g->bytes);
	if (!g->kept)
		bad("no memory");
	else if (back)
		memcpy(g->data, g->kept, g->bytes), ok("");
	else
		memcpy(g->kept, g->data, g->bytes), ok("");
}

/* Wait for @changed, with @lock held.  Returns false at the deadline. */
static inline bool wait_changed(const struct timespec *deadline)
{
	return !pthread_cond_timedwait(&changed, &lock, deadline);
}

static inline struct timespec in_seconds(int seconds)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += seconds;
	return t;
}

static inline void held(struct gate *g, int n)
{
	struct timespec deadline = in_seconds(PATIENCE);
	char text[1024] = "";
	struct request *r;
	size_t used = 0;

	pthread_mutex_lock(&lock);
	while (g->held_count < n && wait_changed(&deadline))
		;
	for (r = g->held; r && used < sizeof(text) - 64; r = r->next)
		used += sprintf(text + used, " %s %llu+%llu", class_names[r->class],
				(unsigned long long)r->first,
				(unsigned long long)r->count);
	if (g->held_count == n)
		ok("%s", text);
	else
		bad("%d requests held at %s, not %d:%s", g->held_count, g->name, n, text);
	pthread_mutex_unlock(&lock);
}

static inline void let(struct gate *g, const char *which, bool failing)
{
	int i = 0, index = !strcmp(which, "last") ? g->held_count - 1 : atoi(which);
	bool all = !strcmp(which, "all");
	struct request **r, *gone;
	int n = 0;

	pthread_mutex_lock(&lock);
	for (r = &g->held; *r; i++) {
		if (!all && i != index) {
			r = &(*r)->next;
			continue;
		}
		gone = *r;
		*r = gone->next;
		g->held_count--;
		n++;
		answer(g, gone, failing ? EIO : 0);
	}
	for (g->tail = &g->held; *g->tail; g->tail = &(*g->tail)->next)
		;
	pthread_mutex_unlock(&lock);
	if (n || all)
		ok("%d", n);
	else
		bad("nothing stands at %s", g->name);
}

static inline void seen(struct gate *g)
{
	pthread_mutex_lock(&lock);
	ok("%u %u %u %u %u %u", g->seen[READ], g->seen[WRITE], g->seen[FLUSH],
	   g->seen[TRIM], g->seen[ZEROES], g->seen[FUA]);
	memset(g->seen, 0, sizeof(g->seen));
	pthread_mutex_unlock(&lock);
}

static inline void gates_close(void)
{
	int i;

	for (i = 0; i < gate_count; i++) {
		ioctl(gates[i].fd, NBD_DISCONNECT);
		ioctl(gates[i].fd, NBD_CLEAR_SOCK);
		pthread_join(gates[i].kernel, NULL);
	}
}

#endif /* NEARCACHE_TEST_GATE_NBD_H */
