// SPDX-License-Identifier: GPL-2.0-only
#include "classifier.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "classify.skel.h"
#include "fail.h"
#include "lock.h"

#define BPF_ROOT	"/sys/fs/bpf"
#define LINK		CLASSIFIER_DIR "/link"
#define SECTION		"raw_tp.w/nearcache_classify"
/* What the verifier says of a program that it refuses is long; its end tells why. */
#define LOG_SIZE	4096
#define LOG_LINES	12

/* Twice as many as there can be. */
#define STREAMS_MOST	8192U

/* The end of what libbpf and the verifier said. */
static char said[LOG_SIZE];

static int keep(enum libbpf_print_level level, const char *format, va_list list)
{
	size_t used = strlen(said), more, rest;
	char *text, *end;

	if (level == LIBBPF_DEBUG || vasprintf(&text, format, list) < 0)
		return 0;
	more = strlen(text);
	end = text;
	if (more >= sizeof(said)) {
		end += more - sizeof(said) + 1;
		more = sizeof(said) - 1;
	}
	rest = sizeof(said) - 1 - more;
	if (used > rest) {
		memmove(said, said + used - rest, rest + 1);
		used = rest;
	}
	memcpy(said + used, end, more + 1);
	free(text);
	return 0;
}

/* What was said last, in front of the error. */
static void tell_log(void)
{
	char *end = said + strlen(said), *line = end, *next;
	int lines = 0;

	while (line > said && lines <= LOG_LINES)
		if (*--line == '\n')
			lines++;
	if (*line == '\n')
		line++;
	for (; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		if (*line)
			warn("%s", line);
	}
}

/* Of libbpf, which has numbers of its own. */
static int fail_bpf(const char *what, const char *path)
{
	int error = errno;
	char why[128];

	if (error < __LIBBPF_ERRNO__START)
		return fail_errno(error, "%s '%s'", what, path);
	libbpf_strerror(error, why, sizeof(why));
	return fail(CODE_DEVICE, "%s '%s': %s", what, path, why);
}

static int need_root(void)
{
	struct statfs fs;

	if (statfs(BPF_ROOT, &fs) || fs.f_type != BPF_FS_MAGIC)
		return fail(CODE_DEVICE,
			    "there is no BPF file system at '" BPF_ROOT "': 'mount -t bpf bpf " BPF_ROOT "'");
	return 0;
}

/* What a run that was cut off left behind goes, too.  Return: 0 or an errno. */
static int remove_pins(void)
{
	DIR *folder = opendir(CLASSIFIER_DIR);
	struct dirent *entry;

	if (!folder)
		return errno == ENOENT ? 0 : errno;
	/* From here on nothing calls the program. */
	unlink(LINK);
	while ((entry = readdir(folder)))
		if (*entry->d_name != '.')
			unlinkat(dirfd(folder), entry->d_name, 0);
	closedir(folder);
	return rmdir(CLASSIFIER_DIR) ? errno : 0;
}

static int look_at(int link, struct classifier *loaded)
{
	struct bpf_link_info link_info = { 0 };
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(link_info);
	struct timespec now;
	int program;

	if (bpf_obj_get_info_by_fd(link, &link_info, &size))
		return fail_bpf("cannot look at", LINK);
	program = bpf_prog_get_fd_by_id(link_info.prog_id);
	if (program < 0)
		return fail_bpf("cannot look at the program of", LINK);
	size = sizeof(info);
	if (bpf_obj_get_info_by_fd(program, &info, &size))
		fail_bpf("cannot look at the program of", LINK);
	close(program);
	clock_gettime(CLOCK_BOOTTIME, &now);
	snprintf(loaded->name, sizeof(loaded->name), "%s", info.name);
	loaded->id = info.id;
	loaded->age = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec -
		      info.load_time;
	return fail_code();
}

/* Return: descriptor of the map of streams, or -1 if that is not ours. */
static int open_streams(void)
{
	int map = bpf_obj_get(CLASSIFIER_DIR "/streams");
	struct bpf_map_info info = { 0 };
	__u32 size = sizeof(info);

	if (map < 0)
		return -1;
	if (!bpf_obj_get_info_by_fd(map, &info, &size) &&
	    info.type == BPF_MAP_TYPE_LRU_HASH &&
	    info.key_size == sizeof(struct stream_key) &&
	    info.value_size == sizeof(struct stream))
		return map;
	close(map);
	return -1;
}

/**
 * classifier_look() - which program is loaded
 * @loaded: the result
 * @found: there is one
 *
 * Return: 0 or the exit code.
 */
int classifier_look(struct classifier *loaded, bool *found)
{
	int link, map;

	*loaded = (struct classifier){ 0 };
	*found = false;
	libbpf_set_print(keep);
	if (need_root())
		return fail_code();
	link = bpf_obj_get(LINK);
	if (link < 0)
		return errno == ENOENT ? 0 : fail_bpf("cannot open", LINK);
	*found = !look_at(link, loaded);
	close(link);
	map = open_streams();
	loaded->streams = map >= 0;
	if (map >= 0)
		close(map);
	return fail_code();
}

/* The one program of an object, which must be for this place. */
static struct bpf_program *program_of(struct bpf_object *object, const char *path)
{
	struct bpf_program *program, *found = NULL;

	bpf_object__for_each_program(program, object) {
		if (found) {
			fail(CODE_DEVICE,
			     "'%s' has several programs: it needs one in SEC(\"" SECTION "\"), and no other",
			     path);
			return NULL;
		}
		found = program;
	}
	if (!found || strcmp(bpf_program__section_name(found), SECTION)) {
		fail(CODE_DEVICE, "'%s' has no program in SEC(\"" SECTION "\")%s%s%s",
		     path, found ? ", but one in '" : "",
		     found ? bpf_program__section_name(found) : "", found ? "'" : "");
		return NULL;
	}
	return found;
}

/* Names in the BPF file system have no dots. */
static const char *pin_of(const struct bpf_map *map, char *path)
{
	char *dot;

	snprintf(path, PATH_MAX, CLASSIFIER_DIR "/%s", bpf_map__name(map));
	while ((dot = strchr(path + strlen(CLASSIFIER_DIR), '.')))
		*dot = '_';
	return path;
}

/* The link is last: where it is, all is there. */
static int pin(struct bpf_object *object, struct bpf_link *link)
{
	char path[PATH_MAX];
	struct bpf_map *map;
	int error;

	if ((mkdir(BPF_ROOT "/nearcache", 0700) && errno != EEXIST) ||
	    mkdir(CLASSIFIER_DIR, 0700))
		return fail_bpf("cannot make", CLASSIFIER_DIR);
	bpf_object__for_each_map(map, object)
		if (bpf_map__pin(map, pin_of(map, path)))
			return fail_bpf("cannot make", path);
	if (!bpf_link__pin(link, LINK))
		return 0;
	error = errno;
	remove_pins();
	errno = error;
	return fail_bpf("cannot make", LINK);
}

static int attach(struct bpf_object *object, struct bpf_program *program,
		  const char *path)
{
	struct bpf_link *link = bpf_program__attach(program);

	if (!link && errno == ENOENT)
		return fail(CODE_DEVICE,
			    "this kernel has no tracepoint nearcache_classify: 'modprobe dm-nearcache' first");
	if (!link && errno == EINVAL)
		return fail(CODE_DEVICE,
			    "'%s' reaches beyond what the module tells: it was built for a later one",
			    path);
	if (!link)
		return fail_bpf("cannot attach", path);
	if (pin(object, link))
		remove_pins();
	/* What is pinned stays. */
	bpf_link__destroy(link);
	return fail_code();
}

static int load(struct bpf_object *object, const char *path, bool dry_run)
{
	struct bpf_program *program = program_of(object, path);

	if (!program)
		return fail_code();
	if (bpf_object__load(object)) {
		/* What its verifier refuses is "permission denied", too. */
		if (errno == EACCES)
			fail(CODE_DEVICE, "the kernel does not take '%s'", path);
		else
			fail_bpf("the kernel does not take", path);
		tell_log();
		return fail_code();
	}
	return dry_run ? 0 : attach(object, program, path);
}

static int load_file(const char *path, bool dry_run)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);

	if (!object)
		return fail_bpf("cannot read", path);
	load(object, path, dry_run);
	bpf_object__close(object);
	return fail_code();
}

static int load_own(bool dry_run)
{
	struct classify_bpf *own = classify_bpf__open();

	if (!own)
		return fail_bpf("cannot open", "built in");
	load(own->obj, "built in", dry_run);
	classify_bpf__destroy(own);
	return fail_code();
}

/**
 * classifier_load() - have a program classify what is read and written through all caches
 * @path: of its object file; NULL: our own
 * @dry_run: have the kernel judge it, no more
 * @loaded: the result
 *
 * It goes on when this process is over.
 *
 * Return: 0 or the exit code; then none is loaded that was not.
 */
int classifier_load(const char *path, bool dry_run, struct classifier *loaded)
{
	bool found;
	int error;

	lock_name(CLASSIFIER_DIR);
	if (classifier_look(loaded, &found))
		return fail_code();
	if (found)
		return fail(CODE_BUSY,
			    "'%s' (program %u) is loaded already: 'nearcache classifier unload' first",
			    loaded->name, loaded->id);
	error = dry_run ? 0 : remove_pins();
	if (error)
		return fail_errno(error, "cannot remove '" CLASSIFIER_DIR "'");
	if (path ? load_file(path, dry_run) : load_own(dry_run))
		return fail_code();
	return dry_run ? 0 : classifier_look(loaded, &found);
}

/**
 * classifier_unload() - streams are not classified any more
 * @found: some program was loaded
 *
 * Return: 0 or the exit code.
 */
int classifier_unload(bool *found)
{
	struct classifier loaded;
	int error;

	lock_name(CLASSIFIER_DIR);
	if (classifier_look(&loaded, found))
		return fail_code();
	error = remove_pins();
	return error ? fail_errno(error, "cannot remove '" CLASSIFIER_DIR "'") : 0;
}

/**
 * classifier_streams() - streams that our own program knows
 * @visit: called for each
 * @arg: for it
 *
 * Return: 0 or the exit code.
 */
int classifier_streams(void (*visit)(const struct stream_key *key,
				     const struct stream *stream, void *arg),
		       void *arg)
{
	struct stream_key key, next;
	struct stream stream;
	int map = open_streams();
	unsigned int left = STREAMS_MOST;
	bool first = true;

	if (map < 0)
		return 0;
	/* Behind one that went meanwhile the kernel begins anew: not for ever. */
	while (left-- && !bpf_map_get_next_key(map, first ? NULL : &key, &next)) {
		first = false;
		key = next;
		if (!bpf_map_lookup_elem(map, &key, &stream))
			visit(&key, &stream, arg);
	}
	close(map);
	return 0;
}

/**
 * classifier_maps() - maps of the program that is loaded
 * @visit: called for each with the name of its pin in CLASSIFIER_DIR
 * @arg: for it
 */
void classifier_maps(void (*visit)(const char *name, void *arg), void *arg)
{
	struct dirent **list;
	int count = scandir(CLASSIFIER_DIR, &list, NULL, alphasort), i;

	for (i = 0; i < count; i++) {
		if (*list[i]->d_name != '.' && strcmp(list[i]->d_name, "link"))
			visit(list[i]->d_name, arg);
		free(list[i]);
	}
	if (count >= 0)
		free(list);
}

/**
 * class_word() - the word for how a stream is read or written
 * @class: enum nearcache_class
 *
 * Return: the word.
 */
const char *class_word(uint32_t class)
{
	static const char *const words[] = {
		[NEARCACHE_CLASS_UNKNOWN] = "unknown",
		[NEARCACHE_CLASS_SEQUENTIAL] = "sequential",
		[NEARCACHE_CLASS_STRIDED] = "strided",
		[NEARCACHE_CLASS_CHECKPOINT] = "checkpoint",
		[NEARCACHE_CLASS_SCATTERED] = "scattered",
		[NEARCACHE_CLASS_SHUFFLED] = "shuffled",
		[NEARCACHE_CLASS_LOOPING] = "looping",
		[NEARCACHE_CLASS_RANDOM] = "random",
	};

	return words[class < NEARCACHE_CLASSES ? class : NEARCACHE_CLASS_UNKNOWN];
}
