// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write the files of checkpoints.h, or check them.
 *
 *	checkpoints begin DIR			create the files that are changed in place
 *	checkpoints write DIR LOGGED FIRST LAST	write these checkpoints; beside them, continue
 *						to change the other files
 *	checkpoints check DIR FIRST LAST STATE LINES DB
 *
 * "write" adds marks to the log of the crash-log device LOGGED ("-": none): "step,N", "state,N",
 * "lines,N", "db,N" after the change is durable, and "drop,N" before checkpoint N is deleted.
 * "check" takes the numbers of struct required; it prints "MIXED LOST STEPS FAULT" and fails if a
 * file is wrong.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "checkpoints.h"
#include "dm_ioctl.h"

#define STEP_MIN	(256U << 10)
#define STEP_ROOM	(1536U << 10)

static const char *dir, *logged;
static atomic_bool ended;

static void must(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static int file_open(const char *name, int flags)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, flags | O_CLOEXEC, 0644);
	must(fd >= 0, path);
	return fd;
}

static void mark(struct dm *dm, const char *what, unsigned long number)
{
	char text[64];

	if (!strcmp(logged, "-"))
		return;
	snprintf(text, sizeof(text), "mark %s,%lu", what, number);
	errno = dm_message(dm, text);
	must(!errno, text);
}

static void sync_folder(void)
{
	int fd = file_open(".", O_RDONLY | O_DIRECTORY);

	must(!fsync(fd), "fsync of the folder");
	close(fd);
}

/* Replace file @name by @data: write, fsync, rename, fsync of the folder. */
static void file_replace(const char *name, const char *temporary, const void *data, size_t bytes)
{
	int fd = file_open(temporary, O_WRONLY | O_CREAT | O_TRUNC), folder;

	write_exactly(fd, data, bytes, 0);
	must(!fsync(fd), "fsync");
	close(fd);
	folder = file_open(".", O_RDONLY | O_DIRECTORY);
	must(!renameat(folder, temporary, folder, name), "rename");
	close(folder);
	sync_folder();
}

static void step_delete(unsigned long number)
{
	unsigned long n;
	struct dirent *e;
	DIR *d = opendir(dir);

	must(d, dir);
	while ((e = readdir(d)))
		if (sscanf(e->d_name, "step-%lu-", &n) == 1 && n == number)
			must(!unlinkat(dirfd(d), e->d_name, 0), "unlink");
	closedir(d);
}

static void steps_write(unsigned long n, unsigned long last)
{
	static struct dm dm;
	uint64_t *data = aligned_room(STEP_MIN + STEP_ROOM), state;
	char name[128], hash[HASH_TEXT];
	size_t bytes, i;

	dm_open(&dm, logged);
	for (; n <= last; n++) {
		state = n;
		bytes = STEP_MIN + random_next(&state) % STEP_ROOM;
		for (i = 0; i < bytes / sizeof(*data) + 1; i++)
			data[i] = random_next(&state);
		hash_text(data, bytes, hash);
		snprintf(name, sizeof(name), "step-%lu-%s", n, hash);
		file_replace(name, "tmp", data, bytes);
		mark(&dm, "step", n);
		if (n <= STEPS_KEPT)
			continue;
		mark(&dm, "drop", n - STEPS_KEPT);
		step_delete(n - STEPS_KEPT);
	}
	free(data);
}

static void *others_write(void *unused)
{
	int lines = file_open("lines", O_WRONLY | O_APPEND);
	uint64_t words[1000];
	static struct dm dm;
	char line[LINE + 1];
	unsigned long n;
	unsigned int i;

	dm_open(&dm, logged);
	for (n = lseek(lines, 0, SEEK_END) / LINE + 1; !ended; n++) {
		for (i = 0; i < 1000; i++)
			words[i] = n;
		file_replace("state", "state.tmp", words, state_bytes(n));
		mark(&dm, "state", n);
		line_make(line, n - 1);
		must(write(lines, line, LINE) == LINE, "write");
		must(!fsync(lines), "fsync");
		mark(&dm, "lines", n);
	}
	close(lines);
	return NULL;
}

static void db_put(int fd, unsigned int block, unsigned long n)
{
	struct sector s[DB_SECTORS];
	unsigned int i;

	for (i = 0; i < DB_SECTORS; i++)
		sector_make(s + i, block * DB_SECTORS + i, n);
	write_exactly(fd, s, sizeof(s), block * sizeof(s));
}

/* Number of the last write to "db". */
static unsigned long db_last(int fd)
{
	unsigned long last = 0;
	struct sector s;
	unsigned int i;

	for (i = 0; i < DB_BLOCKS; i++) {
		read_exactly(fd, &s, sizeof(s), i * DB_SECTORS * sizeof(s));
		last = s.generation > last ? s.generation : last;
	}
	return last;
}

static void *db_overwrite(void *unused)
{
	int fd = file_open("db", O_RDWR);
	static struct dm dm;
	unsigned long n;

	dm_open(&dm, logged);
	for (n = db_last(fd) + 1; !ended; n++) {
		db_put(fd, db_block(n), n);
		must(!fdatasync(fd), "fdatasync");
		mark(&dm, "db", n);
	}
	close(fd);
	return NULL;
}

static void files_create(void)
{
	int fd = file_open("db", O_WRONLY | O_CREAT);
	unsigned int i;

	for (i = 0; i < DB_BLOCKS; i++)
		db_put(fd, i, 0);
	must(!fsync(fd), "fsync");
	close(fd);
	close(file_open("lines", O_WRONLY | O_CREAT));
	sync_folder();
}

static int check(char **word)
{
	struct required need;
	struct checked c;

	need.first = strtoul(word[0], NULL, 10);
	need.last = strtoul(word[1], NULL, 10);
	need.state = strtoul(word[2], NULL, 10);
	need.lines = strtoul(word[3], NULL, 10);
	need.db = strtoul(word[4], NULL, 10);
	checkpoints_check(dir, &need, &c);
	printf("%u %u %u %s\n", c.mixed, c.lost, c.steps, c.said);
	return c.mixed || c.lost;
}

int main(int argc, char **argv)
{
	pthread_t other, db;

	dir = argc > 2 ? argv[2] : "";
	if (argc == 3 && !strcmp(argv[1], "begin")) {
		files_create();
	} else if (argc == 6 && !strcmp(argv[1], "write")) {
		logged = argv[3];
		must(!pthread_create(&other, NULL, others_write, NULL), "thread");
		must(!pthread_create(&db, NULL, db_overwrite, NULL), "thread");
		steps_write(strtoul(argv[4], NULL, 10), strtoul(argv[5], NULL, 10));
		ended = true;
		pthread_join(other, NULL);
		pthread_join(db, NULL);
	} else if (argc == 8 && !strcmp(argv[1], "check")) {
		return check(argv + 3);
	} else {
		fprintf(stderr, "usage: checkpoints begin|write|check DIR ...\n");
		return 2;
	}
	return 0;
}
