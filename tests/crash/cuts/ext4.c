// SPDX-License-Identifier: GPL-2.0-only
/*
 * e2fsck replays the journal as a mount does, e2fsck -fn then checks everything, and debugfs copies
 * the files.  All three work on a file, so no guest and no privileges are needed.
 */
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "ext4.h"

#define PAGE	4096U

static struct {
	char image[PATH_MAX], files[PATH_MAX], said[PATH_MAX], copy[PATH_MAX + 32];
	unsigned char *map;
	size_t bytes;
} at;

static void must(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(2);
}

/* Prepare checks of images of @bytes; the files are in folder @dir. */
void ext4_begin(const char *dir, size_t bytes)
{
	int fd;

	snprintf(at.image, sizeof(at.image), "%s/image", dir);
	snprintf(at.files, sizeof(at.files), "%s/data", dir);
	snprintf(at.said, sizeof(at.said), "%s/said", dir);
	snprintf(at.copy, sizeof(at.copy), "rdump /data %s", dir);
	fd = open(at.image, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	must(fd >= 0 && !ftruncate(fd, bytes), at.image);
	at.bytes = bytes;
	at.map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(at.map != MAP_FAILED, at.image);
	close(fd);
}

/* Write only pages that differ: the file has the last state, of which a check changes little. */
static void image_put(const unsigned char *image)
{
	size_t i;

	for (i = 0; i < at.bytes; i += PAGE)
		if (memcmp(at.map + i, image + i, PAGE))
			memcpy(at.map + i, image + i, PAGE);
}

/* Run a program with its output in the file "said"; returns its exit code, 128 after a signal. */
static int program_run(char *const argv[])
{
	extern char **environ;
	posix_spawn_file_actions_t actions;
	int status;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, at.said, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	posix_spawn_file_actions_adddup2(&actions, 1, 2);
	must(!posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ), argv[0]);
	posix_spawn_file_actions_destroy(&actions);
	must(waitpid(pid, &status, 0) == pid, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* Copy the last lines that a program printed, on one line. */
static void said_read(char *text, size_t room)
{
	int fd = open(at.said, O_RDONLY | O_CLOEXEC);
	off_t end = lseek(fd, 0, SEEK_END);
	ssize_t n = pread(fd, text, room - 1, end > room - 1 ? end - (room - 1) : 0);

	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	while ((text = strchr(text, '\n')))
		*text = ' ';
}

static void files_remove(void)
{
	struct dirent *e;
	DIR *d = opendir(at.files);

	if (!d)
		return;
	while ((e = readdir(d)))
		if (e->d_name[0] != '.')
			must(!unlinkat(dirfd(d), e->d_name, 0), e->d_name);
	closedir(d);
	must(!rmdir(at.files), at.files);
}

/* Check an image: replay, check, compare the files with @need. */
void ext4_check(const void *image, const struct required *need, struct fs_checked *out)
{
	char *replay[] = { "e2fsck", "-p", at.image, NULL };
	char *check[] = { "e2fsck", "-fn", at.image, NULL };
	char *copy[] = { "debugfs", "-R", at.copy, at.image, NULL };

	memset(out, 0, sizeof(*out));
	image_put(image);
	out->refused = program_run(replay) & ~1;
	if (out->refused)
		said_read(out->said, sizeof(out->said));
	out->dirty = program_run(check);
	if (out->dirty && !out->refused)
		said_read(out->said, sizeof(out->said));
	files_remove();
	program_run(copy);
	checkpoints_check(at.files, need, &out->files);
	if (!out->refused && !out->dirty)
		memcpy(out->said, out->files.said, sizeof(out->said));
}
