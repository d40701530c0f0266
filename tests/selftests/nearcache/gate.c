// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests script races with this program.  It serves network block devices ("gates"), holds their
 * requests, releases held requests one by one in any order, fails requests, and counts them.  Its
 * threads read and write any block device.  A script holds the request that shall lose the race,
 * and releases it after the winner has ended.
 *
 * Commands come on stdin, one per line.  The answer to each is one line: "ok" and the text that
 * the list below gives after "->", or "FAIL why".  FIRST and COUNT are sectors of 512 bytes.  Data
 * are sectors of one GENERATION (sector.h), printed as runs (gate_runs.h).
 *
 * Gates (gate_nbd.h).  A rule applies to later requests of CLASS (read write flush trim zeroes
 * any) that touch the COUNT sectors from FIRST; the oldest rule that matches a request decides:
 *
 *	device NAME MB [trim] [zeroes] [flush] [fua] [ro]	-> path of the new gate
 *	hold NAME CLASS [FIRST COUNT]	rule: hold requests before they are performed
 *	mute NAME CLASS [FIRST COUNT]	rule: perform requests, hold the replies
 *	fail NAME CLASS [FIRST COUNT]	rule: answer EIO and do not perform the request
 *	break NAME CLASS N		rule: let N requests pass, fail all later ones
 *	pass NAME			delete the rules; held requests stay held
 *	held NAME N			wait until N requests are held -> the requests
 *	let NAME all|last|INDEX [fail]	answer held requests, with "fail" by EIO; INDEX 0 is
 *					the oldest -> number of answers
 *	seen NAME		-> reads writes flushes trims zeroes fua since the last "seen"
 *	keep NAME, restore NAME	save the content of the device, restore the saved content
 *	fill NAME GENERATION FIRST COUNT	set the content, with no request
 *	look NAME FIRST COUNT	-> runs of the content
 *
 * Readers and writers (O_DIRECT), each with its own ID:
 *
 *	read ID PATH FIRST COUNT	write ID PATH GENERATION FIRST COUNT [sync]
 *	trim|zeroes|secure|flush ID PATH [FIRST COUNT]
 *	busy ID			FAIL if the operation ends within 30 ms
 *	end ID			wait for its end -> "done", an errno, or the runs read
 *	get PATH FIRST COUNT, put PATH GENERATION FIRST COUNT	read, write, and wait
 *
 * dm devices (gate_dm.h), the cache above all:
 *
 *	create DM SECTORS TARGET WORDS...	a live device -> "done" or an errno
 *	reload DM SECTORS TARGET WORDS...	replace its table -> the same
 *	suspend|resume|remove DM, message DM WORDS...	-> the same
 *	state DM		-> none, suspended, empty, or "live" and its table
 *	value DM FIELD		-> a field of its status
 *	until DM FIELD =|>|< N	wait until the relation holds
 *	agree DM NAME FIRST COUNT	read /dev/mapper/DM twice, each time with no fill in
 *				flight; FAIL unless both return the content of gate NAME -> runs
 */
#include <linux/fs.h>

#include "gate_dm.h"

#define WORDS	8

struct op {
	struct op *next;
	char id[16], path[64], what[16];
	uint64_t generation, first, count;
	bool sync, done;
	int error;
	struct sector *data;
	pthread_t thread;
};

static struct op *ops;

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
		runs_make(op->data, generation, first, count);
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
		bad("no operation '%s'", id);
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
		bad("%s is not in progress", id);
}

/* --- the cache ----------------------------------------------------------- */

static bool holds(uint64_t now, char relation, uint64_t n)
{
	return relation == '=' ? now == n : relation == '>' ? now > n : now < n;
}

/* Wait until the relation holds.  After PATIENCE seconds print FAIL and return false. */
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
		add_rule(g, words, word, HOLD, 0);
	else if (words > 2 && !strcmp(what, "mute"))
		add_rule(g, words, word, MUTE, 0);
	else if (words > 2 && !strcmp(what, "fail"))
		add_rule(g, words, word, FAIL, 0);
	else if (words == 4 && !strcmp(what, "break"))
		add_rule(g, 3, word, FAIL, n[3]);
	else if (!strcmp(what, "keep") || !strcmp(what, "restore"))
		keep(g, *what == 'r');
	else if (words > 2 && !strcmp(what, "held"))
		held(g, n[2]);
	else if (words > 2 && !strcmp(what, "let"))
		let(g, word[2], words > 3);
	else if (!strcmp(what, "seen"))
		seen(g);
	else if (!strcmp(what, "pass"))
		g->rule_count = 0, ok("");
	else if (words > 4 && !strcmp(what, "fill"))
		runs_make((struct sector *)g->data + n[3], n[2], n[3], n[4]), ok("");
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
	char *word[WORDS + 1], *rest, what[16], name[64];
	uint64_t n[WORDS + 1] = { 0 };
	int words = 0, at = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%15s %63s %n", what, name, &at) == 2 &&
	    dm_command(what, name, line + at))
		return;
	while (words < WORDS && (word[words] = strtok_r(words ? NULL : line, " ", &rest))) {
		n[words] = strtoull(word[words], NULL, 0);
		words++;
	}
	word[words] = NULL;
	if (words > 2 && !strcmp(word[0], "device"))
		device(words, word);
	else if (!words || (!gate_command(words, word, n) && !op_command(words, word, n) &&
			    !cache_command(words, word, n)))
		bad("unknown command '%s'", words ? word[0] : "");
}

int main(void)
{
	static char line[1024];

	if (getenv("SLOW"))
		slow = atoi(getenv("SLOW"));
	dm_open(&dm, "");
	while (fgets(line, sizeof(line), stdin))
		command(line);
	gates_close();
	return 0;
}
