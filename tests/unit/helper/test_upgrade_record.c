// SPDX-License-Identifier: GPL-2.0-only
/* Ranges, plan and jobs from a fake kernel, through the record, and back into a kernel with nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/name.h"
#include "said.h"
#include "upgrade/tables.h"
#include "upgrade/upgrade.h"

#define RANGES	2
#define JOBS	2

static const struct nl_range range[RANGES] = {
	{ .range = { 4096, 8192 }, .label = "a label", .flags = 1, .priority = 3, .expires = 100 },
	{ .range = { 65536, 512 }, .label = "b", .flags = 2 },
};
static const struct nl_job job[JOBS] = {
	{ .id = 7, .label = "j", .state = NEARCACHE_JOB_RUNNING, .priority = 2, .deadline = 50,
	  .bandwidth = 1 << 20 },
	{ .id = 8, .state = NEARCACHE_JOB_WAITING },
};
static const struct range left[] = { { 0, 4096 }, { 1ULL << 40, 8192 } };
/* Listings that fail because of a change; the kernel has the lists. */
static unsigned int interrupts;
static bool full, over, refused;
/* Job 0 of the record has the label "j2". */
static bool relabelled;
static unsigned int got_ranges, got_jobs, got_visits;
static bool gone;

static int visit_left(void (*visit)(const struct range *range, void *arg), void *arg)
{
	visit(&left[0], arg);
	if (interrupts && interrupts--)
		return (fail)(CODE_BUSY, "changed");
	visit(&left[1], arg);
	return 0;
}

int nl_range_each(dev_t number, void (*visit)(const struct nl_range *range, void *arg), void *arg)
{
	int i;

	(void)number;
	for (i = 0; full && i < RANGES; i++)
		visit(&range[i], arg);
	return 0;
}

int nl_job_each(dev_t number, void (*visit)(const struct nl_job *job, void *arg), void *arg)
{
	int i;

	(void)number;
	for (i = 0; full && i < JOBS; i++)
		visit(&job[i], arg);
	return 0;
}

int nl_job_left(dev_t number, uint32_t id, void (*visit)(const struct range *range, void *arg),
		void *arg)
{
	(void)number;
	assert_true(id == 7 || id == 8);
	return visit_left(visit, arg);
}

int nl_plan_get(dev_t number, struct nl_plan *plan)
{
	(void)number;
	*plan = (struct nl_plan){
		.state = !full ? NEARCACHE_PLAN_NONE : over ? NEARCACHE_PLAN_OVER : NEARCACHE_PLAN_RUNNING,
		.no_prefetch = true,
	};
	return 0;
}

int nl_plan_left(dev_t number, void (*visit)(const struct range *range, void *arg), void *arg)
{
	(void)number;
	return visit_left(visit, arg);
}

int nl_range_replace(dev_t number, struct nl_replacement *change)
{
	size_t i;

	(void)number;
	for (i = 0; i < change->add_count; i++) {
		assert_string_equal(change->add[i].label, range[i].label);
		assert_int_equal(change->add[i].range.start, range[i].range.start);
		assert_int_equal(change->add[i].range.length, range[i].range.length);
		assert_int_equal(change->add[i].flags, range[i].flags);
		assert_int_equal(change->add[i].priority, range[i].priority);
		assert_true(change->add[i].expires <= range[i].expires);
		assert_true(change->add[i].expires + 10 >= range[i].expires || !range[i].expires);
		assert_int_equal(!change->add[i].expires, !range[i].expires);
	}
	got_ranges += change->add_count;
	change->refused = refused;
	return 0;
}

static void check_left(const struct range *list, size_t count)
{
	assert_int_equal(count, 2);
	assert_memory_equal(list, left, sizeof(left));
}

int nl_plan_submit(dev_t number, const struct range *list, size_t count, unsigned int flags,
		   struct nl_plan *plan)
{
	(void)number;
	(void)plan;
	assert_int_equal(flags, NL_PLAN_NO_PREFETCH);
	check_left(list, count);
	got_visits += count;
	return 0;
}

int nl_job_submit(dev_t number, const struct nl_job *wishes, const struct range *list, size_t count,
		  uint32_t *id)
{
	const struct nl_job *was = &job[got_jobs++];

	(void)number;
	assert_string_equal(wishes->label, relabelled ? "j2" : was->label);
	assert_int_equal(wishes->priority, was->priority);
	assert_true(wishes->bandwidth == was->bandwidth && wishes->deadline <= was->deadline);
	assert_int_equal(!wishes->deadline, !was->deadline);
	check_left(list, count);
	*id = 1;
	return 0;
}

int upgrade_look(struct upgrade_device *dev, bool *suspended)
{
	dev->gone = gone;
	dev->number = 0xfd00;
	dev->passes = true;
	*suspended = false;
	return 0;
}

static struct upgrade_device device_of(const char *name)
{
	struct upgrade_device dev = { .bytes = 1ULL << 40, .writes = true, .ahead = 256, .frozen = true,
				      .counted = true, .written = 1ULL << 33, .verified = true,
				      .gap = "a gap", .made = "77", .mounted = -1 };

	strcpy(dev.name, name);
	strcpy(dev.uuid, "nearcache-1");
	dev.table = strdup("writearound 1:2 3:4 2 verify 5");
	return dev;
}

static int make_folder(void **state)
{
	static char folder[] = "/tmp/upgrade.XXXXXX";

	(void)state;
	upgrade_record_folder = mkdtemp(folder);
	return !upgrade_record_folder;
}

static int reset(void **state)
{
	(void)state;
	fail_reset();
	interrupts = got_ranges = got_jobs = got_visits = 0;
	full = true;
	over = refused = gone = relabelled = false;
	return 0;
}

static void free_all(struct upgrade *u, size_t count)
{
	while (count--)
		upgrade_device_free(&u->device[count]);
}

static void comes_back(void **state)
{
	struct upgrade_device device[2] = { device_of("a"), device_of("b") };
	struct upgrade u = { .device = device, .count = 2,
			     .before = { "/old module.ko", "OLD", "1" }, .now = { "/new.ko", "NEW", "" } },
		       again = { 0 };
	char path[64];
	struct stat st;
	bool found;

	(void)state;
	assert_int_equal(upgrade_record_load(&again, &found), 0);
	assert_false(found);
	/* Lists that change are read again. */
	interrupts = 3;
	assert_int_equal(upgrade_carried_read(&device[0]), 0);
	full = false;
	assert_int_equal(upgrade_carried_read(&device[1]), 0);
	assert_int_equal(upgrade_record_save(&u), 0);
	assert_int_equal(upgrade_record_load(&again, &found), 0);
	assert_true(found);
	assert_int_equal(again.count, 2);
	assert_string_equal(again.before.file, "/old module.ko");
	assert_string_equal(again.before.source, "OLD");
	assert_string_equal(again.before.version, "1");
	assert_string_equal(again.now.file, "/new.ko");
	assert_string_equal(again.now.source, "NEW");
	assert_string_equal(again.device[0].made, "77");
	snprintf(path, sizeof(path), "%s/upgrade", upgrade_record_folder);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_string_equal(again.device[1].name, "b");
	assert_string_equal(again.device[0].uuid, "nearcache-1");
	assert_string_equal(again.device[0].table, device[0].table);
	assert_true(again.device[0].bytes == device[0].bytes && again.device[0].writes &&
		    again.device[0].frozen && again.device[0].ahead == 256 &&
		    again.device[0].written == 1ULL << 33 && again.device[0].counted &&
		    again.device[0].verified);
	assert_string_equal(again.device[0].gap, "a gap");
	assert_int_equal(upgrade_carried_restore(&again.device[1]), 0);
	assert_int_equal(got_ranges + got_jobs + got_visits, 0);
	assert_int_equal(upgrade_carried_restore(&again.device[0]), 0);
	assert_int_equal(got_ranges, RANGES);
	assert_int_equal(got_jobs, JOBS);
	assert_int_equal(got_visits, 2);
	/* A table that still has them, because it was not replaced, gets no second plan or job. */
	full = true;
	assert_int_equal(upgrade_carried_restore(&again.device[0]), 0);
	assert_int_equal(got_jobs, JOBS);
	assert_int_equal(got_visits, 2);
	/* Others may have submitted jobs: a table that this run loaded gets its own ones still. */
	got_jobs = 0;
	again.device[0].fresh = true;
	assert_int_equal(upgrade_carried_restore(&again.device[0]), 0);
	assert_int_equal(got_jobs, JOBS);
	/* In a run after a kill, it gets those that it does not have. */
	got_jobs = 0;
	again.device[0].fresh = false;
	strcpy(again.device[0].job[0].job.label, "j2");
	relabelled = true;
	assert_int_equal(upgrade_carried_restore(&again.device[0]), 0);
	assert_int_equal(got_jobs, 1);
	assert_int_equal(upgrade_record_remove(), 0);
	assert_int_equal(upgrade_record_remove(), 0);
	free_all(&u, 2);
	free_all(&again, 2);
	free(again.device);
}

/* A plan that is over is none; a pin without room is an error, and the rest comes back. */
static void in_part(void **state)
{
	struct upgrade_device dev = device_of("a");

	(void)state;
	over = true;
	assert_int_equal(upgrade_carried_read(&dev), 0);
	assert_false(dev.planned);
	full = false;
	refused = true;
	assert_int_not_equal(upgrade_carried_restore(&dev), 0);
	assert_said("no room for its pins");
	assert_int_equal(got_jobs, JOBS);
	upgrade_device_free(&dev);
}

/* Any label comes back as it was, and so does what is noted after the end. */
static void labels(void **state)
{
	static char longest[LABEL_SIZE];
	const char *const label[] = { "", " ", " x ", "%", "%41", "a\nend\nb", "\303\244\t=", longest };
	struct upgrade_device device[2] = { device_of("a"), device_of("b") };
	struct upgrade u = { .device = device, .count = 2 }, again;
	char path[64];
	bool found;
	FILE *file;
	size_t i;

	(void)state;
	memset(longest, '%', sizeof(longest) - 1);
	device[0].frozen = device[0].verified = device[1].verified = false;
	for (i = 0; i < sizeof(label) / sizeof(*label); i++) {
		struct nl_range given = { .range = { 1, 2 }, .label = label[i] };
		struct upgrade_job made = { .left = { 0 } };

		strcpy(made.job.label, label[i]);
		device[0].range = &given;
		device[0].job = &made;
		device[0].ranges = device[0].jobs = 1;
		assert_int_equal(upgrade_record_save(&u), 0);
		assert_int_equal(upgrade_record_verified(&device[1]), 0);
		again = (struct upgrade){ 0 };
		assert_int_equal(upgrade_record_load(&again, &found), 0);
		assert_string_equal(again.device[0].range[0].label, label[i]);
		assert_string_equal(again.device[0].job[0].job.label, label[i]);
		assert_true(!again.device[0].frozen && again.device[1].frozen);
		assert_true(!again.device[0].verified && again.device[1].verified);
		free_all(&again, again.count);
		free(again.device);
	}
	device[0].range = NULL;
	device[0].job = NULL;
	device[0].ranges = device[0].jobs = 0;
	/* A note that was not written completely is none. */
	snprintf(path, sizeof(path), "%s/upgrade", upgrade_record_folder);
	file = fopen(path, "a");
	fputs("verified a", file);
	fclose(file);
	again = (struct upgrade){ 0 };
	assert_int_equal(upgrade_record_load(&again, &found), 0);
	assert_true(!again.device[0].verified && again.device[1].verified);
	free_all(&again, again.count);
	free(again.device);
	assert_int_equal(upgrade_record_remove(), 0);
	assert_int_not_equal(upgrade_record_verified(&device[1]), 0);
	free_all(&u, 2);
}

/* Any cut of the record is noticed. */
static void cut(void **state)
{
	struct upgrade_device device[1] = { device_of("a") };
	struct upgrade u = { .device = device, .count = 1 }, again;
	char path[64];
	bool found;
	FILE *file;
	long bytes;

	(void)state;
	assert_int_equal(upgrade_carried_read(&device[0]), 0);
	assert_int_equal(upgrade_record_save(&u), 0);
	snprintf(path, sizeof(path), "%s/upgrade", upgrade_record_folder);
	file = fopen(path, "r");
	fseek(file, 0, SEEK_END);
	bytes = ftell(file);
	fclose(file);
	/* The last byte is a newline. */
	for (bytes -= 2; bytes >= 0; bytes--) {
		again = (struct upgrade){ 0 };
		assert_int_equal(truncate(path, bytes), 0);
		fail_reset();
		assert_int_not_equal(upgrade_record_load(&again, &found), 0);
		assert_said("cannot be read");
		free_all(&again, again.count);
		free(again.device);
	}
	unlink(path);
	rmdir(upgrade_record_folder);
	free_all(&u, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(comes_back, reset),
		cmocka_unit_test_setup(in_part, reset),
		cmocka_unit_test_setup(labels, reset),
		cmocka_unit_test_setup(cut, reset),
	};

	return make_folder(NULL) ? 1 : RUN(tests);
}
