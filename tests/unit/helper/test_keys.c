// SPDX-License-Identifier: GPL-2.0-only
/* JSON keys of 'status', 'stats' and 'list' are the names in uapi/nearcache_counters.h. */
#include <stdlib.h>

#include "capture.h"
#include "cluster/homes.h"
#include "cmd/commands.h"
#include "cmd/node_part.h"
#include "block/dm_unprivileged.h"
#include "netlink/device_state.h"
#include "stage/report.h"
#include "block/device.h"
#include "lib/print.h"
#include "block/lock.h"
#include "open/reconnect_origin.h"
#include "open/renamed.h"
#include "pins/restore.h"
#include "block/status_line.h"
#include "ondisk/superblock.h"

/* A number in the status line: base + index of its field.  Enumerations need a small value. */
#define FIELD_BASE	1000
#define COUNTER_BASE	2000
#define ENUM_VALUE	1

static char line[4096];

static bool is_word(unsigned int field)
{
	return status_word(field, 0);
}

static uint64_t value_of(unsigned int field)
{
	if (field == NEARCACHE_FIELD_STATUS_VERSION)
		return NEARCACHE_STATUS_VERSION_NOW;
	return is_word(field) ? ENUM_VALUE : FIELD_BASE + field;
}

static void make_line(void)
{
	size_t used = 0;
	unsigned int i;

	for (i = 0; i < NEARCACHE_STATUS_FIELD_COUNT; i++)
		used += sprintf(line + used, "%llu ",
				(unsigned long long)value_of(i));
	for (i = 0; i < NEARCACHE_COUNTER_COUNT; i++)
		used += sprintf(line + used, "%u ", COUNTER_BASE + i);
}

static void fill(struct dm_device *dev)
{
	memset(dev, 0, sizeof(*dev));
	strcpy(dev->name, "nc");
	dev->status = line;
	dev->live = true;
	dev->ours = true;
	strcpy(dev->mode, mode_word(ENUM_VALUE));
}

int dm_find(const char *name, struct dm_device *dev, bool *found)
{
	(void)name;
	(void)dev;
	*found = false;
	return 0;
}

int dm_need_ours(const char *name, struct dm_device *dev)
{
	(void)name;
	fill(dev);
	return 0;
}

int dm_all(struct dm_device **list, size_t *count)
{
	*list = calloc(1, sizeof(**list));
	*count = 1;
	fill(*list);
	return 0;
}

int dm_all_passing(struct dm_device **list, size_t *count)
{
	*list = NULL;
	*count = 0;
	return 0;
}

int dm_all_clusters(struct dm_device **list, size_t *count)
{
	return dm_all_passing(list, count);
}

void dm_read_unprivileged(dm_take_state *take)
{
	(void)take;
}

bool dm_is_unprivileged(void)
{
	return false;
}

const char *dm_cache_uuid(const struct dm_device *dev)
{
	return dev->uuid;
}

int nl_device_state(struct dm_device *dev)
{
	(void)dev;
	return 0;
}

int homes_rename_operands(char **operand, int count)
{
	(void)operand;
	(void)count;
	return 0;
}

void stage_report_brief(const struct dm_device *dev)
{
	(void)dev;
}

int closed_logs_print(void)
{
	return 0;
}

void stage_report_list(const struct dm_device *dev)
{
	(void)dev;
}

void node_part_print_cluster(const struct dm_device *dev)
{
	(void)dev;
}

bool lock_try_shared(const char *name)
{
	(void)name;
	return true;
}

void lock_release(void)
{
}

int restore_compare(const struct dm_device *dev, struct record_difference *difference)
{
	(void)dev;
	memset(difference, 0, sizeof(*difference));
	return 0;
}

const char *restore_advice(const struct dm_device *dev,
			   const struct record_difference *difference, char *text)
{
	(void)dev;
	(void)difference;
	return strcpy(text, "advice");
}

const char *renamed_table_gone(const struct dm_device *dev)
{
	(void)dev;
	return NULL;
}

void renamed_explain(const char *name)
{
	(void)name;
}

void dm_device_free(struct dm_device *dev)
{
	(void)dev;
}

void dm_device_free_all(struct dm_device *list, size_t count)
{
	(void)count;
	free(list);
}

const char *device_path_of(dev_t number, char *path)
{
	(void)number;
	return strcpy(path, "/dev/x");
}

bool reconnect_needed(const struct dm_device *dev)
{
	(void)dev;
	return false;
}

bool identity_attribute(dev_t number, const char *name, char *value, size_t size)
{
	(void)number;
	(void)name;
	(void)value;
	(void)size;
	return false;
}

const char *super_state_word(const struct nearcache_super *sb)
{
	(void)sb;
	return "clean";
}

/* Return the JSON output of a verb; free it with json_object_put(). */
static struct json_object *output(int (*verb)(const struct arguments *))
{
	char name[] = "nc";
	char *operand[] = { name };
	struct arguments args = { .given = OPTION_JSON, .operand = operand,
				  .operands = verb == list_verb.run ? 0 : 1 };
	struct json_object *json;

	make_line();
	fail_reset();
	capture();
	print_start(true);
	verb(&args);
	print_finish();
	json = json_tokener_parse(captured());
	assert_non_null(json);
	assert_int_equal(fail_code(), 0);
	return json;
}

/* Return the name of the field or counter that has @value in the status line; NULL: none. */
static const char *row_of(int64_t value)
{
	if (value >= COUNTER_BASE &&
	    value < COUNTER_BASE + NEARCACHE_COUNTER_COUNT)
		return status_counter_row[value - COUNTER_BASE].name;
	if (value >= FIELD_BASE &&
	    value < FIELD_BASE + NEARCACHE_STATUS_FIELD_COUNT)
		return status_field_row[value - FIELD_BASE].name;
	return NULL;
}

/* Check that each number from the status line has its field's name as key; return their number. */
static unsigned int check_names(struct json_object *object)
{
	unsigned int found = 0;

	json_object_object_foreach(object, key, value) {
		const char *name;

		if (!json_object_is_type(value, json_type_int))
			continue;
		name = row_of(json_object_get_int64(value));
		if (!name)
			continue;
		assert_string_equal(key, name);
		found++;
	}
	return found;
}

/* Check the word of each enumeration field in @object.  Exception: if "witness_state" is there,
 * "witness" is a path.  Return the number of words.
 */
static unsigned int check_words(struct json_object *object)
{
	unsigned int i, found = 0;

	for (i = 0; i < NEARCACHE_STATUS_FIELD_COUNT; i++) {
		struct json_object *value;

		if (!is_word(i) || (i == NEARCACHE_FIELD_WITNESS &&
				    json_object_object_get_ex(object, "witness_state",
							      &value)))
			continue;
		if (!json_object_object_get_ex(object, status_field_row[i].name,
					       &value))
			continue;
		assert_string_equal(json_object_get_string(value),
				    status_word(i, ENUM_VALUE));
		found++;
	}
	return found;
}

/* stats has all fields and nothing more. */
static void stats_has_all(void **state)
{
	struct json_object *json = output(stats_verb.run);
	unsigned int i, words = 0;

	(void)state;
	for (i = 0; i < NEARCACHE_STATUS_FIELD_COUNT; i++) {
		struct json_object *value = member(json, status_field_row[i].name);

		words += is_word(i);
		if (!is_word(i))
			assert_int_equal(json_object_get_int64(value), value_of(i));
	}
	assert_int_equal(check_words(json), words);
	for (i = 0; i < NEARCACHE_COUNTER_COUNT; i++)
		assert_int_equal(json_object_get_int64(member(json,
					status_counter_row[i].name)),
				 COUNTER_BASE + i);
	/* 2: the schema and the name of the device. */
	assert_int_equal(json_object_object_length(json),
			 NEARCACHE_STATUS_FIELD_COUNT +
			 NEARCACHE_COUNTER_COUNT + 2);
	json_object_put(json);
}

static void status_calls_them_so(void **state)
{
	struct json_object *json = output(status_verb.run);

	(void)state;
	assert_true(check_names(json) >= 10);
	assert_true(check_words(json) >= 4);
	assert_string_equal(json_object_get_string(member(json, "witness_state")),
			    status_word(NEARCACHE_FIELD_WITNESS, ENUM_VALUE));
	json_object_put(json);
}

static void list_calls_them_so(void **state)
{
	struct json_object *json = output(list_verb.run);
	struct json_object *devices = member(json, "devices");

	(void)state;
	assert_int_equal(json_object_array_length(devices), 1);
	assert_true(check_names(json_object_array_get_idx(devices, 0)) >= 1);
	assert_true(check_words(json_object_array_get_idx(devices, 0)) >= 3);
	json_object_put(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stats_has_all),
		cmocka_unit_test(status_calls_them_so),
		cmocka_unit_test(list_calls_them_so),
	};

	return RUN(tests);
}
