// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/bpf_observer.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bpf/builtin_programs.h"
#include "lib/error.h"
#include "latency.h"
#include "bpf/program.h"

/* Name of the built-in classifier: its function in bpf/classify.bpf.c. */
#define OUR_CLASSIFIER	"nc_classify"

/* The device number as the keys of the BPF maps have it. */
static uint32_t kernel_dev(dev_t number)
{
	return major(number) << 20 | minor(number);
}

static struct seen *find_device(const struct seens *seens, uint32_t dev)
{
	size_t i;

	for (i = 0; i < seens->count; i++)
		if (seens->seen[i].dev == dev)
			return &seens->seen[i];
	return NULL;
}

/* Returns the entry of the device, adding it if necessary, or NULL if memory is short. */
static struct seen *need_device(struct seens *seens, uint32_t dev)
{
	struct seen *seen = find_device(seens, dev);
	size_t room = seens->room ? 2 * seens->room : 16;

	if (seen)
		return seen;
	if (seens->count == seens->room) {
		seen = reallocarray(seens->seen, room, sizeof(*seen));
		if (!seen)
			return NULL;
		seens->seen = seen;
		seens->room = room;
	}
	seen = &seens->seen[seens->count++];
	memset(seen, 0, sizeof(*seen));
	seen->dev = dev;
	return seen;
}

static int add_mix(const void *key_, const void *value, void *arg)
{
	const struct mix_key *key = key_;
	const struct mix *mix = value;
	struct seen *seen = need_device(arg, key->dev);

	if (!seen)
		return fail_memory();
	/* Assign, do not add: an entry may appear twice if the map changes while it is read. */
	if (key->class < NEARCACHE_CLASSES)
		seen->bytes[key->class] = mix->bytes;
	return 0;
}

static int add_latency(const void *key_, const void *value, void *arg)
{
	int processors = libbpf_num_possible_cpus(), i;
	const struct latency_key *key = key_;
	const struct latency *each = value;
	struct seen *seen = need_device(arg, key->dev);

	if (!seen)
		return fail_memory();
	for (i = 0; key->path != PATH_WRITE && i < processors; i++)
		seen->stall += each[i].sum;
	return 0;
}

static int take_verdict(void *arg, void *data, size_t size)
{
	const struct observer *observer = arg;

	if (observer->told && size >= sizeof(struct change))
		observer->told(data, observer->arg);
	return 0;
}

/*
 * Load the built-in program at @place, unless the user or an earlier daemon loaded one there.
 * Returns whether a program is loaded there now.  @warns: warn if the load fails.
 */
static bool need_program(const struct observer *observer, const struct program_place *place,
			 bool warns)
{
	static const struct settings no_window = { .given = 1 };
	struct program program;
	bool found;

	if (!program_look(place, &program, &found) &&
	    (found || (!program_load_own(place, false, &program) &&
		       (!observer->idle || place != &built_in_classifier ||
			!observer_settings_set(&no_window)))))
		return true;
	if (warns)
		warn("%s: %s", place->word, fail_message());
	fail_reset();
	return false;
}

/*
 * Load the programs.  The caller sets @idle, @heat, @told and @arg, zeroes all other members, and
 * calls observer_renew() next.  A program that cannot be loaded causes a warning.
 */
void observer_open(struct observer *observer)
{
	observer->classifier_waits = !need_program(observer, &built_in_classifier, true);
	observer->latency_waits = !need_program(observer, &built_in_latency, true);
	observer->heat_waits = observer->heat && !need_program(observer, &built_in_heat, true);
	/* No program has this id, so the first observer_renew() reports a change. */
	observer->id = UINT32_MAX;
}

static void follow_changes(struct observer *observer)
{
	int map;

	ring_buffer__free(observer->changes);
	observer->changes = NULL;
	map = observer->classifies ?
	      program_open_map(&built_in_classifier, "changes", 0, 0) : -1;
	if (map < 0)
		return;
	observer->changes = ring_buffer__new(map, take_verdict, observer, NULL);
	close(map);
}

/*
 * Check which programs are loaded.  Tries again to load a program that could not be loaded
 * before, for example because the module was missing.  What a user unloaded stays unloaded.
 *
 * Returns whether the classifier changed or was unloaded.
 */
bool observer_renew(struct observer *observer)
{
	struct program program;
	bool found;

	if (observer->classifier_waits)
		observer->classifier_waits = !need_program(observer, &built_in_classifier, false);
	if (observer->latency_waits)
		observer->latency_waits = !need_program(observer, &built_in_latency, false);
	if (observer->heat_waits)
		observer->heat_waits = !need_program(observer, &built_in_heat, false);
	if (program_look(&built_in_classifier, &program, &found))
		fail_reset();
	if (program.id == observer->id)
		return false;
	observer->id = program.id;
	observer->classifies = found && !strcmp(program.name, OUR_CLASSIFIER);
	if (found && !observer->classifies)
		warn("the loaded program '%s' is not the built-in one", program.name);
	follow_changes(observer);
	return true;
}

/* Move the last sample from @now to @before, then sample all devices.  Only warn of an error. */
void observer_look(struct observer *observer)
{
	struct seens old = observer->before;

	observer->before = observer->now;
	observer->now = old;
	observer->now.count = 0;
	program_each(&built_in_classifier, "mixes", sizeof(struct mix_key),
		     sizeof(struct mix), add_mix, &observer->now);
	program_each(&built_in_latency, "latencies", sizeof(struct latency_key),
		     sizeof(struct latency), add_latency, &observer->now);
	if (fail_code())
		warn("%s", fail_message());
	fail_reset();
}

/* Call @told for each stream whose class has changed since the last call. */
void observer_tell(struct observer *observer)
{
	if (observer->changes)
		ring_buffer__consume(observer->changes);
}

/* Growth of a counter; 0 if a reload of the program or a lost map entry restarted the counter. */
static uint64_t counter_grown(uint64_t now, uint64_t before)
{
	return now >= before ? now - before : 0;
}

/* Set @since to the growth since @before, or to the counters if @before lacks the device. */
void observer_since(const struct observer *observer, dev_t number,
		    struct seen *since)
{
	const struct seen *now = find_device(&observer->now, kernel_dev(number));
	const struct seen *before = find_device(&observer->before, kernel_dev(number));
	unsigned int i;

	memset(since, 0, sizeof(*since));
	since->dev = kernel_dev(number);
	if (!now)
		return;
	*since = *now;
	if (!before)
		return;
	for (i = 0; i < NEARCACHE_CLASSES; i++)
		since->bytes[i] = counter_grown(now->bytes[i], before->bytes[i]);
	since->stall = counter_grown(now->stall, before->stall);
}

static int settings_map(void)
{
	int map = program_open_map(&built_in_classifier, "settings",
				   sizeof(uint32_t), sizeof(struct settings));

	if (map < 0)
		fail(CODE_DEVICE,
		     "the built-in classifier is not loaded: run 'nearcache classifier load'");
	return map;
}

/* Read the settings of the built-in classifier, or its defaults if the user has set none. */
int observer_settings_get(struct settings *settings)
{
	const uint32_t key = 0;
	int map = settings_map();

	memset(settings, 0, sizeof(*settings));
	if (map < 0)
		return fail_code();
	bpf_map_lookup_elem(map, &key, settings);
	close(map);
	if (!settings->given) {
		settings->given = 1;
		settings->window = WINDOW_DEFAULT;
	}
	return 0;
}

int observer_settings_set(const struct settings *settings)
{
	const uint32_t key = 0;
	int map = settings_map();

	if (map < 0)
		return fail_code();
	if (bpf_map_update_elem(map, &key, settings, BPF_ANY))
		fail(CODE_DEVICE, "cannot change the settings of the classifier");
	close(map);
	return fail_code();
}

/* Free the samples and the ring buffer.  The BPF programs stay loaded. */
void observer_close(struct observer *observer)
{
	ring_buffer__free(observer->changes);
	free(observer->now.seen);
	free(observer->before.seen);
	memset(observer, 0, sizeof(*observer));
}
