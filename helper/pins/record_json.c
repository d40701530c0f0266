// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads records of pins of schema 1, which are a single JSON object, and converts the first line of
 * a record of schema 2, which is a JSON object without the pins.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "lib/name.h"
#include "nearcache.h"
#include "pins/pin_list.h"
#include "lib/enum_words.h"

#define SCHEMA		1
#define SCHEMA_LINES	2
#define SECTOR		512

static void add_text(struct json_object *json, const char *key, const char *text)
{
	if (text)
		json_object_object_add(json, key, json_object_new_string(text));
}

static void add_known(struct json_object *json, const char *key, const char *text)
{
	add_text(json, key, *text ? text : NULL);
}

/* Returns the first line of a record of schema 2, or NULL without memory. Needs json_object_put(). */
struct json_object *record_head_to_json(const struct pins *pins, const char *name)
{
	struct json_object *json = json_object_new_object();

	if (!json)
		return NULL;
	json_object_object_add(json, "schema", json_object_new_int(SCHEMA_LINES));
	add_text(json, "name", name);
	add_known(json, "uuid", pins->owner.uuid);
	add_known(json, "attached_uuid", pins->owner.attached);
	add_known(json, "origin_id", pins->owner.origin_id);
	return json;
}

/*
 * Get an optional string, which belongs to @json. @text is NULL if the key is missing. Returns
 * false if the value is no string or contains a zero byte.
 */
static bool take_text(struct json_object *json, const char *key, const char **text)
{
	struct json_object *value;

	*text = NULL;
	if (!json_object_object_get_ex(json, key, &value))
		return true;
	if (!json_object_is_type(value, json_type_string))
		return false;
	*text = json_object_get_string(value);
	return strlen(*text) == (size_t)json_object_get_string_len(value);
}

/* Copy an optional string, "" if the key is missing. False if it is no string or too long. */
static bool copy_text(struct json_object *json, const char *key, char *copy, size_t size)
{
	const char *text;

	if (!take_text(json, key, &text) || (text && strlen(text) >= size))
		return false;
	strcpy(copy, text ? text : "");
	return true;
}

static bool take_number(struct json_object *json, const char *key, int64_t most,
			int64_t *number)
{
	struct json_object *value;

	if (!json_object_object_get_ex(json, key, &value) ||
	    !json_object_is_type(value, json_type_int))
		return false;
	*number = json_object_get_int64(value);
	return *number >= 0 && *number <= most;
}

static bool take_flag(struct json_object *json, const char *key, bool *flag)
{
	struct json_object *value;

	if (!json_object_object_get_ex(json, key, &value) ||
	    !json_object_is_type(value, json_type_boolean))
		return false;
	*flag = json_object_get_boolean(value);
	return true;
}

static bool take_pair(struct json_object *pair, struct range *range)
{
	struct json_object *start, *length;
	int64_t from, bytes;

	if (!json_object_is_type(pair, json_type_array) ||
	    json_object_array_length(pair) != 2)
		return false;
	start = json_object_array_get_idx(pair, 0);
	length = json_object_array_get_idx(pair, 1);
	if (!json_object_is_type(start, json_type_int) ||
	    !json_object_is_type(length, json_type_int))
		return false;
	from = json_object_get_int64(start);
	bytes = json_object_get_int64(length);
	if (from < 0 || bytes <= 0 || from > INT64_MAX - bytes ||
	    from % SECTOR || bytes % SECTOR)
		return false;
	*range = (struct range){ (uint64_t)from, (uint64_t)bytes };
	return true;
}

static const char *take_ranges(struct json_object *json, struct pin *pin)
{
	struct json_object *list;
	size_t i, count;

	if (!json_object_object_get_ex(json, "ranges", &list) ||
	    !json_object_is_type(list, json_type_array))
		return "\"ranges\" is not a list";
	count = json_object_array_length(list);
	pin->range = calloc(count ? count : 1, sizeof(*pin->range));
	if (!pin->range)
		return "out of memory";
	for (i = 0; i < count; i++)
		if (!take_pair(json_object_array_get_idx(list, i),
			       &pin->range[i]))
			return "one of its \"ranges\" is not a pair of start and length";
	pin->ranges = count;
	return NULL;
}

/* Parse a pin except path, label, samples and ranges. Returns NULL, or the fault. */
static const char *take_wishes(struct json_object *json, struct pin *like)
{
	const char *wants, *format;
	int64_t priority;

	if (!take_text(json, "wants", &wants) || !wants ||
	    !want_parse(wants, &like->flags))
		return "its \"wants\" is none of pin, bypass, evict-after-use, count";
	if (!take_number(json, "priority", NEARCACHE_PRIORITY_MAX, &priority))
		return "its \"priority\" is not 0 to 7";
	like->priority = (uint32_t)priority;
	if (!take_number(json, "expires", INT64_MAX, &like->expires))
		return "its \"expires\" is not a time";
	if (!take_flag(json, "load", &like->load) ||
	    !take_flag(json, "index_only", &like->index_only))
		return "its \"load\" or \"index_only\" is not true or false";
	if (!take_text(json, "format", &format) ||
	    (format && !index_format_parse(format, &like->format)))
		return "its \"format\" is unknown";
	return NULL;
}

static const char *from_json(struct pins *pins, struct json_object *json)
{
	const char *path, *label, *samples, *why;
	struct pin like = { .format = INDEX_ANY }, *pin;

	if (!json_object_is_type(json, json_type_object))
		return "one of its pins is not an object";
	why = take_wishes(json, &like);
	if (why)
		return why;
	if (!take_text(json, "path", &path) || (path && *path != '/'))
		return "a \"path\" is not absolute";
	if (!take_text(json, "label", &label) || !label || label_check(label))
		return "a \"label\" is not 1 to 127 bytes of UTF-8";
	if (!take_text(json, "samples", &samples))
		return "its \"samples\" is not a text";
	like.label = (char *)label;
	like.samples = (char *)samples;
	pin = pins_append(pins, &like, path);
	return pin ? take_ranges(json, pin) : "out of memory";
}

/* Parse schema and owner. Returns NULL, or the fault. */
static const char *take_head(struct pins *pins, struct json_object *json, int64_t wanted)
{
	int64_t schema;

	if (!json_object_is_type(json, json_type_object) ||
	    !take_number(json, "schema", INT64_MAX, &schema))
		return "it is not an object with a \"schema\"";
	if (schema != wanted)
		return "its \"schema\" is not 1 or 2";
	if (!copy_text(json, "uuid", pins->owner.uuid, sizeof(pins->owner.uuid)))
		return "its \"uuid\" is not a uuid";
	if (!copy_text(json, "attached_uuid", pins->owner.attached,
		       sizeof(pins->owner.attached)))
		return "its \"attached_uuid\" is not a uuid";
	if (!copy_text(json, "origin_id", pins->owner.origin_id,
		       sizeof(pins->owner.origin_id)))
		return "its \"origin_id\" is not a device id";
	return NULL;
}

/* Parse the first line of a record of schema 2. Returns NULL, or the fault. */
const char *record_head_from_json(struct pins *pins, struct json_object *json)
{
	return take_head(pins, json, SCHEMA_LINES);
}

/*
 * Parse an untrusted record of schema 1 into @pins, which the caller zeroes. pins_free() is needed
 * even after a failure. Returns NULL, or the fault.
 */
const char *pins_from_json(struct pins *pins, struct json_object *json)
{
	const char *why = take_head(pins, json, SCHEMA);
	struct json_object *list;
	size_t i;

	if (why)
		return why;
	if (!json_object_object_get_ex(json, "pins", &list) ||
	    !json_object_is_type(list, json_type_array))
		return "it has no list of \"pins\"";
	for (i = 0; i < json_object_array_length(list) && !why; i++)
		why = from_json(pins, json_object_array_get_idx(list, i));
	return why;
}
