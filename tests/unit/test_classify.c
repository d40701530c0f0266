// SPDX-License-Identifier: GPL-2.0-only
/* Runs bpf/classify.bpf.c in user space: the map must have as many units of a set as the set
 * counts, also after the set restarts.
 */
#include "helper/unit.h"

/* Omit the content of <bpf/bpf_helpers.h>: the functions and macros below replace it. */
#define __BPF_HELPERS__
#define SEC(name)
#define __uint(name, value)	int (*name)[value]
#define __type(name, of)	typeof(of) *name
#define bpf_map_lookup_elem(map, k)	map_find(map, k, sizeof(*(map)->key))
#define bpf_map_update_elem(map, k, v, flags)	\
	map_put(map, k, sizeof(*(map)->key), v, sizeof(*(map)->value))
#define bpf_ringbuf_reserve(map, size, flags)	((void *)0)
#define bpf_ringbuf_submit(record, flags)	((void)(record))
#define bpf_get_prandom_u32()			7
#define bpf_ktime_get_ns()			0
#define bpf_get_current_ancestor_cgroup_id(level)	0

/* The entries of all maps. */
static struct {
	const void *map;
	unsigned char key[64];
	_Alignas(8) unsigned char value[128];
} entries[512];
static unsigned int used;

static void *map_find(const void *map, const void *key, size_t size)
{
	unsigned int i;

	for (i = 0; i < used; i++)
		if (entries[i].map == map && !memcmp(entries[i].key, key, size))
			return entries[i].value;
	return NULL;
}

static void map_put(const void *map, const void *key, size_t size, const void *value, size_t length)
{
	void *old = map_find(map, key, size);

	assert_true(used < 512 && size <= 64 && length <= 128);
	if (!old) {
		entries[used].map = map;
		memcpy(entries[used].key, key, size);
		old = entries[used++].value;
	}
	memcpy(old, value, length);
}

#include "classify.bpf.c"

static __u64 before = ~0ULL;

/* The only process reads run @number.  Returns its set, or NULL if it has none yet. */
static struct set *read_run(__u32 number)
{
	struct nearcache_classify told = {
		.io = { .sector = number * 4096ULL + number % 7, .nr_sectors = 8, .cgroup = 9, .pid = 3 },
		.why = NEARCACHE_WHY_RUN, .before = before, .accesses = 1, .runs = 1, .bytes = 4096,
	};
	struct set_key key = { .cgroup = 9 };

	told.run = before = told.io.sector;
	nc_classify(&(struct context){ .told = &told });
	return map_find(&sets, &key, sizeof(key));
}

/* Does the map have as many units of the set as the set counts? */
static void assert_units(const struct set *set)
{
	unsigned int i, found = 0;

	for (i = 0; i < used; i++)
		found += entries[i].map == &units && ((struct unit_key *)entries[i].key)->set == set->id;
	assert_int_equal(found, set->units);
}

/* A looping set restarts after EVIDENCE_FRESH new runs.  The last of these is the restarted set's
 * first unit: when it is read again, it is not new.
 */
static void restart(void **state)
{
	struct set *set = NULL;
	__u32 i, id;

	(void)state;
	for (i = 0; i < 200; i++)
		set = read_run(i % 40);
	assert_int_equal(set->class, NEARCACHE_CLASS_LOOPING);
	assert_units(set);
	id = set->id;
	for (i = 1000; set->id == id; i++) {
		read_run(i);
		assert_true(i < 1000 + EVIDENCE_FRESH);
	}
	assert_units(set);
	for (id = i - 1; i < 1100; i++)
		read_run(i);
	read_run(id);
	assert_int_equal(set->again, 1);
	assert_units(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(restart),
	};

	return RUN(tests);
}
