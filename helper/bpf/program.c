// SPDX-License-Identifier: GPL-2.0-only
/* Loads, pins, attaches and unloads BPF programs, and reads their maps. */
#include "bpf/program.h"

#include <bpf/bpf.h>
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

#include "lib/error.h"
#include "block/lock.h"

#define SECTION		"raw_tp.w/"
#define LINK		"link"
/* Pin of a program between program_detach() and program_attach_again(). */
#define DETACHED	"program"
/* The end of the log says why a load failed: keep LOG_SIZE bytes and print LOG_LINES lines. */
#define LOG_SIZE	4096
#define LOG_LINES	12

/* The last messages of libbpf and the verifier; keep_log() drops the oldest ones. */
static char said[LOG_SIZE];

static int keep_log(enum libbpf_print_level level, const char *format, va_list list)
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

/* Print the last LOG_LINES of the log as warnings, which come before the error message. */
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

/* Fail with errno, which may be an error number that only libbpf defines. */
static int fail_bpf(const char *what, const char *path)
{
	int error = errno;
	char why[128];

	if (error < __LIBBPF_ERRNO__START)
		return fail_errno(error, "%s '%s'", what, path);
	libbpf_strerror(error, why, sizeof(why));
	return fail(CODE_DEVICE, "%s '%s': %s", what, path, why);
}

static int need_bpffs(void)
{
	struct statfs fs;

	if (statfs(PROGRAM_ROOT, &fs) || fs.f_type != BPF_FS_MAGIC)
		return fail(CODE_DEVICE,
			    "there is no BPF file system at '" PROGRAM_ROOT "': 'mount -t bpf bpf " PROGRAM_ROOT "'");
	return 0;
}

/* Return the path of the folder with the pins, valid until the next call. */
const char *program_folder(const struct program_place *place)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), PROGRAM_DIR "/%s", place->word);
	return path;
}

static const char *path_of(const struct program_place *place, const char *name,
			   char *path)
{
	snprintf(path, PATH_MAX, PROGRAM_DIR "/%s/%s", place->word, name);
	return path;
}

/* Remove the folder and the pins in it; some pins may be missing.  This unloads the program. */
static int remove_pins(const struct program_place *place)
{
	const char *path = program_folder(place);
	DIR *folder = opendir(path);
	struct dirent *entry;

	if (!folder)
		return errno == ENOENT ? 0 :
					 fail_errno(errno, "cannot remove '%s'", path);
	/* After this unlink the kernel no longer calls the program. */
	unlinkat(dirfd(folder), LINK, 0);
	while ((entry = readdir(folder)))
		if (*entry->d_name != '.')
			unlinkat(dirfd(folder), entry->d_name, 0);
	closedir(folder);
	return rmdir(path) ? fail_errno(errno, "cannot remove '%s'", path) : 0;
}

static int look_at(int link, const char *path, struct program *loaded)
{
	struct bpf_link_info link_info = { 0 };
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(link_info);
	struct timespec now;
	int program;

	if (bpf_obj_get_info_by_fd(link, &link_info, &size))
		return fail_bpf("cannot read", path);
	program = bpf_prog_get_fd_by_id(link_info.prog_id);
	if (program < 0)
		return fail_bpf("cannot read the program of", path);
	size = sizeof(info);
	if (bpf_obj_get_info_by_fd(program, &info, &size))
		fail_bpf("cannot read the program of", path);
	close(program);
	clock_gettime(CLOCK_BOOTTIME, &now);
	snprintf(loaded->name, sizeof(loaded->name), "%s", info.name);
	loaded->id = info.id;
	loaded->age = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec -
		      info.load_time;
	return fail_code();
}

/* Describe the program that is loaded at a place; @found is false if none is loaded there. */
int program_look(const struct program_place *place, struct program *loaded,
		 bool *found)
{
	char path[PATH_MAX];
	int link;

	*loaded = (struct program){ 0 };
	*found = false;
	libbpf_set_print(keep_log);
	if (need_bpffs())
		return fail_code();
	link = bpf_obj_get(path_of(place, LINK, path));
	if (link < 0)
		return errno == ENOENT ? 0 : fail_bpf("cannot open", path);
	*found = !look_at(link, path, loaded);
	close(link);
	return fail_code();
}

/*
 * Return the only program of an object. Record an error and return NULL if there are several
 * programs or none, or if the program is for another trace event than @place.
 */
static struct bpf_program *program_of(const struct program_place *place,
				      struct bpf_object *object, const char *path)
{
	struct bpf_program *program, *found = NULL;
	const char *section;

	bpf_object__for_each_program(program, object) {
		if (found) {
			fail(CODE_DEVICE,
			     "'%s' has several programs: it needs one in SEC(\"" SECTION "%s\"), and no other",
			     path, place->event);
			return NULL;
		}
		found = program;
	}
	section = found ? bpf_program__section_name(found) : "";
	if (!strncmp(section, SECTION, strlen(SECTION)) &&
	    !strcmp(section + strlen(SECTION), place->event))
		return found;
	fail(CODE_DEVICE, "'%s' has no program in SEC(\"" SECTION "%s\")%s%s%s",
	     path, place->event, found ? ", but one in '" : "", section,
	     found ? "'" : "");
	return NULL;
}

/* Return the path for the pin of a map. Dots, which the BPF file system refuses, become "_". */
static const char *pin_of(const struct program_place *place,
			  const struct bpf_map *map, char *path)
{
	char *dot;

	path_of(place, bpf_map__name(map), path);
	while ((dot = strchr(path + strlen(PROGRAM_DIR), '.')))
		*dot = '_';
	return path;
}

/* Pin the maps, then the link: if program_look() finds the link's pin, all pins are complete. */
static int pin_program(const struct program_place *place, struct bpf_object *object,
		       struct bpf_link *link)
{
	char path[PATH_MAX];
	struct bpf_map *map;

	if ((mkdir(PROGRAM_DIR, 0700) && errno != EEXIST) ||
	    mkdir(program_folder(place), 0700))
		return fail_bpf("cannot make", program_folder(place));
	bpf_object__for_each_map(map, object)
		if (bpf_map__pin(map, pin_of(place, map, path)))
			return fail_bpf("cannot make", path);
	return bpf_link__pin(link, path_of(place, LINK, path)) ?
	       fail_bpf("cannot make", path) : 0;
}

/* Attach the program for as long as the link is held. Returns NULL after recording an error. */
static struct bpf_link *attach_program(const struct program_place *place,
				       struct bpf_program *program,
				       const char *path)
{
	struct bpf_link *link = bpf_program__attach(program);

	if (!link && errno == ENOENT)
		fail(CODE_DEVICE,
		     "this kernel has no trace event %s: 'modprobe dm-nearcache' first",
		     place->event);
	else if (!link && errno == EINVAL)
		fail(CODE_DEVICE,
		     "'%s' reads fields that the module does not have: it was built for a later module",
		     path);
	else if (!link)
		fail_bpf("cannot attach", path);
	return link;
}

/* Let the kernel verify the object. Returns its program, or NULL after recording an error. */
static struct bpf_program *load_program(const struct program_place *place,
					struct bpf_object *object,
					const char *path)
{
	struct bpf_program *program = program_of(place, object, path);

	if (!program || !bpf_object__load(object))
		return program;
	/* EACCES can be the verifier's verdict: do not report a missing permission. */
	if (errno == EACCES)
		fail(CODE_DEVICE, "the kernel refuses '%s'", path);
	else
		fail_bpf("the kernel refuses", path);
	tell_log();
	return NULL;
}

static int load_and_pin(const struct program_place *place, struct bpf_object *object,
			const char *path, bool dry_run)
{
	struct bpf_program *program = load_program(place, object, path);
	struct bpf_link *link;

	if (!program || dry_run)
		return fail_code();
	link = attach_program(place, program, path);
	if (!link)
		return fail_code();
	if (pin_program(place, object, link))
		remove_pins(place);
	/* The pin of the link keeps the program attached. */
	bpf_link__destroy(link);
	return fail_code();
}

/*
 * Lock the place until lock_release(). Fail if a program is loaded there; otherwise remove the
 * pins that an interrupted load left.
 */
static int make_way(const struct program_place *place, bool dry_run)
{
	struct program loaded;
	bool found;

	lock_name(program_folder(place));
	if (program_look(place, &loaded, &found))
		return fail_code();
	if (found)
		return fail(CODE_BUSY,
			    "'%s' (program %u) is loaded already: 'nearcache %s unload' first",
			    loaded.name, loaded.id, place->word);
	return dry_run ? 0 : remove_pins(place);
}

/* Load a program that stays loaded after this process. @path: name for errors. */
static int load_object(const struct program_place *place, struct bpf_object *object,
		 const char *path, bool dry_run, struct program *loaded)
{
	bool found;

	*loaded = (struct program){ 0 };
	if (!make_way(place, dry_run) && !load_and_pin(place, object, path, dry_run) && !dry_run)
		program_look(place, loaded, &found);
	/* Release the lock now: a daemon runs on and may load another program. */
	lock_release();
	return fail_code();
}

/*
 * Load a program from an object file. The program stays loaded after this process ends.
 * @dry_run: let the kernel verify it, but do not attach or pin it.
 */
int program_load_file(const struct program_place *place, const char *path,
		      bool dry_run, struct program *loaded)
{
	struct bpf_object *object;

	libbpf_set_print(keep_log);
	object = bpf_object__open_file(path, NULL);
	if (!object)
		return fail_bpf("cannot read", path);
	load_object(place, object, path, dry_run, loaded);
	bpf_object__close(object);
	return fail_code();
}

static struct bpf_object *open_own(const struct program_place *place)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = place->word);
	struct bpf_object *object;
	const void *bytes;
	size_t size;
	int rc;

	libbpf_set_print(keep_log);
	bytes = place->own(&size);
	object = bpf_object__open_mem(bytes, size, &options);
	if (!object) {
		fail_bpf("cannot read the built-in program for", place->word);
		return NULL;
	}
	rc = place->prepare ? place->prepare(object) : 0;
	if (rc) {
		fail_errno(-rc, "cannot set the constants of the built-in program for '%s'",
			   place->word);
		bpf_object__close(object);
		return NULL;
	}
	return object;
}

/* Like program_load_file(), for the built-in program. */
int program_load_own(const struct program_place *place, bool dry_run,
		     struct program *loaded)
{
	struct bpf_object *object = open_own(place);

	if (!object)
		return fail_code();
	load_object(place, object, "built in", dry_run, loaded);
	bpf_object__close(object);
	return fail_code();
}

/*
 * Run the built-in program until this process ends. It is not pinned, and other processes may run
 * the same program. program_let_go() is needed even after a failure.
 */
int program_hold_own(const struct program_place *place, struct program_held *held)
{
	struct bpf_program *program;

	*held = (struct program_held){ .object = open_own(place) };
	program = held->object ? load_program(place, held->object, "built in") : NULL;
	if (program)
		held->link = attach_program(place, program, "built in");
	return fail_code();
}

void program_let_go(struct program_held *held)
{
	bpf_link__destroy(held->link);
	bpf_object__close(held->object);
	*held = (struct program_held){ 0 };
}

/* Unload a program. @found: one was loaded. */
int program_unload(const struct program_place *place, bool *found)
{
	struct program loaded;

	lock_name(program_folder(place));
	if (!program_look(place, &loaded, found))
		remove_pins(place);
	lock_release();
	return fail_code();
}

/* Open the program that a pinned link attaches, or return -1 after recording an error. */
static int open_linked(const char *path)
{
	struct bpf_link_info info = { 0 };
	__u32 size = sizeof(info);
	int link = bpf_obj_get(path), program = -1;

	if (link >= 0 && !bpf_obj_get_info_by_fd(link, &info, &size))
		program = bpf_prog_get_fd_by_id(info.prog_id);
	if (program < 0)
		fail_bpf("cannot open the program of", path);
	if (link >= 0)
		close(link);
	return program;
}

/*
 * Detach a program from its trace event, and keep it loaded with its maps. Locks the place until
 * lock_release(). @found: a program is detached, now or by a former run.
 */
int program_detach(const struct program_place *place, bool *found)
{
	char link[PATH_MAX], detached[PATH_MAX];
	int program;

	lock_name(program_folder(place));
	path_of(place, LINK, link);
	path_of(place, DETACHED, detached);
	*found = !access(detached, F_OK);
	libbpf_set_print(keep_log);
	if (access(link, F_OK))
		return 0;
	program = open_linked(link);
	if (program < 0)
		return fail_code();
	if (!*found && bpf_obj_pin(program, detached))
		fail_bpf("cannot make", detached);
	else if (unlink(link))
		fail_bpf("cannot remove", link);
	close(program);
	*found = !fail_code();
	return fail_code();
}

/* Only EINVAL and EACCES are about the program. */
static void attach_refused(const struct program_place *place, int error)
{
	errno = error;
	fail_bpf("cannot attach again", program_folder(place));
	if ((error == EINVAL || error == EACCES) && !remove_pins(place))
		fail_add("it is unloaded: 'nearcache %s load' loads the built-in one", place->word);
	else
		fail_add("it stays loaded, detached: 'nearcache %s load' replaces it", place->word);
}

/*
 * Attach a program of program_detach() again. A program that reads fields which the module does not
 * have is unloaded: an error. After any other error it stays, detached. Nothing happens if no program is detached.
 */
int program_attach_again(const struct program_place *place)
{
	char link[PATH_MAX], detached[PATH_MAX];
	int program, attached = -1, refusal = 0;

	path_of(place, LINK, link);
	path_of(place, DETACHED, detached);
	if (access(detached, F_OK))
		return 0;
	program = bpf_obj_get(detached);
	if (program >= 0 && access(link, F_OK)) {
		attached = bpf_raw_tracepoint_open(place->event, program);
		refusal = attached < 0 ? errno : 0;
		if (attached >= 0 && bpf_obj_pin(attached, link))
			fail_bpf("cannot make", link);
	} else if (program < 0) {
		fail_bpf("cannot open", detached);
	}
	if (refusal)
		attach_refused(place, refusal);
	else if (!access(link, F_OK))
		unlink(detached);
	if (attached >= 0)
		close(attached);
	if (program >= 0)
		close(program);
	return fail_code();
}

/* Open a pinned map. Returns a descriptor; -1 if no map has this name and these sizes in bytes. */
int program_open_map(const struct program_place *place, const char *name,
		     size_t key, size_t value)
{
	struct bpf_map_info info = { 0 };
	__u32 size = sizeof(info);
	char path[PATH_MAX];
	int map;

	map = bpf_obj_get(path_of(place, name, path));
	if (map < 0)
		return -1;
	if (!bpf_obj_get_info_by_fd(map, &info, &size) &&
	    info.key_size == key && info.value_size == value)
		return map;
	close(map);
	return -1;
}

static int visit_entry(int map, const struct bpf_map_info *info, char *key,
		       char *value, program_visit *visit, void *arg)
{
	/*
	 * If an element is deleted meanwhile, the kernel starts again at the first key: limit the
	 * number of steps, so that the loop ends.
	 */
	__u32 left = 2 * info->max_entries;
	bool first = true;

	while (left-- &&
	       !bpf_map_get_next_key(map, first ? NULL : key, key)) {
		first = false;
		if (!bpf_map_lookup_elem(map, key, value) &&
		    visit(key, value, arg))
			return fail_code();
	}
	return 0;
}

/*
 * Visit all elements of a map. Elements that are added or deleted meanwhile may be visited twice or
 * not at all. Does nothing if there is no such map.
 * @key: size of a key in bytes.
 * @value: size of a value in bytes. A per-CPU map passes one value for each possible processor.
 * @visit: returns 0 to continue.
 */
int program_each(const struct program_place *place, const char *name, size_t key,
		 size_t value, program_visit *visit, void *arg)
{
	int map = program_open_map(place, name, key, value);
	int processors = libbpf_num_possible_cpus();
	struct bpf_map_info info = { 0 };
	__u32 size = sizeof(info);
	char *room;

	if (map < 0)
		return 0;
	room = calloc(1, key + value * (size_t)(processors > 0 ? processors : 1));
	if (!room)
		fail_memory();
	else if (bpf_obj_get_info_by_fd(map, &info, &size))
		fail_bpf("cannot read the map", name);
	else
		visit_entry(map, &info, room, room + key, visit, arg);
	free(room);
	close(map);
	return fail_code();
}

/* Call @visit with the name of each pinned map, in alphabetical order. */
void program_maps(const struct program_place *place,
		  void (*visit)(const char *name, void *arg), void *arg)
{
	struct dirent **list;
	int count = scandir(program_folder(place), &list, NULL, alphasort), i;

	for (i = 0; i < count; i++) {
		if (*list[i]->d_name != '.' && strcmp(list[i]->d_name, LINK) &&
		    strcmp(list[i]->d_name, DETACHED))
			visit(list[i]->d_name, arg);
		free(list[i]);
	}
	if (count >= 0)
		free(list);
}
