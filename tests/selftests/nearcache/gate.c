// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block devices with a gate, and those who read and write through it.  The devices
 * are network block devices whose server is this program: it holds requests, lets
 * them go one by one in any order, fails them, and sees their flags.  So a race is
 * a script: whoever is to be overtaken stands at the gate, and that he does is seen.
 *
 * Commands come on stdin, one per line; each is answered by one line "ok ..." or
 * "FAIL why".  Sectors have 512 bytes; data are those of sector.h, told as runs
 * "GENERATIONxSECTORS" (0: zeros, ?: anything else).  Gates:
 *
 *	device NAME MB [trim] [zeroes] [flush] [fua] [ro]	-> path
 *	hold NAME CLASS [FIRST COUNT]	requests stand before they are done,
 *	mute NAME CLASS [FIRST COUNT]	are done, but stand before they are answered,
 *	fail NAME CLASS [FIRST COUNT]	or fail; CLASS: read write flush trim zeroes any
 *	pass NAME			nothing of that any more for those to come
 *	held NAME N			wait until N stand
 *	let NAME all|last|INDEX [fail]	let those go (INDEX in the order of arrival)
 *	seen NAME		-> reads writes flushes trims zeroes fua since the last time
 *	fill NAME GENERATION FIRST COUNT, look NAME FIRST COUNT -> runs
 *
 * Readers and writers (O_DIRECT), each with a name of its own:
 *
 *	read ID PATH FIRST COUNT	write ID PATH GENERATION FIRST COUNT [sync]
 *	trim|zeroes|secure|flush ID PATH [FIRST COUNT]
 *	busy ID			it is under way, and stays so for a moment
 *	end ID			wait for its end -> "done", an errno, or runs
 *	get PATH FIRST COUNT, put PATH GENERATION FIRST COUNT	at once
 *
 * The cache:
 *
 *	value DM FIELD		-> a field of its status
 *	until DM FIELD =|>|< N	wait until it is so
 *	agree DM NAME FIRST COUNT	no fill is under way, two reads of /dev/mapper/DM
 *				give what device NAME holds -> runs
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <linux/dm-ioctl.h>
#include <linux/fs.h>
#include <linux/nbd.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#include "device.h"
#include "nearcache_counters.h"
#include "sector.h"

#define PATIENCE	(30 * slow)	/* seconds */
#define WORDS		8
#define CMD_ZEROES	6	/* newer than some of the kernels' headers */
#define FLAG_ZEROES	(1 << 6)
#define CMD_FUA		(1 << 16)

static int slow = 1;		/* factor, for a slow kernel */

enum { READ, WRITE, FLUSH, TRIM, ZEROES, FUA, CLASSES, ANY = CLASSES };
enum action { PASS, HOLD, MUTE, FAIL };

static const char *const class_names[] = { "read", "write", "flush", "trim",
					   "zeroes", "fua", "any" };

struct rule {
	enum action action;
	int class;
	uint64_t first, last;
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
	int fd, socket;
	char *data;
	uint64_t bytes;
	struct rule rules[8];
	int rule_count;
	struct request *held, **tail;
	int held_count;
	unsigned int seen[CLASSES];
	pthread_t server, kernel;
};

struct op {
	struct op *next;
	char id[16], path[64], what[16];
	uint64_t generation, first, count;
	bool sync, done;
	int error;
	struct sector *data;
	pthread_t thread;
};

/* Protects all of the above. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct gate gates[4];
static int gate_count;
static struct op *ops;
static int control;

static void say(const char *format, ...)
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

static void all_of(int fd, char *data, size_t bytes, bool out)
{
	ssize_t n;

	for (; bytes; bytes -= n, data += n) {
		n = out ? write(fd, data, bytes) : read(fd, data, bytes);
		/* The kernel's side is gone. */
		if (n <= 0)
			pthread_exit(NULL);
	}
}

/* --- what is in a sector ------------------------------------------------- */

static int64_t generation_of(const struct sector *s, uint64_t number)
{
	static const struct sector zero;

	if (!memcmp(s, &zero, SECTOR))
		return 0;
	if (s->magic != SECTOR_MAGIC || s->number != number ||
	    s->checksum != sector_sum(s))
		return -1;
	return s->generation;
}

static const char *runs(const struct sector *s, uint64_t first, uint64_t count)
{
	static char text[4096];
	uint64_t i, start = 0;
	size_t used = 0;

	for (i = 1; i <= count; i++) {
		int64_t generation = generation_of(s + start, first + start);

		if (i < count && generation_of(s + i, first + i) == generation)
			continue;
		if (used > sizeof(text) - 32)
			break;
		if (used)
			text[used++] = ' ';
		used += generation < 0 ?
			sprintf(text + used, "?x%d", (int)(i - start)) :
			sprintf(text + used, "%dx%d", (int)generation, (int)(i - start));
		start = i;
	}
	return text;
}

static void make(struct sector *s, uint64_t generation, uint64_t first, uint64_t count)
{
	uint64_t i;

	for (i = 0; i < count; i++)
		sector_make(s + i, first + i, generation);
}

/* --- the gates ----------------------------------------------------------- */

static void perform(struct gate *g, struct request *r)
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

/* Under the lock, so that answers do not mix. */
static void answer(struct gate *g, struct request *r, int error)
{
	struct nbd_reply reply = { .magic = htonl(NBD_REPLY_MAGIC), .error = htonl(error) };

	if (!error)
		perform(g, r);
	memcpy(&reply.handle, r->handle, sizeof(r->handle));
	all_of(g->socket, (char *)&reply, sizeof(reply), true);
	if (!error && r->class == READ)
		all_of(g->socket, r->data, r->count * SECTOR, true);
	free(r->data);
	free(r);
}

static enum action verdict(const struct gate *g, const struct request *r)
{
	int i;

	for (i = 0; i < g->rule_count; i++) {
		const struct rule *rule = &g->rules[i];

		if ((rule->class == ANY || rule->class == r->class) &&
		    r->first <= rule->last && r->first + r->count > rule->first)
			return rule->action;
	}
	return PASS;
}

static void arrived(struct gate *g, struct request *r)
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

static void *serve(void *arg)
{
	struct gate *g = arg;

	for (;;) {
		struct nbd_request n;
		struct request *r = calloc(1, sizeof(*r));
		uint32_t type;

		all_of(g->socket, (char *)&n, sizeof(n), false);
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
			all_of(g->socket, r->data, r->count * SECTOR, false);
		pthread_mutex_lock(&lock);
		if (type & CMD_FUA)
			g->seen[FUA]++;
		arrived(g, r);
		pthread_mutex_unlock(&lock);
	}
}

static void *kernel_side(void *arg)
{
	struct gate *g = arg;

	ioctl(g->fd, NBD_DO_IT);
	return NULL;
}

static struct gate *gate(const char *name)
{
	int i;

	for (i = 0; i < gate_count; i++)
		if (!strcmp(gates[i].name, name))
			return &gates[i];
	return NULL;
}

static bool open_gate(struct gate *g, unsigned long flags)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
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

/* Connected: the kernel has taken the size. */
static bool is_there(const char *path, uint64_t bytes)
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

static void setting(const char *path, const char *name, const char *value)
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

static void device(int words, char **word)
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
	/* Each request as it came. */
	setting(g->path, "scheduler", "none");
	setting(g->path, "nomerges", "2");
	ok("%s", g->path);
}

static void add_rule(struct gate *g, int words, char **word, enum action action)
{
	struct rule rule = { .action = action, .last = UINT64_MAX };

	while (rule.class < ANY && strcmp(class_names[rule.class], word[2]))
		rule.class++;
	if (words > 4) {
		rule.first = strtoull(word[3], NULL, 0);
		rule.last = rule.first + strtoull(word[4], NULL, 0) - 1;
	}
	pthread_mutex_lock(&lock);
	if (g->rule_count < 8)
		g->rules[g->rule_count++] = rule;
	pthread_mutex_unlock(&lock);
	ok("");
}

/* Wait for a change, under the lock; false when there was none for long. */
static bool wait_changed(const struct timespec *deadline)
{
	return !pthread_cond_timedwait(&changed, &lock, deadline);
}

static struct timespec in_seconds(int seconds)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += seconds;
	return t;
}

static void held(struct gate *g, int n)
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
		bad("%d stand at %s, not %d:%s", g->held_count, g->name, n, text);
	pthread_mutex_unlock(&lock);
}

static void let(struct gate *g, const char *which, bool failing)
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

static void seen(struct gate *g)
{
	pthread_mutex_lock(&lock);
	ok("%u %u %u %u %u %u", g->seen[READ], g->seen[WRITE], g->seen[FLUSH],
	   g->seen[TRIM], g->seen[ZEROES], g->seen[FUA]);
	memset(g->seen, 0, sizeof(g->seen));
	pthread_mutex_unlock(&lock);
}

/* --- readers and writers ------------------------------------------------- */

static int run(struct op *op)
{
	int flags = (strcmp(op->what, "read") ? O_RDWR : O_RDONLY) | O_DIRECT | O_CLOEXEC;
	uint64_t range[2] = { op->first * SECTOR, op->count * SECTOR };
	int fd = open(op->path, flags | (op->sync ? O_DSYNC : 0));
	ssize_t r = 0;

	if (fd < 0)
		return errno;
	if (!strcmp(op->what, "read"))
		r = pread(fd, op->data, range[1], range[0]);
	else if (!strcmp(op->what, "write"))
		r = pwrite(fd, op->data, range[1], range[0]);
	else if (!strcmp(op->what, "trim"))
		r = ioctl(fd, BLKDISCARD, range);
	else if (!strcmp(op->what, "zeroes"))
		r = ioctl(fd, BLKZEROOUT, range);
	else if (!strcmp(op->what, "secure"))
		r = ioctl(fd, BLKSECDISCARD, range);
	else
		r = fsync(fd);
	r = r < 0 ? errno : r && r != range[1] ? EIO : 0;
	close(fd);
	return r;
}

static void *op_thread(void *arg)
{
	struct op *op = arg;
	int error = run(op);

	pthread_mutex_lock(&lock);
	op->error = error;
	op->done = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static struct op *begin(const char *what, const char *id, const char *path,
			uint64_t generation, uint64_t first, uint64_t count)
{
	struct op *op = calloc(1, sizeof(*op));

	snprintf(op->id, sizeof(op->id), "%s", id);
	snprintf(op->path, sizeof(op->path), "%s", path);
	snprintf(op->what, sizeof(op->what), "%s", what);
	op->generation = generation;
	op->first = first;
	op->count = count;
	op->data = aligned_room(count * SECTOR + 4096);
	memset(op->data, 0xee, count * SECTOR);
	if (!strcmp(what, "write"))
		make(op->data, generation, first, count);
	op->next = ops;
	ops = op;
	return op;
}

static bool launch(struct op *op)
{
	if (!pthread_create(&op->thread, NULL, op_thread, op))
		return true;
	bad("no thread");
	return false;
}

static void start(struct op *op)
{
	if (launch(op))
		ok("");
}

static struct op **find(const char *id)
{
	struct op **op = &ops;

	while (*op && strcmp((*op)->id, id))
		op = &(*op)->next;
	return op;
}

static void forget(struct op **op)
{
	struct op *gone = *op;

	*op = gone->next;
	free(gone->data);
	free(gone);
}

static void tell(const struct op *op)
{
	if (op->error)
		ok("%s", strerrorname_np(op->error));
	else if (!strcmp(op->what, "read"))
		ok("%s", runs(op->data, op->first, op->count));
	else
		ok("done");
}

static void end(const char *id)
{
	struct timespec deadline = in_seconds(PATIENCE);
	struct op **op = find(id);

	if (!*op) {
		bad("nobody is '%s'", id);
		return;
	}
	pthread_mutex_lock(&lock);
	while (!(*op)->done && wait_changed(&deadline))
		;
	pthread_mutex_unlock(&lock);
	if (!(*op)->done) {
		bad("%s (%s of %llu+%llu) does not end", id, (*op)->what,
		    (unsigned long long)(*op)->first,
		    (unsigned long long)(*op)->count);
		return;
	}
	pthread_join((*op)->thread, NULL);
	tell(*op);
	forget(op);
}

static void at_once(struct op *op)
{
	if (launch(op))
		end(op->id);
}

static void busy(const char *id)
{
	struct op *op = *find(id);

	usleep(30000);
	if (op && !op->done)
		ok("");
	else
		bad("%s is not under way", id);
}


/* --- the cache ----------------------------------------------------------- */

static int field_number(const char *name)
{
#define NAME(symbol, name, unit, help)	name,
	static const char *const names[] = {
		NEARCACHE_STATUS_FIELDS(NAME) NEARCACHE_COUNTERS(NAME)
	};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

static bool value(const char *dm, const char *field, uint64_t *value)
{
	static union {
		struct dm_ioctl dm;
		char room[16384];
	} io;
	int n = field_number(field);
	char *text;

	memset(&io, 0, sizeof(io.dm));
	io.dm.version[0] = DM_VERSION_MAJOR;
	io.dm.data_size = sizeof(io);
	io.dm.data_start = sizeof(io.dm);
	io.dm.flags = DM_NOFLUSH_FLAG;
	snprintf(io.dm.name, sizeof(io.dm.name), "%s", dm);
	if (n < 0 || ioctl(control, DM_TABLE_STATUS, &io) || !io.dm.target_count)
		return false;
	text = io.room + io.dm.data_start + sizeof(struct dm_target_spec);
	for (; n && text; n--) {
		text = strchr(text, ' ');
		text = text ? text + 1 : NULL;
	}
	*value = text ? strtoull(text, NULL, 10) : 0;
	return text;
}

static bool holds(uint64_t now, char relation, uint64_t n)
{
	return relation == '=' ? now == n : relation == '>' ? now > n : now < n;
}

/* Returns whether it came so far; else it was told why not. */
static bool until(const char *dm, const char *field, char relation, uint64_t n)
{
	struct timespec now, deadline = in_seconds(PATIENCE);
	uint64_t v;

	for (;;) {
		if (!value(dm, field, &v)) {
			bad("no field %s of %s", field, dm);
			return false;
		}
		if (holds(v, relation, n))
			return true;
		clock_gettime(CLOCK_REALTIME, &now);
		if (now.tv_sec > deadline.tv_sec) {
			bad("%s is %llu, not %c %llu", field, (unsigned long long)v,
			    relation, (unsigned long long)n);
			return false;
		}
		usleep(1000);
	}
}

static void agree(const char *dm, struct gate *g, uint64_t first, uint64_t count)
{
	const char *origin = g->data + first * SECTOR;
	char path[64];
	int i;

	snprintf(path, sizeof(path), "/dev/mapper/%s", dm);
	for (i = 0; i < 2; i++) {
		struct op *op = begin("read", "agree", path, 0, first, count);

		if (!until(dm, "fills_in_flight", '=', 0))
			return;
		op->error = run(op);
		if (op->error || memcmp(op->data, origin, count * SECTOR)) {
			char got[256];

			snprintf(got, sizeof(got), "%s", op->error ? strerror(op->error) :
				 runs(op->data, first, count));
			bad("read %d of %s gives %s, the origin has %s", i + 1, path,
			    got, runs((void *)origin, first, count));
			return;
		}
		forget(find("agree"));
	}
	ok("%s", runs((void *)origin, first, count));
}

/* --- commands ------------------------------------------------------------ */

static bool gate_command(int words, char **word, const uint64_t *n)
{
	struct gate *g = words > 1 ? gate(word[1]) : NULL;
	const char *what = word[0];

	if (!g)
		return false;
	if (words > 2 && !strcmp(what, "hold"))
		add_rule(g, words, word, HOLD);
	else if (words > 2 && !strcmp(what, "mute"))
		add_rule(g, words, word, MUTE);
	else if (words > 2 && !strcmp(what, "fail"))
		add_rule(g, words, word, FAIL);
	else if (words > 2 && !strcmp(what, "held"))
		held(g, n[2]);
	else if (words > 2 && !strcmp(what, "let"))
		let(g, word[2], words > 3);
	else if (!strcmp(what, "seen"))
		seen(g);
	else if (!strcmp(what, "pass"))
		g->rule_count = 0, ok("");
	else if (words > 4 && !strcmp(what, "fill"))
		make((struct sector *)g->data + n[3], n[2], n[3], n[4]), ok("");
	else if (words > 3 && !strcmp(what, "look"))
		ok("%s", runs((struct sector *)g->data + n[2], n[2], n[3]));
	else
		return false;
	return true;
}

static bool op_command(int words, char **word, const uint64_t *n)
{
	const char *what = word[0];
	struct op *op;

	if (words > 4 && !strcmp(what, "read")) {
		start(begin(what, word[1], word[2], 0, n[3], n[4]));
	} else if (words > 5 && !strcmp(what, "write")) {
		op = begin(what, word[1], word[2], n[3], n[4], n[5]);
		op->sync = words > 6;
		start(op);
	} else if (words > 2 && (!strcmp(what, "trim") || !strcmp(what, "zeroes") ||
				 !strcmp(what, "secure") || !strcmp(what, "flush"))) {
		start(begin(what, word[1], word[2], 0, n[3], n[4]));
	} else if (words > 3 && !strcmp(what, "get")) {
		at_once(begin("read", "now", word[1], 0, n[2], n[3]));
	} else if (words > 4 && !strcmp(what, "put")) {
		at_once(begin("write", "now", word[1], n[2], n[3], n[4]));
	} else if (words > 1 && !strcmp(what, "end")) {
		end(word[1]);
	} else if (words > 1 && !strcmp(what, "busy")) {
		busy(word[1]);
	} else {
		return false;
	}
	return true;
}

static bool cache_command(int words, char **word, const uint64_t *n)
{
	const char *what = word[0];
	uint64_t v;

	if (words > 2 && !strcmp(what, "value")) {
		if (value(word[1], word[2], &v))
			ok("%llu", (unsigned long long)v);
		else
			bad("no field %s of %s", word[2], word[1]);
	} else if (words > 4 && !strcmp(what, "until")) {
		if (until(word[1], word[2], *word[3], n[4]))
			ok("");
	} else if (words > 4 && !strcmp(what, "agree") && gate(word[2])) {
		agree(word[1], gate(word[2]), n[3], n[4]);
	} else {
		return false;
	}
	return true;
}

static void command(char *line)
{
	uint64_t n[WORDS + 1] = { 0 };
	char *word[WORDS + 1], *rest;
	int words = 0;

	while (words < WORDS && (word[words] = strtok_r(words ? NULL : line, " \n", &rest))) {
		n[words] = strtoull(word[words], NULL, 0);
		words++;
	}
	word[words] = NULL;
	if (words > 2 && !strcmp(word[0], "device"))
		device(words, word);
	else if (!words || (!gate_command(words, word, n) && !op_command(words, word, n) &&
			    !cache_command(words, word, n)))
		bad("what? %s", words ? word[0] : "");
}

int main(void)
{
	char line[256];
	int i;

	if (getenv("SLOW"))
		slow = atoi(getenv("SLOW"));
	control = device_open("/dev/mapper/control", O_RDWR);
	while (fgets(line, sizeof(line), stdin))
		command(line);
	for (i = 0; i < gate_count; i++) {
		ioctl(gates[i].fd, NBD_DISCONNECT);
		ioctl(gates[i].fd, NBD_CLEAR_SOCK);
		pthread_join(gates[i].kernel, NULL);
	}
	return 0;
}
